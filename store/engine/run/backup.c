#include <assert.h>
#include <stdlib.h>

#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/base/volume/volume_copy.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blob_verify.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/backup.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/format/sst/sst.h"
#include "store/format/sst/sst_verify.h"

/*
 * A backup is a store of its own: the files of one version, linked or copied,
 * and a manifest that names them. Everything written before is flushed first,
 * with the commit lock held, so that it needs no log. While files are brought
 * the version keeps them, and writers go on.
 *
 * Who brings them may be another process, which knows of the store what stands
 * in contents and nothing else:
 *
 *   the backup's root | edit, as in an edit log
 */
struct contents {
	/* With the store's epoch: the backup's opening takes the next; and an
	 * edit log that is new in the store, too. */
	struct manifest_root root;
	struct edit state; /* what the backup's manifest says */
};

static int encode(const struct contents *c, struct buf *out)
{
	uint8_t raw[MANIFEST_ROOT_SIZE];
	int err;

	manifest_root_encode(&c->root, raw);
	err = buf_add_bytes(out, bytes_of(raw, sizeof(raw)));
	return err == 0 ? edit_encode(&c->state, out) : err;
}

/* To be released, after an error, too. */
static int decode(struct bytes in, struct contents *c)
{
	int err = -ERR_manifest_damaged;

	c->state = (struct edit)EDIT_INIT;
	if (in.size >= MANIFEST_ROOT_SIZE)
		err = manifest_root_decode(
			"what is pinned", bytes_of(in.data, MANIFEST_ROOT_SIZE),
			&c->root);
	if (err == 0)
		err = edit_decode(bytes_after(in, MANIFEST_ROOT_SIZE),
				  &c->state);
	return err < 0 && err != -ENOMEM
		       ? fail(ERR_manifest_damaged,
			      "what is pinned is told in bytes that this "
			      "program does not know")
		       : err;
}

/* Takes the manifest's state, in which every blob file is finished, and a
 * reference on its version. */
static int take_state(struct engine *e, struct contents *c,
		      struct version **pin)
{
	int err;

	pthread_mutex_lock(&e->edits);
	err = manifest_state(e->manifest, &c->state);
	if (err == 0) {
		*pin = version_get(e->manifest->current);
		c->root = (struct manifest_root){
			e->manifest->epoch, manifest_new_id(e->manifest),
			identity_of_child(&e->manifest->identity,
					  c->state.last_seq)
		};
		/* What has expired here is not seen there. */
		pthread_mutex_lock(&e->lock);
		c->state.gc_time_us = engine_gc_time(e);
		pthread_mutex_unlock(&e->lock);
	}
	pthread_mutex_unlock(&e->edits);
	/* The logs' content is in the ssts. */
	c->state.log_count = 0;
	/* Of the past it has nothing. */
	c->state.moment_count = 0;
	while (c->state.past_count > 0)
		past_facts_free(c->state.pasts[--c->state.past_count]);
	return err;
}

/* Fixes what belongs to the backup: all that was written before, in ssts and
 * finished blob files. With commit held nothing is written, so the second flush
 * leaves nothing out; it is short, as the first has taken most of it. */
static int capture(struct engine *e, struct contents *c, struct version **pin)
{
	int err;

	err = engine_flush(e); /* most of it without the lock */
	if (err < 0)
		return err;
	pthread_mutex_lock(&e->commit);
	err = engine_writable(e);
	if (err == 0)
		err = engine_flush_waiting(e);
	if (err == 0 && e->memtable->last_seq > 0)
		err = engine_rotate(e, 0);
	if (err == 0)
		err = engine_flush_waiting(e);
	/* A compaction may move large values meanwhile, into a file of which a
	 * backup could not have all: there is none until the state is taken. */
	if (err == 0) {
		err = blob_pause(e);
		if (err == 0)
			err = take_state(e, c, pin);
		blob_resume(e);
	}
	pthread_mutex_unlock(&e->commit);
	return err;
}

int engine_pin(struct engine *e, struct buf *contents, struct version **pin)
{
	struct contents c = { .state = EDIT_INIT };
	uint64_t start = event_now(&e->events);
	int err;

	*pin = NULL;
	err = capture(e, &c, pin);
	assert(err < 0 || *pin);
	if (err == 0)
		err = encode(&c, contents);
	if (err < 0) {
		version_put(*pin);
		*pin = NULL;
	}
	if (err == 0)
		atomic_fetch_add(&e->pin_count, 1);
	if (err == 0)
		event_add(&e->events, EVENTS_MAIN,
			  "pinned ssts=%zu blobs=%zu us=%llu",
			  c.state.added_count, c.state.blob_count,
			  (unsigned long long)event_since(&e->events, start));
	edit_release(&c.state);
	return err;
}

void engine_unpin(struct engine *e, struct version *pin)
{
	if (!pin)
		return;
	version_put(pin);
	atomic_fetch_sub(&e->pin_count, 1);
	event_add(&e->events, EVENTS_MAIN, "unpinned");
}

/* As backup_source.pin. */
static int pin_own(void *context, struct buf *contents)
{
	struct engine_source *own = context;

	return engine_pin(own->engine, contents, &own->pin);
}

/* As backup_source.unpin: here nothing else ends it. */
static int unpin_own(void *context)
{
	struct engine_source *own = context;

	engine_unpin(own->engine, own->pin);
	return 0;
}

struct backup_source engine_source(struct engine *e, struct engine_source *own)
{
	*own = (struct engine_source){ .engine = e };
	return (struct backup_source){ e->volume, pin_own, unpin_own, own };
}

int backup_contents(struct volume *v, struct buf *contents)
{
	struct manifest_history h;
	struct contents c = { .state = EDIT_INIT };
	int err = manifest_read(v, &h);

	if (err == 0 && h.state.log_count > 0)
		err = fail(EINVAL,
			   "%s: was written to since it was made, so it is a "
			   "store and no backup: tabletfs -store %s backup "
			   "<dir> makes one",
			   v->path, v->path);
	c.root = (struct manifest_root){
		(uint32_t)(h.edits_id >> 32), h.edits_id,
		identity_of_child(&h.identity, h.state.last_seq)
	};
	c.state = h.state;
	c.state.removed_count = c.state.dropped_count = 0;
	if (err == 0)
		err = encode(&c, contents);
	edit_release(&h.state);
	return err;
}

/* Of the files that are shared, so many bytes are read again at least, and such
 * a part. */
#define READ_AGAIN_MIN (UINT64_C(1) << 30)
#define READ_AGAIN_PART 16

/* Bringing the files of one backup. */
struct bringing {
	struct volume *from, *to;
	struct backup_how how;
	struct backup_result *result;
	uint64_t size; /* of all files */
	uint64_t turn; /* another one for each backup */
};

/* Whether two volumes have the same file of this name. */
static bool is_one_file(struct volume *v, struct volume *w, const char *name)
{
	struct file_mark first, second;

	return volume_posix_mark(v, name, &first) &&
	       volume_posix_mark(w, name, &second) &&
	       first.device == second.device && first.inode == second.inode;
}

/* Whether the older backup has the same as f, whose digest is known then if
 * anybody ever read it. A file that lies where the older one was copied from,
 * and was not written since, need not be read for that. */
static int is_in_older(const struct bringing *b, struct backup_file *f)
{
	const struct backup_file *known =
		b->how.older ? backup_digests_find(b->how.known, f->name)
			     : NULL;
	int err;

	if (!known || known->size != f->size)
		return 0;
	/* One that was linked to the store is no second copy. */
	if (is_one_file(b->from, b->how.older, f->name)) {
		f->has_digest = known->has_digest;
		f->digest = known->digest;
		return !b->how.copies;
	}
	if (!known->has_digest)
		return 0;
	f->has_digest = true;
	f->digest = known->digest;
	if (f->source.inode != 0 && known->source.inode == f->source.inode &&
	    known->source.written_ns == f->source.written_ns)
		return 1;
	err = volume_digest(b->from, f->name, f->size, &f->digest);
	return err < 0 ? err
		       : memcmp(&f->digest, &known->digest, DIGEST_SIZE) == 0;
}

/* Whether this backup reads f again, of which the older one is believed to have
 * the bytes: another part of all files each time, so that none is believed for
 * ever. */
static bool is_read_again(const struct bringing *b, const struct backup_file *f)
{
	uint64_t part = b->size / READ_AGAIN_PART;
	uint64_t key[2] = { hash64(bytes_string(f->name)), b->turn };

	if (part < READ_AGAIN_MIN)
		part = READ_AGAIN_MIN;
	return b->size <= part ||
	       hash64(bytes_of(key, sizeof(key))) % b->size < part;
}

/* That a file is there, of this size, and with read that it holds what f has,
 * if that is known. */
static int check_file(struct volume *v, const struct backup_file *f, bool read)
{
	struct digest digest;
	struct reader *r;
	int err = v->ops->open(v, f->name, &r);

	if (err < 0)
		return err;
	if (r->size != f->size)
		err = fail(ERR_check_failed,
			   "%s: has %llu bytes, and was written with %llu",
			   r->path, (unsigned long long)r->size,
			   (unsigned long long)f->size);
	v->ops->reader_close(r);
	if (err < 0 || !read || !f->has_digest)
		return err;
	err = volume_digest(v, f->name, f->size, &digest);
	if (err == 0 && memcmp(&digest, &f->digest, DIGEST_SIZE) != 0)
		err = fail(ERR_check_failed,
			   "%s/%s: is damaged, it is not what was backed up",
			   v->path, f->name);
	return err;
}

/* Whether the file of the older backup can be shared: 1, 0 if it is damaged,
 * which is counted, and no trouble. */
static int is_sound(const struct bringing *b, const struct backup_file *f)
{
	struct backup_result *r = b->result;
	int err = check_file(b->how.older, f, is_read_again(b, f));

	if (err == 0 || err == -ENOMEM)
		return err < 0 ? err : 1;
	err_clear();
	if (r->damaged_count++ == 0)
		strcpy(r->damaged, f->name);
	return 0;
}

/* Links f from a volume: 1, 0 if it has to be copied. */
static int link_from(struct volume *from, const struct backup_file *f,
		     struct volume *to, bool must_be)
{
	int err = from->ops->link(from, f->name, to);

	if (err == 0)
		return 1;
	if (err != -EXDEV && (must_be || err != -ENOENT))
		return err;
	err_clear(); /* that it cannot be linked is no trouble */
	return 0;
}

/* Reads all of a copy: what the store's own file had wrong is found here. */
static int verify_sst(struct volume *v, const struct backup_file *f,
		      const struct manifest_file *file)
{
	struct reader *r;
	struct sst *sst;
	int err = v->ops->open(v, f->name, &r);

	if (err < 0)
		return err;
	err = sst_open(r, NULL, file->id, &sst);
	if (err < 0) {
		v->ops->reader_close(r);
		return err;
	}
	if (file->seq != 0)
		sst_set_seq(sst, file->seq);
	err = sst_verify(sst);
	sst_close(sst);
	return err;
}

/* What digests have of a file of v; one that they do not tell of is not what it
 * was, nor are they. */
static int find_expected(const struct backup_digests *d, struct volume *v,
			 const char *name, uint64_t size,
			 const struct backup_file **out)
{
	*out = backup_digests_find(d, name);
	if (*out && (*out)->size == size)
		return 0;
	return fail(ERR_check_failed,
		    "%s/%s: is damaged, or the digests beside it are: they do "
		    "not tell of it",
		    v->path, name);
}

/* sst is that of the manifest, or NULL of a blob file. */
static int copy(const struct bringing *b, struct backup_file *f,
		const struct manifest_file *sst)
{
	const struct backup_file *expected = NULL;
	int err;

	if (b->how.expected) {
		err = find_expected(b->how.expected, b->from, f->name, f->size,
				    &expected);
		if (err < 0)
			return err;
	}
	err = volume_copy(b->from, f->name, f->size, b->to, &f->digest);
	f->has_digest = true;
	if (err == 0 && expected && expected->has_digest &&
	    memcmp(&expected->digest, &f->digest, DIGEST_SIZE) != 0)
		err = fail(ERR_check_failed,
			   "%s/%s: is damaged, it is not what was backed up",
			   b->from->path, f->name);
	return err == 0 && sst ? verify_sst(b->to, f, sst) : err;
}

/* Brings one file, of this size, and counts it: 1 if it was copied. sst is as
 * of copy. */
static int bring(const struct bringing *b, uint64_t id, uint64_t size,
		 const struct manifest_file *sst)
{
	struct backup_file f = { .size = size };
	struct backup_result *r = b->result;
	int shared, linked = 0, err = b->how.check ? b->how.check() : 0;

	if (err < 0)
		return err;
	manifest_name(id, sst ? "sst" : "blob", f.name);
	(void)volume_posix_mark(b->from, f.name, &f.source);
	shared = is_in_older(b, &f);
	if (shared > 0)
		shared = is_sound(b, &f);
	if (shared > 0)
		shared = link_from(b->how.older, &f, b->to, false);
	if (shared == 0 && !b->how.copies)
		linked = link_from(b->from, &f, b->to, true);
	if (shared < 0 || linked < 0)
		return shared < 0 ? shared : linked;
	if (!shared && !linked)
		err = copy(b, &f, sst);
	if (err == 0 && b->how.brought)
		err = backup_digests_add(b->how.brought, &f);
	r->size += size;
	r->shared_count += shared;
	r->linked_count += linked;
	r->copied_count += !shared && !linked;
	r->copied_size += !shared && !linked ? size : 0;
	return err < 0 ? err : !shared && !linked;
}

/* Bytes of all files that the state names. */
static uint64_t size_of(const struct edit *state)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < state->added_count; i++)
		size += state->added[i].size;
	for (i = 0; i < state->blob_count; i++)
		size += state->blobs[i].final_size;
	return size;
}

/* All files that the state names. Of blob files that are copied the chunks are
 * verified that something refers to, when all ssts are there to tell. */
static int bring_all(const struct bringing *b, const struct edit *state)
{
	struct manifest_log *copied =
		calloc(state->blob_count + 1, sizeof(*copied));
	size_t i, count = 0;
	int err = copied ? 0 : -ENOMEM;

	for (i = 0; i < state->added_count && err >= 0; i++)
		err = bring(b, state->added[i].id, state->added[i].size,
			    &state->added[i]);
	for (i = 0; i < state->blob_count && err >= 0; i++) {
		err = bring(b, state->blobs[i].id, state->blobs[i].final_size,
			    NULL);
		if (err > 0)
			copied[count++] = state->blobs[i];
	}
	if (err >= 0)
		err = blob_verify_files(b->to, copied, count, state->added,
					state->added_count);
	free(copied);
	return err;
}

int backup_bring(const struct backup_source *from, const struct backup_how *how,
		 struct volume *to, struct backup_result *result)
{
	struct bringing b = { .from = from->volume,
			      .to = to,
			      .result = result };
	struct contents c = { .state = EDIT_INIT };
	struct buf bytes = BUF_INIT;
	int err, ended;

	*result = (struct backup_result){ .size = 0 };
	if (how)
		b.how = *how;
	err = from->pin(from->context, &bytes);
	if (err < 0)
		goto release;
	err = decode(buf_bytes(&bytes), &c);
	b.size = size_of(&c.state);
	b.turn = clock_now(&clock_real);
	if (err == 0 && b.how.accept)
		err = b.how.accept(b.how.context, &c.root);
	if (err == 0)
		err = bring_all(&b, &c.state);
	/* A pin that has ended is why a file is missing. */
	ended = from->unpin(from->context);
	if (ended < 0)
		err = ended;
	/* Last, as it makes a store of the volume. */
	if (err == 0)
		err = manifest_write(to, &c.root, &c.state);
	edit_release(&c.state);
release:
	buf_release(&bytes);
	return err;
}

/* A backup that is verified. */
struct verifying {
	struct volume *volume;
	const struct backup_digests *expected;
	struct volume *like;
	const struct backup_digests *known;
};

/* Whether f is one that was read already. */
static bool is_known(const struct verifying *c, const struct backup_file *f)
{
	const struct backup_file *same =
		c->like ? backup_digests_find(c->known, f->name) : NULL;

	return same && same->size == f->size && same->has_digest &&
	       f->has_digest &&
	       memcmp(&same->digest, &f->digest, DIGEST_SIZE) == 0 &&
	       is_one_file(c->volume, c->like, f->name);
}

/* 1 if it was linked, so that nobody has read it; id, size and sst are as of
 * bring. */
static int verify(const struct verifying *c, uint64_t id, uint64_t size,
		  const struct manifest_file *sst)
{
	char name[VOLUME_NAME_MAX + 1];
	const struct backup_file *f;
	int err;

	manifest_name(id, sst ? "sst" : "blob", name);
	err = find_expected(c->expected, c->volume, name, size, &f);
	if (err < 0)
		return err;
	if (is_known(c, f))
		return 0;
	err = check_file(c->volume, f, true);
	if (err == 0 && sst && !f->has_digest)
		err = verify_sst(c->volume, f, sst);
	return err < 0 ? err : !f->has_digest;
}

/* All files that the state names. */
static int verify_all(const struct verifying *c, const struct edit *state)
{
	struct manifest_log *linked =
		calloc(state->blob_count + 1, sizeof(*linked));
	size_t i, count = 0;
	int err = linked ? 0 : -ENOMEM;

	for (i = 0; i < state->added_count && err >= 0; i++)
		err = verify(c, state->added[i].id, state->added[i].size,
			     &state->added[i]);
	for (i = 0; i < state->blob_count && err >= 0; i++) {
		err = verify(c, state->blobs[i].id, state->blobs[i].final_size,
			     NULL);
		if (err > 0)
			linked[count++] = state->blobs[i];
	}
	if (err >= 0)
		err = blob_verify_files(c->volume, linked, count, state->added,
					state->added_count);
	free(linked);
	return err;
}

int backup_verify(struct volume *v, const struct backup_digests *expected,
		  struct volume *like, const struct backup_digests *known)
{
	struct verifying c = { v, expected, like, known };
	struct manifest_history h;
	int err = manifest_read(v, &h);

	if (err == 0)
		err = verify_all(&c, &h.state);
	edit_release(&h.state);
	return err;
}

/* A backup that is held against its digests. */
struct comparing {
	struct volume *volume;
	const struct backup_digests *expected;
	bool *seen; /* of each file of expected */
	void (*report)(void *context, const char *problem);
	void *context;
	int count; /* of problems */
};

static void tell(struct comparing *c)
{
	c->count++;
	c->report(c->context, err_detail());
}

/* Without memory nothing is wrong with a file. */
static int compare_file(struct comparing *c, uint64_t id, uint64_t size,
			const char *suffix)
{
	char name[VOLUME_NAME_MAX + 1];
	const struct backup_file *f;
	int err;

	manifest_name(id, suffix, name);
	err = find_expected(c->expected, c->volume, name, size, &f);
	if (f)
		c->seen[f - c->expected->files] = true;
	if (err == 0)
		err = check_file(c->volume, f, true);
	if (err < 0 && err != -ENOMEM)
		tell(c);
	return err == -ENOMEM ? err : 0;
}

static int compare_files(struct comparing *c, const struct edit *state)
{
	size_t i;
	int err = 0;

	for (i = 0; i < state->added_count && err == 0; i++)
		err = compare_file(c, state->added[i].id, state->added[i].size,
				   "sst");
	for (i = 0; i < state->blob_count && err == 0; i++)
		err = compare_file(c, state->blobs[i].id,
				   state->blobs[i].final_size, "blob");
	for (i = 0; i < c->expected->count && err == 0; i++) {
		if (c->seen[i])
			continue;
		fail(ERR_check_failed,
		     "%s/%s: is in the digests of this backup and not in its "
		     "manifest: one of them is another backup's",
		     c->volume->path, c->expected->files[i].name);
		tell(c);
	}
	return err;
}

int backup_compare(struct volume *v, const struct backup_digests *expected,
		   void (*report)(void *context, const char *problem),
		   void *context)
{
	struct comparing c = { .volume = v,
			       .expected = expected,
			       .seen = calloc(expected->count + 1,
					      sizeof(*c.seen)),
			       .report = report,
			       .context = context };
	struct manifest_history h;
	int err = c.seen ? manifest_read(v, &h) : -ENOMEM;

	if (c.seen) {
		if (err == 0)
			err = compare_files(&c, &h.state);
		edit_release(&h.state);
	}
	free(c.seen);
	return err < 0 ? err : c.count;
}
