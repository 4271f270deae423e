#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/core/tell.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"

/*
 * The life of a blob file: begun under the manifest's eyes (size 0), appended
 * to until it is large enough, finished by an edit that tells its size, emptied
 * by compactions (blob_gc.c), dropped by an edit, removed when the last version
 * that names it goes. What a crash leaves growing is finished by blob_recover.
 *
 * An append takes `lock` alone, so that many can go on while one thread waits
 * for a sync under `syncing`.
 */

/* A file is no larger than such a part of the disk, but for the chunk that ends
 * it, and no smaller than so many bytes, if that is not asked for. */
#define FILE_SHARE 64
#define FILE_MIN (UINT64_C(256) << 10)

int blobs_new(struct blobs **out)
{
	struct blobs *b = calloc(1, sizeof(*b));

	*out = b;
	if (!b)
		return -ENOMEM;
	pthread_mutex_init(&b->syncing, NULL);
	pthread_mutex_init(&b->lock, NULL);
	return 0;
}

/* Without sync: an engine that is closed cleanly has finished the file before.
 */
void blobs_free(struct blobs *b)
{
	if (!b)
		return;
	if (b->log)
		b->log->ops->log_close(b->log);
	blob_file_put(b->file);
	pthread_mutex_destroy(&b->syncing);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* For whoever would refer to a file that is gone: the cell that led there is
 * hidden by now, too, so reading again tells the truth. */
static int stale(uint64_t file)
{
	return fail(ESTALE, "blob file %016llx was collected",
		    (unsigned long long)file);
}

/* Room for one more, before the engine's lock is taken: memory is not asked for
 * under it. */
static int reserve_hold(struct blob_holds *h)
{
	struct blob_file **grown =
		realloc(h->files, (h->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	h->files = grown;
	return 0;
}

/* The latest first: chunks of one value mostly lie in one file. */
static bool holds(const struct blob_holds *h, uint64_t id)
{
	size_t i;

	for (i = h->count; i > 0; i--)
		if (h->files[i - 1]->id == id)
			return true;
	return false;
}

/* There is room. Needs the engine's lock. */
static void add_hold(struct blob_holds *h, struct blob_file *f)
{
	if (holds(h, f->id))
		return;
	assert(!f->doomed);
	f->holders++;
	h->files[h->count++] = blob_file_get(f);
}

int blob_hold(struct engine *e, struct blob_holds *h,
	      const struct blob_list *list)
{
	struct blob_file *f;
	uint32_t i;
	int err = 0;

	/* Between two files one may go; but then no reference to it was to be
	 * seen any more, and -ESTALE is right. */
	for (i = 0; i < list->count && err == 0; i++) {
		uint64_t id = list->chunks[i].file;

		if (holds(h, id))
			continue;
		err = reserve_hold(h);
		if (err < 0)
			break;
		pthread_mutex_lock(&e->lock);
		f = version_blob(e->version, id);
		if (f && !f->doomed)
			add_hold(h, f);
		else
			err = stale(id);
		pthread_mutex_unlock(&e->lock);
	}
	return err;
}

/* Takes back the hold on f: whether there was one. Needs the engine's lock. */
static bool drop_hold(struct blob_file *f)
{
	if (f->holders == 0)
		return false;
	f->holders--;
	return true;
}

void blob_release(struct engine *e, struct blob_holds *h)
{
	bool sound = true;
	size_t i;

	if (h->count > 0) {
		pthread_mutex_lock(&e->lock);
		for (i = 0; i < h->count; i++)
			sound &= drop_hold(h->files[i]);
		pthread_mutex_unlock(&e->lock);
	}
	/* A count below zero would let the file go under who still holds it. */
	engine_invariant(e, sound,
			 "a blob file is released more often than "
			 "it was held");
	/* Without the lock: the last reference closes the file and tells the
	 * engine, which takes it. */
	for (i = 0; i < h->count; i++)
		blob_file_put(h->files[i]);
	free(h->files);
	*h = (struct blob_holds){ NULL, 0 };
}

/* Makes the first size bytes durable. Needs syncing. */
static int sync_log(struct blobs *b, uint64_t size)
{
	int err;

	assert(b->synced <= b->size);
	if (!b->log || b->synced >= size)
		return 0;
	err = b->log->ops->log_sync(b->log);
	if (err == 0)
		b->synced = size;
	return err;
}

int blob_sync(struct engine *e)
{
	struct blobs *b = e->blobs;
	uint64_t size;
	int err;

	pthread_mutex_lock(&b->syncing);
	/* Not held while the disk works: appends go on beside it. */
	pthread_mutex_lock(&b->lock);
	size = b->size;
	pthread_mutex_unlock(&b->lock);
	err = sync_log(b, size);
	pthread_mutex_unlock(&b->syncing);
	return err;
}

/* A new file with its header, durable under its name, since a file that the
 * manifest names and that is missing is damage. */
static int create(struct engine *e, uint64_t id, struct log **out)
{
	struct volume *v = e->volume;
	uint8_t header[BLOB_HEADER_SIZE];
	char name[VOLUME_NAME_MAX + 1];
	int err;

	manifest_name(id, "blob", name);
	blob_header_encode(id, header);
	err = v->ops->log_create(v, name, out);
	if (err < 0)
		return err;
	err = v->ops->log_append(*out, bytes_of(header, sizeof(header)));
	if (err == 0)
		err = v->ops->log_sync(*out);
	if (err < 0) {
		v->ops->log_close(*out);
		*out = NULL;
		engine_remove(e, id, "blob");
	}
	return err;
}

/* Makes log, of the blob file id, the present one; 0 and NULL: none. What was
 * the present one is synced. Applies edit. Needs both locks. */
static int replace(struct engine *e, struct log *log, uint64_t id,
		   struct edit *edit)
{
	struct blobs *b = e->blobs;
	int err = engine_apply(e, edit);

	assert(!log == (id == 0));
	if (err < 0) {
		if (log) {
			log->ops->log_close(log);
			/* What the manifest may name stays. */
			if (atomic_load(&e->error) == 0)
				engine_remove(e, id, "blob");
		}
		return err;
	}
	if (b->log)
		b->log->ops->log_close(b->log);
	blob_file_put(b->file);
	b->log = log;
	b->file = NULL;
	b->size = b->synced = log ? log->size : 0;
	b->broken = false;
	/* The version that was just published has it: only compactions drop
	 * files, and one that grows is not settled. */
	if (log) {
		pthread_mutex_lock(&e->lock);
		b->file = blob_file_get(version_blob(e->version, id));
		pthread_mutex_unlock(&e->lock);
	}
	return 0;
}

/* Bytes that a file begun now is to have: on a small disk, or within a small
 * quota, less, so that there is room to empty one when it is full, and who has
 * a value open keeps little else. */
static uint64_t file_size(struct engine *e)
{
	uint64_t size = e->options.blob_file_size, share;
	uint64_t quota = atomic_load(&e->quota);
	struct volume_space space;

	if (e->volume->ops->space(e->volume, &space) < 0) {
		err_clear();
		return size;
	}
	share = space.total_size;
	if (quota > 0 && quota < share)
		share = quota;
	share /= FILE_SHARE;
	share = share < FILE_MIN ? FILE_MIN : share;
	return share < size ? share : size;
}

/* Ends the present file and, with next, begins another, by one edit. Synced
 * first, since a finished file is never synced again. Needs both locks. */
static int turn(struct engine *e, bool next)
{
	struct blobs *b = e->blobs;
	struct edit edit = EDIT_INIT;
	struct log *log = NULL;
	uint64_t id = 0, old = 0, size = 0;
	int err = 0;

	if (b->log) {
		err = sync_log(b, b->size);
		/* Commits refer to what may be lost now. */
		if (err < 0)
			return engine_sync_failed(e, err);
		old = b->file->id;
		size = b->size;
		err = edit_add_blob(&edit, old, size);
	}
	if (next && err == 0) {
		b->file_size = file_size(e);
		id = engine_new_id(e);
		err = edit_add_blob(&edit, id, 0);
		if (err == 0)
			err = create(e, id, &log);
	}
	if (err == 0)
		err = replace(e, log, id, &edit);
	if (err == 0 && old > 0)
		event_add(&e->events, EVENTS_MAIN,
			  "blob_finished blob=%s bytes=%llu",
			  file_stem(old).text, (unsigned long long)size);
	edit_release(&edit);
	return err;
}

int blob_pause(struct engine *e)
{
	struct blobs *b = e->blobs;
	int err = 0;

	pthread_mutex_lock(&b->syncing);
	pthread_mutex_lock(&b->lock);
	if (b->log)
		err = turn(e, false);
	return err;
}

void blob_resume(struct engine *e)
{
	pthread_mutex_unlock(&e->blobs->lock);
	pthread_mutex_unlock(&e->blobs->syncing);
}

int blob_finish(struct engine *e)
{
	int err = blob_pause(e);

	blob_resume(e);
	return err;
}

/* Whether the present file takes another chunk. One that is empty does, however
 * small a file is to be. Needs lock. */
static bool has_room(const struct blobs *b)
{
	return b->log && !b->broken &&
	       (b->size == BLOB_HEADER_SIZE || b->size < b->file_size);
}

/* Begins another file where the present one has no room; another thread may
 * have done so meanwhile. */
static int make_room(struct engine *e)
{
	struct blobs *b = e->blobs;
	int err = 0;

	pthread_mutex_lock(&b->syncing);
	pthread_mutex_lock(&b->lock);
	if (!has_room(b))
		err = turn(e, true);
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&b->syncing);
	return err;
}

/* blob_append without asking for room. */
static int append(struct engine *e, struct bytes raw, struct buf *scratch,
		  struct blob_holds *h, struct blob_chunk *c)
{
	struct blobs *b = e->blobs;
	int err = engine_writable(e);

	/* Packed before the lock is taken, and placed under it: the head names
	 * the offset, which is known then. */
	if (err == 0)
		err = blob_chunk_encode(raw, scratch);
	if (err == 0)
		err = reserve_hold(h);
	if (err < 0)
		return err;
	pthread_mutex_lock(&b->lock);
	/* Again each time, since others fill what was made. */
	while (!has_room(b)) {
		pthread_mutex_unlock(&b->lock);
		err = make_room(e);
		if (err < 0)
			return err;
		pthread_mutex_lock(&b->lock);
	}
	assert(b->log && b->file);
	blob_chunk_place(scratch, b->file->id, b->size, c);
	err = b->log->ops->log_append(b->log, buf_bytes(scratch));
	if (err < 0) {
		/* Where it ends is not known, but after a lack of space. */
		b->broken = err != -ENOSPC;
	} else {
		b->size += scratch->size;
		atomic_fetch_add(&e->fresh_large, scratch->size);
		pthread_mutex_lock(&e->lock);
		add_hold(h, b->file);
		pthread_mutex_unlock(&e->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return err;
}

int blob_append(struct engine *e, struct bytes raw, struct buf *scratch,
		struct blob_holds *h, struct blob_chunk *c)
{
	int err = append(e, raw, scratch, h, c);

	if (err == -ENOSPC)
		engine_want_room(e);
	return err;
}

/* Notes seq for the files that a list refers to. Needs the engine's lock. */
static int name_files(struct engine *e, const struct blob_list *list,
		      uint64_t seq)
{
	struct blob_file *f = NULL;
	uint32_t i;

	/* Neighbours mostly lie in one file, so few are searched for. */
	for (i = 0; i < list->count; i++) {
		if (f && f->id == list->chunks[i].file)
			continue;
		f = version_blob(e->version, list->chunks[i].file);
		if (!f || f->doomed)
			return stale(list->chunks[i].file);
		/* It may go back: a commit that failed after this was noted
		 * gave a sequence that is given again. */
		f->named_seq = seq;
	}
	return 0;
}

/* For batch_each_large. */
struct naming {
	struct engine *e;
	uint64_t seq;
};

static int name_list(void *context, const struct blob_list *list)
{
	const struct naming *n = context;
	int err;

	pthread_mutex_lock(&n->e->lock);
	err = name_files(n->e, list, n->seq);
	pthread_mutex_unlock(&n->e->lock);
	return err;
}

int blob_name(struct engine *e, const struct batch *batch, uint64_t seq)
{
	struct naming n = { e, seq };

	return batch_each_large(batch, name_list, &n);
}
