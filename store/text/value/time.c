#include <assert.h>
#include <time.h>

#include "store/text/value/time.h"

/* Takes count digits from the front; false if they are not there. At most 9,
 * so that *out does not overflow. */
static bool take_digits(struct bytes *in, size_t count, int *out)
{
	size_t i;

	assert(count <= 9);
	*out = 0;
	if (in->size < count)
		return false;
	for (i = 0; i < count; i++) {
		if (in->data[i] < '0' || in->data[i] > '9')
			return false;
		*out = *out * 10 + (in->data[i] - '0');
	}
	*in = bytes_after(*in, count);
	return true;
}

/* Takes one byte from the front; false, and nothing taken, if it is another. */
static bool take_char(struct bytes *in, char c)
{
	if (in->size == 0 || in->data[0] != (uint8_t)c)
		return false;
	*in = bytes_after(*in, 1);
	return true;
}

/* "2023-09-10T15:21:48", every field checked for its range: timegm would carry
 * a 31st of April over to May. Second 60 is refused, for microseconds since
 * 1970 have no place for it. */
static bool take_date(struct bytes *in, struct tm *tm)
{
	/* February's 29th is looked at again below. */
	static const int days[] = { 31, 29, 31, 30, 31, 30,
				    31, 31, 30, 31, 30, 31 };
	int year;

	if (!take_digits(in, 4, &year) || !take_char(in, '-') ||
	    !take_digits(in, 2, &tm->tm_mon) || !take_char(in, '-') ||
	    !take_digits(in, 2, &tm->tm_mday) || !take_char(in, 'T') ||
	    !take_digits(in, 2, &tm->tm_hour) || !take_char(in, ':') ||
	    !take_digits(in, 2, &tm->tm_min) || !take_char(in, ':') ||
	    !take_digits(in, 2, &tm->tm_sec))
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon--;
	if (tm->tm_mon < 0 || tm->tm_mon > 11 || tm->tm_hour > 23 ||
	    tm->tm_min > 59 || tm->tm_sec > 59 || tm->tm_mday < 1 ||
	    tm->tm_mday > days[tm->tm_mon])
		return false;
	return tm->tm_mon != 1 || tm->tm_mday < 29 ||
	       (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/* ".5", ".000001", or nothing; more than six digits would be lost, so they are
 * refused. */
static bool take_fraction(struct bytes *in, int *us)
{
	size_t count = 0;

	*us = 0;
	if (!take_char(in, '.'))
		return true;
	while (count < in->size && in->data[count] >= '0' &&
	       in->data[count] <= '9')
		count++;
	if (count == 0 || count > 6 || !take_digits(in, count, us))
		return false;
	for (; count < 6; count++)
		*us *= 10;
	return true;
}

/* "Z" or "+02:00", in seconds east of Greenwich. It must be there: local time
 * would mean another moment on another machine. */
static bool take_zone(struct bytes *in, int *offset_s)
{
	int sign, hours, minutes;

	*offset_s = 0;
	if (take_char(in, 'Z'))
		return true;
	sign = take_char(in, '+') ? 1 : take_char(in, '-') ? -1 : 0;
	if (!sign || !take_digits(in, 2, &hours) || !take_char(in, ':') ||
	    !take_digits(in, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*offset_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

/* Years from 1970 to 9999, so nothing overflows. */
static bool date_parse(struct bytes text, uint64_t *us)
{
	struct tm tm = { 0 };
	int fraction, offset_s;
	time_t seconds;

	if (!take_date(&text, &tm) || !take_fraction(&text, &fraction) ||
	    !take_zone(&text, &offset_s) || text.size > 0)
		return false;
	seconds = timegm(&tm) - offset_s;
	if (seconds < 0)
		return false;
	*us = (uint64_t)seconds * 1000000 + (uint64_t)fraction;
	return true;
}

/* Plain digits, at most INT64_MAX, the greatest timestamp of a cell. What has
 * any other character is left to date_parse. */
static bool micros_parse(struct bytes text, uint64_t *us)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < text.size; i++) {
		uint8_t c = text.data[i];

		if (c < '0' || c > '9' ||
		    value > (INT64_MAX - (uint64_t)(c - '0')) / 10)
			return false;
		value = value * 10 + (uint64_t)(c - '0');
	}
	*us = value;
	return i > 0;
}

int time_parse(struct bytes text, uint64_t *us)
{
	if (micros_parse(text, us) || date_parse(text, us))
		return 0;
	/* The text may be a whole line of somebody: 100 bytes of it will do. */
	return fail(ERR_bad_timestamp,
		    "invalid timestamp \"%.*s\": neither microseconds nor "
		    "a time since 1970 like 2023-09-10T15:21:48Z",
		    (int)(text.size < 100 ? text.size : 100), text.data);
}
