#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/at.h"
#include "fs/attr.h"
#include "fs/ctl.h"
#include "fs/lookup.h"
#include "fs/loop.h"
#include "fs/query.h"

#define DIR_R (S_IFDIR | 0555)
#define DIR_RW (S_IFDIR | 0755)
#define FILE_R (S_IFREG | 0444)
#define FILE_W (S_IFREG | 0200)
#define FILE_RW (S_IFREG | 0644)

static const struct ctl_entry entries[] = {
	{ NODE_ROOT, ".tabletfs", NODE_INSTANCE, DIR_R },
	{ NODE_TABLE, ".at", NODE_AT, DIR_R },
	{ NODE_AT, "now", NODE_AT_TIME, DIR_R },
	{ NODE_TABLE, ".drop", NODE_DROP, DIR_R },
	{ NODE_DROP, "prefix", NODE_DROP_STEP, DIR_R },
	{ NODE_DROP, "range", NODE_DROP_STEP, DIR_R },
	{ NODE_DROP_RANGE, "preview", NODE_DROP_PREVIEW, FILE_R },
	{ NODE_DROP_RANGE, "apply", NODE_DROP_APPLY, FILE_W },
	{ NODE_INSTANCE, "help", NODE_HELP, FILE_R },
	{ NODE_INSTANCE, "version", NODE_PROGRAM_VERSION, FILE_R },
	{ NODE_INSTANCE, "stats", NODE_STATS, FILE_R },
	{ NODE_INSTANCE, "metrics", NODE_METRICS, FILE_R },
	{ NODE_INSTANCE, "errors", NODE_ERRORS, FILE_R },
	{ NODE_INSTANCE, "ctl", NODE_CTL, S_IFREG | 0600 },
	{ NODE_TABLE, ".schema", NODE_SCHEMA, DIR_RW },
	{ NODE_TABLE, ".granularity", NODE_GRANULARITY, FILE_RW },
	{ NODE_TABLE, ".import", NODE_IMPORT, DIR_R },
	{ NODE_TABLE, ".mutate", NODE_MUTATE, FILE_W },
	{ NODE_TABLE, ".scan", NODE_SCAN, DIR_R },
	{ NODE_TABLE, ".stats", NODE_TABLE_STATS, FILE_R },
	{ NODE_ROW, ".row.jsonl", NODE_ROW_JSON, FILE_RW },
	{ NODE_FAMILY, ".versions", NODE_VERSIONS, DIR_RW },
	{ NODE_SCHEMA_FAMILY, "gc", NODE_GC, FILE_RW },
	{ NODE_SCHEMA_FAMILY, "type", NODE_TYPE, FILE_RW },
	{ NODE_IMPORT, "family", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "timestamp", NODE_IMPORT_STEP, DIR_R },
	{ NODE_IMPORT, "csv", NODE_IMPORT_FILE, FILE_W },
	{ NODE_IMPORT, "tsv", NODE_IMPORT_FILE, FILE_W },
	{ NODE_IMPORT, "jsonl", NODE_IMPORT_FILE, FILE_W },
	{ NODE_IMPORT, "last", NODE_IMPORT_LAST, FILE_R },
	{ NODE_SCAN, "prefix", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "range", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "regex", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "limit", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "reverse", NODE_SCAN, DIR_R },
	{ NODE_SCAN, "family", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "column", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "value", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "filter", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "versions", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "since", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "until", NODE_SCAN_STEP, DIR_R },
	{ NODE_SCAN, "keys", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "count", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "estimate", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "samples", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "csv", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "tsv", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "jsonl", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "cbt", NODE_SCAN_TEXT, FILE_R },
	{ NODE_SCAN, "rows", NODE_SCAN_ROWS, DIR_R },
	{ NODE_SCAN, "segments", NODE_SCAN_SEGMENTS, DIR_R },
};
#define ENTRY_COUNT (sizeof(entries) / sizeof(*entries))

const struct ctl_entry *ctl_entry_at(enum node_kind parent, size_t *index)
{
	while (*index < ENTRY_COUNT && entries[*index].parent != parent)
		++*index;
	return *index < ENTRY_COUNT ? &entries[*index] : NULL;
}

bool ctl_is_offered(struct fs *fs, struct node *directory,
		    const struct ctl_entry *entry)
{
	/* Each step once, so that a walk through them ends. */
	switch (entry->kind) {
	case NODE_SCAN:
	case NODE_SCAN_STEP:
	case NODE_IMPORT_STEP:
		return !query_has_step(fs, directory, entry->name);
	case NODE_IMPORT_LAST:
		return directory->parent->kind == NODE_TABLE;
	case NODE_IMPORT_FILE: /* steps are about CSV and TSV */
		return directory->parent->kind == NODE_TABLE ||
		       strcmp(entry->name, "jsonl") != 0;
	default:
		return true;
	}
}

/* A child by kind and key; ends nothing of the caller's. */
static int found(struct fs *fs, struct node *directory, enum node_kind kind,
		 struct bytes key, struct fuse_entry_param *e)
{
	struct node *node;
	int err = node_enter(&fs->nodes, directory, kind, key, &node);

	if (!err)
		err = lookup_reply(fs, node, e);
	return err ? err : 1;
}

static bool timestamp_of(struct bytes name, uint64_t *timestamp_us)
{
	size_t i;

	*timestamp_us = 0;
	if (name.size == 0 || name.size > 19 ||
	    (name.data[0] == '0' && name.size > 1))
		return false;
	for (i = 0; i < name.size; i++) {
		if (name.data[i] < '0' || name.data[i] > '9')
			return false;
		*timestamp_us = *timestamp_us * 10 + (name.data[i] - '0');
	}
	return true;
}

int ctl_find_version(struct fs *fs, const struct path *path,
		     struct cell_info *info, struct buf *value)
{
	struct scan_range range = {
		.table = path->table,
		.row = path->row,
		.has_family = true,
		.has_qualifier = true,
		.family = path->family,
		.qualifier = path->qualifier,
		.keep_large = true,
	};
	struct scan *scan;
	struct cell cell;
	uint64_t timestamp_us;
	int err;

	if (!timestamp_of(path->leaf, &timestamp_us))
		return 0;
	err = scan_open(fs->store, NULL, &range, &scan);
	if (err)
		return err;
	do
		err = scan_next(scan, CURSOR_VERSION, &cell);
	while (err == 1 && cell.timestamp_us > timestamp_us);
	if (err == 1 && cell.timestamp_us != timestamp_us)
		err = 0;
	if (err == 1) {
		info->timestamp_us = cell.timestamp_us;
		info->seq = cell.seq;
		info->size = cell_shown_size(&cell);
		if (value)
			err = cell.aggregate ? cell_show(&cell, value)
					     : scan_load(scan, &cell, value);
		err = err < 0 ? err : 1;
	}
	scan_close(scan);
	return err;
}

static int lookup_version(struct fs *fs, struct node *column, struct bytes name,
			  struct fuse_entry_param *e)
{
	struct cell_info info;
	struct path path;
	int err = node_path(&fs->nodes, column, &path);

	if (err)
		return err;
	path.leaf = name;
	err = ctl_find_version(fs, &path, &info, NULL);
	path_release(&path);
	return err == 1 ? found(fs, column, NODE_VERSION, name, e) : err;
}

static int lookup_column(struct fs *fs, struct node *versions,
			 struct bytes name, struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	struct cell_info info;
	struct path path;
	int err = node_path(&fs->nodes, versions, &path);

	if (err)
		return err;
	err = lookup_key(fs, versions, NAME_QUALIFIER, name, &key);
	if (err == 1) {
		path.qualifier = buf_bytes(&key);
		err = cell_newest(fs, &path, &info, 1);
	}
	if (err == 1)
		err = found(fs, versions, NODE_COLUMN, buf_bytes(&key), e);
	buf_release(&key);
	path_release(&path);
	return err;
}

static int lookup_family(struct fs *fs, struct node *directory,
			 struct bytes name, struct fuse_entry_param *e)
{
	struct cell_rules rules;
	struct path path;
	int err = node_path(&fs->nodes, directory, &path);

	if (err)
		return err;
	path.family = name;
	err = cell_rules(fs, &path, &rules);
	path_release(&path);
	if (err)
		return err;
	return rules.has_family
		       ? found(fs, directory, NODE_SCHEMA_FAMILY, name, e)
		       : 0;
}

static int lookup_step_value(struct fs *fs, struct node *step,
			     enum node_kind kind, struct bytes name,
			     struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	uint64_t hash;
	int err = name_decode(NAME_VALUE, name, &key, &hash);

	if (err)
		err = fail(ENOENT, "%.*s: not a value's name", (int)name.size,
			   (const char *)name.data);
	else if (step->kind == NODE_IMPORT_STEP)
		err = imports_check_step(node_name(step), buf_bytes(&key));
	else
		err = query_check_step(node_name(step), buf_bytes(&key));
	if (!err)
		err = found(fs, step, kind, buf_bytes(&key), e);
	buf_release(&key);
	return err;
}

static int lookup_link(struct fs *fs, struct node *rows, struct bytes name,
		       struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	int err = lookup_key(fs, rows, NAME_ROW, name, &key);

	if (err == 1)
		err = query_has_row(fs, rows, buf_bytes(&key));
	if (err == 1)
		err = found(fs, rows, NODE_SCAN_LINK, buf_bytes(&key), e);
	buf_release(&key);
	return err;
}

/* The segment with a cut name, by listing; as lookup_key. */
static int find_cut_segment(struct fs *fs, struct node *segments,
			    struct bytes name, struct buf *key)
{
	struct buf again = BUF_INIT;
	struct bytes segment;
	struct query *q;
	struct cell cell;
	int err = query_open(fs, segments, QUERY_SEGMENTS, &q);

	if (err)
		return err;
	loop_hand_over();
	while ((err = query_next_segment(q, &cell, &segment)) == 1) {
		buf_reset(&again);
		err = name_encode(NAME_VALUE, segment, &again);
		if (!err && bytes_equal(buf_bytes(&again), name))
			err = buf_set(key, segment) ? -ENOMEM : 1;
		if (err)
			break;
	}
	query_close(fs, q);
	buf_release(&again);
	return err;
}

static int lookup_segment(struct fs *fs, struct node *segments,
			  struct bytes name, struct fuse_entry_param *e)
{
	struct buf key = BUF_INIT;
	uint64_t hash;
	int err = name_decode(NAME_VALUE, name, &key, &hash);

	if (err == NAME_WHOLE)
		err = query_has_segment(fs, segments, buf_bytes(&key));
	else if (err == NAME_CUT)
		err = find_cut_segment(fs, segments, name, &key);
	else if (err == -EINVAL)
		err = 0;
	if (err == 1)
		err = found(fs, segments, NODE_SCAN_SEGMENT, buf_bytes(&key),
			    e);
	buf_release(&key);
	return err;
}

int ctl_lookup(struct fs *fs, struct node *directory, struct bytes name,
	       struct fuse_entry_param *e)
{
	const struct ctl_entry *entry;
	size_t i;

	if (!node_is_data(directory))
		e->entry_timeout = 0;
	if (node_is_past(directory))
		return at_lookup(fs, directory, name, e);
	for (i = 0; (entry = ctl_entry_at(directory->kind, &i)); i++)
		if (bytes_equal(name, bytes_string(entry->name)))
			return ctl_is_offered(fs, directory, entry)
				       ? found(fs, directory, entry->kind, name,
					       e)
				       : 0;
	switch (directory->kind) {
	case NODE_VERSIONS:
		return lookup_column(fs, directory, name, e);
	case NODE_COLUMN:
		return lookup_version(fs, directory, name, e);
	case NODE_SCHEMA:
		return lookup_family(fs, directory, name, e);
	case NODE_SCAN_STEP:
		return lookup_step_value(fs, directory, NODE_SCAN, name, e);
	case NODE_IMPORT_STEP:
		return lookup_step_value(fs, directory, NODE_IMPORT, name, e);
	case NODE_DROP_STEP:
		return lookup_step_value(fs, directory, NODE_DROP_RANGE, name,
					 e);
	case NODE_SCAN_ROWS:
		return lookup_link(fs, directory, name, e);
	case NODE_SCAN_SEGMENTS:
		return lookup_segment(fs, directory, name, e);
	default:
		return 0;
	}
}

static mode_t mode_of(const struct node *node)
{
	size_t i;

	switch (node->kind) {
	case NODE_COLUMN:
	case NODE_SCHEMA_FAMILY:
		return DIR_RW;
	case NODE_CELL: /* of an aggregate */
		return FILE_RW;
	case NODE_VERSION:
	case NODE_AT_CELL:
		return FILE_R;
	case NODE_SCAN_LINK:
	case NODE_SCAN_SEGMENT:
		return S_IFLNK | 0777;
	default:
		break;
	}
	for (i = 0; i < ENTRY_COUNT; i++)
		if (entries[i].kind == node->kind)
			return entries[i].mode;
	return DIR_R;
}

/* What mirrors data may change at any time; the rest is there for good. */
static bool is_fixed(enum node_kind kind)
{
	return kind != NODE_COLUMN && kind != NODE_VERSION &&
	       kind != NODE_SCHEMA_FAMILY && kind != NODE_SCAN_LINK &&
	       kind != NODE_SCAN_SEGMENT;
}

static int version_attr(struct fs *fs, const struct path *path, uint64_t ino,
			struct stat *st)
{
	struct cell_info info;
	int err = ctl_find_version(fs, path, &info, NULL);

	if (err <= 0)
		return err ? err : -ENOENT;
	attr_cell(fs, ino, &info, st);
	st->st_mode = S_IFREG | 0444;
	return 0;
}

int ctl_attr(struct fs *fs, struct node *node, struct stat *st, double *timeout)
{
	uint64_t ino = node_ino(&fs->nodes, node);
	struct cell_rules rules;
	struct path path;
	int err;

	attr_directory(fs, ino, fs->start_us, st);
	st->st_mode = mode_of(node);
	*timeout = is_fixed(node->kind) ? ATTR_TIMEOUT_S : 0;
	err = node_path(&fs->nodes, node, &path);
	if (err)
		return err;
	if (node->kind == NODE_VERSION)
		err = version_attr(fs, &path, ino, st);
	if (node_is_past(node))
		err = at_attr(fs, node, &path, ino, st, timeout);
	if (!err && path.table.size > 0) {
		err = cell_rules(fs, &path, &rules);
		/* A link's mode is always the same, a dropped table nobody's.
		 */
		if (!err && !S_ISLNK(st->st_mode))
			attr_access(&rules.access, st);
		err = err == -ERR_no_table ? 0 : err;
	}
	path_release(&path);
	return err;
}

static const struct ctl_ops *ops_of(enum node_kind kind)
{
	switch (kind) {
	case NODE_IMPORT_FILE:
		return &ctl_import_ops;
	case NODE_MUTATE:
		return &ctl_mutate_ops;
	case NODE_SCAN_TEXT:
		return &ctl_scan_ops;
	case NODE_CTL:
		return &ctl_verb_ops;
	case NODE_DROP_APPLY:
		return &ctl_drop_ops;
	case NODE_CELL:
		return &ctl_aggregate_ops;
	case NODE_VERSION:
	case NODE_AT_CELL:
		return &ctl_version_ops;
	default:
		return &ctl_text_ops;
	}
}

int ctl_open(struct fs *fs, struct node *node, int flags, struct ctl_file **out)
{
	int access = flags & O_ACCMODE, err;
	mode_t mode = mode_of(node);
	struct ctl_file *f;

	if (access != O_RDONLY && node_is_past(node))
		return -EROFS;
	/* Root passes the kernel's check of modes; a file that cannot be
	 * read or written is still none. */
	if ((access != O_WRONLY && !(mode & 0400)) ||
	    (access != O_RDONLY && !(mode & 0200)))
		return -EACCES;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->ops = ops_of(node->kind);
	f->node = node;
	f->flags = flags;
	err = node_path(&fs->nodes, node, &f->path);
	if (err)
		goto free_file;
	err = f->ops->open ? f->ops->open(fs, f) : 0;
	if (err)
		goto release_path;
	pthread_mutex_init(&f->lock, NULL);
	node_get(&fs->nodes, node);
	*out = f;
	return 0;

release_path:
	path_release(&f->path);
	buf_release(&f->out);
free_file:
	free(f);
	return err;
}

void ctl_close(struct fs *fs, struct ctl_file *f)
{
	if (f->ops->release)
		f->ops->release(fs, f);
	pthread_mutex_destroy(&f->lock);
	path_release(&f->path);
	buf_release(&f->in);
	buf_release(&f->out);
	node_put(&fs->nodes, f->node);
	free(f);
}

size_t ctl_take_lines(struct buf *partial, struct bytes data,
		      const struct ctl_lines *lines, int *err)
{
	size_t taken = 0;

	*err = 0;
	while (taken < data.size) {
		struct bytes rest = bytes_after(data, taken);
		const uint8_t *end = memchr(rest.data, '\n', rest.size);
		size_t before = partial->size;

		rest.size = end ? (size_t)(end - rest.data) : rest.size;
		if (rest.size > lines->size_max - before)
			*err = fail(lines->too_long,
				    "a line of more than %zu bytes",
				    lines->size_max);
		else
			*err = buf_add_bytes(partial, rest);
		if (!*err && end)
			*err = lines->each(lines->context, buf_bytes(partial));
		if (*err) {
			/* The next try meets the same line again. */
			partial->size = before;
			break;
		}
		if (end)
			buf_reset(partial);
		taken += rest.size + (end != NULL);
	}
	return taken;
}
