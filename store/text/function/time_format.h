#ifndef STORE_TEXT_FUNCTION_TIME_FORMAT_H
#define STORE_TEXT_FUNCTION_TIME_FORMAT_H

#include "store/base/buf.h"

/*
 * Times by a format, read and written without the C library: English names,
 * each number checked for its range, nothing passed over. Times are
 * microseconds since 1970, negative before it.
 *
 *   %Y four digits   %m %d %H %M %S %I one or two   %j up to three
 *   %f a fraction, of which six digits count and others are cut
 *   %b Jan, %p AM, of any case   %F %Y-%m-%d   %T %H:%M:%S   %% a percent sign
 *   %z Z, +02:00, +0200 or +02
 *
 * Any other byte stands for itself. An empty format is ISO 8601: a date, then
 * perhaps T or a blank and a time of hours and minutes or more, then perhaps a
 * zone; or all that without - and : in its basic form; 24:00 ends a day. All
 * may be called by any thread.
 */

/* Which of these a format is for. */
enum time_use { TIME_READ, TIME_WRITE };

/* Whether it is a format at all, and, to be read, tells one moment: it needs
 * %Y, and %I needs %p. -ERR_bad_argument says what is wrong. */
int time_format_check(struct bytes format, enum time_use use);

/* Takes all of text, by a format that time_format_check took; one without a
 * zone is of zone_s, seconds east of Greenwich. -ERR_bad_line. */
int time_format_read(struct bytes format, struct bytes text, int zone_s,
		     int64_t *us);

/* Appends the time in UTC, with all six digits of %f; as ISO 8601 those only
 * if they are not 0. -ERR_bad_line before the year 1 or after 9999, -ENOMEM. */
int time_format_write(struct bytes format, int64_t us, struct buf *out);

/* "Z", "+02:00", "+0200" or "+02" as seconds east of Greenwich: all of text.
 * -ERR_bad_argument. */
int time_zone_parse(struct bytes text, int *zone_s);

#endif
