#include <assert.h>

#include "store/text/function/date.h"

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

bool date_us(const struct date *date, int64_t *us)
{
	int64_t seconds;

	if (date->year < 1 || date->year > 9999 || date->month < 1 ||
	    date->month > 12 || date->day < 1 ||
	    date->day > month_days(date->year, date->month) || date->hour < 0 ||
	    date->hour > 23 || date->minute < 0 || date->minute > 59 ||
	    date->second < 0 || date->second > 59 || date->us < 0 ||
	    date->us > 999999)
		return false;
	seconds = days_of(date->year, date->month, date->day) * 86400 +
		  date->hour * 3600 + date->minute * 60 + date->second -
		  date->zone_s;
	*us = seconds * 1000000 + date->us;
	return true;
}

bool date_is_known(int64_t us)
{
	return us >= days_of(1, 1, 1) * DAY_US &&
	       us < days_of(10000, 1, 1) * DAY_US;
}

/* The inverse of days_of. */
static void set_days(int64_t days, struct date *out)
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

void date_of(int64_t us, struct date *out)
{
	int64_t days = us / DAY_US, rest = us % DAY_US;

	assert(date_is_known(us));
	if (rest < 0) {
		rest += DAY_US;
		days--;
	}
	*out = (struct date){ .us = (int)(rest % 1000000) };
	set_days(days, out);
	rest /= 1000000;
	out->hour = (int)(rest / 3600);
	out->minute = (int)(rest / 60 % 60);
	out->second = (int)(rest % 60);
}

int date_year_day(const struct date *date)
{
	return (int)(days_of(date->year, date->month, date->day) -
		     days_of(date->year, 1, 1)) +
	       1;
}

bool date_set_year_day(struct date *date, int day)
{
	if (date->year < 1 || date->year > 9999 || day < 1 ||
	    day > 365 + is_leap(date->year))
		return false;
	set_days(days_of(date->year, 1, 1) + day - 1, date);
	return true;
}
