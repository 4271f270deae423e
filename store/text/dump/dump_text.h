#ifndef STORE_TEXT_DUMP_DUMP_TEXT_H
#define STORE_TEXT_DUMP_DUMP_TEXT_H

#include "store/base/buf.h"

/*
 * Bytes as they stand at the end of a line of a dump: ' and a text, if they are
 * UTF-8, else = and base64. Every run of bytes has one such form, which is what
 * dump_text_add makes; dump_text_take also takes others.
 */

/* The first line of a dump, and the only one of another version. */
#define DUMP_HEAD "tabletfs-dump 1"

/* A value of more bytes is parted over lines of at most so many each. */
#define DUMP_PART ((size_t)48 << 10)

/* A line, without its newline, is never longer: all of an attribute as \xHH,
 * and what stands before it. */
#define DUMP_LINE_MAX ((size_t)257 << 10)

/* 0 or -ENOMEM. s must not lie in out. */
int dump_text_add(struct bytes s, struct buf *out);

/* The same as base64, whatever s is, so that it takes a third more and never
 * four times as much. */
int dump_text_add_base64(struct bytes s, struct buf *out);

/* Appends the bytes that text stands for. -ERR_bad_line, with what is wrong and
 * where in text, or -ENOMEM. */
int dump_text_take(struct bytes text, struct buf *out);

#endif
