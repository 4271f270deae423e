#include <assert.h>

#include "store/text/function/moment.h"

#define DAY_US INT64_C(86400000000)

/* Days of the 400 years after which the calendar repeats itself. */
#define ERA_DAYS 146097

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30,
				    31, 31, 30, 31, 30, 31 };

	assert(month >= 1 && month <= 12);
	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01, by years that begin in March, so that the leap day is
 * the last of its year. */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = year - (month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year =
		(153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 -
			     year_of_era / 100 + day_of_year;

	return era * ERA_DAYS + day_of_era - 719468;
}

bool moment_us(const struct moment *m, int64_t *us)
{
	int64_t seconds;

	if (m->year < 1 || m->year > 9999 || m->month < 1 || m->month > 12 ||
	    m->day < 1 || m->day > month_days(m->year, m->month) ||
	    m->hour < 0 || m->hour > 23 || m->minute < 0 || m->minute > 59 ||
	    m->second < 0 || m->second > 59 || m->us < 0 || m->us > 999999)
		return false;
	seconds = days_of(m->year, m->month, m->day) * 86400 + m->hour * 3600 +
		  m->minute * 60 + m->second - m->zone_s;
	*us = seconds * 1000000 + m->us;
	return true;
}

bool moment_is_dated(int64_t us)
{
	return us >= days_of(1, 1, 1) * DAY_US &&
	       us < days_of(10000, 1, 1) * DAY_US;
}

/* The inverse of days_of. */
static void date_of(int64_t days, struct moment *out)
{
	int64_t shifted = days + 719468;
	int64_t era =
		(shifted >= 0 ? shifted : shifted - ERA_DAYS + 1) / ERA_DAYS;
	int64_t day = shifted - era * ERA_DAYS;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	out->day = (int)(day - (153 * month + 2) / 5) + 1;
	out->month = (int)(month < 10 ? month + 3 : month - 9);
	out->year = (int)(year + era * 400) + (out->month <= 2);
}

void moment_of(int64_t us, struct moment *out)
{
	int64_t days = us / DAY_US, rest = us % DAY_US;

	assert(moment_is_dated(us));
	if (rest < 0) {
		rest += DAY_US;
		days--;
	}
	*out = (struct moment){ .us = (int)(rest % 1000000) };
	date_of(days, out);
	rest /= 1000000;
	out->hour = (int)(rest / 3600);
	out->minute = (int)(rest / 60 % 60);
	out->second = (int)(rest % 60);
}

int moment_year_day(const struct moment *m)
{
	return (int)(days_of(m->year, m->month, m->day) -
		     days_of(m->year, 1, 1)) +
	       1;
}

bool moment_set_year_day(struct moment *m, int day)
{
	if (m->year < 1 || m->year > 9999 || day < 1 ||
	    day > 365 + is_leap(m->year))
		return false;
	date_of(days_of(m->year, 1, 1) + day - 1, m);
	return true;
}
