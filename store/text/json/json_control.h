#ifndef STORE_TEXT_JSON_JSON_CONTROL_H
#define STORE_TEXT_JSON_JSON_CONTROL_H

#include "store/base/buf.h"

/*
 * Debian's control format, deb822(5): paragraphs of fields, parted by empty
 * lines. A field is NAME: VALUE, and goes on in lines with a blank in front,
 * which is no part of the value; # begins a comment.
 */

/* Whether a text's first line may be one of it: a name, a colon, a blank, and
 * nothing that parts fields of CSV. */
bool json_control_begins(struct bytes line);

/* Whether a line, without its end, parts paragraphs: it has blanks at most. */
bool json_control_parts(struct bytes line);

/*
 * Appends a paragraph as a JSON object of strings, in the order of its fields:
 * up to six times as long. Lines are joined by newlines; a value whose first
 * line is empty begins with the next. number is that of its first line.
 * -ERR_bad_line tells the line that is wrong, or -ENOMEM.
 */
int json_control(struct bytes text, uint64_t number, struct buf *out);

#endif
