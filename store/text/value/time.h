#ifndef STORE_TEXT_VALUE_TIME_H
#define STORE_TEXT_VALUE_TIME_H

#include "store/store.h"

/* "2023-09-10T15:21:48.000001Z" or microseconds; -ERR_bad_timestamp. */
int time_parse(struct bytes text, uint64_t *us);

#endif
