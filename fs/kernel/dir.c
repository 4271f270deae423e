#include <assert.h>
#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/reply.h"
#include "fs/kernel/dir.h"
#include "fs/kernel/listing.h"
#include "fs/state/ino.h"
#include "fs/state/marks.h"
#include "fs/tree/lookup.h"

/*
 * Ordinals count entries from 0, without "." and "..". The cookie of an entry
 * says where to go on after it: 1 behind ".", 2 behind "..", n + 3 behind the
 * entry n; so a request at an offset of 2 or more is about ordinal offset - 2.
 *
 *   0            window_start     next
 *   |-----------------|############|-------
 *    listed before; forgotten but    kept    not read yet
 *    for marks
 *
 * next is the ordinal of the listing's next entry. The window holds the entries
 * from window_start to before next: all while they are few, else the last
 * reply's, and the one that did not fit in it. The kernel goes on from
 * somewhere in there, mostly at its end. To go elsewhere the listing is put to
 * a mark and stepped through, see marks.h.
 *
 * A reader goes on in the listing that it began, since another's ordinals count
 * other entries. So a cookie also names its listing, by a number above the
 * ordinal's bits. The kernel joins what it keeps of a list by the cookies, so
 * it never joins the parts of two listings.
 */

/* Beyond this many, readdirplus gives names only: their lookups would cost more
 * than they save, in time and in the kernel's memory. */
#define PLUS_MAX 4096

/* Below a listing's number, in a cookie of 63 bits. */
#define ORDINAL_BITS 40
#define LISTING_MAX (((uint32_t)1 << (63 - ORDINAL_BITS)) - 1)

/* An end that the kernel does not remember as one: it is too short for an entry
 * (struct fuse_dirent). */
#define OPEN_END_SIZE 8
static_assert(OPEN_END_SIZE < FUSE_NAME_OFFSET, "it is no entry");

/* A directory of which the window has so many bytes needs no listing to come
 * back to. */
#define WINDOW_KEPT 32768

/* What a thin one remembers of what it has given. */
#define THIN_SIZE 512

/* What glibc asks for; such a reply needs no allocation. */
#define REPLY_SIZE_USUAL 32768

struct dir {
	struct node *node;     /* referenced */
	enum name_level level; /* of the names in it */
	pthread_mutex_t lock;  /* guards what follows */
	uint32_t number;       /* in its cookies */
	bool is_begun;         /* what follows is set */
	bool is_whole;    /* all that has this number, from the start on, is
			      from one listing */
	bool can_cache;   /* the kernel may keep it */
	uint64_t outside; /* fs->outside when it was begun */
	uint64_t changes; /* fs->changes when listing was opened */
	uint64_t ino, parent_ino; /* st_ino when it was begun */
	struct listing *listing;  /* owned; NULL: suspended, or is_complete */
	bool is_complete;         /* the window has all entries */
	bool is_placed;           /* listing is before the entry next */
	struct marks marks;       /* and next */
	struct buf place;         /* of the entry at hand */
	struct buf window;        /* each a window_entry and its key */
	uint64_t window_start;    /* ordinal of the window's first entry */
	struct buf name;          /* of the entry at hand */
};

/* In the window each entry is one of these, not aligned, then its key. */
struct window_entry {
	struct cell_info info;
	size_t key_size;
	enum node_kind kind;
};

uint32_t dir_number_of(uint64_t offset)
{
	return (uint32_t)(offset >> ORDINAL_BITS) & LISTING_MAX;
}

uint32_t dir_next_number(struct fs *fs)
{
	return (atomic_fetch_add(&fs->listings, 1) + 1) & LISTING_MAX;
}

int dir_open(struct fs *fs, struct node *node, uint32_t number,
	     struct dir **out)
{
	struct dir *d = malloc(sizeof(*d));

	if (!d)
		return -ENOMEM;
	*d = (struct dir){
		.node = node,
		.level = lookup_level(node),
		.number = number,
	};
	pthread_mutex_init(&d->lock, NULL);
	node_get(&fs->nodes, node);
	*out = d;
	return 0;
}

void dir_close(struct fs *fs, struct dir *d)
{
	if (d->listing)
		listing_close(fs, d->listing);
	marks_release(&d->marks);
	buf_release(&d->place);
	buf_release(&d->window);
	buf_release(&d->name);
	node_put(&fs->nodes, d->node);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* Opens the listing, of a new snapshot, before its first entry. */
static int open_listing(struct fs *fs, struct dir *d)
{
	assert(!d->listing);
	/* Before: what it has not seen is a change. */
	d->changes = fs->changes;
	return listing_open(fs, d->node, &d->listing);
}

/* A new listing, for a request at offset: from the start, or from somewhere in
 * one that is not known here, whose cookies go on. After an error it is not
 * begun. */
static int begin(struct fs *fs, struct dir *d, uint64_t offset)
{
	int err;

	if (d->listing)
		listing_close(fs, d->listing);
	d->listing = NULL;
	d->window_start = 0;
	buf_reset(&d->window);
	d->is_complete = false;
	if (offset > 0)
		d->number = dir_number_of(offset);
	else if (d->is_begun)
		d->number = dir_next_number(fs);
	/* First: what changes from here on may be unseen. */
	d->outside = fs->outside;
	d->is_whole = offset == 0;
	d->ino = node_ino(&fs->nodes, d->node);
	d->parent_ino = d->node->parent ? node_ino(&fs->nodes, d->node->parent)
					: d->ino;
	err = marks_begin(&d->marks);
	if (!err)
		err = open_listing(fs, d);
	d->is_begun = d->is_placed = !err;
	d->can_cache = !err && fs->has_epochs && !fs->options->follow &&
		       listing_can_be_cached(d->listing);
	return err;
}

/* The listing goes on in another snapshot. */
static void renew(struct dir *d)
{
	marks_renew(&d->marks);
	d->is_whole = d->is_placed = false;
}

/* The listing's next entry: 1 with its place in d->place, 0 at the end, 2 with
 * no entry where another snapshot begins, or an error. */
static int next(struct dir *d, struct listing_entry *entry)
{
	int err = listing_next(d->listing, entry);

	if (err == 2)
		renew(d);
	if (err == 1 && listing_place(d->listing, entry, &d->place))
		return -ENOMEM;
	return err;
}

/* next, which then is one of those that were given. It is not in the window
 * yet. */
static int produce(struct dir *d, struct listing_entry *entry)
{
	int err = next(d, entry);

	if (err == 1 && marks_count(&d->marks, buf_bytes(&d->place))) {
		/* It is not lost: who asks again is given it. */
		d->is_placed = false;
		return -ENOMEM;
	}
	return err;
}

/* Room in the window for an entry: before it is produced, or it would be lost.
 */
static int reserve(struct dir *d)
{
	return buf_reserve(&d->window,
			   sizeof(struct window_entry) + STORE_QUALIFIER_MAX);
}

/* Adds the entry that was produced last to the window, which has room. */
static void widen(struct dir *d, const struct listing_entry *made)
{
	struct window_entry entry;

	assert(made->key.size <= STORE_QUALIFIER_MAX);
	memset(&entry, 0, sizeof(entry));
	entry.info = made->info;
	entry.kind = made->kind;
	entry.key_size = made->key.size;
	(void)!buf_add(&d->window, &entry, sizeof(entry));
	(void)!buf_add_bytes(&d->window, made->key);
}

/* Empties the window and puts the listing before the entry that was given with
 * this ordinal, or where it was; the entry that is found there may be in the
 * window then. 0, 1 if the listing ends before it, or an error. */
static int seek(struct dir *d, uint64_t ordinal)
{
	struct listing_entry entry;
	bool was_placed = d->is_placed;
	struct marks_way way;
	int err;

	buf_reset(&d->window);
	d->is_placed = false;
	err = reserve(d);
	if (!err)
		err = marks_seek(&d->marks, ordinal, &way);
	d->window_start = d->marks.next;
	/* What is sought from the start is rather read on. */
	if (!err &&
	    (!was_placed || !way.is_ahead || listing_seeks_rows(d->listing)))
		err = listing_seek(d->listing, way.from);
	if (err == 2) {
		/* The way was one in the last snapshot. Then it is by place, so
		 * that from is in this piece of names. */
		renew(d);
		return seek(d, ordinal);
	}
	if (err)
		return err;
	for (;;) {
		d->window_start = d->marks.next;
		if (!way.by_place && d->marks.next == ordinal)
			break;
		do
			err = next(d, &entry);
		while (err == 1 &&
		       bytes_compare(buf_bytes(&d->place), way.from) < 0);
		if (err == 2)
			return seek(d, ordinal);
		if (err == 1 && marks_count(&d->marks, buf_bytes(&d->place)))
			err = -ENOMEM;
		if (err < 0)
			return err;
		if (err == 0) {
			d->is_placed = true;
			return !way.by_place;
		}
		if (way.by_place &&
		    bytes_compare(buf_bytes(&d->place), way.until) >= 0) {
			widen(d, &entry);
			break;
		}
	}
	d->is_placed = true;
	return 0;
}

/* Has the window contain *ordinal, or end before it, at byte *at; costs nothing
 * while it does. Elsewhere *ordinal is what the entry is given with from now
 * on. What is before is dropped from a window that is large. 0, 1 if the
 * listing ends before *ordinal, or an error. */
static int place_window(struct dir *d, uint64_t *ordinal, size_t *at)
{
	struct window_entry entry;
	uint64_t i;
	int err;

	*at = 0;
	if (d->is_complete && *ordinal > d->marks.next)
		return 1;
	if (*ordinal < d->window_start || *ordinal > d->marks.next) {
		err = seek(d, *ordinal);
		*ordinal = d->window_start;
		return err;
	}
	/* Entries have different sizes, so they are walked. */
	for (i = d->window_start; i < *ordinal; i++) {
		memcpy(&entry, d->window.data + *at, sizeof(entry));
		*at += sizeof(entry) + entry.key_size;
	}
	assert(*at <= d->window.size);
	if (d->window.size > WINDOW_KEPT && *at > 0) {
		d->window.size -= *at;
		memmove(d->window.data, d->window.data + *at, d->window.size);
		d->window_start = *ordinal;
		*at = 0;
	}
	return 0;
}

/* Opens the listing again, of a new snapshot. 0 or an error. */
static int resume(struct fs *fs, struct dir *d)
{
	uint64_t changes = d->changes;
	int err;

	assert(d->is_begun && !d->listing);
	err = open_listing(fs, d);
	if (err)
		return err;
	/* What was counted in one that is the same is counted in this one. */
	if (d->changes != changes || !listing_can_be_cached(d->listing))
		marks_renew(&d->marks);
	d->is_whole = d->is_placed = false;
	return 0;
}

/* The window's entry at byte *at, produced if the window ends there; *at moves
 * on behind it, and *ordinal tells which it is, from that of the one before. 1,
 * 0 at the end, or an error. *key points into the window, until the next call.
 */
static int take(struct dir *d, size_t *at, uint64_t *ordinal,
		struct window_entry *entry, struct bytes *key)
{
	struct listing_entry made;
	int err;

	assert(*at <= d->window.size);
	if (*at == d->window.size && d->is_complete)
		return 0;
	/* Goes on behind the last one, whatever came or went. */
	if (*at == d->window.size &&
	    (!d->is_placed || marks_ended(&d->marks))) {
		err = seek(d, d->marks.next);
		if (err < 0)
			return err;
		*at = 0;
		*ordinal = d->window_start;
	}
	if (*at == d->window.size) {
		err = reserve(d);
		if (!err)
			err = produce(d, &made);
		/* Its ordinals are another run's. */
		if (err == 2)
			return take(d, at, ordinal, entry, key);
		if (err != 1)
			return err;
		widen(d, &made);
	}
	memcpy(entry, d->window.data + *at, sizeof(*entry));
	*at += sizeof(*entry);
	*key = bytes_of(d->window.data + *at, entry->key_size);
	*at += entry->key_size;
	return 1;
}

/* The file type of entries of this kind, but for control names. */
static mode_t type_of(enum node_kind kind)
{
	switch (kind) {
	case NODE_TABLE:
	case NODE_ROW:
	case NODE_FAMILY:
	case NODE_COLUMN:
	case NODE_SCHEMA_FAMILY:
	case NODE_AT_ROW:
	case NODE_AT_FAMILY:
	case NODE_AT_COLUMN:
	case NODE_AT_SCHEMA_FAMILY:
		return S_IFDIR;
	case NODE_SCAN_LINK:
	case NODE_SCAN_SEGMENT:
	case NODE_AS_OF_LINK:
		return S_IFLNK;
	default:
		return S_IFREG;
	}
}

/* A reply under construction. */
struct reply {
	fuse_req_t req;
	char *data;        /* size bytes, of which used are written */
	size_t size, used; /* bytes */
	bool plus;         /* for readdirplus */
	uint32_t number;   /* of the listing */
};

/* Adds an entry, with the cookie to go on after it, less the listing's number;
 * false if it does not fit, and nothing is added. */
static bool add(struct reply *r, const char *name,
		const struct fuse_entry_param *e, uint64_t cookie)
{
	char *at = r->data + r->used;
	size_t left = r->size - r->used;
	size_t n;

	assert(r->used <= r->size && cookie >> ORDINAL_BITS == 0);
	cookie |= (uint64_t)r->number << ORDINAL_BITS;
	n = r->plus ? fuse_add_direntry_plus(r->req, at, left, name, e,
					     (off_t)cookie)
		    : fuse_add_direntry(r->req, at, left, name, &e->attr,
					(off_t)cookie);

	if (n > left)
		return false;
	r->used += n;
	return true;
}

/* Adds "." (ordinal 0) or ".." (1). As add. */
static bool add_dot(struct dir *d, struct reply *r, uint64_t ordinal)
{
	struct fuse_entry_param e;

	memset(&e, 0, sizeof(e));
	e.attr.st_ino = ordinal ? d->parent_ino : d->ino;
	e.attr.st_mode = S_IFDIR;
	return add(r, ordinal ? ".." : ".", &e, ordinal + 1);
}

/*
 * For readdirplus: a node for an entry of data, with *e filled and remembered
 * for the kernel, so that the entry has to be in the reply; e->ino 0 if there
 * is none. What the scan has seen holds only if nothing was changed since;
 * else the store is asked again. If that finds nothing, or fails, the entry
 * stays a name.
 */
static void enter(struct fs *fs, struct dir *d,
		  const struct window_entry *entry, struct bytes key,
		  struct fuse_entry_param *e)
{
	if (!node_is_data(d->node))
		return;
	tree_hold(fs);
	/* Of rows and families the scan has not seen the newest change. */
	if ((d->node->kind == NODE_TABLE || d->node->kind == NODE_ROW ||
	     entry->info.seq == 0 || d->changes != fs->changes ||
	     lookup_listed(fs, d->node, key, &entry->info, e)) &&
	    lookup_child(fs, d->node, key, e) != 1)
		e->ino = 0;
	tree_let_go(fs);
}

/* Adds the entry with this ordinal: 1, 0 if it does not fit, or an error. */
static int add_entry(struct fs *fs, struct dir *d, struct reply *r,
		     const struct window_entry *entry, struct bytes key,
		     uint64_t ordinal)
{
	struct fuse_entry_param e;
	int err;

	if ((ordinal + 3) >> ORDINAL_BITS)
		return -EOVERFLOW;
	buf_reset(&d->name);
	if (entry->kind == NODE_VERSION || entry->kind == NODE_AT_VERSION ||
	    listing_is_fixed(entry->kind))
		err = buf_add_bytes(&d->name, key);
	else
		err = name_encode(d->level, key, &d->name);
	if (!err)
		err = buf_terminate(&d->name);
	if (err)
		return err;
	memset(&e, 0, sizeof(e));
	e.attr.st_mode = type_of(entry->kind);
	if (listing_is_fixed(entry->kind))
		e.attr.st_mode = listing_fixed_type(entry->kind, key);
	/* Asked only if it fits: what the kernel is not told of it cannot
	 * forget. */
	if (r->plus && ordinal < PLUS_MAX && !listing_is_fixed(entry->kind) &&
	    fuse_add_direntry_plus(r->req, NULL, 0, (char *)d->name.data, &e,
				   0) <= r->size - r->used)
		enter(fs, d, entry, key, &e);
	if (e.ino) {
		fs_cut_timeouts(fs, &e);
	} else {
		mode_t type =
			e.attr.st_mode ? e.attr.st_mode : type_of(entry->kind);

		memset(&e, 0, sizeof(e));
		e.attr.st_mode = type;
		e.attr.st_ino =
			entry->kind == NODE_CELL
				? ino_of_listed(&fs->nodes, d->node, d->ino,
						key)
				: ino_of_child(d->ino, entry->kind, key);
	}
	return add(r, (char *)d->name.data, &e, ordinal + 3);
}

/* The listing is at its end. If all of it is in the window it can go, with its
 * snapshot, which keeps what is removed from being freed. */
static void complete(struct fs *fs, struct dir *d)
{
	if (d->is_complete || d->window_start > 0 ||
	    d->window.size > WINDOW_KEPT)
		return;
	d->is_complete = true;
	listing_close(fs, d->listing);
	d->listing = NULL;
}

/* Needs lock. */
static void suspend(struct fs *fs, struct dir *d)
{
	if (d->listing)
		listing_close(fs, d->listing);
	d->listing = NULL;
}

/* Adds entries from offset on until the reply is full or the listing ends. 0,
 * or an error if nothing was added. */
static int fill(struct fs *fs, struct dir *d, struct reply *r, uint64_t offset)
{
	struct window_entry entry;
	struct bytes key = BYTES_NONE;
	size_t at = 0;
	int err = 0;

	if (offset == 0 || !d->is_begun || d->number != dir_number_of(offset))
		err = begin(fs, d, offset);
	else if (!d->listing && !d->is_complete)
		err = resume(fs, d);
	if (err < 0)
		return err;
	r->number = d->number;
	offset &= ((uint64_t)1 << ORDINAL_BITS) - 1;
	for (; offset < 2; offset++)
		if (!add_dot(d, r, offset))
			return 0;
	offset -= 2;
	err = place_window(d, &offset, &at);
	if (err == 0) {
		do {
			err = take(d, &at, &offset, &entry, &key);
			if (err == 0)
				complete(fs, d);
			if (err == 1)
				err = add_entry(fs, d, r, &entry, key,
						offset++);
		} while (err == 1);
	}
	if (err >= 0 || r->used == 0)
		return err < 0 ? err : 0;
	/* An error after some entries is answered to the next call, when the
	 * reason is no longer known. */
	fs_log_error(fs, d->node, NULL, err);
	if (err == -ESTALE)
		suspend(fs, d);
	return 0;
}

/* How often a list goes on elsewhere within a reply. */
#define TRIES 3

/* fill, of a mount that follows, too: where files of the snapshot were merged
 * away the listing goes on in what there is now. */
static int fill_anew(struct fs *fs, struct dir *d, struct reply *r,
		     uint64_t offset)
{
	int err = fill(fs, d, r, offset), tries;

	for (tries = 1; err == -ESTALE && tries < TRIES; tries++) {
		if (!fs_look_again(fs))
			return err;
		suspend(fs, d);
		err = fill(fs, d, r, offset);
	}
	return err;
}

/* The kernel was not told of the entries, so it will not forget them. */
static void forget_entries(struct fs *fs, const struct reply *r)
{
	struct fuse_direntplus e;
	size_t at;

	for (at = 0; r->plus && at < r->used; at += FUSE_DIRENTPLUS_SIZE(&e)) {
		memcpy(&e, r->data + at, sizeof(e));
		if (e.entry_out.nodeid)
			node_forget(&fs->nodes,
				    node_of(&fs->nodes, e.entry_out.nodeid), 1);
	}
}

/* Before it is answered that there is no more, by which the kernel takes for
 * whole what it kept of this list: the size of that answer. If it may not, it
 * is told an end that it does not remember, or what it kept is dropped first.
 */
static size_t prepare_end(struct fs *fs, struct dir *d)
{
	if (!d->can_cache)
		return OPEN_END_SIZE;
	if (!d->is_whole || !list_keep(fs, d->node, d->outside))
		list_drop(fs, d->node);
	return 0;
}

bool dir_reply(struct fs *fs, struct dir *d, fuse_req_t req, uint64_t offset,
	       size_t size, bool plus)
{
	static const char open_end[OPEN_END_SIZE];
	char room[REPLY_SIZE_USUAL];
	struct reply r = {
		.req = req,
		.data = size > sizeof(room) ? malloc(size) : room,
		.size = size,
		.plus = plus,
	};
	int err = r.data ? 0 : -ENOMEM;
	size_t end_size;
	bool ended, given;

	/* What a query's next row is may take long to find. */
	if (d->node->kind == NODE_SCAN_ROWS ||
	    d->node->kind == NODE_SCAN_SEGMENTS || node_is_past(d->node))
		loop_hand_over();
	pthread_mutex_lock(&d->lock);
	if (!err)
		err = fill_anew(fs, d, &r, offset);
	if (d->listing && !listing_rest(d->listing))
		suspend(fs, d);
	ended = !err && r.used == 0;
	end_size = ended ? prepare_end(fs, d) : 0;
	given = ended || d->is_complete;
	pthread_mutex_unlock(&d->lock);
	/* With the reply d may be closed by another thread. */
	if (err)
		fs_reply_error(fs, req, d->node, NULL, err);
	else if (ended)
		fs_reply_buf(req, open_end, end_size);
	else if (fs_reply_buf(req, r.data, r.used) < 0)
		forget_entries(fs, &r);
	if (r.data != room)
		free(r.data);
	return given;
}

void dir_suspend(struct fs *fs, struct dir *d)
{
	pthread_mutex_lock(&d->lock);
	suspend(fs, d);
	pthread_mutex_unlock(&d->lock);
}

bool dir_try_suspend(struct fs *fs, struct dir *d)
{
	if (pthread_mutex_trylock(&d->lock) != 0)
		return false;
	suspend(fs, d);
	pthread_mutex_unlock(&d->lock);
	return true;
}

void dir_thin(struct fs *fs, struct dir *d)
{
	pthread_mutex_lock(&d->lock);
	suspend(fs, d);
	d->is_complete = false;
	d->window_start = d->marks.next;
	buf_release(&d->window);
	buf_release(&d->place);
	buf_release(&d->name);
	/* Without memory they are as they were. */
	(void)marks_thin(&d->marks, THIN_SIZE);
	pthread_mutex_unlock(&d->lock);
}
