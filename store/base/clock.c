#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "store/base/clock.h"

/* CLOCK_REALTIME, as timestamps of cells have to mean the same after a restart
 * and on another machine. It cannot fail. */
static uint64_t real_now(void *context)
{
	struct timespec t;

	(void)context;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t clock_processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t clock_coarse(const struct clock *c)
{
	struct timespec t;

	if (c->now != real_now)
		return c->now(c->context);
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Counted from the first of March of the year 0, leap days come last, and 400
 * years have 146,097 days. */
void clock_print(uint64_t us, char *text, size_t size)
{
	uint64_t second = us / 1000000, day = second / 86400 + 719468;
	uint64_t n = day % 146097; /* of 400 years */
	uint64_t year = (n - n / 1460 + n / 36524 - n / 146096) / 365;
	uint64_t of_year = n - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153; /* 0: March */

	snprintf(text, size, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
		 (unsigned int)(day / 146097 * 400 + year + (month >= 10)),
		 (unsigned int)(month < 10 ? month + 3 : month - 9),
		 (unsigned int)(of_year - (153 * month + 2) / 5 + 1),
		 (unsigned int)(second / 3600 % 24),
		 (unsigned int)(second / 60 % 60), (unsigned int)(second % 60),
		 (unsigned int)(us % 1000000));
}

static uint64_t steady_now(void *context)
{
	struct timespec t;

	(void)context;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

const struct clock clock_real = { real_now, NULL };
const struct clock clock_steady = { steady_now, NULL };
