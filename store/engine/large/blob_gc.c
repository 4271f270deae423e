#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/compact/pick.h"
#include "store/engine/core/tell.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blob_gc.h"
#include "store/engine/large/large.h"

/*
 * A reference to a chunk is in one of four places: in an sst, whose properties
 * count it; in a memtable, by a commit that named_seq covers; in the hands of
 * someone who holds the file; or with a reader, whose version keeps the file
 * open though it is dropped. So a finished file that no sst refers to, that is
 * settled and not held will not be asked for by anyone who comes.
 */

/* Whether every commit that refers to f has been flushed, and no other is on
 * its way. Needs lock. */
static bool is_named_no_more(const struct engine *e, const struct blob_file *f)
{
	return f->holders == 0 && f->named_seq <= atomic_load(&e->flushed_seq);
}

/* As that, and no other may come: one that grows is not. Needs lock. */
static bool is_settled(const struct engine *e, const struct blob_file *f)
{
	return atomic_load(&f->size) > 0 && is_named_no_more(e, f);
}

/* Garbage of a file with so many bytes. live may be too much, as what two ssts
 * share is counted twice: then it is collected later. */
static uint64_t garbage_size(uint64_t size, uint64_t live)
{
	return size > BLOB_HEADER_SIZE + live ? size - BLOB_HEADER_SIZE - live
					      : 0;
}

/* Whether more than one in share of its bytes is garbage. */
static bool is_worth(uint64_t size, uint64_t live, unsigned int share)
{
	return size > BLOB_HEADER_SIZE &&
	       garbage_size(size, live) > (size - BLOB_HEADER_SIZE) / share;
}

/* Live bytes by index of v->blobs, to be freed; NULL without memory. */
static uint64_t *count_live(const struct version *v)
{
	uint64_t *live = malloc((v->blob_count + 1) * sizeof(*live));

	if (live)
		version_blob_live(v, live);
	return live;
}

/* The same of history files alone. */
static uint64_t *count_past(const struct version *v)
{
	uint64_t *past = malloc((v->blob_count + 1) * sizeof(*past));

	if (past)
		version_blob_past(v, past);
	return past;
}

/* Marks the files that nothing refers to and adds their drop to edit. Nothing
 * can refer to a doomed file from then on: engine_write takes no reference to
 * it, nor does blob_hold. */
static int doom(struct engine *e, const struct version *v, const uint64_t *live,
		struct edit *edit)
{
	size_t i;
	int err = 0;

	pthread_mutex_lock(&e->lock);
	/* v is the present version still: work is held, and nobody else takes
	 * files out. */
	for (i = 0; i < v->blob_count && err == 0; i++) {
		struct blob_file *f = v->blobs[i];

		if (live[i] > 0 || f->doomed || !is_settled(e, f))
			continue;
		err = edit_drop_blob(edit, f->id);
		f->doomed = err == 0;
	}
	pthread_mutex_unlock(&e->lock);
	return err;
}

/* v is the version that had them. */
static void tell_dropped(struct engine *e, const struct version *v,
			 const struct edit *edit)
{
	size_t i;

	for (i = 0; i < edit->dropped_count; i++) {
		uint64_t id = edit->dropped_blobs[i];

		event_add(&e->events, EVENTS_MAIN,
			  "blob_dropped blob=%s bytes=%llu", file_stem(id).text,
			  (unsigned long long)atomic_load(
				  &version_blob(v, id)->size));
	}
}

/* What was doomed has not gone after all: it is looked at again, and may take
 * holders until then. */
static void spare(struct engine *e, const struct version *v,
		  const struct edit *edit)
{
	size_t i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < edit->dropped_count; i++)
		version_blob(v, edit->dropped_blobs[i])->doomed = false;
	pthread_mutex_unlock(&e->lock);
}

int blob_drop_unused(struct engine *e)
{
	struct edit edit = EDIT_INIT;
	struct version *v = engine_version(e);
	uint64_t *live;
	int err = 0;

	if (v->blob_count == 0)
		goto put;
	live = count_live(v);
	err = live ? doom(e, v, live, &edit) : -ENOMEM;
	if (err == 0 && edit.dropped_count > 0) {
		err = engine_apply(e, &edit);
		if (err == 0)
			err = 1;
	}
	if (err < 0)
		spare(e, v, &edit);
	else
		tell_dropped(e, v, &edit);
	edit_release(&edit);
	free(live);
put:
	version_put(v);
	return err;
}

int blob_end_growing(struct engine *e, unsigned int share, bool settled)
{
	struct version *v = engine_version(e);
	uint64_t *live = count_live(v), size = atomic_load(&e->blobs->size);
	bool garbage = false;
	size_t i;
	int err = live ? 0 : -ENOMEM;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < v->blob_count && err == 0; i++)
		garbage |= atomic_load(&v->blobs[i]->size) == 0 &&
			   is_worth(size, live[i], share) &&
			   (!settled || is_named_no_more(e, v->blobs[i]));
	pthread_mutex_unlock(&e->lock);
	free(live);
	version_put(v);
	return err == 0 && garbage ? blob_finish(e) : err;
}

bool blob_is_dead(struct engine *e, unsigned int share)
{
	struct version *v = engine_version(e);
	uint64_t *live = count_live(v), *past = count_past(v);
	uint64_t all = 0, garbage = 0, size;
	size_t i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; live && past && i < v->blob_count; i++) {
		size = atomic_load(&v->blobs[i]->size);
		if (size == 0)
			size = atomic_load(&e->blobs->size);
		all += size;
		if (is_named_no_more(e, v->blobs[i]) && past[i] == 0 &&
		    !v->blobs[i]->stuck)
			garbage += garbage_size(size, live[i]);
	}
	pthread_mutex_unlock(&e->lock);
	free(live);
	free(past);
	version_put(v);
	return garbage > 0 && garbage >= all / share;
}

/* A file to be emptied. */
struct candidate {
	struct blob_file *file;
	uint64_t live, size; /* bytes */
};

/* Those with the most garbage first, of their bytes; of equals the oldest. */
static int by_garbage(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	double left = (double)x->live * (double)y->size;
	double right = (double)y->live * (double)x->size;

	if (left != right)
		return left < right ? -1 : 1;
	return x->file->id < y->file->id ? -1 : 1;
}

/* The files of v that are worth it by share, worst first, at *out, which has
 * room for all: how many. One without live bytes is dropped instead, see doom.
 * From one that history refers to nothing is moved: it would stay. */
static size_t find_candidates(struct engine *e, const struct version *v,
			      const uint64_t *live, const uint64_t *past,
			      unsigned int share, struct candidate *out)
{
	size_t count = 0, i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < v->blob_count; i++) {
		struct blob_file *f = v->blobs[i];
		uint64_t size = atomic_load(&f->size);

		if (live[i] > 0 && past[i] == 0 && !f->stuck &&
		    is_settled(e, f) && is_worth(size, live[i], share))
			out[count++] = (struct candidate){ f, live[i], size };
	}
	pthread_mutex_unlock(&e->lock);
	qsort(out, count, sizeof(*out), by_garbage);
	return count;
}

/* Takes those of the candidates as sources whose live bytes fit into half of
 * what is free, as they are there twice until their file goes. A file that is
 * half moved has less of them, and so is among the first until it is empty. */
static int take_sources(struct blob_mover *m, const struct candidate *files,
			size_t count)
{
	struct volume *volume = m->e->volume;
	struct volume_space space;
	uint64_t room;
	size_t i;
	int err;

	if (count == 0)
		return 0;
	err = volume->ops->space(volume, &space);
	if (err < 0)
		return err;
	room = space.available_size / 2;
	for (i = 0; i < count; i++) {
		if (files[i].live > room) {
			m->left_out = true;
			continue;
		}
		room -= files[i].live;
		m->sources[m->source_count++] = files[i].file;
	}
	return 0;
}

int blob_mover_init(struct blob_mover *m, struct engine *e,
		    const struct version *v, unsigned int share)
{
	struct candidate *files;
	uint64_t *live, *past;
	int err = -ENOMEM;

	*m = (struct blob_mover){ .e = e, .version = v };
	if (v->blob_count == 0)
		return 0;
	m->sources = malloc(v->blob_count * sizeof(struct blob_file *));
	files = malloc(v->blob_count * sizeof(*files));
	live = count_live(v);
	past = count_past(v);
	if (m->sources && files && live && past)
		err = take_sources(m, files,
				   find_candidates(e, v, live, past,
						   share ? share : BLOB_SHARE,
						   files));
	free(past);
	free(files);
	free(live);
	return err;
}

void blob_mover_release(struct blob_mover *m)
{
	blob_release(m->e, &m->holds);
	blob_list_release(&m->from);
	blob_list_release(&m->to);
	buf_release(&m->scratch);
	buf_release(&m->chunk);
	buf_release(&m->encoded);
	free(m->sources);
}

/* Sources in the mover's order. Each has live bytes, so an sst refers to it. */
static int pick(struct engine *e, struct version *v,
		const struct compaction_options *o, unsigned int share,
		struct compaction *out)
{
	struct blob_mover m;
	int err = blob_mover_init(&m, e, v, share);
	size_t i;

	*out = (struct compaction){ 0 };
	for (i = 0; i < m.source_count && err == 0; i++)
		err = compact_pick_blob(v, o, m.sources[i]->id, out);
	out->blob_share = share;
	blob_mover_release(&m);
	return err;
}

int blob_pick(struct engine *e, struct version *v,
	      const struct compaction_options *o, struct compaction *out)
{
	return pick(e, v, o, BLOB_SHARE, out);
}

int blob_pick_dead(struct engine *e, struct version *v,
		   const struct compaction_options *o, struct compaction *out)
{
	return pick(e, v, o, BLOB_DEAD_SHARE, out);
}

int blob_pick_asked(struct engine *e, struct version *v,
		    const struct compaction_options *o, struct compaction *out)
{
	return pick(e, v, o, BLOB_ASKED_SHARE, out);
}

int blob_left_out(struct engine *e)
{
	struct version *v = engine_version(e);
	struct blob_mover m;
	int err = blob_mover_init(&m, e, v, BLOB_ASKED_SHARE);

	if (err == 0 && m.left_out)
		err = fail(ENOSPC,
			   "%s: large values that were deleted lie beside "
			   "others, and to move these there is no room; delete "
			   "more or make space",
			   e->volume->path);
	blob_mover_release(&m);
	version_put(v);
	return err;
}

/* The source with this id, unless it has turned out that it cannot be read. */
static struct blob_file *source(const struct blob_mover *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->source_count; i++)
		if (m->sources[i]->id == id && !m->sources[i]->stuck)
			return m->sources[i];
	return NULL;
}

/* Moves one chunk and makes *c refer to where it is then. What cannot be read
 * stays where it is, and with it its file: the damage will be told to whoever
 * reads the value. */
static int move_chunk(struct blob_mover *m, struct blob_file *f,
		      uint32_t raw_size, struct blob_chunk *c)
{
	int err;

	assert(c->file == f->id);
	buf_reset(&m->chunk);
	err = buf_reserve(&m->chunk, raw_size);
	if (err == 0)
		err = blob_read(f, c, raw_size, &m->scratch, m->chunk.data);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		f->stuck = true;
		err_clear();
		return 0;
	}
	err = blob_append(m->e, bytes_of(m->chunk.data, raw_size), &m->scratch,
			  &m->holds, c);
	m->moved |= err == 0;
	return err;
}

/* Whether any chunk of l lies in a file to be emptied. */
static bool has_source(const struct blob_mover *m, const struct blob_list *l)
{
	uint32_t i;

	for (i = 0; i < l->count; i++)
		if (source(m, l->chunks[i].file))
			return true;
	return false;
}

/* Whether the chunk, the i-th of its list, is one that the list before has in
 * the same place: then it was moved with that, and both go on sharing it. */
static bool moved_before(const struct blob_mover *m, uint32_t i,
			 struct blob_chunk *c)
{
	assert(m->from.count == m->to.count);
	if (i >= m->from.count || !blob_chunk_equal(&m->from.chunks[i], c))
		return false;
	*c = m->to.chunks[i];
	return true;
}

int blob_mover_move(void *mover, struct bytes *value)
{
	struct blob_mover *m = mover;
	struct blob_list list, to;
	struct blob_file *f;
	uint32_t i;
	int err = blob_list_decode(*value, &list);

	if (err < 0 || !has_source(m, &list)) {
		blob_list_release(&list);
		return err;
	}
	err = blob_list_copy(&list, &to);
	for (i = 0; i < to.count && err == 0; i++) {
		f = source(m, to.chunks[i].file);
		if (f && !moved_before(m, i, &to.chunks[i]))
			err = move_chunk(m, f, blob_chunk_raw_size(&to, i),
					 &to.chunks[i]);
	}
	blob_list_release(&m->from);
	blob_list_release(&m->to);
	m->from = list;
	m->to = to;
	buf_reset(&m->encoded);
	if (err == 0)
		err = blob_list_encode(&m->to, &m->encoded);
	if (err == 0)
		*value = buf_bytes(&m->encoded);
	return err;
}
