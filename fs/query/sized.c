#include <assert.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/query/sized.h"
#include "fs/query/sized_picture.h"
#include "fs/query/sized_points.h"
#include "fs/query/sized_text.h"
#include "store/text/print/moment.h"

/* Places in texts at which reads are under way, of the mount, and how much of
 * the text before such a place is kept: the kernel reads ahead by several
 * requests, which may come in any order. */
#define CURSORS 8
#define KEPT_SIZE ((size_t)512 << 10)

/* A signal ends a read only after it took so long: nearly none does, and a
 * program with a timer is to get through. */
#define PATIENCE_US UINT64_C(500000)

struct sized {
	/* Set before it is in the list. */
	struct node *node;         /* referenced */
	struct moment moment;      /* owned */
	const struct table *table; /* of its schema */
	enum text_format format;
	uint64_t size;
	struct buf whole;           /* owned; all of the text, of a picture */
	uint64_t memory;            /* taken for that */
	struct sized_points points; /* of any other */
	uint64_t made_us, time_us;

	/* Guarded by exports.lock. */
	struct sized *next;
	uint64_t used_us;
	struct sized_user *users; /* owned; none: nobody has it open */
};

/* Guarded by exports.lock, but sized and uid, which stay. */
struct sized_user {
	struct sized *sized;
	uid_t uid;
	unsigned int opens; /* at least 1 */
	struct sized_user *next;
};

/* Guarded by exports.lock, but what follows busy, while it is, by who has set
 * that. */
struct sized_cursor {
	struct sized *sized; /* NULL: none */
	uint64_t used;       /* the larger, the later */
	bool busy;
	bool placed;            /* else text is to be sought first */
	struct sized_text text; /* without a query it is to be opened */
	struct buf window;      /* the text up to text.made */
	uint64_t held;          /* counted for window */
};

static _Thread_local uint64_t patient_until_us;

static const struct {
	const char *name;
	enum text_format format;
} names[] = { { "export.csv", TEXT_CSV },
	      { "export.tsv", TEXT_TSV },
	      { "export.jsonl", TEXT_JSONL } };

/* The index in names, or that behind the last. */
static size_t name_index(struct bytes name)
{
	size_t i = 0;

	while (i < 3 && !bytes_equal(name, bytes_string(names[i].name)))
		i++;
	return i;
}

bool sized_is_name(const struct node *directory, struct bytes name)
{
	if (directory->kind == NODE_KEYVIZ)
		return sized_picture_is_name(name);
	return directory->kind == NODE_SCAN && name_index(name) < 3;
}

/* Frees what s owns, and s. No cursor is at it. */
static void free_sized(struct fs *fs, struct sized *s)
{
	struct sized_user *user;

	while ((user = s->users)) {
		s->users = user->next;
		free(user);
	}
	sized_points_release(&s->points, store_memory(fs->store));
	memory_give(store_memory(fs->store), MEMORY_EXPORTS, s->memory);
	moment_release(fs->store, &s->moment);
	buf_release(&s->whole);
	if (s->node)
		node_put(&fs->nodes, s->node);
	free(s);
}

/* Makes all of the text, and throws it away. */
static int measure(struct fs *fs, struct sized *s)
{
	uint64_t max = fs->options->export_max_size;
	struct buf text = BUF_INIT;
	struct sized_text t;
	int err =
		sized_text_open(fs, s->node, s->format, s->moment.snapshot, &t);

	if (err)
		return err;
	t.wanted = s->points.stride;
	while (!err && !t.ended) {
		buf_reset(&text);
		err = sized_text_make(&t, &text);
		if (!err && max > 0 && t.made > max)
			err = fail(EFBIG,
				   "more than the %llu bytes of -o export-max; "
				   "tabletfs export writes as much as there is",
				   (unsigned long long)max);
		if (!err && t.stopped) {
			err = sized_points_add(&s->points,
					       store_memory(fs->store), t.made,
					       t.first.row);
			t.wanted = t.made + s->points.stride;
		}
	}
	s->size = t.made;
	sized_text_close(fs, &t);
	buf_release(&text);
	return err;
}

/* Makes the text of a picture, and counts its memory. */
static int draw(struct fs *fs, struct sized *s)
{
	int err = sized_picture_draw(fs, s->node, &s->whole);

	s->size = s->whole.size;
	if (err)
		return err;
	if (!memory_take(store_memory(fs->store), MEMORY_EXPORTS,
			 s->whole.capacity, 0))
		return -ENOMEM;
	s->memory = s->whole.capacity;
	return 0;
}

/* Makes the export of node, which is the caller's reference. */
static int make(struct fs *fs, struct node *node, struct sized **out)
{
	struct sized *s = calloc(1, sizeof(*s));
	struct place place;
	size_t i;
	int err;

	if (!s)
		return -ENOMEM;
	s->node = node;
	node_get(&fs->nodes, node);
	s->points = SIZED_POINTS_INIT;
	s->made_us = fs_steady();
	s->time_us = fs_now(fs);
	err = moment_take(fs->store, &s->moment);
	if (!err) {
		err = place_enter(fs, node, &place);
		for (i = 0; !err && i < s->moment.schema->table_count; i++)
			if (s->moment.schema->tables[i].id == place.table->id)
				s->table = &s->moment.schema->tables[i];
		place_leave(fs, &place);
	}
	if (!err && !s->table)
		err = -ERR_no_table;
	if (!err && node->parent->kind == NODE_KEYVIZ) {
		err = draw(fs, s);
	} else if (!err) {
		s->format = names[name_index(node_name(node))].format;
		err = measure(fs, s);
	}
	if (err)
		free_sized(fs, s);
	else
		*out = s;
	return err;
}

/* Makes an idle cursor one of sized, which may be NULL, at no place. With the
 * lock held. */
static void assign_cursor(struct fs *fs, struct sized_cursor *c,
			  struct sized *sized)
{
	sized_text_close(fs, &c->text);
	memory_give(store_memory(fs->store), MEMORY_EXPORTS, c->held);
	c->held = 0;
	c->placed = false;
	c->sized = sized;
	buf_release(&c->window);
}

/* Takes the cursors from an export that nobody has open. With the lock held, or
 * at the end. */
static void leave_cursors(struct fs *fs, const struct sized *s)
{
	struct exports *x = &fs->exports;
	size_t i;

	for (i = 0; x->cursors && i < CURSORS; i++)
		if (x->cursors[i].sized == s)
			assign_cursor(fs, &x->cursors[i], NULL);
}

/* Ends the export that *at points to; *at is then the next. With the lock held,
 * and nobody has it open, or at the end. */
static void end_sized(struct fs *fs, struct sized **at)
{
	struct sized *s = *at;

	leave_cursors(fs, s);
	*at = s->next;
	fs->exports.count--;
	node_detach(&fs->nodes, s->node);
	free_sized(fs, s);
}

void exports_release(struct fs *fs)
{
	/* Whoever has one open is not told any more. */
	while (fs->exports.first)
		end_sized(fs, &fs->exports.first);
	free(fs->exports.cursors);
	pthread_cond_destroy(&fs->exports.idle);
	pthread_mutex_destroy(&fs->exports.lock);
}

static bool is_unused(struct fs *fs, const struct sized *s, uint64_t now_us)
{
	if (s->users)
		return false;
	return now_us - s->made_us >= SIZED_KEPT_US ||
	       (now_us - s->used_us >= SIZED_SHARED_US &&
		!node_is_remembered(&fs->nodes, s->node));
}

void exports_sweep(struct fs *fs, uint64_t now_us)
{
	struct sized **at = &fs->exports.first;

	pthread_mutex_lock(&fs->exports.lock);
	while (*at) {
		if (is_unused(fs, *at, now_us))
			end_sized(fs, at);
		else
			at = &(*at)->next;
	}
	pthread_mutex_unlock(&fs->exports.lock);
}

/* Whether nothing of it was dropped: else who looks or opens anew gets another,
 * whose pages are others. */
static bool is_whole(struct fs *fs, const struct sized *s)
{
	return moment_is_present(fs->store, s->table);
}

/* One that may be shared, counted as used; or NULL. With the lock held. */
static struct sized *find_shared(struct fs *fs, struct node *directory,
				 struct bytes name)
{
	uint64_t now_us = fs_steady();
	struct sized *s = fs->exports.first;

	while (s && (s->node->parent != directory || !s->node->found ||
		     !bytes_equal(node_name(s->node), name)))
		s = s->next;
	/* In use or not, it is old: its name is another's now. */
	if (s && (now_us - s->used_us >= SIZED_SHARED_US ||
		  now_us - s->made_us >= SIZED_KEPT_US || !is_whole(fs, s))) {
		node_detach(&fs->nodes, s->node);
		s = NULL;
	}
	if (s)
		s->used_us = now_us;
	return s;
}

/* Makes room for one more: ends the one that was used longest ago. With the
 * lock held. */
static int make_room(struct fs *fs)
{
	struct sized **at, **oldest = NULL;

	if (fs->exports.count < SIZED_MAX)
		return 0;
	for (at = &fs->exports.first; *at; at = &(*at)->next)
		if (!(*at)->users &&
		    (!oldest || (*at)->used_us < (*oldest)->used_us))
			oldest = at;
	if (!oldest)
		return fail(EBUSY,
			    "%d exports with a size are open; close one, or "
			    "read .scan/csv, which has none",
			    SIZED_MAX);
	end_sized(fs, oldest);
	return 0;
}

/* Puts s, which was made meanwhile, into the list, or in its place one that
 * another thread has made of the same node. 0 with *out referenced. */
static int add_sized(struct fs *fs, struct sized *s, struct node **out)
{
	struct exports *x = &fs->exports;
	struct sized *other;
	int err;

	pthread_mutex_lock(&x->lock);
	for (other = x->first; other && other->node != s->node;)
		other = other->next;
	err = other ? 0 : make_room(fs);
	if (!err) {
		*out = s->node;
		node_get(&fs->nodes, s->node);
	}
	if (!err && !other) {
		s->used_us = fs_steady();
		s->next = x->first;
		x->first = s;
		x->count++;
		s = NULL;
	}
	pthread_mutex_unlock(&x->lock);
	if (s)
		free_sized(fs, s);
	return err;
}

int sized_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct node **out)
{
	struct node *node = NULL;
	struct sized *s;
	int err = 0;

	pthread_mutex_lock(&fs->exports.lock);
	s = find_shared(fs, directory, name);
	if (s) {
		*out = s->node;
		node_get(&fs->nodes, s->node);
	} else {
		err = node_enter(&fs->nodes, directory, NODE_SCAN_EXPORT, name,
				 &node);
	}
	pthread_mutex_unlock(&fs->exports.lock);
	if (s || err)
		return s ? 1 : err;
	loop_hand_over();
	err = make(fs, node, &s);
	if (!err)
		err = add_sized(fs, s, out);
	if (err)
		node_detach(&fs->nodes, node);
	node_put(&fs->nodes, node);
	return err ? err : 1;
}

/* The export of this node, or NULL. With the lock held. */
static struct sized *find(struct fs *fs, const struct node *node)
{
	struct sized *s = fs->exports.first;

	while (s && s->node != node)
		s = s->next;
	return s;
}

int sized_attr(struct fs *fs, struct node *node, struct stat *st,
	       double *timeout)
{
	struct sized *s;

	pthread_mutex_lock(&fs->exports.lock);
	s = find(fs, node);
	if (s) {
		st->st_size = (off_t)s->size;
		st->st_blocks = (blkcnt_t)((s->size + 511) / 512);
		st->st_mtim.tv_sec = (time_t)(s->time_us / 1000000);
		st->st_mtim.tv_nsec = (long)(s->time_us % 1000000 * 1000);
		st->st_ctim = st->st_atim = st->st_mtim;
		*timeout = SIZED_SHARED_US / 1e6;
	}
	pthread_mutex_unlock(&fs->exports.lock);
	return s ? 0 : -ESTALE;
}

/* The user of s with this uid, or NULL. With the lock held. */
static struct sized_user *find_user(const struct sized *s, uid_t uid)
{
	struct sized_user *user = s->users;

	while (user && user->uid != uid)
		user = user->next;
	return user;
}

/* Refuses one more export to a user who has half of all open; root and whose
 * the mount is may have all. With the lock held. */
static int check_share(const struct fs *fs, uid_t uid)
{
	const struct sized *s;
	int open = 0;

	for (s = fs->exports.first; s; s = s->next)
		open += find_user(s, uid) != NULL;
	if (uid == 0 || uid == fs->uid || open < SIZED_MAX / 2)
		return 0;
	return fail(EBUSY,
		    "user %u has %d exports with a size open, half of all; "
		    "close one, or read .scan/csv, which has none",
		    (unsigned int)uid, SIZED_MAX / 2);
}

/* Makes uid a user of s, who has not opened it yet. With the lock held. */
static int add_user(const struct fs *fs, struct sized *s, uid_t uid,
		    struct sized_user **out)
{
	struct sized_user *user;
	int err = check_share(fs, uid);

	if (err)
		return err;
	user = calloc(1, sizeof(*user));
	if (!user)
		return -ENOMEM;
	user->sized = s;
	user->uid = uid;
	user->next = s->users;
	s->users = user;
	*out = user;
	return 0;
}

int sized_open(struct fs *fs, struct node *node, struct sized_user **out)
{
	uid_t uid = loop_uid();
	struct sized *s;
	int err = -ESTALE;

	pthread_mutex_lock(&fs->exports.lock);
	s = find(fs, node);
	if (s && is_whole(fs, s)) {
		*out = find_user(s, uid);
		err = *out ? 0 : add_user(fs, s, uid, out);
	}
	if (!err) {
		(*out)->opens++;
		s->used_us = fs_steady();
	}
	pthread_mutex_unlock(&fs->exports.lock);
	return err;
}

void sized_close(struct fs *fs, struct sized_user *user)
{
	struct sized *s = user->sized;
	struct sized_user **at = &s->users;

	pthread_mutex_lock(&fs->exports.lock);
	s->used_us = fs_steady();
	assert(user->opens > 0);
	if (--user->opens == 0) {
		while (*at != user)
			at = &(*at)->next;
		*at = user->next;
		free(user);
	}
	if (!s->users)
		leave_cursors(fs, s);
	pthread_mutex_unlock(&fs->exports.lock);
}

/* Whether a read at offset can go on from where the cursor is. */
static bool is_near(const struct sized_cursor *c, const struct sized *s,
		    uint64_t offset)
{
	return c->sized == s && c->placed &&
	       offset >= c->text.made - c->window.size &&
	       offset <= c->text.made + s->points.stride;
}

/* The cursor for a read of s, which then is busy: one that is near, else the
 * one that was used longest ago. Waits while all are busy. */
static struct sized_cursor *take_cursor(struct fs *fs, struct sized *s,
					uint64_t offset)
{
	struct exports *x = &fs->exports;
	struct sized_cursor *best = NULL;
	size_t i;

	pthread_mutex_lock(&x->lock);
	s->used_us = fs_steady();
	if (!x->cursors)
		x->cursors = calloc(CURSORS, sizeof(*x->cursors));
	while (x->cursors && !best) {
		for (i = 0; i < CURSORS; i++) {
			struct sized_cursor *c = &x->cursors[i];

			if (c->busy)
				continue;
			if (is_near(c, s, offset)) {
				best = c;
				break;
			}
			if (!best || c->used < best->used)
				best = c;
		}
		if (!best)
			pthread_cond_wait(&x->idle, &x->lock);
	}
	if (best) {
		if (best->sized != s)
			assign_cursor(fs, best, s);
		best->busy = true;
		best->used = ++x->uses;
	}
	pthread_mutex_unlock(&x->lock);
	return best;
}

static void give_cursor(struct fs *fs, struct sized_cursor *c)
{
	pthread_mutex_lock(&fs->exports.lock);
	c->busy = false;
	pthread_cond_signal(&fs->exports.idle);
	pthread_mutex_unlock(&fs->exports.lock);
}

/* For the scans of reads. */
static bool has_given_up(void)
{
	return loop_is_interrupted() && fs_steady() >= patient_until_us;
}

/* Brings the cursor to where text at offset can be made from. */
static int place_cursor(struct fs *fs, struct sized_cursor *c, uint64_t offset)
{
	const struct sized *s = c->sized;
	int err = 0;

	if (is_near(c, s, offset))
		return 0;
	if (!c->text.query)
		err = sized_text_open(fs, s->node, s->format,
				      s->moment.snapshot, &c->text);
	if (err)
		return err;
	c->text.query->stop = has_given_up;
	buf_reset(&c->window);
	err = sized_text_seek(fs, &c->text,
			      sized_points_before(&s->points, offset));
	c->placed = !err;
	return err;
}

/* Drops from the window what lies so far before offset that nobody will ask. */
static void drop_front(struct sized_cursor *c, uint64_t offset)
{
	uint64_t base = c->text.made - c->window.size;
	size_t n = 0;

	if (offset > base + KEPT_SIZE)
		n = (size_t)(offset - base - KEPT_SIZE);
	if (n > c->window.size)
		n = c->window.size;
	/* To drop from the front moves what is behind. */
	if (n < KEPT_SIZE && n < c->window.size)
		return;
	if (n > 0)
		memmove(c->window.data, c->window.data + n, c->window.size - n);
	c->window.size -= n;
}

/* Makes text up to end, keeping what is from offset on. */
static int make_until(struct sized_cursor *c, uint64_t offset, uint64_t end)
{
	int err = 0;

	while (!err && c->text.made < end) {
		if (c->text.ended)
			return fail(ESTALE, "something of it was dropped");
		drop_front(c, offset);
		err = sized_text_make(&c->text, &c->window);
	}
	return err;
}

/* Counts what the window has in memory. */
static void count_window(struct fs *fs, struct sized_cursor *c)
{
	struct memory *m = store_memory(fs->store);

	if (c->window.capacity > 4 * KEPT_SIZE &&
	    c->window.size <= c->window.capacity / 4) {
		buf_release(&c->window);
		c->placed = false;
	}
	memory_give(m, MEMORY_EXPORTS, c->held);
	c->held = c->window.capacity;
	memory_hold(m, MEMORY_EXPORTS, c->held);
}

int sized_read(struct fs *fs, struct sized_user *user, uint64_t offset,
	       size_t size, struct buf *out)
{
	struct sized *s = user->sized;
	struct sized_cursor *c;
	uint64_t end;
	int err;

	if (offset >= s->size)
		return 0;
	if (s->whole.size > 0)
		return buf_add(out, s->whole.data + offset,
			       s->size - offset < size ? s->size - offset
						       : size);
	end = s->size - offset < size ? s->size : offset + size;
	c = take_cursor(fs, s, offset);
	if (!c)
		return -ENOMEM;
	patient_until_us = fs_steady() + PATIENCE_US;
	err = place_cursor(fs, c, offset);
	if (!err)
		err = make_until(c, offset, end);
	if (place_is_dropped(err))
		err = fail(ESTALE, "%s", err_detail());
	if (!err)
		err = buf_add(out,
			      c->window.data + c->window.size -
				      (c->text.made - offset),
			      (size_t)(end - offset));
	if (err)
		c->placed = false;
	else
		sized_text_rest(&c->text);
	count_window(fs, c);
	give_cursor(fs, c);
	return err;
}
