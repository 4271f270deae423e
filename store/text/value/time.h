#ifndef STORE_TEXT_VALUE_TIME_H
#define STORE_TEXT_VALUE_TIME_H

#include "store/store.h"

/*
 * Takes a moment as people and programs write it: microseconds since 1970, or
 * RFC 3339 with a zone and up to six digits of a second,
 * "2023-09-10T15:21:48.000001Z", "2023-09-10T17:21:48+02:00". Sets *us, at most
 * INT64_MAX. -ERR_bad_timestamp, also for times before 1970, for more digits
 * than microseconds have, and for a leap second.
 */
int time_parse(struct bytes text, uint64_t *us);

#endif
