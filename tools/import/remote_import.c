#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/state/name.h"
#include "store/text/value/text_format.h"
#include "tools/import/import.h"
#include "tools/import/import_report.h"
#include "tools/import/progress.h"
#include "tools/import/recipe_words.h"
#include "tools/import/remote_import.h"
#include "tools/import/remote_recipe.h"
#include "tools/import/remote_stream.h"
#include "tools/verb/stop.h"

/*
 * The control file takes input in pieces of any size and commits whole lines as
 * they come; read, it tells what became of them.
 */
#define PIECE_SIZE (1 << 20)

/* Copies the input into the control file: 0, or the error of what went wrong;
 * that lines were refused is an EINVAL of close and fsync here, and known from
 * the report. */
static int stream(const struct import_arguments *a, struct input *in, int out)
{
	uint8_t *piece = malloc(PIECE_SIZE);
	struct progress progress;
	/* What became of the rows the daemon tells in the end. */
	struct progress_now now = { 0 };
	ssize_t size = 0;
	char why[512] = "";
	int failed = piece ? 0 : ENOMEM, end;

	if (!failed)
		failed = remote_stream_begin(out);
	stop_begin();
	progress_begin(&progress, a->progress, input_size(a->path));
	while (!failed && (size = input_read(in, piece, PIECE_SIZE)) > 0) {
		failed = remote_write(out, bytes_of(piece, (size_t)size));
		now.bytes = input_taken(in);
		progress_update(&progress, &now);
		if (stop_check())
			break;
	}
	if (!failed && stop_check())
		size = stop_check();
	stop_end();
	progress_end(&progress);
	strncpy(why, err_detail(), sizeof(why) - 1);
	/* What came before an error stays, as far as it is whole. */
	end = remote_stream_end(out, !failed && size >= 0);
	failed = failed ? failed : end;
	free(piece);
	if (failed)
		return fail(failed, "Importing");
	return size < 0 ? fail((int)-size, "%s", why) : 0;
}

/* The path, in the mount, of the control file that takes what the arguments
 * say, to be freed; NULL without memory. JSON lines name their families and
 * times themselves. */
static char *control_path(const struct import_arguments *a)
{
	bool has_options = a->format != TEXT_JSONL;
	struct buf path = BUF_INIT;
	int err = buf_printf(&path, "%s/.import", a->table);

	if (!err && has_options && a->family && *a->family) {
		err = buf_add_string(&path, "/family/");
		if (!err)
			err = name_encode(NAME_VALUE, bytes_string(a->family),
					  &path);
	}
	if (!err && has_options && a->value_timestamps)
		err = buf_add_string(&path, "/timestamp/value-encoded");
	if (!err)
		err = buf_printf(&path, "/%s", a->format_word);
	if (!err)
		err = buf_terminate(&path);
	if (err)
		buf_release(&path);
	return (char *)path.data;
}

/* Streams the input into the control file at path. The exit status. */
static int import_through(struct verb_call *c, const struct served *served,
			  const struct import_arguments *a, struct input *in,
			  const char *path)
{
	int out = openat(served->root, path, O_RDWR | O_CLOEXEC), err;

	if (out < 0)
		return verb_wrong(c, "Importing: %s/%s: %s",
				  (char *)served->place.data, path,
				  strerror(errno));
	err = stream(a, in, out);
	return remote_stream_tell(c, out, err);
}

/* Arguments, the table and the input are checked here, in this order, so that
 * what is wrong is told as it is without a mount. An unknown table has no
 * .import to be opened. */
int remote_import(struct verb_call *c, const struct served *served)
{
	struct import_arguments a;
	char *path = NULL;
	struct input *in;
	int status = 1;

	if (recipe_is_meant(c, 2))
		return remote_recipe(c, served);
	if (import_arguments(c, &a))
		return 1;
	/* A name that no table can have would be a path to somewhere else. */
	if (store_check_table_name(bytes_string(a.table)) < 0)
		return import_no_table(c, a.table);
	if (import_open(c, &a, &in))
		return 1;
	path = control_path(&a);
	if (!path)
		verb_failed(c, "Importing", -ENOMEM);
	else if (faccessat(served->root, a.table, F_OK, 0) < 0 &&
		 errno == ENOENT)
		import_no_table(c, a.table);
	else
		status = import_through(c, served, &a, in, path);
	free(path);
	input_close(in);
	return status;
}
