#ifndef STORE_ENGINE_INSPECT_INSPECT_LOG_H
#define STORE_ENGINE_INSPECT_INSPECT_LOG_H

#include "store/engine/inspect/inspect_out.h"

/*
 * Show a log, and an edit log. id is that of the file's name, or NULL if the
 * name has none: then the log itself says it. Otherwise as inspect_sst.
 */
int inspect_log(struct inspect *i, struct reader *reader, const uint64_t *id,
		const struct inspect_facts *facts);
int inspect_edits(struct inspect *i, struct reader *reader, const uint64_t *id,
		  const struct inspect_facts *facts);

/* Whether a file is a log by its first whole chunk, and then whether its
 * records are edits: 1, 0 or an error. */
int inspect_is_log(struct reader *reader, bool *is_edits);

#endif
