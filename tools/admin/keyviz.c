#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "store/text/heat/heat_print.h"
#include "store/text/heat/heat_terminal.h"
#include "tools/admin/keyviz.h"
#include "tools/verb/time.h"

/*
 * What the words mean. Of the terminal only the command knows, so it tells a
 * daemon by the words colour=, width= and lines=, which a user may give too.
 */
#define COLUMNS 240 /* of a file */
#define ROWS 64
#define SIZE_MAX_OF_TERMINAL 1000

enum word {
	METRIC,
	FROM,
	TO,
	KEY,
	FORMAT,
	COLOUR,
	WIDTH,
	LINES,
	WORDS,
};
static const char *const words[] = { "metric=", "from=",   "to=",    "key=",
				     "format=", "colour=", "width=", "lines=" };
static_assert(sizeof(words) / sizeof(*words) == WORDS, "each has its word");

struct keyviz {
	const char *values[WORDS]; /* NULL: not given */
	const char *path;          /* NULL: standard output */
	struct heat_query query;
	struct heat_style style;
	size_t lines;
};

/* Takes a word, or FILE. False: there are two of these. */
static bool take_word(struct keyviz *k, const char *text)
{
	int i;

	for (i = 0; i < WORDS; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0) {
			k->values[i] = text + strlen(words[i]);
			return true;
		}
	if (k->path)
		return false;
	k->path = text;
	return true;
}

/* The format is that of the file's suffix. */
static int parse_path(struct verb_call *c, struct keyviz *k)
{
	const char *dot = strrchr(k->path, '.');

	if (dot && heat_format_parse(bytes_string(dot + 1), &k->style.format) &&
	    k->style.format != HEAT_TEXT)
		return 0;
	return verb_wrong(c,
			  "%s: a file ends in .svg, .html or .tsv, and words "
			  "are metric=, from=, to= and key=",
			  k->path);
}

static size_t parse_size(const char *text, size_t usual)
{
	long n = text ? strtol(text, NULL, 10) : 0;

	return n <= 0                     ? usual
	       : n > SIZE_MAX_OF_TERMINAL ? SIZE_MAX_OF_TERMINAL
					  : (size_t)n;
}

/* What there is of a terminal, if nobody says. */
static void look_at_terminal(struct keyviz *k)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	struct winsize w;

	if (!isatty(STDOUT_FILENO))
		return;
	k->style.is_coloured =
		term && strcmp(term, "dumb") != 0 && !(no_colour && *no_colour);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0) {
		k->style.width = w.ws_col;
		k->lines = w.ws_row;
	}
}

static int parse_style(struct verb_call *c, struct keyviz *k)
{
	const char *colour = k->values[COLOUR];

	if (k->values[FORMAT] &&
	    !heat_format_parse(bytes_string(k->values[FORMAT]),
			       &k->style.format))
		return verb_wrong(c,
				  "\"%s\": formats are text, tsv, svg and "
				  "html",
				  k->values[FORMAT]);
	if (colour && verb_parse_bool(c,
				      strcmp(colour, "yes") == 0  ? "true"
				      : strcmp(colour, "no") == 0 ? "false"
								  : colour,
				      &k->style.is_coloured))
		return 1;
	k->style.width = parse_size(k->values[WIDTH], k->style.width);
	k->lines = parse_size(k->values[LINES], k->lines);
	return k->path ? parse_path(c, k) : 0;
}

/* What is drawn: a terminal has six lines around it. */
static void size_picture(struct keyviz *k)
{
	size_t lines = k->lines > 12 ? k->lines - 7 : 5;

	k->query.columns = COLUMNS;
	k->query.rows = ROWS;
	if (k->style.format != HEAT_TEXT)
		return;
	k->query.columns = heat_terminal_columns(&k->style);
	k->query.rows = k->style.is_coloured ? 2 * lines : lines;
}

/* 0, or 1 after it said what is wrong. */
static int parse(struct verb_call *c, struct keyviz *k)
{
	int i;

	*k = (struct keyviz){ .style = { HEAT_TEXT, false, 80 }, .lines = 30 };
	for (i = 2; i < c->argc; i++)
		if (!take_word(k, c->argv[i]))
			return verb_usage(c);
	if (c->argc < 2)
		return verb_usage(c);
	k->query.table = bytes_string(c->argv[1]);
	if (k->values[METRIC] &&
	    !heat_metric_parse(bytes_string(k->values[METRIC]),
			       &k->query.metric))
		return verb_wrong(c,
				  "\"%s\": metrics are reads, writes and "
				  "bytes",
				  k->values[METRIC]);
	if (k->values[KEY])
		k->query.prefix = bytes_string(k->values[KEY]);
	/* Else this is a daemon, which has neither. */
	if (c->out == stdout)
		look_at_terminal(k);
	else if (k->path)
		return verb_wrong(c, "a daemon writes to no file that a "
				     "command names");
	if (parse_style(c, k) ||
	    verb_parse_time(c, k->values[FROM], &k->query.from_us))
		return 1;
	if (verb_parse_time(c, k->values[TO], &k->query.to_us))
		return 1;
	size_picture(k);
	return 0;
}

/* A text that is there already. */
struct drawn {
	struct text_stream stream; /* first, so that it can be cast */
	struct buf text;
};

static int drawn_next(struct text_stream *t, struct buf *out)
{
	struct drawn *d = (struct drawn *)t;
	int err = buf_add_bytes(out, buf_bytes(&d->text));

	if (err == 0)
		err = d->text.size > 0;
	buf_reset(&d->text);
	return err;
}

static void drawn_close(struct text_stream *t)
{
	buf_release(&((struct drawn *)t)->text);
}

int verb_keyviz(struct verb_call *c)
{
	struct drawn d = { { "Drawing", drawn_next, drawn_close }, BUF_INIT };
	struct heat_picture *p;
	struct keyviz k;
	int wrong = parse(c, &k), err;

	if (wrong)
		return wrong;
	err = store_heat(c->store, &k.query, &p);
	if (err == 0)
		err = heat_print(p, k.query.table, &k.style, &d.text);
	heat_picture_free(p);
	if (err == 0 && k.path)
		return output_text(c, k.path, &d.stream);
	if (err == 0)
		fwrite(d.text.data, 1, d.text.size, c->out);
	buf_release(&d.text);
	return err < 0 ? verb_failed(c, "Drawing", err) : 0;
}

/* The daemon gets all words but FILE, what that is to be, and what there is of
 * a terminal. */
int remote_keyviz(struct verb_call *c, const struct served *served)
{
	static char formats[][16] = { "format=text", "format=tsv", "format=svg",
				      "format=html" };
	static char colours[][16] = { "colour=no", "colour=yes" };
	char **argv = calloc((size_t)c->argc + 4, sizeof(char *));
	char width[32], lines[32];
	struct keyviz k;
	int wrong = argv ? parse(c, &k) : verb_failed(c, "Drawing", -ENOMEM);
	int argc = 0, i;

	for (i = 0; !wrong && i < c->argc; i++)
		if (c->argv[i] != k.path)
			argv[argc++] = c->argv[i];
	if (!wrong) {
		snprintf(width, sizeof(width), "width=%zu", k.style.width);
		snprintf(lines, sizeof(lines), "lines=%zu", k.lines);
		argv[argc++] = formats[k.style.format];
		argv[argc++] = colours[k.style.is_coloured];
		argv[argc++] = width;
		argv[argc++] = lines;
		wrong = output_remote(c, served, k.path, argc, argv);
	}
	free(argv);
	return wrong;
}
