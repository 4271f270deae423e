#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/state/name.h"
#include "store/text/value/text_format.h"
#include "tools/import/import.h"
#include "tools/import/progress.h"
#include "tools/import/recipe_words.h"
#include "tools/import/remote_import.h"
#include "tools/import/remote_recipe.h"
#include "tools/import/remote_stream.h"

/*
 * The control file takes input in pieces of any size and commits whole lines as
 * they come; read, it tells what became of them.
 */
#define PIECE_SIZE (1 << 20)

/* Copies the input into the control file: 0, or the errno of what went wrong;
 * that lines were refused is an EINVAL of close and fsync here, and known from
 * the report. */
static int stream(struct verb_call *c, int in, int out)
{
	uint8_t *piece = malloc(PIECE_SIZE);
	struct progress progress;
	uint64_t total = 0;
	ssize_t size;
	int failed = piece ? 0 : ENOMEM;

	progress_begin(&progress, c->err, in);
	while (!failed && (size = read(in, piece, PIECE_SIZE)) != 0) {
		ssize_t done = 0, n = 0;

		if (size < 0 && errno == EINTR)
			continue;
		/* A write may take a part only. */
		while (done < size && n >= 0) {
			n = write(out, piece + done, (size_t)(size - done));
			done += n > 0 ? n : 0;
		}
		if (size < 0 || n < 0)
			failed = errno;
		total += (uint64_t)(size > 0 ? size : 0);
		progress_update(&progress, total, 0);
	}
	progress_end(&progress);
	if (!failed)
		failed = remote_stream_end(out);
	free(piece);
	return failed;
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
			  int in, const char *path)
{
	int out = openat(served->root, path, O_RDWR | O_CLOEXEC), failed;

	if (out < 0)
		return verb_wrong(c, "Importing: %s/%s: %s",
				  (char *)served->place.data, path,
				  strerror(errno));
	failed = stream(c, in, out);
	return remote_stream_tell(c, out, failed);
}

/* Arguments, the table and the input are checked here, in this order, so that
 * what is wrong is told as it is without a mount. An unknown table has no
 * .import to be opened. */
int remote_import(struct verb_call *c, const struct served *served)
{
	struct import_arguments a;
	char *path = NULL;
	int in, status = 1;

	if (recipe_is_meant(c, 2))
		return remote_recipe(c, served);
	if (import_arguments(c, &a))
		return 1;
	/* A name that no table can have would be a path to somewhere else. */
	if (store_check_table_name(bytes_string(a.table)) < 0)
		return verb_wrong(c, "Importing: table \"%s\" not found",
				  a.table);
	in = import_open(c, &a);
	if (in < 0)
		return 1;
	path = control_path(&a);
	if (!path)
		verb_failed(c, "Importing", -ENOMEM);
	else if (faccessat(served->root, a.table, F_OK, 0) < 0 &&
		 errno == ENOENT)
		verb_wrong(c, "Importing: table \"%s\" not found", a.table);
	else
		status = import_through(c, served, in, path);
	free(path);
	close(in);
	return status;
}
