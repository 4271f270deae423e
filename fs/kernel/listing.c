#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/pin.h"
#include "fs/cells/seen.h"
#include "fs/control/ctl_recipe.h"
#include "fs/control/ctl_table.h"
#include "fs/kernel/listing.h"
#include "fs/query/as_of.h"
#include "fs/query/query_run.h"
#include "fs/state/path.h"
#include "fs/tree/lookup.h"
#include "store/base/coding.h"

/*
 * Three sources, each in order: control names, which come first; names that are
 * at hand (tables and families of a schema, local names, what a lookup of the
 * row saw); and a scan or a query. The last two are merged, by looking one
 * entry of the scan ahead.
 *
 * Of a table's local rows there may be many: names has a piece of them, and
 * when that was given, or another is sought, it is replaced. A row that was
 * local before may be in newer snapshots alone, so each piece has its own.
 */

/* Bytes of names in a piece, of rows of 4 KiB one more. */
#define PIECE_SIZE ((size_t)128 << 10)

struct listing {
	struct fs *fs;
	struct node *node;   /* borrowed */
	struct place place;  /* of node, as snapshot has it; see open_scan */
	enum node_kind kind; /* of scanned entries and of names */
	size_t fixed;        /* next control entry, as ctl_entry_at counts */
	bool shows_fixed;    /* control names are listed here */
	struct names names;  /* that are at hand, sorted */
	size_t name_index;   /* the next of names */
	struct buf from;     /* where names begins: all before are not in it */
	bool more;           /* are behind names, see PIECE_SIZE */
	uint64_t counted;    /* bytes of names, as MEMORY_LISTINGS */
	bool is_beyond;      /* there was no room for these */
	uint64_t changes;    /* fs->changes, when it took its snapshot */
	struct snapshot *snapshot; /* owned; NULL if view or query has it */
	struct at_view view;       /* of the past; zeroed if it is none */
	struct filter *filter;     /* owned: what view sees; NULL: all */
	struct scan *scan;         /* owned; scan, query or neither */
	struct query *query;       /* owned */
	enum cursor_step step;     /* of scan, from an entry to the next */
	bool has_cell;             /* cell is the next entry of scan or query */
	bool ended;                /* these have no more */
	int error;  /* scan or query is at no place, until the next seek */
	bool rests; /* since the last call: the table may have gone */
	struct cell cell;   /* of it, after a rest, the names and times alone */
	uint64_t size;      /* of cell, as it is shown */
	char timestamp[24]; /* the name of a version: 20 digits at most */
	struct bytes segment; /* of cell, in a query of segments */
};

/* Data, and what mirrors data, has keys; all else has a name of its own. */
bool listing_is_fixed(enum node_kind kind)
{
	return kind > NODE_CELL && kind != NODE_COLUMN &&
	       kind != NODE_SCHEMA_FAMILY && kind != NODE_SCAN_LINK &&
	       kind != NODE_SCAN_SEGMENT && kind != NODE_VERSION &&
	       kind != NODE_AT_ROW && kind != NODE_AT_FAMILY &&
	       kind != NODE_AT_CELL && kind != NODE_AT_COLUMN &&
	       kind != NODE_AT_VERSION && kind != NODE_AT_SCHEMA_FAMILY &&
	       kind != NODE_AS_OF_LINK;
}

mode_t listing_fixed_type(enum node_kind kind, struct bytes name)
{
	/* All directories that have control names. */
	static const enum node_kind parents[] = {
		NODE_ROOT,       NODE_INSTANCE,
		NODE_TABLE,      NODE_ROW,
		NODE_FAMILY,     NODE_SCHEMA_FAMILY,
		NODE_IMPORT,     NODE_SCAN,
		NODE_AT,         NODE_DROP,
		NODE_DROP_RANGE, NODE_AT_TIME,
		NODE_AT_FAMILY,  NODE_AT_SCHEMA_FAMILY,
	};
	const struct ctl_entry *entry;
	size_t i, at;

	assert(listing_is_fixed(kind));
	/* now, or a table of .tabletfs/as-of. */
	if (kind == NODE_AT_TIME)
		return S_IFDIR;
	for (i = 0; i < sizeof(parents) / sizeof(*parents); i++)
		for (at = 0; (entry = ctl_entry_at(parents[i], &at)); at++)
			if (entry->kind == kind &&
			    bytes_equal(bytes_string(entry->name), name))
				return entry->mode & S_IFMT;
	return S_IFREG;
}

/* The store's tables or, for .schema, the table's families, as names. */
static int read_schema(struct listing *l)
{
	const struct schema *schema = l->place.schema;
	const struct table *t = l->place.table;
	size_t count = schema->table_count, i;
	int err = 0;

	if (l->node->kind == NODE_SCHEMA || l->node->kind == NODE_AT_SCHEMA)
		count = t ? t->family_count : 0;
	for (i = 0; i < count && !err; i++)
		err = names_add(&l->names, t ? t->families[i].name
					     : schema->tables[i].name);
	return err;
}

/*
 * Opens the scan that this directory lists, at its start, where there is none;
 * table is what its table is called now, while row and column are what they
 * were when the snapshot was taken. How much of the path it is about, and by
 * which step it goes on, is the directory's depth: a table steps by rows, a row
 * by families, a family by columns, a column by versions.
 */
static int open_scan(struct listing *l, struct bytes table)
{
	struct scan_range range = {
		.table = table,
		.table_id = l->view.table_id,
		.filter = l->filter,
		.keep_large = true,
	};

	assert(!l->scan);
	l->has_cell = l->ended = false;
	/* What is nearer to the root leaves more of the range open. */
	switch (l->node->kind) {
	case NODE_TABLE:
	case NODE_AT_TIME:
		l->step = CURSOR_ROW;
		range.rows_only = true;
		break;
	case NODE_COLUMN:
	case NODE_AT_COLUMN:
		range.has_qualifier = true;
		range.qualifier = l->place.path.qualifier;
		/* fallthrough */
	case NODE_FAMILY:
	case NODE_AT_FAMILY:
	case NODE_VERSIONS:
	case NODE_AT_VERSIONS:
		range.has_family = true;
		range.family = l->place.path.family;
		/* fallthrough */
	default:
		range.row = l->place.path.row;
		l->step = CURSOR_COLUMN;
		break;
	}
	if (l->node->kind == NODE_ROW || l->node->kind == NODE_AT_ROW)
		l->step = CURSOR_FAMILY;
	if (l->node->kind == NODE_COLUMN || l->node->kind == NODE_AT_COLUMN)
		l->step = CURSOR_VERSION;
	return scan_open(l->fs->store,
			 l->view.snapshot ? l->view.snapshot : l->snapshot,
			 &range, &l->scan);
}

/* open_scan in place of the scan that there was, which ends also on an error.
 */
static int open_scan_again(struct listing *l)
{
	struct fs *fs = l->fs;
	struct place now;
	int err;

	scan_close(l->scan);
	l->scan = NULL;
	err = place_enter(fs, l->node, &now);
	if (!err)
		err = open_scan(l, now.path.table);
	place_leave(fs, &now);
	return err;
}

static void release_names(struct listing *l)
{
	memory_give(store_memory(l->fs->store), MEMORY_LISTINGS, l->counted);
	l->counted = 0;
	names_release(&l->names);
	l->name_index = 0;
}

/* Reads the names of a directory of data that are in memory: those that are
 * only local and, of a row or family that a lookup has just seen, all of them.
 * 1 if these are all there are, 0 if the store has to be asked, or an error. */
static int read_memory(struct listing *l)
{
	bool is_table = l->node->kind == NODE_TABLE;
	struct fs *fs = l->fs;
	uint64_t size;
	int err;

	/* Before both: what one of them does not show is a change. */
	l->changes = fs->changes;
	release_names(l);
	err = node_add_locals(&fs->nodes, l->node, buf_bytes(&l->from),
			      is_table ? PIECE_SIZE : SIZE_MAX / 2, &l->names,
			      &l->more);
	if (!err && !is_table)
		err = seen_add_names(fs->seen, &l->place.path, l->node->kind,
				     store_seq(fs->store), &l->names);
	names_sort(&l->names);
	size = l->names.memory.capacity +
	       l->names.capacity * sizeof(*l->names.names);
	l->is_beyond =
		!memory_take(store_memory(fs->store), MEMORY_LISTINGS, size, 0);
	l->counted = l->is_beyond ? 0 : size;
	return err;
}

/* Ends a step of scan or query with this result: 0 or an error. */
static int found(struct listing *l, int result)
{
	l->has_cell = result == 1;
	l->ended = result == 0;
	if (result == 1)
		l->size = cell_shown_size(&l->cell);
	return result < 0 ? result : 0;
}

/* Reads the piece at from, and what the store has behind that, of a new
 * snapshot: 0, 2 if anything was changed since the last, or an error. */
static int read_piece(struct listing *l)
{
	struct fs *fs = l->fs;
	uint64_t changes = l->changes;
	struct place now;
	int err;

	scan_close(l->scan);
	l->scan = NULL;
	if (l->snapshot)
		store_snapshot_release(fs->store, l->snapshot);
	l->snapshot = NULL;
	err = place_enter(fs, l->node, &now);
	if (!err)
		err = read_memory(l);
	if (!err)
		err = store_snapshot(fs->store, &l->snapshot);
	if (!err)
		err = open_scan(l, now.path.table);
	place_leave(fs, &now);
	if (!err)
		err = found(l,
			    scan_seek(l->scan, buf_bytes(&l->from), &l->cell));
	if (err)
		return err;
	return l->changes == changes ? 0 : 2;
}

/* The piece behind the last name that was given; as read_piece. */
static int read_more(struct listing *l)
{
	int err;

	assert(l->name_index == l->names.count && l->name_index > 0);
	err = buf_set(&l->from, l->names.names[l->name_index - 1]);
	if (!err)
		err = buf_add_byte(&l->from, 0);
	return err ? err : read_piece(l);
}

/* Whether the names at this key are those of l's piece. */
static bool has_piece(const struct listing *l, struct bytes key)
{
	if (bytes_compare(key, buf_bytes(&l->from)) < 0)
		return false;
	return !l->more ||
	       bytes_compare(key, l->names.names[l->names.count - 1]) <= 0;
}

/* Finds the names that l has at its place, where no scan gives them: 1, 0 where
 * one does, or an error. */
static int prepare_names(struct listing *l)
{
	int err;

	switch (l->node->kind) {
	case NODE_ROOT:
		l->kind = NODE_TABLE;
		err = read_schema(l);
		break;
	case NODE_SCHEMA:
		l->kind = NODE_SCHEMA_FAMILY;
		err = read_schema(l);
		break;
	case NODE_AT_SCHEMA:
		l->kind = NODE_AT_SCHEMA_FAMILY;
		err = read_schema(l);
		break;
	case NODE_AS_OF_STORE:
		l->kind = NODE_AT_TIME;
		err = read_schema(l);
		break;
	case NODE_AS_OF:
		l->kind = NODE_AS_OF_LINK;
		err = as_of_add_names(l->fs, &l->names);
		break;
	case NODE_RECIPES:
		l->kind = NODE_RECIPE;
		err = recipe_add_names(l->place.table, &l->names);
		break;
	default:
		return 0;
	}
	names_sort(&l->names);
	return err ? err : 1;
}

/* Finds the sources of l at its place, by the kind of its directory, but for a
 * query. A directory that has control names only ends at once. */
static int prepare(struct listing *l)
{
	struct node *node = l->node;
	int err;

	tree_assert_held(l->fs);
	err = prepare_names(l);
	if (err)
		return err < 0 ? err : 0;
	switch (node->kind) {
	case NODE_SCAN_ROWS:
		l->kind = NODE_SCAN_LINK;
		return 0;
	case NODE_SCAN_SEGMENTS:
		l->kind = NODE_SCAN_SEGMENT;
		return 0;
	case NODE_TABLE:
	case NODE_ROW:
	case NODE_FAMILY:
		l->kind = lookup_kind(node);
		/* Before the snapshot: a name that is committed in between is
		 * then seen twice, and merged, not missed. */
		err = read_memory(l);
		if (err == 1)
			return 0;
		break;
	case NODE_AT_TIME:
	case NODE_AT_ROW:
	case NODE_AT_FAMILY:
	case NODE_AT_VERSIONS:
	case NODE_AT_COLUMN:
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
	/* A time in the past has none: it is read by a filter from now. */
	if (!err && !l->view.snapshot)
		err = store_snapshot(l->fs->store, &l->snapshot);
	return err ? err : open_scan(l, l->place.path.table);
}

/* Whether node is data, or as data were. */
static bool is_of_data(const struct node *node)
{
	return node_is_data(node) ||
	       (node->kind >= NODE_AT_TIME && node->kind <= NODE_AT_FAMILY);
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
		.shows_fixed = !is_of_data(node) || fs->options->show_control,
	};
	/* Path and snapshot are of one moment. */
	tree_hold(fs);
	err = place_find(fs, node, &l->place);
	/* Of a dropped table, control names are left. */
	if (!err || err == -ERR_no_table)
		err = prepare(l);
	tree_let_go(fs);
	if (!err && l->kind == NODE_SCAN_LINK)
		err = query_open(fs, node, QUERY_ROWS, &l->query);
	if (!err && l->kind == NODE_SCAN_SEGMENT)
		err = query_open(fs, node, QUERY_SEGMENTS, &l->query);
	/* What was opened before an error is closed like all else. */
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
	release_names(l);
	buf_release(&l->from);
	place_release(&l->place);
	free(l);
}

bool listing_can_be_cached(const struct listing *l)
{
	return node_is_data(l->node) && !l->place.rules.expires &&
	       (l->place.table || l->node->kind == NODE_ROOT);
}

/* The next control name that is to be shown here, or NULL at their end. */
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

/* The key of the scan's next entry: a part of cell, or text in l. */
static struct bytes key_of_cell(struct listing *l)
{
	int n;

	assert(l->has_cell);
	switch (l->kind) {
	case NODE_ROW:
	case NODE_SCAN_LINK:
	case NODE_AT_ROW:
		return l->cell.row;
	case NODE_FAMILY:
	case NODE_AT_FAMILY:
		return l->cell.family;
	case NODE_VERSION:
	case NODE_AT_VERSION:
		n = snprintf(l->timestamp, sizeof(l->timestamp), "%llu",
			     (unsigned long long)l->cell.timestamp_us);
		return bytes_of(l->timestamp, (size_t)n);
	case NODE_SCAN_SEGMENT:
		return l->segment;
	default:
		return l->cell.qualifier;
	}
}

/* Reads the next entry of the scan or query into cell, unless it is there:
 * after it has_cell or ended is set. 0 or an error. */
static int look_ahead(struct listing *l)
{
	int err = 0;

	assert(!(l->scan && l->query));
	if (l->has_cell || l->ended)
		return 0;
	if (l->kind == NODE_SCAN_SEGMENT)
		err = query_next_segment(l->query, &l->cell, &l->segment);
	else if (l->query)
		err = query_next_row(l->query, &l->cell);
	else if (l->scan)
		err = scan_next(l->scan, l->step, &l->cell);
	return found(l, err);
}

/* After a rest, and before anything else is given: -ERR_no_table or -ESTALE if
 * the table was dropped meanwhile, of which a scan would give what is left, and
 * then end as if that were all. Who is in the past stays there. */
static int wake(struct listing *l)
{
	bool gives = !l->ended || l->has_cell;

	if (!l->rests || !gives || node_is_past(l->node))
		return 0;
	l->rests = false;
	return place_check(l->fs, l->node);
}

int listing_next(struct listing *l, struct listing_entry *entry)
{
	const struct ctl_entry *fixed;
	bool has_name;
	int err, order;

	if (!l->error)
		l->error = wake(l);
	if (l->error)
		return l->error;
	fixed = next_fixed(l);
	memset(entry, 0, sizeof(*entry));
	if (fixed) {
		entry->key = bytes_string(fixed->name);
		entry->kind = fixed->kind;
		entry->fixed = l->fixed;
		return 1;
	}
	if (l->more && l->name_index == l->names.count) {
		err = read_more(l);
		if (err)
			l->error = err < 0 ? err : 0;
		if (err)
			return err;
	}
	err = look_ahead(l);
	if (err)
		return err;
	has_name = l->name_index < l->names.count;
	if (!l->has_cell && !has_name)
		return 0;
	entry->kind = l->kind;
	if (l->has_cell) {
		entry->key = key_of_cell(l);
		entry->info.timestamp_us = l->cell.timestamp_us;
		entry->info.seq = l->cell.seq;
		entry->info.size = l->size;
	}
	/* < 0: the scan's entry comes first, > 0: the name, 0: both are one,
	 * of which the scan knows more. */
	order = !l->has_cell ? 1
		: !has_name  ? -1
			     : bytes_compare(entry->key,
					     l->names.names[l->name_index]);
	if (order <= 0)
		l->has_cell = false;
	if (order > 0) {
		memset(&entry->info, 0, sizeof(entry->info));
		/* Tables have no time of their own; seq 0 says that nothing
		 * is known of a local name. */
		if (l->kind == NODE_TABLE)
			entry->info.timestamp_us = l->fs->start_us;
		entry->key = l->names.names[l->name_index];
	}
	if (order >= 0)
		l->name_index++;
	assert(l->name_index <= l->names.count);
	return 1;
}

/* To the first entry: control names and names are in memory, a query begins
 * anew on its snapshot, and so does a scan, which is there or was. */
static int seek_start(struct listing *l)
{
	bool has_scan = l->scan || l->error;

	l->fixed = 0;
	if (l->from.size > 0) {
		buf_reset(&l->from);
		return read_piece(l);
	}
	l->name_index = 0;
	l->has_cell = l->ended = false;
	if (l->query)
		return query_rewind(l->fs, l->query);
	return has_scan ? open_scan_again(l) : 0;
}

/* Before the first row at or behind this key. */
static int seek_row(struct listing *l, struct bytes key)
{
	int err;

	if (l->kind == NODE_ROW && (!l->snapshot || !has_piece(l, key))) {
		err = buf_set(&l->from, key);
		return err ? err : read_piece(l);
	}
	err = l->scan ? 0 : open_scan_again(l);
	if (err)
		return err;
	/* Control names come before all rows, so these stay past. */
	l->name_index = 0;
	while (l->name_index < l->names.count &&
	       bytes_compare(l->names.names[l->name_index], key) < 0)
		l->name_index++;
	return found(l, scan_seek(l->scan, key, &l->cell));
}

bool listing_rest(struct listing *l)
{
	l->rests = l->scan || l->query;
	if (l->scan)
		scan_rest(l->scan);
	if (l->query)
		query_rest(l->query);
	return !l->is_beyond;
}

/* The first byte of a place: control names come before all else. */
enum { PLACE_FIXED, PLACE_KEY };

/* Appends a key so that a greater one, or a longer, comes first. */
static int add_reversed(struct buf *place, struct bytes key)
{
	size_t i;

	if (buf_reserve(place, 2 * key.size + 2))
		return -ENOMEM;
	for (i = 0; i < key.size; i++) {
		(void)!buf_add_byte(place, (uint8_t)~key.data[i]);
		if (key.data[i] == 0)
			(void)!buf_add_byte(place, 0);
	}
	(void)!buf_add(place, "\xff\xff", 2);
	return 0;
}

int listing_place(const struct listing *l, const struct listing_entry *entry,
		  struct buf *place)
{
	uint8_t number[8];

	buf_reset(place);
	if (buf_add_byte(place, entry->fixed ? PLACE_FIXED : PLACE_KEY))
		return -ENOMEM;
	if (entry->fixed)
		return buf_add_byte(place, (uint8_t)entry->fixed);
	if (entry->kind == NODE_VERSION || entry->kind == NODE_AT_VERSION) {
		/* Newest first. */
		put_u64be(number, ~entry->info.timestamp_us);
		return buf_add(place, number, sizeof(number));
	}
	if (l->query && query_is_reverse(l->query))
		return add_reversed(place, entry->key);
	return buf_add_bytes(place, entry->key);
}

bool listing_seeks_rows(const struct listing *l)
{
	return l->kind == NODE_ROW || l->kind == NODE_AT_ROW;
}

int listing_seek(struct listing *l, struct bytes place)
{
	bool is_row = listing_seeks_rows(l) && place.size > 1 &&
		      place.data[0] == PLACE_KEY;

	int err = is_row ? seek_row(l, bytes_after(place, 1)) : seek_start(l);

	l->error = err < 0 ? err : 0;
	return err;
}
