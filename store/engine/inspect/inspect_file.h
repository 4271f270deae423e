#ifndef STORE_ENGINE_INSPECT_INSPECT_FILE_H
#define STORE_ENGINE_INSPECT_INSPECT_FILE_H

#include "store/engine/inspect/inspect_out.h"

/* What a file is. */
enum inspect_kind {
	INSPECT_SST,
	INSPECT_LOG,
	INSPECT_EDITS,
	INSPECT_BLOB,
	INSPECT_ROOT,
	INSPECT_MARKER,
	INSPECT_LOCK,
	INSPECT_HEAT,
	INSPECT_SPARE,      /* held room */
	INSPECT_SPARE_ROOT, /* a former root */
	INSPECT_UNFINISHED, /* a file under way */
	INSPECT_OTHER,      /* none of a store */
};

/* The word for a kind; a constant. */
const char *inspect_kind_word(enum inspect_kind kind);

/* The kind of a word that store_inspect takes; false if there is none. */
bool inspect_kind_parse(const char *word, enum inspect_kind *kind);

/* The kind by the file's name, and with *has_id its id. INSPECT_OTHER if the
 * name says nothing. */
enum inspect_kind inspect_kind_of_name(const char *name, uint64_t *id,
				       bool *has_id);

/* The same by content. 0, or an error of reading. */
int inspect_kind_of_content(struct reader *reader, enum inspect_kind *kind);

/* Shows a file of this kind, whose path is i->path; id may be NULL. What cannot
 * be read is told, and taken for zeros. 0, or an error of inspect_out.h. */
int inspect_file(struct inspect *i, struct reader *reader,
		 enum inspect_kind kind, const uint64_t *id,
		 const struct inspect_facts *facts);

#endif
