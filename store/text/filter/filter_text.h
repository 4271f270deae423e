#ifndef STORE_TEXT_FILTER_FILTER_TEXT_H
#define STORE_TEXT_FILTER_FILTER_TEXT_H

#include "store/store.h"

/*
 * A filter, see store/filter.h, as an expression by Bigtable's names:
 *
 *   pass_all  block_all  sink  strip_value
 *   row_key_regex('re')  family_name_regex('re')  column_qualifier_regex('re')
 *   value_regex('re')  value_bitmask(x'01')  apply_label('text')
 *   column_range('family', >= 'a', < 'b')  value_range(> 'a', <= 'b')
 *   timestamp_range(from[, to])   from <= microseconds < to
 *   cells_per_row_limit(n)  cells_per_row_offset(n)  cells_per_column_limit(n)
 *   row_sample(0.1)  chain(filter, filter, ...)  interleave(filter, ...)
 *   condition(predicate, filter if it holds[, filter if not])
 *
 * Strings are in ' or " quotes, in which nothing is special but the quote, that
 * stands for itself when doubled; x'00ff' is one in hexadecimal digits. Space
 * between the parts means nothing.
 *
 * *out is the caller's to free, NULL after an error: -ERR_bad_argument says
 * what is wrong at which byte, or -ENOMEM. Any thread may call it; text is not
 * needed afterwards.
 */
int filter_parse(struct bytes text, struct filter **out);

#endif
