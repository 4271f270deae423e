#ifndef STORE_ENGINE_FILES_EDIT_H
#define STORE_ENGINE_FILES_EDIT_H

#include "store/engine/files/manifest.h"

/*
 * Making, writing and reading edits: one change of the manifest each, which
 * happens whole or not at all. store/README.md has the bytes. An edit belongs
 * to one thread; starting from EDIT_INIT it owns its arrays until edit_release.
 *
 * The calls that add something return 0 or -ENOMEM, and after -ENOMEM the edit
 * is as before.
 */

/* level < LEVEL_COUNT. size is what the file has on the volume: opening
 * compares it. */
int edit_add_file(struct edit *e, uint32_t level, uint64_t id, uint64_t size);

/* As edit_add_file, of a file whose entries all have this sequence; with seq 0
 * each has its own. */
int edit_add_loaded(struct edit *e, uint32_t level, uint64_t id, uint64_t size,
		    uint64_t seq);

/* It must be on this level: applying the edit compares. A file that moves is
 * removed from one level and added to the other. */
int edit_remove_file(struct edit *e, uint32_t level, uint64_t id);

/* A log that begins (final_size 0) or is finished with so many bytes. */
int edit_add_log(struct edit *e, uint64_t id, uint64_t final_size);

/* A blob file that begins (final_size 0) or is finished with so many bytes. */
int edit_add_blob(struct edit *e, uint64_t id, uint64_t final_size);

/* A blob file to which nothing refers any more. */
int edit_drop_blob(struct edit *e, uint64_t id);

/* A moment that can be read at; one that cannot any more. */
int edit_add_moment(struct edit *e, const struct moment *moment);
int edit_end_moment(struct edit *e, uint64_t seq);

/* Nothing came after the moment of this sequence until then. */
int edit_add_quiet(struct edit *e, uint64_t seq, uint64_t until_us);

/* A history file, of which facts are copied; one that is obsolete. An sst may
 * become a history file as it is: then the edit removes it from its level. */
int edit_add_past(struct edit *e, const struct past_facts *facts);
int edit_drop_past(struct edit *e, uint64_t id);

/* Frees the arrays and leaves EDIT_INIT, to be filled again. */
void edit_release(struct edit *e);

/* Whether e takes this sst from this level; it may put it on another. */
bool edit_removes(const struct edit *e, unsigned int level, uint64_t id);

/* Whether e takes this blob file out. */
bool edit_drops_blob(const struct edit *e, uint64_t id);

/* Whether e takes this history file out. */
bool edit_drops_past(const struct edit *e, uint64_t id);

/* What e has of the history file with this id, which is e's; NULL if it adds no
 * such file. */
const struct past_facts *edit_past(const struct edit *e, uint64_t id);

/* Whether e ends the moment of this sequence. */
bool edit_ends_moment(const struct edit *e, uint64_t seq);

/* Appends the bytes of e to out. 0 or -ENOMEM. */
int edit_encode(const struct edit *e, struct buf *out);

/* Replaces *e, which is not released before, by the edit that in holds. After
 * an error it is empty: -ERR_manifest_damaged, -ERR_format_newer for a field of
 * a later version of the format, -ENOMEM. */
int edit_decode(struct bytes in, struct edit *e);

#endif
