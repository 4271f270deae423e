#include <errno.h>
#include <stdlib.h>

#include "fs/cells/notify.h"
#include "fs/cells/space.h"
#include "fs/control/ctl.h"
#include "fs/control/ctl_import.h"
#include "fs/query/query.h"
#include "store/store.h"
#include "store/text/import/import.h"
#include "store/text/import/import_rows.h"
#include "store/text/value/text_format.h"

/*
 * .import/csv, tsv and jsonl: lines that are complete run inside the write that
 * completes them. A line that is wrong is left out and told in .import/last;
 * closing then fails. The last line needs no newline, but nothing may follow.
 */

/* How a table's last import goes or went. */
struct import_record {
	struct import_record *next;
	uint64_t file; /* which open file writes it */
	bool done;
	char format[8];
	struct import_result result;
	struct buf error; /* what ended it, if something did */
	size_t table_size;
	uint8_t table[];
};

struct imports {
	pthread_mutex_t lock;
	struct import_record *first;
	uint64_t file_count;
};

struct import_file {
	struct importer *importer;
	uint64_t file;
	int failed;         /* what ended it; every further call fails so */
	bool ended;         /* a last line without newline was taken */
	bool at_line_start; /* nothing or a newline came last */
	uint64_t told_rows; /* row_count when the kernel was last told */
};

int imports_new(struct imports **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	pthread_mutex_init(&(*out)->lock, NULL);
	return 0;
}

void imports_free(struct imports *imports)
{
	struct import_record *r, *next;

	for (r = imports->first; r; r = next) {
		next = r->next;
		buf_release(&r->result.refused);
		buf_release(&r->error);
		free(r);
	}
	pthread_mutex_destroy(&imports->lock);
	free(imports);
}

static struct import_record *find_record(struct imports *imports,
					 struct bytes table)
{
	struct import_record *r = imports->first;

	while (r && !bytes_equal(bytes_of(r->table, r->table_size), table))
		r = r->next;
	return r;
}

static struct import_record *make_record(struct imports *imports,
					 struct bytes table)
{
	struct import_record *r = calloc(1, sizeof(*r) + table.size);

	if (!r)
		return NULL;
	memcpy(r->table, table.data, table.size);
	r->table_size = table.size;
	r->next = imports->first;
	imports->first = r;
	return r;
}

/* Begins a new record for the file's table. */
static int begin_record(struct fs *fs, const struct ctl_file *f,
			struct import_file *im)
{
	struct imports *imports = fs->imports;
	struct import_record *r;
	struct buf refused;
	size_t n = f->path.leaf.size;

	pthread_mutex_lock(&imports->lock);
	r = find_record(imports, f->path.table);
	if (!r)
		r = make_record(imports, f->path.table);
	if (r) {
		refused = r->result.refused;
		buf_reset(&refused);
		memset(&r->result, 0, sizeof(r->result));
		r->result.refused = refused;
		buf_reset(&r->error);
		r->done = false;
		im->file = r->file = ++imports->file_count;
		memset(r->format, 0, sizeof(r->format));
		if (n < sizeof(r->format))
			memcpy(r->format, f->path.leaf.data, n);
	}
	pthread_mutex_unlock(&imports->lock);
	return r ? 0 : -ENOMEM;
}

/* Copies how the import stands; a later import's record is left alone. */
static void update_record(struct fs *fs, const struct ctl_file *f,
			  const struct import_file *im, bool done)
{
	const struct import_result *now = importer_result(im->importer);
	struct import_record *r;
	struct buf refused;

	pthread_mutex_lock(&fs->imports->lock);
	r = find_record(fs->imports, f->path.table);
	if (r && r->file == im->file) {
		refused = r->result.refused;
		if (now->refused.size > refused.size)
			(void)!buf_add(&refused,
				       now->refused.data + refused.size,
				       now->refused.size - refused.size);
		r->result = *now;
		r->result.refused = refused;
		r->done = done;
		/* The store's own errors say all in their detail. */
		if (im->failed && r->error.size == 0 && *err_detail())
			(void)!buf_printf(&r->error, "%s%s%s", err_detail(),
					  im->failed > -ERR_BASE ? ": " : "",
					  im->failed > -ERR_BASE
						  ? err_text(im->failed)
						  : "");
	}
	pthread_mutex_unlock(&fs->imports->lock);
}

int imports_print(struct fs *fs, struct bytes table, struct buf *out)
{
	struct import_record *r;
	int err = 0;

	pthread_mutex_lock(&fs->imports->lock);
	r = find_record(fs->imports, table);
	if (r) {
		const struct import_result *n = &r->result;

		err = buf_printf(out,
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
		if (!err && r->error.size > 0)
			err = buf_printf(out, "error %.*s\n",
					 (int)r->error.size,
					 (const char *)r->error.data);
		if (!err)
			err = buf_add_bytes(out, buf_bytes(&n->refused));
	}
	pthread_mutex_unlock(&fs->imports->lock);
	return err;
}

static enum text_format format_of(struct bytes name)
{
	if (bytes_equal(name, BYTES_LITERAL("csv")))
		return TEXT_CSV;
	return bytes_equal(name, BYTES_LITERAL("tsv")) ? TEXT_TSV : TEXT_JSONL;
}

static bool is_value_encoded(struct bytes timestamp)
{
	return bytes_equal(timestamp, BYTES_LITERAL("value-encoded"));
}

int imports_check_step(struct bytes name, struct bytes value)
{
	if (bytes_equal(name, BYTES_LITERAL("family")))
		return value.size > 0 ? 0 : fail(ENOENT, "an empty family");
	return is_value_encoded(value) ||
			       bytes_equal(value, BYTES_LITERAL("now"))
		       ? 0
		       : fail(ENOENT, "timestamp is now or value-encoded");
}

static int import_open(struct fs *fs, struct ctl_file *f)
{
	struct import_options options = { .table = f->path.table };
	struct import_file *im = calloc(1, sizeof(*im));
	struct node *node = f->node->parent;
	struct query_step step;
	int err;

	if (!im)
		return -ENOMEM;
	while (query_next_step(&node, &step)) {
		if (bytes_equal(step.name, BYTES_LITERAL("family")))
			options.family = step.value;
		else
			options.value_timestamps = is_value_encoded(step.value);
	}
	im->at_line_start = true;
	err = importer_new(fs->store, format_of(f->path.leaf), &options,
			   &im->importer);
	if (err)
		goto free_file;
	err = begin_record(fs, f, im);
	if (err)
		goto free_importer;
	f->state = im;
	return 0;

free_importer:
	importer_free(im->importer);
free_file:
	free(im);
	return err;
}

/* After any work: remember a failure, tell the kernel of new rows. */
static int settle(struct fs *fs, struct ctl_file *f, int err, bool done)
{
	struct import_file *im = f->state;
	uint64_t rows = importer_result(im->importer)->row_count;

	if (err)
		im->failed = err;
	update_record(fs, f, im, done);
	if (rows != im->told_rows) {
		im->told_rows = rows;
		fs_changed_outside(fs);
		fs_changed_in(fs, f->node);
	}
	return err;
}

static ssize_t import_write(struct fs *fs, struct ctl_file *f,
			    struct bytes data, uint64_t offset)
{
	struct import_file *im = f->state;
	int err;

	(void)offset;
	if (im->failed)
		return im->failed;
	if (data.size == 0)
		return 0;
	if (im->ended)
		return fail(EINVAL,
			    "the last line was taken without a newline");
	err = fs_check_space(fs);
	if (err)
		return err;
	err = importer_feed(im->importer, data);
	if (!err)
		err = importer_settle(im->importer);
	im->at_line_start = data.data[data.size - 1] == '\n';
	settle(fs, f, err, false);
	return err ? err : (ssize_t)data.size;
}

static int import_commit(struct fs *fs, struct ctl_file *f, bool sync)
{
	struct import_file *im = f->state;
	uint64_t refused;
	int err;

	if (im->failed)
		return im->failed;
	if (im->ended) {
		err = sync ? store_sync(fs->store) : 0;
	} else if (im->at_line_start || sync) {
		err = importer_flush(im->importer, sync);
	} else {
		im->ended = true;
		err = importer_finish(im->importer, sync);
	}
	settle(fs, f, err, im->ended);
	refused = importer_result(im->importer)->refused_count;
	if (!err && refused > 0)
		err = fail(EINVAL, "%llu lines were refused, see .import/last",
			   (unsigned long long)refused);
	return err;
}

static int import_flush(struct fs *fs, struct ctl_file *f)
{
	return import_commit(fs, f, false);
}

static int import_sync(struct fs *fs, struct ctl_file *f)
{
	return import_commit(fs, f, true);
}

static void import_release(struct fs *fs, struct ctl_file *f)
{
	struct import_file *im = f->state;
	int err = im->failed;

	if (!err && !im->ended)
		err = importer_finish(im->importer, fs->options->sync);
	settle(fs, f, err, true);
	importer_free(im->importer);
	free(im);
}

const struct ctl_ops ctl_import_ops = {
	.open = import_open,
	.write = import_write,
	.flush = import_flush,
	.sync = import_sync,
	.release = import_release,
};
