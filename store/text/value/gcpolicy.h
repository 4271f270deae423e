#ifndef STORE_TEXT_VALUE_GCPOLICY_H
#define STORE_TEXT_VALUE_GCPOLICY_H

#include "store/store.h"

/* cbt's grammar: maxage=30d || maxversions=2 && (...), or the word never; and,
 * or have no precedence, strictly left to right. *out NULL is never. */
int gc_policy_parse(struct bytes text, struct gc_policy **out);

/* As cbt ls prints it: "(age() > 10d || versions() > 1)"; empty for NULL. */
int gc_policy_print(const struct gc_policy *p, struct buf *out);

/* As setgcpolicy takes it: "maxage=10d||maxversions=1"; "never" for NULL. */
int gc_policy_print_words(const struct gc_policy *p, struct buf *out);

#endif
