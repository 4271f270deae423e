#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_window.h"

/* Bytes of a window, of which a part is a multiple; and of those that are used
 * when the next one is asked for. */
#define WINDOW_SIZE (1 << 20)
#define USED_SIZE (WINDOW_SIZE / 32)

/* Reads, of 16 KiB, in which as many bytes as all windows have are used: one
 * that was not used in so many makes way for one that is not wanted yet. So
 * where more read on than there are windows for two each, each has one. */
#define STALE_READS (POOL_WINDOWS * WINDOW_SIZE / (16 << 10))

/* A read under way. */
struct coming {
	struct pool_call call;
	size_t got;
	int result;
};

/* Protected by the volume's lock, but for what is coming, which is of who has
 * it in hand. */
struct pool_window {
	const struct pool_file *file; /* NULL: it is free */
	uint64_t offset;
	size_t size;
	uint8_t *data;         /* owned */
	struct coming *coming; /* owned; NULL: it has come */
	bool in_hand;          /* of a thread, which is at what is coming */
	uint64_t used;         /* by the volume's window_clock */
};

/* Ends what is coming; with give_up it is not waited for. Whether all of size
 * bytes came: 0, or a raw error. */
static int end_coming(struct pool_volume *v, struct coming *c, size_t size,
		      bool give_up)
{
	int err = pool_call_end(v, &c->call, give_up);

	if (err == 0)
		err = c->result;
	if (err == 0 && c->got != size)
		err = -ENOENT;
	free(c);
	return err;
}

/* The window of f that has what is at offset, or NULL. Needs lock. */
static struct pool_window *find(const struct pool_file *f, uint64_t offset)
{
	struct pool_window *w = f->volume->windows;
	size_t i;

	for (i = 0; w && i < POOL_WINDOWS; i++, w++)
		if (w->file == f && offset >= w->offset &&
		    offset - w->offset < w->size)
			return w;
	return NULL;
}

static bool may_go(struct pool_window *w)
{
	return !w->in_hand &&
	       (!w->coming || pool_call_has_ended(&w->coming->call));
}

/* A free place, or that of the window that was used longest ago, which for one
 * that is not wanted yet is to be stale; NULL: none. Needs lock. */
static struct pool_window *make_place(struct pool_volume *v, bool is_wanted)
{
	struct pool_window *w = NULL, *at;
	size_t i;

	if (!v->windows)
		v->windows = calloc(POOL_WINDOWS, sizeof(*v->windows));
	for (i = 0; v->windows && i < POOL_WINDOWS; i++) {
		at = &v->windows[i];
		if (may_go(at) &&
		    (!w || !at->file || (w->file && at->used < w->used)))
			w = at;
	}
	if (w && w->file && !is_wanted &&
	    v->window_clock - w->used < STALE_READS)
		return NULL;
	if (w && w->coming)
		(void)end_coming(v, w->coming, w->size, false);
	if (w) {
		free(w->data);
		*w = (struct pool_window){ .used = ++v->window_clock };
	}
	return w;
}

/* Asks for what w is to have; what cannot be begun leaves it free. w is in
 * hand. */
static void ask(const struct pool_file *f, struct pool_window *w)
{
	struct pool_volume *v = f->volume;
	uint64_t part_size = pool_part_size(f->entry.state);
	struct coming *c = calloc(1, sizeof(*c));
	char oid[POOL_PART_NAME_SIZE];
	rados_read_op_t op;
	int err = -ENOMEM;

	w->data = malloc(w->size);
	if (c && w->data) {
		pool_part_name(f->name, f->entry.nonce, w->offset / part_size,
			       oid);
		op = rados_create_read_op();
		rados_read_op_read(op, w->offset % part_size, w->size,
				   (char *)w->data, &c->got, &c->result);
		err = pool_call_begin(v, op, oid, &c->call);
	}
	if (err < 0) {
		free(c);
		c = NULL;
	}
	pthread_mutex_lock(&v->lock);
	w->coming = c;
	w->in_hand = false;
	if (err < 0)
		w->file = NULL;
	pthread_mutex_unlock(&v->lock);
}

void pool_window_begin(const struct pool_file *f, uint64_t offset,
		       bool is_wanted)
{
	struct pool_volume *v = f->volume;
	uint64_t part_size = pool_part_size(f->entry.state);
	uint64_t n = part_size - offset % part_size;
	struct pool_window *w = NULL;

	assert(offset < f->entry.size);
	n = n < f->entry.size - offset ? n : f->entry.size - offset;
	pthread_mutex_lock(&v->lock);
	if (!find(f, offset))
		w = make_place(v, is_wanted);
	if (w) {
		w->file = f;
		w->offset = offset;
		w->size = n < WINDOW_SIZE ? (size_t)n : WINDOW_SIZE;
		w->in_hand = true;
	}
	pthread_mutex_unlock(&v->lock);
	if (w)
		ask(f, w);
}

/* Waits for what is coming: 0, and w has it, or a raw error, and w is free.
 * Needs lock, which others have meanwhile. */
static int receive(struct pool_volume *v, struct pool_window *w)
{
	struct coming *c = w->coming;
	int err;

	w->in_hand = true;
	pthread_mutex_unlock(&v->lock);
	err = end_coming(v, c, w->size, false);
	pthread_mutex_lock(&v->lock);
	w->coming = NULL;
	w->in_hand = false;
	if (err < 0)
		w->file = NULL;
	return err;
}

/* A window that was read to its end is free. */
ssize_t pool_window_take(const struct pool_file *f, uint64_t offset, void *data,
			 size_t size)
{
	struct pool_volume *v = f->volume;
	struct pool_window *w;
	uint64_t next = f->entry.size;
	size_t n, done = 0;
	int err = 0;

	pthread_mutex_lock(&v->lock);
	while (done < size && (w = find(f, offset + done)) && !w->in_hand) {
		size_t at = (size_t)(offset + done - w->offset);

		err = w->coming ? receive(v, w) : 0;
		if (err < 0)
			break;
		n = w->size - at < size - done ? w->size - at : size - done;
		memcpy((uint8_t *)data + done, w->data + at, n);
		w->used = ++v->window_clock;
		if (at + n >= USED_SIZE)
			next = w->offset + w->size;
		if (at + n == w->size)
			w->file = NULL;
		done += n;
	}
	pthread_mutex_unlock(&v->lock);
	if (next < f->entry.size)
		pool_window_begin(f, next, false);
	/* Of all else who reads the file itself tells. */
	return err == -ETIMEDOUT ? err : (ssize_t)done;
}

void pool_window_forget(const struct pool_file *f)
{
	struct pool_volume *v = f->volume;
	struct pool_window *w;
	size_t i;

	pthread_mutex_lock(&v->lock);
	for (i = 0; v->windows && i < POOL_WINDOWS; i++) {
		w = &v->windows[i];
		if (w->file != f)
			continue;
		assert(!w->in_hand);
		if (w->coming)
			(void)end_coming(v, w->coming, w->size, true);
		w->coming = NULL;
		w->file = NULL;
	}
	pthread_mutex_unlock(&v->lock);
}

void pool_windows_end(struct pool_volume *v)
{
	size_t i;

	for (i = 0; v->windows && i < POOL_WINDOWS; i++)
		free(v->windows[i].data);
	free(v->windows);
}
