#include <stdlib.h>

#include "store/base/place/place.h"
#include "store/base/volume/volume_posix_partial.h"
#include "store/text/dump/load.h"
#include "tools/admin/dump.h"
#include "tools/input/input.h"
#include "tools/verb/stop.h"
#include "tools/verb/time.h"

/* Of a dump, as it is handed to the loader. */
#define PIECE_SIZE (256 << 10)

#define AS_OF "as-of="

/* FILE and as-of=, each NULL for none; false if there are other arguments. */
static bool take_words(const struct verb_call *c, const char **path,
		       char **as_of)
{
	int i;

	*path = NULL;
	*as_of = NULL;
	for (i = 1; i < c->argc; i++) {
		if (!strncmp(c->argv[i], AS_OF, strlen(AS_OF)))
			*as_of = c->argv[i];
		else if (i == 1)
			*path = c->argv[i];
		else
			return false;
	}
	return true;
}

/* A stream of the moment of as_of, or of now: 0, or 1 after it said what is
 * wrong. */
static int open_stream(struct verb_call *c, const char *as_of,
		       bool (*stop)(void), struct text_stream **out)
{
	struct snapshot *at;
	int err;

	if (verb_moment(c, as_of ? as_of + strlen(AS_OF) : NULL, &at))
		return 1;
	err = dump_open(c->store, at, stop, out);
	return err < 0 ? verb_failed(c, "Dumping", err) : 0;
}

int dump_stream(struct verb_call *c, bool (*stop)(void),
		struct text_stream **out)
{
	const char *path;
	char *as_of;

	*out = NULL;
	if (!take_words(c, &path, &as_of) || path)
		return verb_usage(c);
	return open_stream(c, as_of, stop, out);
}

int verb_dump(struct verb_call *c)
{
	struct text_stream *t;
	const char *path;
	char *as_of;

	if (!take_words(c, &path, &as_of))
		return verb_usage(c);
	if (open_stream(c, as_of, stop_came, &t))
		return 1;
	return output_text(c, path, t);
}

int remote_dump(struct verb_call *c, const struct served *served)
{
	const char *path;
	char *argv[2] = { c->argv[0], NULL };

	if (!take_words(c, &path, &argv[1]))
		return verb_usage(c);
	return output_remote(c, served, path, argv[1] ? 2 : 1, argv);
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
	err = store_open_kept(directory, &options, &s);
	if (err < 0)
		return err;
	err = load_all(s, in, counts);
	snprintf(why, sizeof(why), "%s", err_detail());
	closed = store_close(s);
	if (err < 0)
		return err == -ENOMEM ? err : fail(-err, "%s", why);
	return closed;
}

/* load_into, by its partial name until it is whole. */
static int load_partial(const char *directory, struct input *in,
			struct dump_counts *counts)
{
	struct volume_partial p;
	int err = volume_place_local(directory);

	if (!err)
		err = volume_partial_begin(directory, &p);
	if (err < 0)
		return err;
	if (p.has_removed)
		fprintf(stderr,
			"tabletfs: %s was left by a command that was killed, "
			"and is removed\n",
			p.partial);
	err = load_into((const char *)p.path.data, in, counts);
	if (!err)
		return volume_partial_finish(&p);
	volume_partial_abandon(&p);
	return err;
}

int verb_load(struct verb_call *c)
{
	struct dump_counts counts = { 0 };
	struct input *in = NULL;
	int err;

	if (c->argc != 3)
		return verb_usage(c);
	stop_begin();
	err = input_open(c->argv[1], &in);
	if (!err)
		err = load_partial(c->argv[2], in, &counts);
	input_close(in);
	if (err < 0)
		return verb_wrong(c, "Loading %s: %s", c->argv[1],
				  verb_error_text(err));
	fprintf(c->out, "%llu tables, %llu rows, %llu cells\n",
		(unsigned long long)counts.tables,
		(unsigned long long)counts.rows,
		(unsigned long long)counts.cells);
	return 0;
}
