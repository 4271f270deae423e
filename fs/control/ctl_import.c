#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/control/batch_frames.h"
#include "fs/control/ctl_file.h"
#include "fs/control/ctl_import.h"
#include "fs/control/import_steps.h"
#include "store/base/bg.h"

/*
 * .import/csv, tsv and jsonl: lines that are complete run inside the write that
 * completes them. A line that is wrong is left out and told in .import/last;
 * closing then fails. The last line needs no newline, but nothing may follow.
 *
 * .import/resume/NAME/batch takes frames of lines, each with the position in
 * the client's file that they go up to, which is committed with them. What a
 * client that is gone has left of a frame is dropped.
 *
 * .import/recipe/NAME/data, csv, tsv and jsonl take records of any kind, which
 * become rows by that recipe of the table as it was when the file was opened.
 *
 * Each file tells by a read how its own import goes, and .import/last how that
 * does which began last in the table.
 *
 * A bulk load whose writer becomes slow or falls silent is published by a
 * thread that looks after those that are open, so that what a stream has sent
 * is seen and kept.
 *
 * A close by who wrote last, in the middle of a line, is taken for the end of
 * the input; between lines it need not be, for shells close duplicates of a
 * descriptor that goes on being written. There it ends nothing, but fails if
 * what waits to be a whole record, as behind an open quote, is wrong as it is.
 * fsync, and a close by another, commit whole lines and leave a part of one. So
 * does each close after ftruncate to 0, until one to another length: by that a
 * writer says that its input has come to its end, wherever in a record that is,
 * and that it was not killed before.
 */

/* How an import goes or went. Guarded by imports.lock. */
struct import_record {
	struct import_record *next; /* of another table, in imports */
	unsigned int references;    /* its file's and that of imports */
	bool done;                  /* nothing more will come */
	bool by_recipe;             /* which skips and replaces */
	char format[8];             /* the file's name, which ends with a NUL */
	struct import_result result; /* a copy, but refused is its own */
	struct buf error; /* what ended it, or is wrong with its end so far */
	uint32_t table_id;
};

/* For how long rows of a load are unseen before it is asked whether they still
 * come fast, and how often that is looked at. */
#define UNSEEN_NS ((uint64_t)1000000000)
#define LOOK_MS 200

struct imports {
	pthread_mutex_t lock;          /* guards all but ticker's work */
	struct import_record *first;   /* each table's last, newest first */
	struct import_file *loads;     /* open ones that went by bulk load */
	struct import_file *named;     /* open ones with a name */
	struct import_file *looked_at; /* by the ticker, and not freed then */
	pthread_cond_t looked;         /* with lock: looked_at has changed */
	struct bg *ticker;             /* from the first load on */
};

/* An open import: a ctl_file's state, guarded by its lock. */
struct import_file {
	struct importer *importer;
	struct recipe *recipe;        /* of importer; NULL: none */
	struct import_record *record; /* referenced */
	int failed;         /* what ended it; every further call fails so */
	bool ended;         /* a last line without newline was taken */
	bool at_line_start; /* nothing or a newline came last */
	bool is_guarded;    /* no close is the end of the input */
	bool is_over;       /* the next one is */
	bool is_cut;        /* a write was refused since the last one taken */
	bool is_told;       /* of what waits, a close told that it is wrong */
	uint64_t report_at; /* the offset of the report; none since a write */
	uint64_t held_size; /* of importer, as fs->uncommitted has it */
	uint64_t told_rows; /* row_count when the kernel was last told */
	/* Since when there are rows that nobody sees; 0: there are none.
	 * Written with the ctl_file's lock held, read by anybody. */
	_Atomic uint64_t unseen_ns;
	struct ctl_file *file; /* whose state it is */
	bool is_listed;        /* among imports.loads; by imports.lock */
	struct import_file *next;
	/* Of .import/resume/NAME/batch, else empty and unused. */
	struct buf name;
	struct batch_frames frames;
	struct import_file *next_named; /* among imports.named */
};

int imports_new(struct imports **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	pthread_mutex_init(&(*out)->lock, NULL);
	pthread_cond_init(&(*out)->looked, NULL);
	return 0;
}

int imports_stop(struct imports *imports)
{
	struct import_file *im;
	int err, failed = 0;

	bg_stop(imports->ticker);
	imports->ticker = NULL;
	for (im = imports->loads; im; im = im->next) {
		err = im->unseen_ns ? importer_flush(im->importer, true) : 0;
		failed = failed ? failed : err;
		im->unseen_ns = 0;
	}
	return failed;
}

/* Drops a reference. With the lock held, or when there are no files. */
static void put_record(struct import_record *r)
{
	assert(r->references > 0);
	if (--r->references > 0)
		return;
	buf_release(&r->result.refused);
	buf_release(&r->error);
	free(r);
}

void imports_free(struct imports *imports)
{
	struct import_record *r, *next;

	for (r = imports->first; r; r = next) {
		next = r->next;
		put_record(r);
	}
	assert(!imports->ticker);
	pthread_cond_destroy(&imports->looked);
	pthread_mutex_destroy(&imports->lock);
	free(imports);
}

/* Where the table's record hangs, or the end of all. With the lock held. */
static struct import_record **find_record(struct imports *imports,
					  uint32_t table_id)
{
	struct import_record **at = &imports->first;

	assert(table_id > 0);
	while (*at && (*at)->table_id != table_id)
		at = &(*at)->next;
	return at;
}

/* A record of an import of f, which becomes the last of its table, in place of
 * what that had. With two references; NULL without memory. */
static struct import_record *begin_record(struct imports *imports,
					  const struct ctl_file *f,
					  bool by_recipe)
{
	struct bytes name = node_name(f->node);
	struct import_record *r = calloc(1, sizeof(*r)), **at;

	if (!r)
		return NULL;
	r->references = 2;
	r->table_id = f->table_id;
	r->by_recipe = by_recipe;
	assert(name.size < sizeof(r->format));
	memcpy(r->format, name.data, name.size);
	pthread_mutex_lock(&imports->lock);
	at = find_record(imports, r->table_id);
	if (*at) {
		struct import_record *old = *at;

		*at = old->next;
		put_record(old);
	}
	r->next = imports->first;
	imports->first = r;
	pthread_mutex_unlock(&imports->lock);
	return r;
}

/* After err, or 0. An errno's detail does not say what is wrong, the store's
 * own errors say all in theirs. With the lock held. */
static void set_error(struct import_record *r, int err)
{
	buf_reset(&r->error);
	if (!err || !*err_detail())
		return;
	(void)!buf_add_visible(&r->error, bytes_string(err_detail()));
	if (err > -ERR_BASE)
		(void)!buf_printf(&r->error, ": %s", err_text(err));
}

/* Copies how the import stands into its record, after err or 0. Of refused,
 * which only grows, what is new is added; without memory less is told. */
static void update_record(struct fs *fs, const struct import_file *im, int err,
			  bool done)
{
	const struct import_result *now = importer_result(im->importer);
	struct import_record *r = im->record;
	struct buf refused;

	pthread_mutex_lock(&fs->imports->lock);
	refused = r->result.refused;
	if (now->refused.size > refused.size)
		(void)!buf_add(&refused, now->refused.data + refused.size,
			       now->refused.size - refused.size);
	r->result = *now;
	r->result.refused = refused;
	r->done = done;
	if (!im->failed || err)
		set_error(r, err);
	pthread_mutex_unlock(&fs->imports->lock);
}

/* Appends what only a recipe makes of records. */
static int print_by_recipe(const struct import_record *r, struct buf *out)
{
	const struct import_result *n = &r->result;
	int err = buf_printf(out,
			     "unexploded %llu\nskipped %llu\nempty %llu\n"
			     "replaced %llu%s\nhidden %llu\n",
			     (unsigned long long)n->unexploded_count,
			     (unsigned long long)n->skipped_count,
			     (unsigned long long)n->empty_count,
			     (unsigned long long)n->replaced_count,
			     n->replaced_more ? " or more" : "",
			     (unsigned long long)n->hidden_count);

	if (!err && n->header_line > 0)
		err = buf_printf(out, "header %s:%llu: %s\n", r->format,
				 (unsigned long long)n->header_line,
				 IMPORT_HEADER_TAKEN);
	return err;
}

/* Appends the text of a record. With the lock held. */
static int print_record(const struct import_record *r, struct buf *out)
{
	const struct import_result *n = &r->result;
	int err = buf_printf(out,
			     "format %s\nstate %s\nlines %llu\n"
			     "rows %llu\ncells %llu\nbytes %llu\n"
			     "committed_line %llu\nrefused %llu\n",
			     r->format, r->done ? "done" : "running",
			     (unsigned long long)n->line_count,
			     (unsigned long long)n->row_count,
			     (unsigned long long)n->cell_count,
			     (unsigned long long)n->byte_count,
			     (unsigned long long)n->committed_line,
			     (unsigned long long)n->refused_count);

	if (!err && r->by_recipe)
		err = print_by_recipe(r, out);
	if (!err && r->error.size > 0)
		err = buf_printf(out, "error %.*s\n", (int)r->error.size,
				 (const char *)r->error.data);
	/* The refused lines, as many as are kept, come last. */
	return err ? err : buf_add_bytes(out, buf_bytes(&n->refused));
}

int imports_print(struct fs *fs, uint32_t table_id, struct buf *out)
{
	struct import_record *r;
	int err = 0;

	pthread_mutex_lock(&fs->imports->lock);
	r = *find_record(fs->imports, table_id);
	if (r)
		err = print_record(r, out);
	pthread_mutex_unlock(&fs->imports->lock);
	return err;
}

/* Of two that go on with one import, by name and table, both would add the same
 * rows. */
static int list_named(struct imports *imports, struct import_file *im,
		      struct bytes name)
{
	const struct import_file *other;
	int err = buf_set(&im->name, name);

	if (err < 0 || name.size == 0)
		return err;
	pthread_mutex_lock(&imports->lock);
	for (other = imports->named; other; other = other->next_named)
		if (bytes_equal(buf_bytes(&other->name), name) &&
		    other->file->table_id == im->file->table_id)
			err = fail(EBUSY, "resume=%.*s is under way already",
				   (int)name.size, name.data);
	if (!err) {
		im->next_named = imports->named;
		imports->named = im;
	}
	pthread_mutex_unlock(&imports->lock);
	return err;
}

/* The reverse; for any. */
static void unlist_named(struct imports *imports, struct import_file *im)
{
	struct import_file **at = &imports->named;

	pthread_mutex_lock(&imports->lock);
	while (*at && *at != im)
		at = &(*at)->next_named;
	if (*at)
		*at = im->next_named;
	pthread_mutex_unlock(&imports->lock);
	buf_release(&im->name);
}

/* As ctl_ops.open: an importer of the steps above the file. */
static int import_open(struct fs *fs, struct ctl_file *f)
{
	struct import_file *im;
	struct import_steps steps;
	struct place place;
	int err;

	/* Who only reads it would begin an import of nothing. */
	if ((f->flags & O_ACCMODE) == O_RDONLY)
		return -EACCES;
	im = calloc(1, sizeof(*im));
	if (!im)
		return -ENOMEM;
	import_steps_read(f->node, &steps);
	steps.is_blind = f->is_blind;
	im->file = f;
	im->at_line_start = true;
	err = list_named(fs->imports, im, steps.resume);
	if (err)
		goto free_file;
	err = place_enter(fs, f->node, &place);
	if (!err)
		err = import_steps_open(fs, &place, node_name(f->node), &steps,
					&im->recipe, &im->importer);
	place_leave(fs, &place);
	if (err)
		goto free_file;
	im->record = begin_record(fs->imports, f, im->recipe != NULL);
	if (im->record) {
		f->state = im;
		return 0;
	}
	err = -ENOMEM;
	importer_free(im->importer);
	recipe_free(im->recipe);
free_file:
	unlist_named(fs->imports, im);
	free(im);
	return err;
}

/* place_enter, with the importer told what its table is called now. */
static int enter(struct fs *fs, struct ctl_file *f, struct place *place)
	ACQUIRES_SHARED(fs->tree)
{
	struct import_file *im = f->state;
	int err = place_enter(fs, f->node, place);

	return err ? err : importer_rename(im->importer, place->path.table);
}

/* Counts for the quota what the importer holds, size bytes. */
static void count_held(struct fs *fs, struct import_file *im, uint64_t size)
{
	atomic_fetch_add(&fs->uncommitted, size - im->held_size);
	im->held_size = size;
}

/* After any work, which ended with err: remembers a failure, brings the record
 * up to date, tells the kernel if there are new rows, and notes if there are
 * some that nobody sees. Returns err, whose detail still stands. */
static int settle(struct fs *fs, struct ctl_file *f, int err, bool done)
{
	struct import_file *im = f->state;
	uint64_t rows = importer_result(im->importer)->row_count;

	if (err)
		im->failed = err;
	update_record(fs, im, err, done);
	count_held(fs, im, importer_held_size(im->importer));
	if (im->failed || !importer_has_unseen(im->importer))
		im->unseen_ns = 0;
	else if (!im->unseen_ns)
		im->unseen_ns = histogram_now_ns();
	if (rows != im->told_rows) {
		im->told_rows = rows;
		fs_changed_outside(fs);
		fs_changed_in(fs, f->node);
	}
	return err;
}

/* Whether rows of a load have waited for a while. */
static bool is_waiting(const struct import_file *im)
{
	uint64_t since = im->unseen_ns;

	return since && histogram_now_ns() - since >= UNSEEN_NS;
}

/* Publishes what im has loaded, durably, unless its writer is fast. Nobody is
 * there to be told of an error, which ends the import. */
static void publish_slow(struct fs *fs, struct import_file *im)
{
	int err;

	/* Who has the lock is writing, and looks by itself. */
	if (!is_waiting(im) || pthread_mutex_trylock(&im->file->lock))
		return;
	if (is_waiting(im)) {
		err_clear();
		err = importer_settle(im->importer);
		settle(fs, im->file, err, false);
		if (err)
			fs_log_error(fs, im->file->node, NULL, err);
	}
	pthread_mutex_unlock(&im->file->lock);
}

/* As bg_start calls it: looks at each load once. */
static void look_at_loads(void *context)
{
	struct fs *fs = context;
	struct imports *imports = fs->imports;
	struct import_file *im;

	pthread_mutex_lock(&imports->lock);
	for (im = imports->loads; im; im = im->next) {
		imports->looked_at = im;
		pthread_mutex_unlock(&imports->lock);
		publish_slow(fs, im);
		pthread_mutex_lock(&imports->lock);
		imports->looked_at = NULL;
		pthread_cond_broadcast(&imports->looked);
	}
	pthread_mutex_unlock(&imports->lock);
}

/* All is done by the ticker. */
static int no_step(void *context)
{
	(void)context;
	return 0;
}

/* From now on im is looked at. Without a thread for that its rows are seen with
 * the next flush. */
static void list_load(struct fs *fs, struct import_file *im)
{
	struct imports *imports = fs->imports;

	pthread_mutex_lock(&imports->lock);
	if (!im->is_listed) {
		im->is_listed = true;
		im->next = imports->loads;
		imports->loads = im;
		if (!imports->ticker)
			(void)!bg_start(no_step, look_at_loads, LOOK_MS, fs,
					&imports->ticker);
	}
	pthread_mutex_unlock(&imports->lock);
}

/* The reverse, before im ends; waits while it is looked at. */
static void unlist_load(struct imports *imports, struct import_file *im)
{
	struct import_file **at = &imports->loads;

	pthread_mutex_lock(&imports->lock);
	while (imports->looked_at == im)
		pthread_cond_wait(&imports->looked, &imports->lock);
	while (*at && *at != im)
		at = &(*at)->next;
	if (*at)
		*at = im->next;
	pthread_mutex_unlock(&imports->lock);
}

/* Lines run as they come, or with the frame that they are in. */
static int feed(struct import_file *im, struct bytes data)
{
	struct import_position upto;
	struct bytes rows;
	int err;

	if (im->name.size == 0) {
		err = importer_feed(im->importer, data);
		return err ? err : importer_settle(im->importer);
	}
	while ((err = batch_frames_take(&im->frames, &data, &rows, &upto)) >
	       0) {
		err = err == BATCH_ROWS ? importer_feed(im->importer, rows)
					: importer_mark(im->importer, &upto);
		if (err)
			break;
	}
	return err;
}

/* As ctl_ops.write: takes all of data or, after an error that ends the import,
 * nothing. Wrong lines are no error here. */
static ssize_t import_write(struct fs *fs, struct ctl_file *f,
			    struct bytes data, uint64_t offset)
{
	struct import_file *im = f->state;
	struct place place;
	int err;

	(void)offset;
	assert(im->failed <= 0);
	if (im->failed)
		return im->failed;
	if (data.size == 0)
		return 0;
	if (im->ended)
		return fail(EINVAL,
			    "the last line was taken without a newline");
	/* A used up quota does not end the import: the writer may go on when
	 * there is room again. Who gives up has not sent the end of its line,
	 * which a close is then not taken for. */
	fs_await_space(fs, data.size);
	err = fs_check_space(fs, data.size);
	im->is_cut = err != 0;
	if (err)
		return err;
	err = enter(fs, f, &place);
	if (!err)
		err = feed(im, data);
	place_leave(fs, &place);
	im->at_line_start =
		im->name.size > 0 || data.data[data.size - 1] == '\n';
	im->is_over = im->is_told = false;
	im->report_at = UINT64_MAX;
	settle(fs, f, err, false);
	if (im->unseen_ns)
		list_load(fs, im);
	return err ? err : (ssize_t)data.size;
}

/* As ctl_ops.read: the import's own report, made when it is read from its
 * start, which is wherever a write, or the open, has left the descriptor. */
static int import_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		       size_t size, struct buf *out)
{
	struct import_file *im = f->state;
	int err = 0;

	if (offset == 0 || offset < im->report_at) {
		im->report_at = offset;
		buf_reset(&f->out);
		pthread_mutex_lock(&fs->imports->lock);
		err = print_record(im->record, &f->out);
		pthread_mutex_unlock(&fs->imports->lock);
		/* As lines of the report, each of it. */
		if (!err && im->name.size > 0)
			err = import_position_print(
				importer_position(im->importer), &f->out);
	}
	return err ? err
		   : ctl_read_text(fs, f, offset - im->report_at, size, out);
}

/* Commits whole lines, or, at the end, all there is. */
static int commit_lines(struct fs *fs, struct ctl_file *f, bool at_end,
			bool sync)
{
	struct import_file *im = f->state;
	struct place place;
	int err = enter(fs, f, &place);

	if (!err)
		err = at_end ? importer_finish(im->importer, sync)
			     : importer_flush(im->importer, sync);
	place_leave(fs, &place);
	return err;
}

/* -EINVAL if lines were refused. */
static int check_refused(const struct import_file *im)
{
	uint64_t refused = importer_result(im->importer)->refused_count;

	if (refused == 0)
		return 0;
	return fail(EINVAL, "%llu line%s refused, see .import/last",
		    (unsigned long long)refused,
		    refused == 1 ? " was" : "s were");
}

/* At a close that may be the last one: an error if what waits for its end is
 * wrong as it stands. */
static int check_rest(struct fs *fs, struct import_file *im)
{
	int err = importer_rest(im->importer);

	im->is_told = err != 0;
	if (!err)
		return 0;
	pthread_mutex_lock(&fs->imports->lock);
	set_error(im->record, err);
	pthread_mutex_unlock(&fs->imports->lock);
	return err;
}

/* What close and fsync do: commits, at the end a part of a line, too, and tells
 * by -EINVAL what was refused, or would be. At each close again: which one the
 * writer looks at is not known. */
static int import_commit(struct fs *fs, struct ctl_file *f, bool at_end,
			 bool sync)
{
	struct import_file *im = f->state;
	bool is_end = at_end && !im->is_guarded && !im->is_cut;
	int err;

	if (im->failed)
		return im->failed;
	/* After the end all is committed, but perhaps not durable. */
	if (im->ended) {
		err = sync ? store_sync(fs->store) : 0;
	} else {
		im->ended = is_end && (im->is_over || !im->at_line_start);
		err = commit_lines(fs, f, im->ended, sync);
	}
	settle(fs, f, err, im->ended);
	if (!err && is_end && !im->ended)
		err = check_rest(fs, im);
	return err ? err : check_refused(im);
}

static int import_flush(struct fs *fs, struct ctl_file *f, bool at_end)
{
	return import_commit(fs, f, at_end, false);
}

static int import_sync(struct fs *fs, struct ctl_file *f)
{
	return import_commit(fs, f, false, true);
}

/* As ctl_ops.truncate. O_TRUNC of an open does not come as this. */
static void import_truncate(struct ctl_file *f, uint64_t size)
{
	struct import_file *im = f->state;

	im->is_guarded = size == 0;
	im->is_over = size > 0;
}

/* As ctl_ops.release. Unless guarded, what a killed writer left is taken as it
 * is. What no close has told, .tabletfs/errors tells. */
static void import_release(struct fs *fs, struct ctl_file *f)
{
	struct import_file *im = f->state;
	uint64_t refused = importer_result(im->importer)->refused_count;
	bool is_told;
	int err = 0;

	unlist_load(fs->imports, im);
	if (!im->failed && !im->ended)
		err = commit_lines(fs, f, !im->is_guarded && !im->is_cut,
				   fs->options->sync);
	settle(fs, f, err, true);
	is_told = im->is_told && (!err || err == -ERR_bad_line);
	if (!err && importer_result(im->importer)->refused_count > refused)
		err = check_refused(im);
	if (err && !is_told)
		fs_log_error(fs, f->node, NULL, err);
	count_held(fs, im, 0);
	importer_free(im->importer);
	recipe_free(im->recipe);
	batch_frames_release(&im->frames);
	unlist_named(fs->imports, im);
	pthread_mutex_lock(&fs->imports->lock);
	put_record(im->record);
	pthread_mutex_unlock(&fs->imports->lock);
	free(im);
}

const struct ctl_ops ctl_import_ops = {
	.open = import_open,
	.read = import_read,
	.write = import_write,
	.flush = import_flush,
	.sync = import_sync,
	.truncate = import_truncate,
	.release = import_release,
};
