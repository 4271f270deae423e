#ifndef STORE_TEXT_FUNCTION_MOMENT_H
#define STORE_TEXT_FUNCTION_MOMENT_H

#include "store/base/bytes.h"

/*
 * Moments by the proleptic Gregorian calendar, years 1 to 9999, without leap
 * seconds and without the C library, whose mktime takes February 31st. Pure
 * functions.
 */

/* The numbers as people write them; zone_s is seconds east of Greenwich. */
struct moment {
	int year, month, day; /* month and day from 1 */
	int hour, minute, second, us;
	int zone_s;
};

/* Microseconds since 1970, negative before it; false if there is no such
 * moment, as of a 31st of February or a second 60. */
bool moment_us(const struct moment *m, int64_t *us);

/* The moment in UTC; us must be of a year from 1 to 9999. */
void moment_of(int64_t us, struct moment *out);

/* Whether moment_of takes it. */
bool moment_is_dated(int64_t us);

/* The day of its year, from 1, and back: false if the year has no such day. */
int moment_year_day(const struct moment *m);
bool moment_set_year_day(struct moment *m, int day);

#endif
