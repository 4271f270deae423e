#include <stdlib.h>

#include "store/base/volume/volume_posix_own.h"
#include "store/text/dump/load.h"
#include "tools/admin/dump.h"
#include "tools/input/input.h"
#include "tools/verb/stop.h"

/* Of a dump, as it is handed to the loader. */
#define PIECE_SIZE (256 << 10)

int dump_stream(struct verb_call *c, bool (*stop)(void),
		struct text_stream **out)
{
	int err;

	*out = NULL;
	if (c->argc != 1)
		return verb_usage(c);
	err = dump_open(c->store, stop, out);
	return err < 0 ? verb_failed(c, "Dumping", err) : 0;
}

/* FILE, or NULL for none; false if there are other arguments. */
static bool file_argument(const struct verb_call *c, const char **path)
{
	*path = c->argc == 2 ? c->argv[1] : NULL;
	return c->argc <= 2;
}

int verb_dump(struct verb_call *c)
{
	struct text_stream *t;
	const char *path;
	int err;

	if (!file_argument(c, &path))
		return verb_usage(c);
	err = dump_open(c->store, stop_came, &t);
	return err < 0 ? verb_failed(c, "Dumping", err)
		       : output_text(c, path, t);
}

int remote_dump(struct verb_call *c, const struct served *served)
{
	const char *path;

	if (!file_argument(c, &path))
		return verb_usage(c);
	return output_remote(c, served, path, 1, c->argv);
}

/* Loads all of in into s: 0 or an error. */
static int load_all(struct store *s, struct input *in,
		    struct dump_counts *counts)
{
	uint8_t *piece = malloc(PIECE_SIZE);
	struct loader *l = NULL;
	ssize_t n = 0;
	int err = piece ? loader_new(s, &l) : -ENOMEM;

	while (!err && (n = input_read(in, piece, PIECE_SIZE)) > 0) {
		err = loader_feed(l, bytes_of(piece, (size_t)n));
		if (!err)
			err = stop_check();
	}
	if (!err)
		err = stop_came() ? stop_check()
		      : n < 0     ? (int)n
				  : loader_finish(l);
	if (l)
		*counts = *loader_counts(l);
	loader_free(l);
	free(piece);
	return err;
}

/* Makes directory, which is not there yet, a store of what in gives: 0 or an
 * error. */
static int load_into(const char *directory, struct input *in,
		     struct dump_counts *counts)
{
	struct store_options options;
	struct store *s;
	char why[512];
	int err, closed;

	store_options_init(&options);
	options.beside = true;
	options.create = true;
	options.holder = "a tabletfs load";
	err = store_open(directory, &options, &s);
	if (err < 0)
		return err;
	err = load_all(s, in, counts);
	snprintf(why, sizeof(why), "%s", err_detail());
	closed = store_close(s);
	if (err < 0)
		return err == -ENOMEM ? err : fail(-err, "%s", why);
	return closed;
}

/* By its partial name, which is free. */
static int load_partial(const char *partial, const char *directory,
			struct input *in, struct dump_counts *counts)
{
	char why[512];
	int err = volume_posix_take_over(partial);

	if (err < 0)
		return err;
	if (err == 1)
		fprintf(stderr,
			"tabletfs: %s was left by a command that was killed, "
			"and is removed\n",
			partial);
	err = load_into(partial, in, counts);
	if (!err)
		return volume_posix_rename(partial, directory);
	snprintf(why, sizeof(why), "%s", err_detail());
	volume_posix_discard(partial);
	return err == -ENOMEM ? err : fail(-err, "%s", why);
}

int verb_load(struct verb_call *c)
{
	struct dump_counts counts = { 0 };
	struct buf partial = BUF_INIT;
	struct input *in = NULL;
	int err;

	if (c->argc != 3)
		return verb_usage(c);
	stop_begin();
	err = volume_posix_partial(c->argv[2], &partial);
	if (!err)
		err = input_open(c->argv[1], &in);
	if (!err)
		err = load_partial((const char *)partial.data, c->argv[2], in,
				   &counts);
	input_close(in);
	buf_release(&partial);
	if (err < 0)
		return verb_wrong(c, "Loading %s: %s", c->argv[1],
				  verb_error_text(err));
	fprintf(c->out, "%llu tables, %llu rows, %llu cells\n",
		(unsigned long long)counts.tables,
		(unsigned long long)counts.rows,
		(unsigned long long)counts.cells);
	return 0;
}
