#ifndef STORE_ENGINE_INSPECT_INSPECT_DIRECTORY_H
#define STORE_ENGINE_INSPECT_INSPECT_DIRECTORY_H

#include "store/engine/files/manifest.h"
#include "store/engine/inspect/inspect_file.h"

/* What the manifest of a directory says, as far as one can be read. */
struct inspect_manifest {
	struct manifest_history history; /* its state is owned */
	bool is_known;
};

/* Reads the manifest, beside whoever may be replacing it: 0 and is_known, or 0
 * and why not in err_detail(); -ENOMEM. To be released in every case. */
int inspect_manifest_read(struct volume *v, struct inspect_manifest *m);
void inspect_manifest_release(struct inspect_manifest *m);

/* What it says of the file of this kind and name. */
struct inspect_facts inspect_manifest_facts(const struct inspect_manifest *m,
					    enum inspect_kind kind,
					    const uint64_t *id);

/* What the file is to the store, in words: " level 2", " live", " left-over",
 * or "" if that is not known; in buffer, which has 64 bytes. */
const char *inspect_manifest_role(const struct inspect_manifest *m,
				  enum inspect_kind kind, const uint64_t *id,
				  char *buffer);

/* Shows each file of a directory in a line, with what is wrong; then sums. v is
 * one of volume_posix_look. 0 or an error of inspect_out.h. */
int inspect_directory(struct inspect *i, struct volume *v);

#endif
