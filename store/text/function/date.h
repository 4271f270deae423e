#ifndef STORE_TEXT_FUNCTION_DATE_H
#define STORE_TEXT_FUNCTION_DATE_H

#include "store/base/bytes.h"

/*
 * Dates with times by the proleptic Gregorian calendar, years 1 to 9999,
 * without leap seconds and without the C library, whose mktime takes
 * February 31st. Pure functions.
 */

/* The numbers as people write them; zone_s is seconds east of Greenwich. */
struct date {
	int year, month, day; /* month and day from 1 */
	int hour, minute, second, us;
	int zone_s;
};

/* Microseconds since 1970, negative before it; false if there is no such
 * date, as of a 31st of February or a second 60. */
bool date_us(const struct date *date, int64_t *us);

/* The date in UTC; us must be of a year from 1 to 9999. */
void date_of(int64_t us, struct date *out);

/* Whether date_of takes it. */
bool date_is_known(int64_t us);

/* The day of its year, from 1, and back: false if the year has no such day. */
int date_year_day(const struct date *date);
bool date_set_year_day(struct date *date, int day);

#endif
