#ifndef STORE_ENGINE_FILES_MANIFEST_NEXT_H
#define STORE_ENGINE_FILES_MANIFEST_NEXT_H

#include "store/engine/files/manifest.h"

/* The step from one version to the next: what an edit makes of the files that
 * there are. Nothing of the manifest changes. */

/*
 * The version that e makes of m's present one; a file that is new is opened,
 * one that stays or moves keeps its object. One reference is the caller's.
 * -ERR_manifest_damaged if e removes what is not there or adds what is missing;
 * -ENOMEM, and what opening a file says.
 */
int manifest_next(struct manifest *m, const struct edit *e,
		  struct version **out);

/* The version of exactly the files that whole names, as edits that were read
 * come to: those that m's present one has keep their objects. As manifest_next
 * else. */
int manifest_version_of(struct manifest *m, const struct edit *whole,
			struct version **out);

/* Whether v, made of e, may become m's present version: 0 or -ERR_invariant.
 * For edits that this process makes; of what it reads nothing can be taken for
 * granted. */
int manifest_check(const struct manifest *m, const struct edit *e,
		   const struct version *v);

#endif
