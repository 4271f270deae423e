#ifndef STORE_TEXT_VALUE_GCPOLICY_H
#define STORE_TEXT_VALUE_GCPOLICY_H

#include "store/store.h"

/*
 * Garbage-collection policies as text: as cbt setgcpolicy takes them, and in
 * the two forms in which they are shown. NULL is the policy that keeps all. The
 * trees, and what they mean, are those of store/gc_policy.h.
 */

/*
 * Takes maxage=30d || maxversions=2 && (...), or the word never; "and" and "or"
 * may stand for the signs. They have no precedence: it goes strictly from left
 * to right. *out is the caller's to free; NULL for never and after an error.
 * -ERR_bad_gc_policy in cbt's words, also for more than GC_DEPTH_MAX levels, or
 * -ENOMEM.
 */
int gc_policy_parse(struct bytes text, struct gc_policy **out);

/* Appends the policy as cbt ls prints it, by when a cell goes:
 * "(age() > 10d || versions() > 1)"; nothing for NULL. 0 or -ENOMEM. */
int gc_policy_print(const struct gc_policy *p, struct buf *out);

/* Appends the policy as gc_policy_parse takes it, by what stays:
 * "maxage=10d||maxversions=1"; "never" for NULL. 0 or -ENOMEM. */
int gc_policy_print_words(const struct gc_policy *p, struct buf *out);

#endif
