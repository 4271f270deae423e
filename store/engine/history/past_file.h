#ifndef STORE_ENGINE_HISTORY_PAST_FILE_H
#define STORE_ENGINE_HISTORY_PAST_FILE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/volume/volume.h"
#include "store/engine/history/file_owner.h"
#include "store/format/sst/sst.h"

/*
 * A history file: an sst of what merges left out of the tree and some moment
 * still sees. It is of no level, may overlap others, and is opened when a read
 * of a moment first wants it; so the manifest says of it what its properties
 * would, and a store that nobody reads the past of has none of them open.
 *
 * What it holds was left out by merges that no reader of visible_seq or later
 * could tell from others. So only moments up to visible_seq read it, and it
 * goes as a whole when the first moment is later: nothing in it has to say when
 * it was hidden.
 */
struct past_facts {
	uint64_t id;
	uint64_t size;        /* bytes on the volume */
	uint64_t seq;         /* of all entries, if bulk-loaded; else 0 */
	uint64_t visible_seq; /* when the merge that wrote it began */
	bool largest_exclusive;
	struct bytes smallest; /* see sst_properties */
	struct bytes largest;
	const struct blob_share *blobs; /* that it refers to, by id */
	size_t blob_count;
};

/* A copy of from that owns what it points at; NULL without memory. */
struct past_facts *past_facts_copy(const struct past_facts *from);

/* Frees what past_facts_copy gave. NULL is allowed. */
void past_facts_free(struct past_facts *facts);

/* What an sst says of itself: borrowed from it. */
void past_facts_of(const struct sst *sst, uint64_t id, uint64_t size,
		   uint64_t seq, uint64_t visible_seq, struct past_facts *out);

struct past_file {
	struct past_facts *facts; /* owned; not changed */
	char name[VOLUME_NAME_MAX + 1];
	struct volume *volume; /* borrowed, as those below */
	struct cache *cache;
	struct file_owner *owner; /* outlives the file */
	atomic_uint references;
	atomic_bool obsolete; /* remove with the last reference */
	pthread_mutex_t lock; /* guards what follows; no other is taken */
	struct sst *sst;      /* NULL: nobody has read it yet */
};

/* An object with one reference, which copies facts. 0 or -ENOMEM. */
int past_file_new(const struct past_facts *facts, const char *name,
		  struct volume *volume, struct cache *cache,
		  struct file_owner *owner, struct past_file **out);

/* f must not be NULL. */
struct past_file *past_file_get(struct past_file *f);

/* The last reference closes the sst and, if the file is obsolete, tells its
 * owner. NULL is allowed. */
void past_file_put(struct past_file *f);

/* The sst, which stays open as long as f lives, and is f's. -ERR_sst_malformed
 * if it is not as large as the manifest says; errors of opening. */
int past_file_open(struct past_file *f, struct sst **out);

/* Whether f may hold something in [start, end); an empty end is unbounded. */
bool past_file_overlaps(const struct past_file *f, struct bytes start,
			struct bytes end);

#endif
