#include <assert.h>

#include "store/base/err.h"
#include "store/text/function/date.h"
#include "store/text/function/time_format.h"

#define DAY_US INT64_C(86400000000)

/* %F and %T, and ISO 8601, are spelled by the other conversions. */
#define ISO_WRITE "%Y-%m-%dT%H:%M:%S"

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* What was read so far; a number that was not is as set by reading_begin. */
struct reading {
	struct bytes text; /* what is left */
	struct date date;
	int hour_12;   /* of %I; 0: none */
	int pm;        /* of %p; -1: none */
	int year_day;  /* of %j; 0: none */
	bool day_ends; /* at 24:00, by then 0:00 in date */
};

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Between min and max digits from the front, as many as there are. */
static bool take_number(struct bytes *in, size_t min, size_t max, int *out)
{
	size_t n = 0;

	assert(max <= 9);
	*out = 0;
	for (; n < max && n < in->size && is_digit(in->data[n]); n++)
		*out = *out * 10 + (in->data[n] - '0');
	*in = bytes_after(*in, n);
	return n >= min;
}

static bool take_byte(struct bytes *in, uint8_t byte)
{
	if (in->size == 0 || in->data[0] != byte)
		return false;
	*in = bytes_after(*in, 1);
	return true;
}

/* Digits of a second. What microseconds have no place for is cut. */
static bool take_fraction(struct bytes *in, int *us)
{
	int scale = 100000;
	size_t n = 0;

	*us = 0;
	for (; n < in->size && is_digit(in->data[n]); n++) {
		*us += scale * (in->data[n] - '0');
		scale /= 10;
	}
	*in = bytes_after(*in, n);
	return n > 0;
}

/* The words of size bytes in a list, whatever their case: the index from 0. */
static bool take_word(struct bytes *in, const char *words, size_t size,
		      int *index)
{
	size_t i, k;

	if (in->size < size)
		return false;
	for (i = 0; words[i]; i += size) {
		for (k = 0; k < size; k++)
			if ((in->data[k] | 0x20) != (words[i + k] | 0x20))
				break;
		if (k == size) {
			*in = bytes_after(*in, size);
			*index = (int)(i / size);
			return true;
		}
	}
	return false;
}

static bool take_zone(struct bytes *in, int *zone_s)
{
	int hours, minutes = 0, sign;

	*zone_s = 0;
	if (take_byte(in, 'Z') || take_byte(in, 'z'))
		return true;
	sign = take_byte(in, '+') ? 1 : take_byte(in, '-') ? -1 : 0;
	if (!sign || !take_number(in, 2, 2, &hours))
		return false;
	if (take_byte(in, ':') ? !take_number(in, 2, 2, &minutes)
			       : in->size > 0 && is_digit(in->data[0]) &&
					 !take_number(in, 2, 2, &minutes))
		return false;
	*zone_s = sign * (hours * 3600 + minutes * 60);
	return hours <= 23 && minutes <= 59;
}

int time_zone_parse(struct bytes text, int *zone_s)
{
	struct bytes rest = text;

	if (take_zone(&rest, zone_s) && rest.size == 0)
		return 0;
	return fail(ERR_bad_argument,
		    "\"%.*s\" is no zone like Z or +02:00; names of zones are "
		    "not known",
		    (int)text.size, text.data);
}

/* One conversion by its letter; false if the text does not begin so. */
static bool read_one(struct reading *r, char letter)
{
	struct date *m = &r->date;

	switch (letter) {
	case 'Y':
		return take_number(&r->text, 4, 4, &m->year);
	case 'm':
		return take_number(&r->text, 1, 2, &m->month);
	case 'd':
		return take_number(&r->text, 1, 2, &m->day);
	case 'H':
		return take_number(&r->text, 1, 2, &m->hour);
	case 'M':
		return take_number(&r->text, 1, 2, &m->minute);
	case 'S':
		return take_number(&r->text, 1, 2, &m->second);
	case 'f':
		return take_fraction(&r->text, &m->us);
	case 'I':
		return take_number(&r->text, 1, 2, &r->hour_12) &&
		       r->hour_12 >= 1 && r->hour_12 <= 12;
	case 'j':
		return take_number(&r->text, 1, 3, &r->year_day) &&
		       r->year_day > 0;
	case 'b':
		if (!take_word(&r->text, months, 3, &m->month))
			return false;
		m->month++;
		return true;
	case 'p':
		return take_word(&r->text, "ampm", 2, &r->pm);
	case 'z':
		return take_zone(&r->text, &m->zone_s);
	}
	assert(letter == '%');
	return take_byte(&r->text, '%');
}

/* What %F and %T stand for; NULL of other letters. */
static const char *spelled(char letter)
{
	return letter == 'F' ? "%Y-%m-%d" : letter == 'T' ? "%H:%M:%S" : NULL;
}

/* Goes through a format whose letters are known. */
static bool read_format(struct reading *r, struct bytes format)
{
	size_t i;

	for (i = 0; i < format.size; i++) {
		const char *long_form, *p;
		char c = (char)format.data[i];

		if (c != '%') {
			if (!take_byte(&r->text, (uint8_t)c))
				return false;
			continue;
		}
		c = (char)format.data[++i];
		long_form = spelled(c);
		if (!long_form && !read_one(r, c))
			return false;
		for (p = long_form; p && *p; p++)
			if (*p == '%' ? !read_one(r, *++p)
				      : !take_byte(&r->text, (uint8_t)*p))
				return false;
	}
	return true;
}

/* A time of hours and minutes or more, in the basic form without colons. */
static bool read_iso_time(struct reading *r, bool basic)
{
	struct date *m = &r->date;

	if (!take_number(&r->text, 2, 2, &m->hour) ||
	    (!basic && !take_byte(&r->text, ':')) ||
	    !take_number(&r->text, 2, 2, &m->minute))
		return false;
	if (basic ? r->text.size > 0 && is_digit(r->text.data[0])
		  : take_byte(&r->text, ':')) {
		if (!take_number(&r->text, 2, 2, &m->second))
			return false;
		if ((take_byte(&r->text, '.') || take_byte(&r->text, ',')) &&
		    !take_fraction(&r->text, &m->us))
			return false;
	}
	r->day_ends = m->hour == 24 && m->minute + m->second + m->us == 0;
	if (r->day_ends)
		m->hour = 0;
	return true;
}

/* A date, and what of a time there is. */
static bool read_iso(struct reading *r)
{
	struct date *m = &r->date;
	bool basic;

	if (!take_number(&r->text, 4, 4, &m->year))
		return false;
	basic = !take_byte(&r->text, '-');
	if (!take_number(&r->text, 2, 2, &m->month) ||
	    (!basic && !take_byte(&r->text, '-')) ||
	    !take_number(&r->text, 2, 2, &m->day))
		return false;
	if (r->text.size == 0)
		return true;
	if (!take_byte(&r->text, 'T') && !take_byte(&r->text, 't') &&
	    !take_byte(&r->text, ' '))
		return false;
	return read_iso_time(r, basic) &&
	       (r->text.size == 0 || take_zone(&r->text, &m->zone_s));
}

/* Puts what stands beside the moment into it: twelve hours, the year's day. */
static bool settle(struct reading *r)
{
	struct date *m = &r->date;

	if (r->hour_12 > 0)
		m->hour = r->hour_12 % 12 + (r->pm > 0 ? 12 : 0);
	return r->year_day == 0 || date_set_year_day(m, r->year_day);
}

int time_format_read(struct bytes format, struct bytes text, int zone_s,
		     int64_t *us)
{
	struct reading r = {
		.text = text,
		.date = { .month = 1, .day = 1, .zone_s = zone_s },
		.pm = -1,
	};
	bool taken = format.size ? read_format(&r, format) : read_iso(&r);

	if (taken && r.text.size == 0 && settle(&r) && date_us(&r.date, us)) {
		*us += r.day_ends ? DAY_US : 0;
		return 0;
	}
	if (text.size > 100)
		text.size = 100;
	return fail(ERR_bad_line, "\"%.*s\" is no time %s%.*s", (int)text.size,
		    text.data, format.size ? "of the form " : "of ISO 8601",
		    (int)format.size, format.data);
}

/* Whether a format has the letter, by itself or in %F and %T. */
static bool has(struct bytes format, char letter)
{
	size_t i;

	for (i = 0; i + 1 < format.size; i++) {
		char c = (char)format.data[i + 1];

		if (format.data[i] != '%')
			continue;
		if (c == letter || (spelled(c) && strchr(spelled(c), letter)))
			return true;
		i++;
	}
	return false;
}

int time_format_check(struct bytes format, enum time_use use)
{
	size_t i;

	for (i = 0; i < format.size; i++) {
		if (format.data[i] != '%')
			continue;
		i++;
		if (i == format.size || format.data[i] == 0 ||
		    !strchr("YmdHMSfbjpIzFT%", format.data[i]))
			return fail(ERR_bad_argument,
				    "a time's format knows %%Y %%m %%d %%H %%M "
				    "%%S %%f %%b %%j %%p %%I %%z %%F %%T and "
				    "%%%%, not \"%%%.*s\"",
				    i < format.size, format.data + i);
	}
	if (format.size == 0 || use == TIME_WRITE)
		return 0;
	if (!has(format, 'Y'))
		return fail(ERR_bad_argument,
			    "a format without %%Y tells no moment");
	if (has(format, 'I') != has(format, 'p') && !has(format, 'H'))
		return fail(ERR_bad_argument,
			    "%%I and %%p are of use only together");
	if (has(format, 'j') &&
	    (has(format, 'm') || has(format, 'b') || has(format, 'd')))
		return fail(ERR_bad_argument,
			    "%%j is the day of the year: no month or day can "
			    "stand beside it");
	return 0;
}

static int write_one(const struct date *m, char letter, struct buf *out)
{
	int hour_12 = m->hour % 12 ? m->hour % 12 : 12;

	switch (letter) {
	case 'Y':
		return buf_printf(out, "%04d", m->year);
	case 'm':
		return buf_printf(out, "%02d", m->month);
	case 'd':
		return buf_printf(out, "%02d", m->day);
	case 'H':
		return buf_printf(out, "%02d", m->hour);
	case 'M':
		return buf_printf(out, "%02d", m->minute);
	case 'S':
		return buf_printf(out, "%02d", m->second);
	case 'f':
		return buf_printf(out, "%06d", m->us);
	case 'I':
		return buf_printf(out, "%02d", hour_12);
	case 'j':
		return buf_printf(out, "%03d", date_year_day(m));
	case 'b':
		return buf_add(out, months + 3 * (m->month - 1), 3);
	case 'p':
		return buf_add(out, m->hour < 12 ? "AM" : "PM", 2);
	case 'z':
		return buf_add_byte(out, 'Z');
	}
	assert(letter == '%');
	return buf_add_byte(out, '%');
}

/* Long forms first become their parts, which have none themselves. */
static int write_format(const struct date *m, struct bytes format,
			struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < format.size; i++) {
		const char *p;
		char c = (char)format.data[i];

		if (c != '%') {
			err = buf_add_byte(out, (uint8_t)c);
			continue;
		}
		c = (char)format.data[++i];
		p = spelled(c);
		if (!p)
			err = write_one(m, c, out);
		for (; !err && p && *p; p++)
			err = *p == '%' ? write_one(m, *++p, out)
					: buf_add_byte(out, (uint8_t)*p);
	}
	return err;
}

int time_format_write(struct bytes format, int64_t us, struct buf *out)
{
	struct date m;
	int err;

	if (!date_is_known(us))
		return fail(ERR_bad_line,
			    "a time before the year 1 or after 9999 has no "
			    "date");
	date_of(us, &m);
	if (format.size > 0)
		return write_format(&m, format, out);
	err = write_format(&m, BYTES_LITERAL(ISO_WRITE), out);
	if (!err && m.us > 0)
		err = buf_printf(out, ".%06d", m.us);
	return err < 0 ? err : buf_add_byte(out, 'Z');
}
