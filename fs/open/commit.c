#include <assert.h>
#include <errno.h>

#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/open/commit.h"

/*
 * How a draft becomes a version of its cell. All decisions are taken inside
 * store_update, where no other commit can come between reading the newest
 * version and writing.
 *
 * What a user wrote last is what is read, so a new version is later than the
 * newest: its timestamp is the time of the last write, or the first one that is
 * allowed after the newest. The version that the session wrote last is replaced
 * if it still is the newest. A time that utimensat set is kept even if that is
 * earlier than the replaced version's, but not to before what lies beneath.
 */
struct commit {
	struct fs *fs;
	const struct path *path;
	const struct content_value *value;
	uint64_t size;       /* of the newest version, as far as is known */
	bool millis;         /* timestamps are multiples of 1000 */
	bool has_session;    /* session_us may be replaced */
	uint64_t session_us; /* timestamp of the session's last version */
	uint64_t time_us;    /* when it was written, or the time that was set */
	bool exact; /* time_us was set by utimensat: keep it if possible */
	uint64_t timestamp_us; /* result */
	uint64_t seq;          /* of it, or 0: not known */
};

uint64_t draft_time(const struct draft *d)
{
	if (d->dirty)
		return d->has_pending ? d->pending_us : d->modified_us;
	return d->base_us;
}

/* No timestamp: those end at INT64_MAX. */
#define NO_TIME UINT64_MAX

static_assert(NO_TIME > INT64_MAX, "it is no timestamp");

/* Which timestamp the commit gets, and the one that it replaces, or NO_TIME. */
static int choose_time(struct commit *c, uint64_t *replaced_us)
{
	struct cell_info newest[2];
	uint64_t floor = 0, t = c->time_us;
	bool replaces;
	int n;

	tree_assert_held(c->fs);
	/* What lies beneath matters only if the newest is to go. */
	if (c->has_session && c->exact)
		n = cell_newest(c->fs, c->path, newest, 2);
	else
		n = cell_stat(c->fs, c->path, c->size, newest);
	if (n < 0)
		return n;
	replaces = n > 0 && c->has_session &&
		   newest[0].timestamp_us == c->session_us;
	if (n > 0 && !(replaces && c->exact))
		floor = cell_time_after(newest[0].timestamp_us, c->millis);
	else if (n > 1)
		floor = cell_time_after(newest[1].timestamp_us, c->millis);
	if (c->millis)
		t = t / 1000 * 1000;
	c->timestamp_us = t > floor ? t : floor;

	*replaced_us = replaces ? newest[0].timestamp_us : NO_TIME;
	return 0;
}

/* For store_update. A version that is replaced at its own timestamp need not be
 * deleted. */
static int decide_commit(void *context, struct write *w)
{
	struct commit *c = context;
	uint64_t replaced_us, t;
	int err = choose_time(c, &replaced_us);

	if (err)
		return err;
	t = c->timestamp_us;
	write_uncounted(w);
	err = write_row(w, c->path->table, c->path->row);
	if (!err && replaced_us != NO_TIME && replaced_us != t)
		err = write_delete_cells(w, c->path->family, c->path->qualifier,
					 replaced_us, replaced_us + 1);
	if (!err)
		err = content_value_set(c->value, w, c->path->family,
					c->path->qualifier, t);
	return err;
}

void note_commit(struct fs *fs, struct node *cell, const struct path *path,
		 uint64_t timestamp_us)
{
	struct cell_info newest;
	uint64_t seq = 1;

	tree_assert_held(fs);
	/* Its sequence, by which a lookup knows it again. Another's version on
	 * top of it makes the node look older than that, which it is. */
	if (cell_stat(fs, path, cell->size, &newest) == 1 &&
	    newest.timestamp_us == timestamp_us)
		seq = newest.seq;
	fs_committed(fs, cell, timestamp_us, seq);
}

/* What there is to decide of a draft at its place, whose table may have other
 * rules than when it was opened. With the draft's lock held. */
static struct commit of_draft(struct fs *fs, const struct draft *d,
			      const struct place *place)
{
	return (struct commit){
		.fs = fs,
		.path = &place->path,
		.size = d->content.size,
		.millis = place->rules.millis,
		.has_session = d->has_written,
		.session_us = d->session_us,
		.time_us = draft_time(d),
		.exact = d->has_pending,
	};
}

/* The draft and its node after c was committed. */
static void settle(struct fs *fs, struct draft *d, const struct commit *c)
	NEEDS_SHARED(fs->tree)
{
	d->node->size = d->content.size;
	d->dirty = false;
	d->has_pending = false;
	d->has_written = true;
	d->session_us = c->timestamp_us;
	d->base_us = c->timestamp_us;
	d->stored_seq = c->seq;
	/* What is put later than all there was is the newest, so it need not be
	 * looked up. */
	if (c->seq && !c->exact)
		fs_committed(fs, d->node, c->timestamp_us, c->seq);
	else
		note_commit(fs, d->node, c->path, c->timestamp_us);
}

/* 0, or -ESTALE: the family that it is from was deleted, and another made of
 * that name, which gets nothing of it. */
static int check_family(const struct draft *d, const struct place *place)
{
	const struct bytes name = place->path.family;
	const struct family *f =
		place->table ? table_family(place->table, name) : NULL;

	if (!f || d->stored_seq == 0 || d->stored_seq >= f->birth_seq)
		return 0;
	return fail(ESTALE,
		    "family %.*s was deleted and made again since the file was "
		    "opened; open it again",
		    (int)name.size, (const char *)name.data);
}

/* Commits a draft with changes. With its lock held. */
static int commit(struct fs *fs, struct draft *d, bool sync)
	NEEDS_SHARED(fs->tree)
{
	struct content_value value;
	struct commit c;
	struct place place;
	int err = place_find(fs, d->node, &place);

	assert(d->dirty && d->loaded);
	if (!err)
		err = check_family(d, &place);
	if (err)
		goto release_place;
	c = of_draft(fs, d, &place);
	c.value = &value;
	/* Before the update, which other commits wait for: it may be long. */
	err = content_value(&d->content, fs->store, &value);
	if (err)
		goto release_place;
	err = store_update_seq(fs->store, decide_commit, &c, sync, &c.seq);
	if (!err)
		content_rebase(&d->content, &value);
	content_value_release(&value);
	if (!err)
		settle(fs, d, &c);
release_place:
	place_release(&place);
	return err;
}

void draft_count(struct fs *fs, struct draft *d)
{
	uint64_t size = d->dirty ? d->content.size : 0;

	/* Also if that is less, as unsigned numbers go. */
	atomic_fetch_add(&fs->uncommitted, size - d->counted);
	d->counted = size;
}

int draft_commit_locked(struct fs *fs, struct draft *d, bool sync)
{
	int err = 0;

	sync = sync || fs->options->sync;
	/* Who still writes to what was removed writes to nothing. */
	if (d->dirty && d->node->gone)
		d->dirty = false;
	if (d->dirty)
		err = commit(fs, d, sync);
	else if (sync)
		err = store_sync(fs->store);
	draft_count(fs, d);
	return err;
}

int draft_flush(struct fs *fs, struct draft *d, bool sync)
{
	uint64_t written_us;
	int err;

	tree_hold(fs);
	pthread_mutex_lock(&d->lock);
	err = draft_commit_locked(fs, d, sync);
	written_us = d->session_us;
	pthread_mutex_unlock(&d->lock);
	tree_let_go(fs);
	fs_reach(fs, written_us);
	return err;
}

/* A committed version that is to have another timestamp. */
struct stamp {
	struct fs *fs;
	const struct path *path;
	bool millis;
	uint64_t timestamp_us; /* in: wanted; out: what it got */
};

/* Moves the newest version from old to s->timestamp_us: deletes it, and sets
 * its value again, of which a large one is not copied. */
static int move_newest(const struct stamp *s, struct write *w, uint64_t old)
{
	const struct path *p = s->path;
	struct buf memory = BUF_INIT;
	struct large *large;
	struct cell cell;
	int err =
		store_get_large(s->fs->store, NULL, p->table, p->row, p->family,
				p->qualifier, &cell, &memory, &large);

	if (err <= 0)
		goto release;
	err = fs_check_moved(s->fs, large ? 0 : cell.value.size);
	write_uncounted(w);
	if (!err)
		err = write_row(w, p->table, p->row);
	if (!err)
		err = write_delete_cells(w, p->family, p->qualifier, old,
					 old + 1);
	if (!err && large)
		err = write_set_large(w, p->family, p->qualifier,
				      s->timestamp_us, large);
	else if (!err)
		err = write_set(w, p->family, p->qualifier, s->timestamp_us,
				cell.value);
	large_put(large);
release:
	buf_release(&memory);
	return err;
}

/* For store_update: chooses the timestamp, and moves the newest version there.
 * -ENOENT if there is none. */
static int decide_stamp(void *context, struct write *w)
{
	struct stamp *s = context;
	struct cell_info newest[2];
	uint64_t floor;
	int n;

	tree_assert_held(s->fs);
	n = cell_newest(s->fs, s->path, newest, 2);
	if (n <= 0)
		return n < 0 ? n : -ENOENT;
	floor = n > 1 ? cell_time_after(newest[1].timestamp_us, s->millis) : 0;
	if (s->millis)
		s->timestamp_us = s->timestamp_us / 1000 * 1000;
	if (s->timestamp_us < floor)
		s->timestamp_us = floor;
	if (s->timestamp_us == newest[0].timestamp_us)
		return 0;
	return move_newest(s, w, newest[0].timestamp_us);
}

/* The time that a commit is to have: at once the one that it will get, as the
 * kernel keeps what it is told now. */
static int set_pending(struct fs *fs, struct draft *d,
		       const struct place *place, uint64_t timestamp_us)
	NEEDS_SHARED(fs->tree)
{
	struct commit c = of_draft(fs, d, place);
	uint64_t replaced_us;
	int err;

	assert(d->dirty);
	c.time_us = timestamp_us;
	c.exact = true;
	err = choose_time(&c, &replaced_us);
	if (err)
		return err;
	d->has_pending = true;
	d->pending_us = c.timestamp_us;
	return 0;
}

/* draft_stamp of a cell at its place that was not unlinked. With the draft's
 * lock held. */
static int stamp(struct fs *fs, struct draft *d, const struct place *place,
		 uint64_t timestamp_us) NEEDS_SHARED(fs->tree)
{
	const struct path *path = &place->path;
	struct stamp s = {
		.fs = fs,
		.path = path,
		.timestamp_us = timestamp_us,
	};
	int err;

	if (place->rules.aggregate)
		return fail(EPERM,
			    "the versions of family %.*s keep their "
			    "times: it has an aggregate type",
			    (int)path->family.size,
			    (const char *)path->family.data);
	if (place_expiry(place, path->family, timestamp_us) <= fs_now(fs))
		return fail(EINVAL, "this time has expired by the rule of %.*s",
			    (int)path->family.size,
			    (const char *)path->family.data);
	if (d->dirty)
		return set_pending(fs, d, place, timestamp_us);
	s.millis = place->rules.millis;
	err = store_update(fs->store, decide_stamp, &s, fs->options->sync);
	if (err)
		return err;
	/* The version that moved is the session's, if that was the newest the
	 * draft knows of. */
	if (d->has_written && d->session_us == d->base_us)
		d->session_us = s.timestamp_us;
	d->base_us = s.timestamp_us;
	note_commit(fs, d->node, path, s.timestamp_us);
	return 0;
}

int draft_stamp(struct fs *fs, struct draft *d, uint64_t timestamp_us)
{
	struct place place;
	int err = place_enter(fs, d->node, &place);

	pthread_mutex_lock(&d->lock);
	if (!err && !d->node->gone)
		err = stamp(fs, d, &place, timestamp_us);
	pthread_mutex_unlock(&d->lock);
	place_leave(fs, &place);
	return err;
}
