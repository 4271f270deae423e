#include <errno.h>
#include <stdlib.h>

#include "fs/cells/pin.h"
#include "fs/cells/seen.h"
#include "fs/control/ctl.h"
#include "fs/control/ctl_table.h"
#include "fs/kernel/listing.h"
#include "fs/query/query.h"
#include "fs/query/query_run.h"
#include "fs/state/path.h"
#include "fs/tree/lookup.h"

struct listing {
	struct fs *fs;
	struct node *node;
	struct path path;
	enum node_kind kind; /* of scanned entries and of names */
	size_t fixed;        /* next control entry */
	bool shows_fixed;
	/* Names that need no scan: local ones, tables, families. */
	struct names names;
	size_t name_index;
	/* The scan; one of the two, or none. */
	struct snapshot *snapshot; /* its own, unless the view has one */
	struct at_view view;       /* of the past */
	struct filter *filter;     /* what that sees, or NULL */
	struct scan *scan;
	struct query *query;
	enum cursor_step step;
	bool has_cell; /* cell is the scan's next entry */
	bool ended;
	struct cell cell;
	struct cell_info info;
	char timestamp[24];
	struct bytes segment; /* of cell, in query */
};

bool listing_is_fixed(enum node_kind kind)
{
	return kind > NODE_CELL && kind != NODE_COLUMN &&
	       kind != NODE_SCHEMA_FAMILY && kind != NODE_SCAN_LINK &&
	       kind != NODE_SCAN_SEGMENT && kind != NODE_VERSION &&
	       kind != NODE_AT_ROW && kind != NODE_AT_FAMILY &&
	       kind != NODE_AT_CELL;
}

mode_t listing_fixed_type(enum node_kind kind, struct bytes name)
{
	static const enum node_kind parents[] = {
		NODE_ROOT,   NODE_INSTANCE,      NODE_TABLE,      NODE_ROW,
		NODE_FAMILY, NODE_SCHEMA_FAMILY, NODE_IMPORT,     NODE_SCAN,
		NODE_AT,     NODE_DROP,          NODE_DROP_RANGE,
	};
	const struct ctl_entry *entry;
	size_t i, at;

	for (i = 0; i < sizeof(parents) / sizeof(*parents); i++)
		for (at = 0; (entry = ctl_entry_at(parents[i], &at)); at++)
			if (entry->kind == kind &&
			    bytes_equal(bytes_string(entry->name), name))
				return entry->mode & S_IFMT;
	return S_IFREG;
}

/* The tables, or a table's families, as names. */
static int read_schema(struct listing *l)
{
	struct schema *schema = store_schema(l->fs->store);
	const struct table *t = NULL;
	size_t count = schema->table_count, i;
	int err = 0;

	if (l->node->kind == NODE_SCHEMA) {
		t = schema_table(schema, l->path.table);
		count = t ? t->family_count : 0;
	}
	for (i = 0; i < count && !err; i++)
		err = names_add(&l->names, t ? t->families[i].name
					     : schema->tables[i].name);
	schema_put(schema);
	names_sort(&l->names);
	return err;
}

/* (Re)opens the scan that this directory lists. */
static int open_scan(struct listing *l)
{
	struct scan_range range = {
		.table = l->path.table,
		.filter = l->filter,
		.keep_large = true,
	};

	if (l->scan)
		scan_close(l->scan);
	l->scan = NULL;
	l->has_cell = l->ended = false;
	switch (l->node->kind) {
	case NODE_TABLE:
	case NODE_AT_TIME:
		l->step = CURSOR_ROW;
		range.rows_only = true;
		break;
	case NODE_COLUMN:
		range.has_qualifier = true;
		range.qualifier = l->path.qualifier;
		/* fallthrough */
	case NODE_FAMILY:
	case NODE_AT_FAMILY:
	case NODE_VERSIONS:
		range.has_family = true;
		range.family = l->path.family;
		/* fallthrough */
	default:
		range.row = l->path.row;
		l->step = CURSOR_COLUMN;
		break;
	}
	if (l->node->kind == NODE_ROW || l->node->kind == NODE_AT_ROW)
		l->step = CURSOR_FAMILY;
	if (l->node->kind == NODE_COLUMN)
		l->step = CURSOR_VERSION;
	return scan_open(l->fs->store,
			 l->view.snapshot ? l->view.snapshot : l->snapshot,
			 &range, &l->scan);
}

static int prepare(struct listing *l)
{
	struct node *node = l->node;
	int err = 0;

	switch (node->kind) {
	case NODE_ROOT:
		l->kind = NODE_TABLE;
		return read_schema(l);
	case NODE_SCHEMA:
		l->kind = NODE_SCHEMA_FAMILY;
		return read_schema(l);
	case NODE_SCAN_ROWS:
		l->kind = NODE_SCAN_LINK;
		return query_open(l->fs, node, QUERY_ROWS, &l->query);
	case NODE_SCAN_SEGMENTS:
		l->kind = NODE_SCAN_SEGMENT;
		return query_open(l->fs, node, QUERY_SEGMENTS, &l->query);
	case NODE_TABLE:
	case NODE_ROW:
	case NODE_FAMILY:
		l->kind = lookup_kind(node);
		/* Local names first: one that is committed in between is then
		 * seen twice, and merged, not missed. */
		err = node_add_locals(&l->fs->nodes, node, &l->names);
		if (!err && node->kind != NODE_TABLE)
			err = seen_add_names(l->fs->seen, &l->path, node->kind,
					     store_seq(l->fs->store),
					     &l->names);
		names_sort(&l->names);
		/* These are all. */
		if (err == 1)
			return 0;
		break;
	case NODE_AT_TIME:
	case NODE_AT_ROW:
	case NODE_AT_FAMILY:
		l->kind = lookup_kind(node);
		err = at_open(l->fs, node, &l->view);
		if (!err)
			err = at_filter(&l->view, &l->filter);
		break;
	case NODE_VERSIONS:
		l->kind = NODE_COLUMN;
		break;
	case NODE_COLUMN:
		l->kind = NODE_VERSION;
		break;
	default:
		l->ended = true;
		return 0;
	}
	if (!err && !l->view.snapshot)
		err = store_snapshot(l->fs->store, &l->snapshot);
	return err ? err : open_scan(l);
}

int listing_open(struct fs *fs, struct node *node, struct listing **out)
{
	struct listing *l = malloc(sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	*l = (struct listing){
		.fs = fs,
		.node = node,
		.shows_fixed = !node_is_data(node) || fs->options->show_control,
	};
	err = node_path(&fs->nodes, node, &l->path);
	if (err) {
		free(l);
		return err;
	}
	err = prepare(l);
	if (err)
		listing_close(fs, l);
	else
		*out = l;
	return err;
}

void listing_close(struct fs *fs, struct listing *l)
{
	if (l->scan)
		scan_close(l->scan);
	if (l->snapshot)
		store_snapshot_release(fs->store, l->snapshot);
	filter_free(l->filter);
	at_close(fs, &l->view);
	if (l->query)
		query_close(fs, l->query);
	names_release(&l->names);
	path_release(&l->path);
	free(l);
}

/* The next control entry that is to be shown here, or NULL. */
static const struct ctl_entry *next_fixed(struct listing *l)
{
	const struct ctl_entry *entry;

	if (!l->shows_fixed)
		return NULL;
	while ((entry = ctl_entry_at(l->node->kind, &l->fixed))) {
		l->fixed++;
		if (ctl_is_offered(l->fs, l->node, entry))
			return entry;
	}
	return NULL;
}

static struct bytes key_of_cell(struct listing *l)
{
	int n;

	switch (l->kind) {
	case NODE_ROW:
	case NODE_SCAN_LINK:
	case NODE_AT_ROW:
		return l->cell.row;
	case NODE_FAMILY:
	case NODE_AT_FAMILY:
		return l->cell.family;
	case NODE_VERSION:
		n = snprintf(l->timestamp, sizeof(l->timestamp), "%llu",
			     (unsigned long long)l->cell.timestamp_us);
		return bytes_of(l->timestamp, (size_t)n);
	case NODE_SCAN_SEGMENT:
		return l->segment;
	default:
		return l->cell.qualifier;
	}
}

/* Sees to it that has_cell or ended is set. 0 or an error. */
static int look_ahead(struct listing *l)
{
	int err = 0;

	if (l->has_cell || l->ended)
		return 0;
	if (l->kind == NODE_SCAN_SEGMENT)
		err = query_next_segment(l->query, &l->cell, &l->segment);
	else if (l->query)
		err = query_next_row(l->query, &l->cell);
	else if (l->scan)
		err = scan_next(l->scan, l->step, &l->cell);
	if (err < 0)
		return err;
	l->has_cell = err == 1;
	l->ended = err == 0;
	return 0;
}

int listing_next(struct listing *l, struct listing_entry *entry)
{
	const struct ctl_entry *fixed = next_fixed(l);
	bool has_name = l->name_index < l->names.count;
	int err, order;

	memset(entry, 0, sizeof(*entry));
	if (fixed) {
		entry->key = bytes_string(fixed->name);
		entry->kind = fixed->kind;
		return 1;
	}
	err = look_ahead(l);
	if (err)
		return err;
	if (!l->has_cell && !has_name)
		return 0;
	entry->kind = l->kind;
	if (l->has_cell) {
		entry->key = key_of_cell(l);
		entry->info.timestamp_us = l->cell.timestamp_us;
		entry->info.seq = l->cell.seq;
		entry->info.size = cell_shown_size(&l->cell);
	}
	order = !l->has_cell ? 1
		: !has_name  ? -1
			     : bytes_compare(entry->key,
					     l->names.names[l->name_index]);
	if (order <= 0)
		l->has_cell = false;
	if (order > 0) {
		memset(&entry->info, 0, sizeof(entry->info));
		if (l->kind == NODE_TABLE)
			entry->info.timestamp_us = l->fs->start_us;
		entry->key = l->names.names[l->name_index];
	}
	if (order >= 0)
		l->name_index++;
	return 1;
}

int listing_seek(struct listing *l, struct bytes key)
{
	int err = 0;

	if (key.size == 0) {
		l->fixed = 0;
		l->name_index = 0;
		l->has_cell = l->ended = false;
		if (l->query)
			return query_rewind(l->fs, l->query);
		return l->scan ? open_scan(l) : 0;
	}
	l->name_index = 0;
	while (l->name_index < l->names.count &&
	       bytes_compare(l->names.names[l->name_index], key) < 0)
		l->name_index++;
	err = scan_seek(l->scan, key, &l->cell);
	if (err < 0)
		return err;
	l->has_cell = err == 1;
	l->ended = err == 0;
	return 0;
}
