#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/err.h"
#include "store/base/threads/reference.h"
#include "store/engine/history/past_file.h"

/* Facts, shares and both keys are one allocation, in this order. */
struct past_facts *past_facts_copy(const struct past_facts *from)
{
	size_t shares = from->blob_count * sizeof(*from->blobs);
	size_t size = sizeof(*from) + shares + from->smallest.size;
	struct past_facts *to = malloc(size + from->largest.size);
	uint8_t *at;

	if (!to)
		return NULL;
	*to = *from;
	at = (uint8_t *)(to + 1);
	to->blobs = (const struct blob_share *)(to + 1);
	if (shares > 0)
		memcpy(at, from->blobs, shares);
	at += shares;
	to->smallest.data = at;
	memcpy(at, from->smallest.data, from->smallest.size);
	at += from->smallest.size;
	to->largest.data = at;
	memcpy(at, from->largest.data, from->largest.size);
	return to;
}

void past_facts_free(struct past_facts *facts)
{
	free(facts);
}

void past_facts_of(const struct sst *sst, uint64_t id, uint64_t size,
		   uint64_t seq, uint64_t visible_seq, struct past_facts *out)
{
	const struct sst_properties *p = sst_properties(sst);

	*out = (struct past_facts){
		.id = id,
		.size = size,
		.seq = seq,
		.visible_seq = visible_seq,
		.largest_exclusive = p->largest_exclusive,
		.smallest = p->smallest,
		.largest = p->largest,
		.blobs = p->blobs,
		.blob_count = p->blob_count,
	};
}

int past_file_new(const struct past_facts *facts, const char *name,
		  struct volume *volume, struct cache *cache,
		  struct file_owner *owner, struct past_file **out)
{
	struct past_file *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	f->facts = past_facts_copy(facts);
	if (!f->facts) {
		free(f);
		*out = NULL;
		return -ENOMEM;
	}
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->volume = volume;
	f->cache = cache;
	f->owner = owner;
	reference_init(&f->references);
	pthread_mutex_init(&f->lock, NULL);
	return 0;
}

struct past_file *past_file_get(struct past_file *f)
{
	reference_take(&f->references);
	return f;
}

void past_file_put(struct past_file *f)
{
	if (!f || !reference_drop(&f->references))
		return;
	/* Closed first: the owner may remove the file at once. */
	sst_close(f->sst);
	if (atomic_load(&f->obsolete))
		f->owner->unused(f->owner, f->facts->id, f->facts->size);
	pthread_mutex_destroy(&f->lock);
	past_facts_free(f->facts);
	free(f);
}

/* Needs f's lock. */
static int open_sst(struct past_file *f)
{
	struct reader *reader;
	int err = f->volume->ops->open(f->volume, f->name, &reader);

	if (err == -ENOENT)
		return fail(ERR_manifest_damaged, "%s/%s: is missing",
			    f->volume->path, f->name);
	if (err < 0)
		return err;
	if (reader->size != f->facts->size)
		err = fail(ERR_sst_malformed,
			   "%s: has %llu bytes, the manifest says %llu",
			   reader->path, (unsigned long long)reader->size,
			   (unsigned long long)f->facts->size);
	else
		err = sst_open(reader, f->cache, f->facts->id, &f->sst);
	if (err < 0)
		f->volume->ops->reader_close(reader);
	else if (f->facts->seq)
		sst_set_seq(f->sst, f->facts->seq);
	return err;
}

int past_file_open(struct past_file *f, struct sst **out)
{
	int err = 0;

	pthread_mutex_lock(&f->lock);
	if (!f->sst)
		err = open_sst(f);
	*out = f->sst;
	pthread_mutex_unlock(&f->lock);
	return err;
}

bool past_file_overlaps(const struct past_file *f, struct bytes start,
			struct bytes end)
{
	int order = bytes_compare(f->facts->largest, start);

	return (order > 0 || (order == 0 && !f->facts->largest_exclusive)) &&
	       (end.size == 0 || bytes_compare(f->facts->smallest, end) < 0);
}
