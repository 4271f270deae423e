#ifndef STORE_TEXT_VALUE_NUMBER_H
#define STORE_TEXT_VALUE_NUMBER_H

#include "store/store.h"

/*
 * Integers as text: as cbt takes them and as the printers write them. Pure
 * functions but for what they append to out, each 0 or -ENOMEM.
 */

/* Decimal digits behind an optional sign, all of text and nothing else, so that
 * 010 is ten: how integers are written wherever cbt does not say otherwise.
 * False if text is no such number or it does not fit 64 bits; then *out is
 * untouched. */
bool int_parse(struct bytes text, int64_t *out);

/* A number to be added, as a counter's file and add of a recipe take it: with
 * blanks around it, or nothing but those, which adds nothing. 1 with *out, 0,
 * or -EINVAL, without a detail. */
int int_parse_added(struct bytes text, int64_t *out);

/* Go's strconv.ParseInt(text, 0, 64), so that set takes what cbt set takes:
 * 0x3e8, 0777, 1_000_000, -1. False if text is no such number or it does not
 * fit; then *out is untouched. */
bool int_parse_go(struct bytes text, int64_t *out);

/* A number of bytes, which K, M, G or T may follow, times 1024 each, also in
 * small letters. -ERR_bad_argument, where word is what the text is given for.
 */
int size_parse(const char *word, const char *text, uint64_t *out);

/* Appends the number that an aggregate cell holds, in decimal;
 * store/aggregate.h says what that is. */
int aggregate_print(const struct cell *cell, struct buf *out);

/* Appends v in decimal, with zeros in front up to so many digits, 20 at most.
 * printf would take half of the printers' time. */
int print_u64(uint64_t v, unsigned int digits, struct buf *out);

#endif
