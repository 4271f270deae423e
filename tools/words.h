#ifndef TOOLS_WORDS_H
#define TOOLS_WORDS_H

#include "store/base/buf.h"

/*
 * What may stand behind a verb, read off its usage and its help: completion so
 * offers what help says, and there is nothing else to be kept in step. In the
 * usage
 *
 *     <table>        is a place, and [<file>] one that may stay empty
 *     name=a|b|<c>   a word, of which some values are known
 *     -f  a|b        are words as they stand
 *
 * and what follows a word within the same [ ] belongs to it. In the help a line
 * that begins with two blanks and -o name is of that, and one that begins so
 * and goes on with name=... or [name], once or more often, is of these words.
 */

/* Appends a line for each place, in their order, and each word: "<table>" or
 * "[<file>]"; "name=value" for each value that is known and "name=" if there
 * are others; "name"; and behind "-o " what may follow that. None comes twice.
 * 0 or -ENOMEM. */
int words_of(const char *usage, const char *help, struct buf *out);

#endif
