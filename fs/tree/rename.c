#include <assert.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/open/commit.h"
#include "fs/state/ino.h"
#include "fs/tree/lookup.h"
#include "fs/tree/rename.h"
#include "fs/tree/tree.h"

/*
 * rename inside a family is one atomic mutation. A target that exists keeps its
 * history and gets the moved value as its newest version; else the whole
 * history moves. Renaming a row copies its cells in one batch up to
 * ROW_MOVE_MAX; beyond it is EXDEV, and mv copies. Everything else that would
 * cross a row or a family is EXDEV as well.
 *
 * fs->tree is held alone, so nobody is between a path and what is done by it:
 * no draft is being committed, no lookup under way. Commands and imports may
 * commit, so what there is to move is decided inside store_update. The store
 * comes first, then the nodes.
 */

/* Bytes of mutations, which are in memory until they are committed; large
 * values do not count, as they are not copied. */
#define ROW_MOVE_MAX ((size_t)32 << 20)

/* A cell or a row on its way. */
struct move {
	struct fs *fs;
	struct place from; /* of the source */
	struct bytes to;   /* qualifier, or row; borrowed */
	uint8_t *name; /* a copy of to, for the node; NULL once that has it */

	bool exchange;              /* RENAME_EXCHANGE */
	struct draft *draft;        /* the source's, locked; NULL: none */
	struct draft *other;        /* the target's, locked; NULL: none */
	struct content_value value; /* the source's content, if uncommitted */
	uint64_t timestamp_us;      /* result: of the target's newest version */
	bool had_target;            /* result: there was one in the store */
	bool of_session; /* result: that version is the draft's session's */
};

/* All versions of a column in the source's family, to be closed. */
static int open_column(struct move *m, struct bytes qualifier,
		       struct scan **scan)
{
	struct scan_range range = {
		.table = m->from.path.table,
		.row = m->from.path.row,
		.has_family = true,
		.has_qualifier = true,
		.family = m->from.path.family,
		.qualifier = qualifier,
		.keep_large = true,
	};

	return scan_open(m->fs->store, NULL, &range, scan);
}

/* Adds all versions of one column to another, whose newest then is
 * m->timestamp_us; their number or an error. */
static int copy_column(struct move *m, struct write *w, struct bytes source,
		       struct bytes target)
{
	struct scan *scan;
	struct cell cell;
	int err = open_column(m, source, &scan), count = 0;

	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		err = write_set_cell(w, m->from.path.family, target,
				     cell.timestamp_us, scan, &cell);
		if (err)
			break;
		if (count++ == 0)
			m->timestamp_us = cell.timestamp_us;
	}
	scan_close(scan);
	return err < 0 ? err : count;
}

/* The source's content, not yet committed, becomes the target's newest, later
 * than below, unless that is NULL. 0 or an error. */
static int move_draft(struct move *m, struct write *w,
		      const struct cell_info *below)
{
	struct draft *d = m->draft;
	uint64_t t = draft_time(d), floor = 0;
	bool millis = m->from.rules.millis;

	assert(d->dirty);
	if (below)
		floor = cell_time_after(below->timestamp_us, millis);
	if (millis)
		t = t / 1000 * 1000;
	m->timestamp_us = t > floor ? t : floor;
	return content_value_set(&m->value, w, m->from.path.family, m->to,
				 m->timestamp_us);
}

/* The source's newest version becomes the target's, later than below. Not
 * negative, or an error. */
static int move_newest(struct move *m, struct write *w,
		       const struct cell_info *below)
{
	uint64_t floor;
	struct scan *scan;
	struct cell cell;
	int err = open_column(m, m->from.path.qualifier, &scan);

	if (err)
		return err;
	err = scan_next(scan, CURSOR_COLUMN, &cell);
	if (err == 1) {
		floor = cell_time_after(below->timestamp_us,
					m->from.rules.millis);
		m->timestamp_us =
			cell.timestamp_us > floor ? cell.timestamp_us : floor;
		err = write_set_cell(w, m->from.path.family, m->to,
				     m->timestamp_us, scan, &cell);
	}
	scan_close(scan);
	return err;
}

/* Both columns are deleted, and then set from what is there without w, which
 * scans still see. -ENOENT if one is missing. */
static int exchange(struct move *m, struct write *w)
{
	const struct path *p = &m->from.path;
	int n, err;

	err = write_delete_column(w, p->family, p->qualifier);
	if (!err)
		err = write_delete_column(w, p->family, m->to);
	if (err)
		return err;
	n = copy_column(m, w, m->to, p->qualifier);
	if (n > 0)
		n = copy_column(m, w, p->qualifier, m->to);
	return n > 0 ? 0 : n < 0 ? n : -ENOENT;
}

/* Whether the session's last version, if there is one, is the newest of the
 * source: then what the session commits next stands in for it. */
static bool draft_replaces(struct move *m, const struct cell_info *newest)
{
	return m->draft->has_written &&
	       m->draft->session_us == newest->timestamp_us;
}

/* The whole history moves, and what is uncommitted on top of it. newest is the
 * source's newest version; NULL: none is committed. 0 or an error. */
static int move_history(struct move *m, struct write *w,
			const struct cell_info *newest)
{
	int n = copy_column(m, w, m->from.path.qualifier, m->to), err = 0;

	if (n < 0)
		return n;
	if (!m->draft || !m->draft->dirty)
		return 0;
	if (newest && draft_replaces(m, newest))
		err = write_delete_cells(w, m->from.path.family, m->to,
					 newest->timestamp_us,
					 newest->timestamp_us + 1);
	return err ? err : move_draft(m, w, newest);
}

/* What moves is written again, and what it was counts until it is compacted
 * away; what is open counts already. */
static int check_room(const struct move *m, const struct write *w)
{
	uint64_t size = write_size(w), held = m->draft ? m->draft->counted : 0;

	return fs_check_moved(m->fs, size > held ? size - held : 0);
}

/* For store_update: a cell's rename, or exchange. */
static int decide_move(void *context, struct write *w)
{
	struct move *m = context;
	struct path target = m->from.path; /* points into m->from */
	struct cell_info old, newest;
	bool dirty = m->draft && m->draft->dirty;
	int has_source, has_target, err;

	tree_assert_held(m->fs);
	target.qualifier = m->to;
	has_source = cell_newest(m->fs, &m->from.path, &newest, 1);
	has_target = cell_newest(m->fs, &target, &old, 1);
	if (has_source < 0 || has_target < 0)
		return has_source < 0 ? has_source : has_target;
	if (has_source == 0 && !dirty)
		return -ENOENT;
	m->had_target = has_target > 0;
	m->of_session = dirty || (m->draft && draft_replaces(m, &newest));
	write_uncounted(w);
	err = write_row(w, m->from.path.table, m->from.path.row);
	if (err)
		return err;
	if (m->exchange)
		err = exchange(m, w);
	else if (!has_target)
		err = move_history(m, w, has_source ? &newest : NULL);
	else if (dirty)
		err = move_draft(m, w, &old);
	else
		err = move_newest(m, w, &old);
	if (err >= 0)
		err = check_room(m, w);
	return err < 0 || m->exchange
		       ? err
		       : write_delete_column(w, m->from.path.family,
					     m->from.path.qualifier);
}

/* *out is the node of the child with this key, NULL for none, if it exists,
 * referenced; NULL if not. 0 or an error. */
static int existing(struct fs *fs, struct node *directory,
		    const struct buf *key, struct node **out) NEEDS(fs->tree)
{
	struct fuse_entry_param e;
	int err = 0;

	*out = NULL;
	if (key)
		err = lookup_child(fs, directory, buf_bytes(key), &e);
	/* What counts as told to the kernel becomes a reference. */
	if (err == 1) {
		*out = node_of(&fs->nodes, e.ino);
		node_get(&fs->nodes, *out);
		node_forget(&fs->nodes, *out, 1);
	}
	return err < 0 ? err : 0;
}

/*
 * The name that node's history came from, for unlink to give it back. It stays
 * if the target is another backup of the same file, made by an earlier save. A
 * target that existed keeps its own history, which is no other name's. Without
 * memory the name is not noted: unlink then removes the history too.
 */
static void note_origin(struct move *m, struct node *node, struct node *target)
{
	struct bytes from = m->from.path.qualifier, origin = node->renamed_from;
	uint8_t *copy;

	if (m->had_target && target && target->renamed_from.data &&
	    bytes_equal(target->renamed_from, from)) {
		node->renamed_from = target->renamed_from;
		target->renamed_from = origin;
	} else if (m->had_target) {
		node->renamed_from = BYTES_NONE;
		free((void *)(uintptr_t)origin.data);
	} else if (!origin.data) {
		copy = malloc(from.size + 1);
		if (copy) {
			memcpy(copy, from.data, from.size);
			node->renamed_from = bytes_of(copy, from.size);
		}
	}
}

/* What the nodes are to know after a column has moved. */
static void settle(struct fs *fs, struct move *m, struct node *node,
		   struct node *target) NEEDS(fs->tree)
{
	struct draft *d = m->draft;

	if (d) {
		d->dirty = false;
		draft_count(fs, d);
		d->has_pending = false;
		d->base_us = m->timestamp_us;
		d->has_written = d->writers > 0 && m->of_session;
		d->session_us = m->timestamp_us;
		if (!d->stored_seq)
			d->stored_seq = UINT64_MAX;
	}
	if (m->other)
		m->other->maker =
			makers_get(&fs->makers, node_ino(&fs->nodes, target));
	if (target)
		target->gone = true;
	note_origin(m, node, target);
	node_rename(&fs->nodes, node, m->name, m->to.size);
	m->name = NULL;
	m->from.path.qualifier = m->to;
	note_commit(fs, node, &m->from.path, m->timestamp_us);
}

/* After an exchange: what node, which has its new name, and its draft, if it
 * has one, start from. The next commit adds a version. */
static int settle_exchanged(struct fs *fs, struct node *node, struct draft *d)
	NEEDS(fs->tree)
{
	struct cell_info info;
	struct place place;
	int err = place_find(fs, node, &place);

	/* Not note_commit: the kernel follows an exchange by itself. */
	if (!err && cell_stat(fs, &place.path, node->size, &info) == 1) {
		if (d) {
			d->base_us = info.timestamp_us;
			d->has_written = false;
		}
		node_committed(&fs->nodes, node, info.timestamp_us, info.seq);
	}
	place_release(&place);
	return err;
}

/* Both are first committed, so that all there is to exchange is in the store.
 */
static int exchange_cells(struct fs *fs, struct move *m, struct node *node,
			  struct node *target) NEEDS(fs->tree)
{
	struct draft *other = m->other;
	int err = 0;

	assert(target);
	if (m->draft)
		err = draft_commit_locked(fs, m->draft, false);
	if (!err && other)
		err = draft_commit_locked(fs, other, false);
	if (!err)
		err = store_update(fs->store, decide_move, m,
				   fs->options->sync);
	if (!err) {
		node_exchange(&fs->nodes, node, target);
		err = settle_exchanged(fs, node, m->draft);
	}
	if (!err)
		err = settle_exchanged(fs, target, other);
	return err;
}

/* Both drafts, if there are such, so that no commit comes between or after. Two
 * are locked at once only here, in the order of their places. */
static void lock_drafts(struct move *m, struct node *node, struct node *target)
{
	struct draft *first, *second;

	m->draft = draft_get(m->fs, node);
	m->other = target ? draft_get(m->fs, target) : NULL;
	first = (uintptr_t)m->draft < (uintptr_t)m->other ? m->draft : m->other;
	second = first == m->draft ? m->other : m->draft;
	assert(!first || first != second);
	if (first)
		pthread_mutex_lock(&first->lock);
	if (second)
		pthread_mutex_lock(&second->lock);
}

/* The reverse, for one of them, which may be NULL. */
static void unlock_draft(struct fs *fs, struct draft *d)
{
	if (!d)
		return;
	pthread_mutex_unlock(&d->lock);
	draft_put(fs, d);
}

/* What an aggregate holds is added up, not replaced. */
static int refuse_onto_aggregate(struct move *m, const struct node *target)
{
	if (!m->from.rules.aggregate || !target)
		return 0;
	return fail(EPERM, "family %.*s has an aggregate type",
		    (int)m->from.path.family.size,
		    (const char *)m->from.path.family.data);
}

/* A cell, by one mutation; its content, if uncommitted, is written to the store
 * before that. With both drafts locked. */
static int move_cell(struct fs *fs, struct move *m, struct node *node,
		     struct node *target) NEEDS(fs->tree)
{
	int err = 0;

	assert(!m->exchange);
	if (m->draft && m->draft->dirty)
		err = content_value(&m->draft->content, fs->store, &m->value);
	if (!err)
		err = store_update(fs->store, decide_move, m,
				   fs->options->sync);
	if (!err && m->draft)
		content_rebase(&m->draft->content, &m->value);
	content_value_release(&m->value);
	if (!err)
		settle(fs, m, node, target);
	return err;
}

/* A cell, over target or, if that is NULL, over nothing; or in exchange for it.
 */
static int rename_cell(struct fs *fs, struct node *node, struct node *target,
		       struct bytes to, unsigned int flags) NEEDS(fs->tree)
{
	struct move m = {
		.fs = fs,
		.to = to,
		.name = node_name_new(to),
		.exchange = flags & RENAME_EXCHANGE,
	};
	int err = place_find(fs, node, &m.from);

	if (!err && !m.name)
		err = -ENOMEM;
	if (!err)
		err = refuse_onto_aggregate(&m, target);
	if (err)
		goto release_place;
	lock_drafts(&m, node, target);
	err = m.exchange ? exchange_cells(fs, &m, node, target)
			 : move_cell(fs, &m, node, target);
	unlock_draft(fs, m.other);
	unlock_draft(fs, m.draft);
release_place:
	place_release(&m.from);
	free(m.name);
	return err;
}

/* Adds all versions of the source's row to the row that w is at. 0, -EXDEV if
 * that is too much, or an error. */
static int copy_row(struct move *m, struct write *w)
{
	struct scan_range range = {
		.table = m->from.path.table,
		.row = m->from.path.row,
		.keep_large = true,
	};
	struct scan *scan;
	struct cell cell;
	int err = scan_open(m->fs->store, NULL, &range, &scan);

	if (err)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		/* Two more: this one, and the row's deletion. */
		if (write_size(w) + cell.value.size > ROW_MOVE_MAX ||
		    write_count(w) + 2 > STORE_MUTATIONS_MAX) {
			err = -EXDEV;
			break;
		}
		err = write_set_cell(w, cell.family, cell.qualifier,
				     cell.timestamp_us, scan, &cell);
		if (err)
			break;
	}
	scan_close(scan);
	return err;
}

/* For store_update: all cells of a row to another, and the row deleted. A row
 * without cells is only local, and nothing is written. */
static int decide_row(void *context, struct write *w)
{
	struct move *m = context;
	int err = store_row_exists(m->fs->store, m->from.path.table, m->to);

	if (err)
		return err < 0 ? err : -ENOTEMPTY;
	err = write_row(w, m->from.path.table, m->to);
	if (!err)
		err = copy_row(m, w);
	if (err || write_count(w) == 0)
		return err;
	err = check_room(m, w);
	if (!err)
		err = write_row(w, m->from.path.table, m->from.path.row);
	return err ? err : write_delete_row(w);
}

/* The row that node is now was made by uid. */
static void note_row_maker(struct fs *fs, struct node *node, uid_t uid)
	NEEDS_SHARED(fs->tree)
{
	struct place place;

	if (!place_find(fs, node, &place))
		access_note_maker(fs, &place, NODE_ROW, uid);
	place_release(&place);
}

/* A row, over nothing or an empty directory. What is below its node stays below
 * it, with its drafts. */
static int rename_row(struct fs *fs, struct node *node, struct node *target,
		      struct bytes to, unsigned int flags) NEEDS(fs->tree)
{
	struct move m = { .fs = fs, .to = to };
	uid_t maker = 0;
	uint64_t seq;
	int err;

	if (flags & RENAME_EXCHANGE)
		return -EINVAL;
	/* Whether it has cells is seen inside the update. */
	if (target && node_has_locals(&fs->nodes, target))
		return -ENOTEMPTY;
	m.name = node_name_new(to);
	err = place_find(fs, node, &m.from);
	if (!err && !m.name)
		err = -ENOMEM;
	if (!err)
		maker = access_made_by(fs, &m.from, NODE_ROW);
	if (!err)
		err = store_update_seq(fs->store, decide_row, &m,
				       fs->options->sync, &seq);
	place_release(&m.from);
	if (err)
		goto free_name;
	/* The cells' sequences are new, though their values are not; what
	 * others wrote to the row meanwhile has later ones. */
	node->moved_seq = seq;
	node_rename(&fs->nodes, node, m.name, to.size);
	/* What is below it is its table's owner's again, as of what is removed
	 * from a row. */
	note_row_maker(fs, node, maker);
	return 0;

free_name:
	free(m.name);
	return err;
}

/* A table, over nothing: only its name changes. */
static int rename_table(struct fs *fs, struct node *node, struct node *target,
			struct bytes to, unsigned int flags) NEEDS(fs->tree)
{
	struct place place;
	uint8_t *name;
	int err;

	if (flags & RENAME_EXCHANGE)
		return -EINVAL;
	if (target)
		return -ENOTEMPTY;
	name = node_name_new(to);
	err = place_find(fs, node, &place);
	if (!err && !name)
		err = -ENOMEM;
	if (!err)
		err = store_rename_table(fs->store, place.path.table, to);
	place_release(&place);
	if (err)
		free(name);
	else
		node_rename(&fs->nodes, node, name, to.size);
	return err;
}

/* tree_rename with both names looked up: node or target is NULL if there is
 * none. */
static int rename_known(struct fs *fs, struct node *directory,
			struct node *node, struct node *target, struct bytes to,
			unsigned int flags) NEEDS(fs->tree)
{
	uint64_t ino;
	int err;

	if (flags & ~(unsigned int)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;

	if (!node || ((flags & RENAME_EXCHANGE) && !target))
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE) && target)
		return -EEXIST;
	if (node == target)
		return 0;
	ino = node_ino(&fs->nodes, node);
	switch (directory->kind) {
	case NODE_ROOT:
		err = rename_table(fs, node, target, to, flags);
		break;
	case NODE_TABLE:
		err = rename_row(fs, node, target, to, flags);
		break;
	case NODE_FAMILY:
		err = rename_cell(fs, node, target, to, flags);
		break;
	default:
		err = -EXDEV;
	}
	/* In the same row they hold as they are. */
	if (!err && node->kind == NODE_CELL)
		makers_move(&fs->makers, ino, node_ino(&fs->nodes, node),
			    flags & RENAME_EXCHANGE);
	return err;
}

/* Whether anything there may be renamed, whatever it is: 0 or an error. */
static int check_places(const struct node *directory, struct bytes name,
			const struct node *to)
{
	if (!node_is_data(directory) || !node_is_data(to))
		return fs_refuse(node_is_past(to) ? to : directory);
	/* Control names stay where they are. */
	if (bytes_equal(name, BYTES_LITERAL(".versions")) ||
	    (name.data[0] == '.' && directory->kind != NODE_FAMILY))
		return -EPERM;
	return directory == to ? 0 : -EXDEV;
}

/* The key of to_name, appended: a long name may be written over, but not made,
 * which *is_cut tells. 0 or an error. */
static int target_key(struct fs *fs, struct node *directory,
		      struct bytes to_name, struct buf *key, bool *is_cut)
{
	int err = tree_key(directory, to_name, key);

	*is_cut = err == -ENAMETOOLONG;
	if (!*is_cut)
		return err;
	buf_reset(key);
	err = lookup_key(fs, directory, lookup_level(directory), to_name, key);
	return err == 1 ? 0 : err ? err : -ENAMETOOLONG;
}

/* tree_rename by keys; key is NULL if the source cannot be there. */
static int rename_keys(struct fs *fs, struct node *directory,
		       const struct buf *key, const struct buf *to_key,
		       bool is_cut, unsigned int flags)
{
	struct node *node = NULL, *target = NULL;
	int err;

	tree_hold_alone(fs);
	err = existing(fs, directory, key, &node);
	if (!err)
		err = existing(fs, directory, to_key, &target);
	if (!err && is_cut && !target)
		err = -ENAMETOOLONG;
	if (!err)
		err = rename_known(fs, directory, node, target,
				   buf_bytes(to_key), flags);
	tree_let_go_alone(fs);
	if (!err && node->kind == NODE_CELL)
		fs_reach(fs, atomic_load(&node->timestamp_us));
	node_put(&fs->nodes, node);
	node_put(&fs->nodes, target);
	return err;
}

int tree_rename(struct fs *fs, struct node *directory, struct bytes name,
		struct node *to, struct bytes to_name, unsigned int flags)
{
	struct buf key = BUF_INIT, to_key = BUF_INIT;
	bool is_cut;
	int err = check_places(directory, name, to), has_key = 0;

	if (err)
		return err;
	/* A row's cells are read and written; a table's name waits for a disk.
	 */
	if (directory->kind != NODE_FAMILY)
		loop_hand_over();
	/* A cut name may take a scan, for which others do not wait. */
	err = target_key(fs, directory, to_name, &to_key, &is_cut);
	if (!err)
		has_key = lookup_key(fs, directory, lookup_level(directory),
				     name, &key);
	if (!err && has_key < 0)
		err = has_key;
	if (!err)
		err = rename_keys(fs, directory, has_key ? &key : NULL, &to_key,
				  is_cut, flags);
	if (!err)
		fs_changed_in(fs, directory);
	/* All below has other inode numbers, which the kernel keeps. */
	if (!err && directory->kind != NODE_FAMILY)
		fs_changed_outside(fs);
	buf_release(&key);
	buf_release(&to_key);
	return err;
}
