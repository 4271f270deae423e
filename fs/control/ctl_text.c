#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/cells/cell.h"
#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/turn.h"
#include "fs/control/ctl_drop.h"
#include "fs/control/ctl_file.h"
#include "fs/control/ctl_import.h"
#include "fs/control/ctl_stats.h"
#include "fs/query/at.h"
#include "store/text/advice/advice.h"
#include "store/text/json/json_mutation.h"
#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"

/*
 * Control files whose whole text is made when they are opened, and whose whole
 * text is taken when they are closed. So a reader sees one moment, and a writer
 * need not write in one piece; a wrong text fails the close, or fsync, which
 * takes it too. Offsets of writes mean nothing: what comes is appended.
 *
 * A file opened for both reads as it was, also after a write.
 */

/* Of what is written: a word or a GC policy, whose text nobody needs longer,
 * and a row mutation, which may set values of up to 100 MiB. */
#define SMALL_SIZE_MAX ((size_t)64 << 10)

/* What a user who knows only ls needs to find the rest. */
static const char help_text[] =
	"TabletFS: a wide-column store as files.\n"
	"\n"
	"TABLE/ROW/FAMILY/QUALIFIER   a cell's newest version\n"
	"  mkdir TABLE                a new table; rmdir drops an empty one\n"
	"  mkdir -p TABLE/ROW/FAMILY  then write files in it\n"
	"\n"
	"A name is the key, with %XX for / (%2F), control bytes, and the dot\n"
	"that a table, row or family begins with (%2E); %~ is the empty\n"
	"qualifier. What looks like such an escape in a key has one 25\n"
	"more in the name: %252F. If a call fails, .tabletfs/errors tells\n"
	"why, and how to spell a name that was refused.\n"
	"\n"
	"Names with a leading dot are not listed, but can be used:\n"
	"  TABLE/ROW/FAMILY/.versions/QUALIFIER/TIMESTAMP   one version\n"
	"  TABLE/ROW/.row.jsonl       the row as JSON; write: one mutation\n"
	"  TABLE/.schema/FAMILY/gc    maxversions=2||maxage=30d; and type\n"
	"  TABLE/.granularity         micros or millis\n"
	"  TABLE/.import/csv          tsv, jsonl: rows in; last: how it went\n"
	"     steps      family timestamp\n"
	"  TABLE/.recipes/NAME        a recipe: what records become; then\n"
	"  TABLE/.import/recipe/NAME/data   CSV, TSV or JSON by it\n"
	"  TABLE/.mutate              JSON lines, each one row mutation\n"
	"  TABLE/.scan/STEP/VALUE/.../TERMINAL\n"
	"     steps      prefix range regex limit reverse\n"
	"                family column value filter versions since until\n"
	"     terminals  keys count estimate samples csv tsv jsonl cbt\n"
	"                explain: how it is read, and what that costs\n"
	"                export.csv export.tsv export.jsonl: with a size\n"
	"                rows segments\n"
	"  TABLE/.at/TIME/ROW/...     as it was; .at/now pins a snapshot\n"
	"  TABLE/.as-of/5m/ROW/...    the same, what was removed since, too,\n"
	"                             if history is kept; a time or 2h, 1d\n"
	"  TABLE/.drop/prefix/P/      preview, apply: delete a range of rows\n"
	"  TABLE/.stats               figures of the table\n"
	"  TABLE/.advice              what speaks against its schema\n"
	"  TABLE/.keyviz/reads.html   heat map; reads writes bytes, svg tsv\n"
	"  .tabletfs/                 help version stats metrics\n"
	"                             errors log ctl\n"
	"  .tabletfs/as-of/5m/        all tables of then, dropped ones, too\n";

static const char version_text[] = "tabletfs " TABLETFS_VERSION "\n";

/* What the schema t says, for a file of p's table or of a family of it: a line
 * for the small ones, else the head of .stats. -ENOENT without the family.
 */
static int show_table(const struct table *t, const struct node *node,
		      const struct path *p, struct buf *out)
{
	const struct family *family = NULL;
	int err = 0;

	/* gc and type are of a family; what else there is, of the table. */
	if (p->family.size > 0) {
		family = table_family(t, p->family);
		if (!family)
			return -ENOENT;
	}
	switch (node->kind) {
	case NODE_GRANULARITY:
		err = buf_add_string(out, t->millis ? "millis" : "micros");
		break;
	case NODE_GC:
	case NODE_AT_GC:
		assert(family);
		err = gc_policy_print_words(family_gc(family), out);
		break;
	case NODE_TYPE:
	case NODE_AT_TYPE:
		assert(family);
		err = buf_add_string(out, family_type_word(family->type));
		break;
	default:
		err = buf_printf(out, "id %u\nfamilies %zu\ngranularity %s",
				 t->id, t->family_count,
				 t->millis ? "millis" : "micros");
		break;
	}
	return err ? err : buf_add_byte(out, '\n');
}

/* For store_sample_rows: keeps the last size, which is that of all data. */
static int take_last_size(void *context, struct bytes row, uint64_t size)
{
	(void)row;
	*(uint64_t *)context = size;
	return 0;
}

/* What files of the store tell of the table's rows, none of which is read. */
static int show_figures(struct fs *fs, struct bytes table, struct buf *out)
	NEEDS_SHARED(fs->tree)
{
	uint64_t rows, size = 0;
	int err = store_estimate_rows(fs->store, table, BYTES_NONE, BYTES_NONE,
				      &rows);

	if (!err)
		err = store_sample_rows(fs->store, table, BYTES_NONE,
					BYTES_NONE, take_last_size, &size);
	return err ? err
		   : buf_printf(out, "rows ~%llu\nfile_bytes %llu\n",
				(unsigned long long)rows,
				(unsigned long long)size);
}

/* The text of a file of a table or family. -ENOENT if these have gone. */
static int show_of_table(struct fs *fs, struct ctl_file *f)
{
	struct place place;
	int err = place_enter(fs, f->node, &place);

	if (!err)
		err = show_table(place.table, f->node, &place.path, &f->out);
	if (!err && f->node->kind == NODE_TABLE_STATS)
		err = show_figures(fs, place.path.table, &f->out);
	place_leave(fs, &place);
	return err == -ERR_no_table ? -ENOENT : err;
}

/* .advice: without the tree, since the table is read; one that is renamed
 * meanwhile is not there. */
static int show_advice(struct fs *fs, struct ctl_file *f)
{
	struct buf table = BUF_INIT;
	struct place place;
	int err = place_enter(fs, f->node, &place);

	if (!err)
		err = buf_set(&table, place.path.table);
	place_leave(fs, &place);
	loop_hand_over();
	if (!err)
		err = advice_print(fs->store, buf_bytes(&table),
				   loop_is_interrupted, &f->out);
	buf_release(&table);
	return err == -ERR_no_table ? -ENOENT : err;
}

/* Who mounted it, or is root, sees all. */
static int show_errors(struct fs *fs, struct buf *out)
{
	uid_t uid = loop_uid();

	return errors_print(&fs->errors, uid == 0 || uid == fs->uid, uid, out);
}

/* .tabletfs/log: the level of the event log. */
static int show_log(struct fs *fs, struct buf *out)
{
	return buf_printf(out, "%s\n",
			  event_level_word(store_event_level(fs->store)));
}

/* Puts the text of f in out, by its kind. */
static int text_show(struct fs *fs, struct ctl_file *f)
{
	struct figures figures = { .out = &f->out };

	assert(f->out.size == 0);
	switch (f->node->kind) {
	case NODE_HELP:
		return buf_add_string(&f->out, help_text);
	case NODE_PROGRAM_VERSION:
		return buf_add_string(&f->out, version_text);
	case NODE_STATS:
		return ctl_print_stats(fs, &f->out);
	case NODE_METRICS:
		ctl_print_metrics(fs, &figures);
		return figures.err;
	case NODE_ERRORS:
		return show_errors(fs, &f->out);
	case NODE_LOG:
		return show_log(fs, &f->out);
	case NODE_ADVICE:
		return show_advice(fs, f);
	case NODE_DROP_PREVIEW:
		return drop_preview(fs, f, &f->out);
	case NODE_IMPORT_LAST:
		return imports_print(fs, f->table_id, &f->out);
	default:
		return show_of_table(fs, f);
	}
}

/* As ctl_ops.open. What cannot be read need not be made. */
static int text_open(struct fs *fs, struct ctl_file *f)
{
	return (f->flags & O_ACCMODE) == O_WRONLY ? 0 : text_show(fs, f);
}

/* .row.jsonl: one atomic mutation of the row, durable with -o sync. Changes of
 * the schema are always durable. */
static int take_row(struct fs *fs, const struct ctl_file *f,
		    const struct path *p, struct bytes text)
	NEEDS_SHARED(fs->tree)
{
	return ctl_run_mutation(fs, f, p->table, p->row, text, NULL);
}

/* .schema/<family>/gc: a policy in cbt's words. The store keeps a copy. */
static int take_gc(struct fs *fs, const struct path *p, struct bytes text)
	NEEDS_SHARED(fs->tree)
{
	struct gc_policy *policy = NULL;
	int err = gc_policy_parse(text, &policy);

	if (!err)
		err = store_set_gc(fs->store, p->table, p->family, policy);
	gc_policy_free(policy);
	return err;
}

/* .schema/<family>/type. Of aggregates the store refuses a change. */
static int take_type(struct fs *fs, const struct path *p, struct bytes text)
	NEEDS_SHARED(fs->tree)
{
	enum family_type type;
	int err = family_type_parse(text, &type);

	return err ? err : store_set_type(fs->store, p->table, p->family, type);
}

static int parse_granularity(struct bytes text, bool *millis)
{
	*millis = bytes_equal(text, BYTES_LITERAL("millis"));
	if (!*millis && !bytes_equal(text, BYTES_LITERAL("micros")))
		return fail(EINVAL, "the words are micros and millis");
	return 0;
}

/* .granularity. */
static int take_granularity(struct fs *fs, const struct path *p,
			    struct bytes text) NEEDS_SHARED(fs->tree)
{
	bool millis;
	int err = parse_granularity(text, &millis);

	return err ? err : store_set_granularity(fs->store, p->table, millis);
}

/* It is no data that changes. */
static int take_log(struct fs *fs, struct bytes text)
{
	enum event_level level;
	int err = event_level_parse(text, &level);

	if (!err)
		store_set_event_level(fs->store, level);
	return err;
}

/* Whether a text says anything to a file of this kind. */
static int check_words(enum node_kind kind, struct bytes text)
{
	struct gc_policy *policy = NULL;
	enum family_type type;
	enum event_level level;
	bool millis;
	int err;

	switch (kind) {
	case NODE_GC:
		err = gc_policy_parse(text, &policy);
		gc_policy_free(policy);
		return err;
	case NODE_TYPE:
		return family_type_parse(text, &type);
	case NODE_GRANULARITY:
		return parse_granularity(text, &millis);
	case NODE_LOG:
		return event_level_parse(text, &level);
	default:
		return 0;
	}
}

/* As ctl_ops.write: keeps it for the close. -EFBIG, and nothing is taken. A
 * line that is written as one is refused at once, as no shell looks at what its
 * close comes to. */
static ssize_t text_write(struct fs *fs, struct ctl_file *f, struct bytes data,
			  uint64_t offset)
{
	size_t max = f->node->kind == NODE_ROW_JSON ? CTL_WRITTEN_MAX
						    : SMALL_SIZE_MAX;
	int err = 0;

	(void)fs;
	(void)offset;
	assert(f->in.size <= max);
	if (data.size > max - f->in.size)
		return fail(EFBIG, "more than %zu bytes", max);
	if (f->in.size == 0 && data.size > 1 &&
	    data.data[data.size - 1] == '\n')
		err = check_words(f->node->kind, bytes_trim(data));
	if (!err)
		err = spill_add(&f->in, data);
	return err ? err : (ssize_t)data.size;
}

/* Does what the whole text of a file of this kind, which is not empty, says at
 * its path. */
static int take_at(struct fs *fs, const struct ctl_file *f,
		   const struct path *p, struct bytes text)
	NEEDS_SHARED(fs->tree)
{
	switch (f->node->kind) {
	case NODE_ROW_JSON:
		return take_row(fs, f, p, text);
	case NODE_GC:
		return take_gc(fs, p, text);
	case NODE_TYPE:
		return take_type(fs, p, text);
	case NODE_GRANULARITY:
		return take_granularity(fs, p, text);
	default:
		return -EACCES;
	}
}

/* take_at for f, where it is now. */
static int take(struct fs *fs, const struct ctl_file *f, struct bytes text)
{
	bool turn = f->node->kind == NODE_ROW_JSON && mutation_may_ask(text);
	struct place place;
	int err = turn ? turn_take(fs) : 0;

	if (err)
		return err;
	err = place_enter(fs, f->node, &place);
	if (!err)
		err = take_at(fs, f, &place.path, text);
	place_leave(fs, &place);
	if (turn)
		turn_give(fs);
	return err;
}

/* As ctl_ops.flush: takes the text, wrong or not, so that a second close, or a
 * close after fsync, does not take it again. */
static int text_flush(struct fs *fs, struct ctl_file *f, bool at_end)
{
	struct bytes text = bytes_trim(spill_bytes(&f->in));
	int err;

	/* Opened with O_TRUNC and closed: as if not touched. */
	if (text.size == 0 || !at_end)
		return 0;
	if (f->node->kind == NODE_LOG) {
		err = take_log(fs, text);
		spill_cut(&f->in, 0);
		return err;
	}
	spill_sweep(&f->in, true);
	err = take(fs, f, text);
	spill_cut(&f->in, 0);
	/* The row or the rules of the table are others now, and no path that
	 * the kernel knows has led to the change. */
	if (!err) {
		fs_changed_outside(fs);
		fs_changed_in(fs, f->node);
	}
	return err;
}

/* As ctl_ops.sync. */
static int text_sync(struct fs *fs, struct ctl_file *f)
{
	int err = text_flush(fs, f, true);

	return err ? err : store_sync(fs->store);
}

/* Without release: f frees in and out. */
const struct ctl_ops ctl_text_ops = {
	.open = text_open,
	.read = ctl_read_text,
	.write = text_write,
	.flush = text_flush,
	.sync = text_sync,
};

/* As ctl_ops.open, of .row.jsonl: its text is made as it is read, as a scan's
 * is, but taken as others are. */
static int row_open(struct fs *fs, struct ctl_file *f)
{
	return (f->flags & O_ACCMODE) == O_WRONLY ? 0 : ctl_scan_open(fs, f);
}

const struct ctl_ops ctl_row_ops = {
	.open = row_open,
	.read = ctl_scan_read,
	.write = text_write,
	.flush = text_flush,
	.sync = text_sync,
	.release = ctl_scan_release,
};

/* How often a large value may be collected between finding and holding it. */
#define TRIES_MAX 10

/* What f, a version under .versions or a cell of the past, shows. */
static int show_version(struct fs *fs, struct ctl_file *f,
			struct cell_bytes *shown)
{
	struct cell_info info;
	struct place place;
	int err = place_enter(fs, f->node, &place);

	assert(f->node->kind == NODE_VERSION || node_is_past(f->node));
	if (!err && node_is_past(f->node)) {
		err = at_show(fs, f->node, &place.path, shown);
	} else if (!err) {
		err = cell_version(fs, &place.path, &info, shown);
		err = err < 0 ? err : err == 0 ? -ENOENT : 0;
	}
	place_leave(fs, &place);
	return err;
}

/* A version that is open: a ctl_file's state. What it shows stays, whatever
 * becomes of the version. */
struct version_file {
	struct large *large; /* referenced; NULL: it is small */
	struct spill text;   /* then */
};

/* Takes what is shown, all or nothing of it. */
static int version_take(struct fs *fs, struct ctl_file *f,
			struct cell_bytes *shown)
{
	struct version_file *v = malloc(sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	spill_init(&v->text, fs->store, MEMORY_VALUES, shown->text.size);
	err = spill_add(&v->text, buf_bytes(&shown->text));
	if (err) {
		spill_release(&v->text);
		free(v);
		return err;
	}
	v->large = shown->large;
	shown->large = NULL;
	f->state = v;
	return 0;
}

/* As ctl_ops.open. -ESTALE may mean that the value's chunks were just moved. */
static int version_open(struct fs *fs, struct ctl_file *f)
{
	struct cell_bytes shown = { BUF_INIT, NULL };
	int err, tries = 0;

	do
		err = show_version(fs, f, &shown);
	while (err == -ESTALE && ++tries < TRIES_MAX);
	if (!err)
		err = version_take(fs, f, &shown);
	cell_bytes_release(&shown);
	return err;
}

/* Appends size bytes at offset of a large value, all within it. */
static int read_large(struct large *large, uint64_t offset, size_t size,
		      struct buf *out)
{
	int err = buf_reserve(out, size);

	if (!err)
		err = large_read(large, offset, out->data + out->size, size);
	if (!err)
		out->size += size;
	return err;
}

/* As ctl_ops.read. */
static int version_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
			size_t size, struct buf *out)
{
	struct version_file *v = f->state;
	uint64_t all = v->large ? large_size(v->large) : v->text.size;

	(void)fs;
	if (offset >= all)
		return 0;
	if (size > all - offset)
		size = (size_t)(all - offset);
	if (v->large)
		return read_large(v->large, offset, size, out);
	return buf_add(out, spill_bytes(&v->text).data + offset, size);
}

static void version_release(struct fs *fs, struct ctl_file *f)
{
	struct version_file *v = f->state;

	(void)fs;
	large_put(v->large);
	spill_release(&v->text);
	free(v);
}

const struct ctl_ops ctl_version_ops = {
	.open = version_open,
	.read = version_read,
	.release = version_release,
};
