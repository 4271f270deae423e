#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fs/kernel/served.h"
#include "store/base/watch/histogram.h"
#include "tools/mount/mount_table.h"
#include "tools/verb/remote.h"
#include "tools/verb/stop.h"
#include "tools/watch/top.h"
#include "tools/watch/top_draw.h"

/* Of figures that are read at once. */
#define PIECE_SIZE ((size_t)64 << 10)

/* The other screen of a terminal, empty and without a cursor; and back. */
#define ENTER_SCREEN "\033[?1049h\033[?25l\033[2J"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"

/* No terminal has more: who goes there is in its last one. */
#define LINES_MAX 9999

/* Of the process that asks, once it is to stop. */
#define ENDING_MS 500
#define ENDING_LOOKS 25

#define SECONDS_MAX 3600
#define ROUNDS_MAX 1000000000

/* What the words say. */
struct top {
	const char *place; /* as it was named; borrowed */
	bool is_batch;
	unsigned long rounds; /* 0: until it is stopped */
	double seconds;       /* between them */
	/* Who is told whom a round waits for; NULL: standard error. */
	const struct answer_teller *teller;
};

/* A number behind a flag, which ends the word. */
static int parse_number(struct verb_call *c, const char *flag, const char *text,
			double least, double most, double *out)
{
	char *end;

	errno = 0;
	*out = text ? strtod(text, &end) : 0;
	if (!text || end == text || *end || errno || !(*out >= least) ||
	    !(*out <= most))
		return verb_wrong(c, "%s needs a number from %g to %.0f", flag,
				  least, most);
	return 0;
}

static int parse(struct verb_call *c, struct top *t)
{
	double rounds = 0;
	int i, wrong = 0;

	*t = (struct top){ .seconds = 2 };
	for (i = 1; i < c->argc && !wrong; i++) {
		char *word = c->argv[i];

		if (!strcmp(word, "-b"))
			t->is_batch = true;
		else if (!strncmp(word, "-n", 2))
			wrong = parse_number(c, "-n",
					     word[2] ? word + 2 : c->argv[++i],
					     1, ROUNDS_MAX, &rounds);
		else if (!strncmp(word, "-d", 2))
			wrong = parse_number(c, "-d",
					     word[2] ? word + 2 : c->argv[++i],
					     0.1, SECONDS_MAX, &t->seconds);
		else if (word[0] == '-' || t->place)
			return verb_usage(c);
		else
			t->place = word;
	}
	if (wrong)
		return wrong;
	t->rounds = (unsigned long)rounds;
	if (!t->place)
		t->place = getenv("TABLETFS_STORE");
	t->is_batch |= !isatty(fileno(c->out));
	return t->place ? 0 : verb_usage(c);
}

/* Finds who serves the store at t's place, which *store, to be freed, is then:
 * 0 with *served, or 1 after it said that nobody does, or what is wrong. */
static int find(struct verb_call *c, const struct top *t, char **store,
		struct served *served)
{
	int err;

	*store = mount_store_at(t->place, NULL);
	if (*store)
		err = served_at(*store, t->place, served);
	else if (access(t->place, F_OK) < 0)
		return verb_wrong(c, "%s: %s", t->place, strerror(errno));
	else
		err = served_find(t->place, t->teller, served);
	if (err == 1)
		return 0;
	if (err == 0 || err == -ENOENT)
		return verb_wrong(c,
				  "%s: nobody has mounted or served it, so "
				  "there is nothing to see; tabletfs mount or "
				  "serve does, and one that is mounted to be "
				  "read is named by where it is mounted",
				  t->place);
	return verb_failed(c, t->place, err);
}

/* Sets text to the figures of a mount, as its file has them: without ranges of
 * rows. 0 or an error. */
static int read_file(const struct served *served, struct buf *text)
{
	int fd = openat(served->root, ".tabletfs/metrics",
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = 1;
	int err = 0;

	if (fd < 0)
		return fail(errno, "%s/.tabletfs/metrics",
			    (char *)served->place.data);
	while (!err && n > 0) {
		err = buf_reserve(text, PIECE_SIZE);
		if (err)
			break;
		n = read(fd, text->data + text->size, PIECE_SIZE);
		if (n < 0)
			err = fail(errno, "%s/.tabletfs/metrics",
				   (char *)served->place.data);
		else
			text->size += (size_t)n;
	}
	close(fd);
	return err;
}

/* Sets text to the figures that who serves it prints. 0, an exit status after
 * it said what is wrong, or an error. */
static int run_metrics(struct verb_call *c, const struct served *served,
		       struct buf *text)
{
	static char metrics[] = "metrics", ranges[] = "ranges=yes";
	char *words[] = { metrics, ranges, NULL }, *data = NULL;
	size_t size = 0;
	FILE *ctl = NULL, *memory = open_memstream(&data, &size);
	int status = memory ? remote_send(served, 2, words, &ctl) : -ENOMEM;

	if (!status)
		status = remote_reply(served, ctl, memory, c->err);
	if (ctl)
		fclose(ctl);
	if (memory && fclose(memory) && !status)
		status = -ENOMEM;
	if (!status)
		status = buf_set(text, bytes_of(data, size));
	free(data);
	return status;
}

/* Asks who serves it for the figures of now: 0, or 1 after it said what is
 * wrong. No command runs in a mount that is only read, or for others than who
 * mounted it; these have the file. */
static int ask(struct verb_call *c, const struct served *served,
	       struct sighting *out)
{
	struct buf text = BUF_INIT;
	bool has_ctl =
		served->root < 0 ||
		faccessat(served->root, ".tabletfs/ctl", R_OK | W_OK, 0) == 0;
	int status = has_ctl ? run_metrics(c, served, &text)
			     : read_file(served, &text);

	if (!status)
		status = sighting_parse(&text, out);
	out->at_ns = histogram_now_ns();
	buf_release(&text);
	return status < 0 ? verb_wrong(c, "%s", verb_error_text(status))
			  : status;
}

/* The figures of now, as ask. Nothing stays open from one round to the next, so
 * that the mount can end meanwhile. */
static int look(struct verb_call *c, const struct top *t, struct sighting *out)
{
	struct served served = { .root = -1 };
	char *store = NULL;
	int wrong = find(c, t, &store, &served);

	if (!wrong)
		wrong = ask(c, &served, out);
	served_release(&served);
	free(store);
	return wrong;
}

/* Waits for the next round: whether it comes. */
static bool await(const struct top *t)
{
	struct timespec pause = { (time_t)t->seconds, 0 };

	pause.tv_nsec = (long)((t->seconds - (double)pause.tv_sec) * 1e9);
	return nanosleep(&pause, NULL) == 0;
}

/* What a terminal takes now; it may change its size. */
static struct top_style style_of(const struct verb_call *c, const struct top *t)
{
	struct top_style style = { .is_raw = t->is_batch };
	const char *none = getenv("NO_COLOR");
	struct winsize size = { .ws_col = 80, .ws_row = 24 };

	if (t->is_batch)
		return style;
	(void)ioctl(fileno(c->out), TIOCGWINSZ, &size);
	style.is_coloured = !none || !none[0];
	style.width = size.ws_col;
	/* The last line would scroll. */
	style.lines = size.ws_row > 1 ? size.ws_row - 1u : 1;
	return style;
}

/* On a terminal over what was there, from the top left, without a flicker. */
static void show(struct verb_call *c, const struct top *t, struct buf *text)
{
	size_t i;

	if (!t->is_batch)
		fputs("\033[H", c->out);
	for (i = 0; i < text->size; i++) {
		if (!t->is_batch && text->data[i] == '\n')
			fputs("\033[K", c->out);
		fputc(text->data[i], c->out);
	}
	if (!t->is_batch)
		fputs("\033[J", c->out);
	fflush(c->out);
}

/* Tells it below the picture, where no line of that comes, until the next one
 * is drawn. As struct answer_teller. */
static void tell_below(void *context, const char *line)
{
	struct verb_call *c = context;
	struct winsize size = { .ws_col = 80 };

	(void)ioctl(fileno(c->out), TIOCGWINSZ, &size);
	fprintf(c->out, "\033[%d;1H\033[K%.*s", LINES_MAX,
		(int)top_cut(line, size.ws_col), line);
	fflush(c->out);
}

/* What is seen now, in the place of the picture in text; then is the round
 * before, or NULL. 0 or an error. */
static int draw(struct verb_call *c, const struct top *t,
		const struct sighting *then, const struct sighting *now,
		struct buf *text)
{
	struct top_style style = style_of(c, t);
	int err;

	buf_reset(text);
	err = top_draw(then, now, t->place, &style, text);
	if (!err)
		show(c, t, text);
	return err;
}

/* All rounds, behind the first look, which is in then, the last one in text:
 * 0, or 1 after it said what is wrong. People see that first look as well. */
static int run(struct verb_call *c, const struct top *t, struct sighting *then,
	       struct buf *text)
{
	struct sighting now;
	unsigned long round;
	int wrong = 0, err = t->is_batch ? 0 : draw(c, t, NULL, then, text);

	for (round = 0; !wrong && !err && !ferror(c->out) &&
			(t->rounds == 0 || round < t->rounds);
	     round++) {
		if (!await(t))
			break;
		now = (struct sighting){ .count = 0 };
		wrong = look(c, t, &now);
		if (!wrong)
			err = draw(c, t, then, &now, text);
		sighting_release(then);
		*then = now;
	}
	return err < 0 ? verb_failed(c, "Showing", err) : wrong;
}

/* What is wrong is said on the screen that was there before, to which the
 * terminal goes back, and so is the last of as many rounds as were wanted. */
static int run_on_screen(struct verb_call *c, const struct top *t,
			 struct sighting *then, struct buf *text)
{
	const struct answer_teller below = { tell_below, c };
	struct top on_screen = *t;
	char *said = NULL;
	size_t size = 0;
	FILE *err = c->err;
	int wrong;

	on_screen.teller = &below;
	c->err = open_memstream(&said, &size);
	if (!c->err) {
		c->err = err;
		return verb_failed(c, "Showing", -ENOMEM);
	}
	fputs(ENTER_SCREEN, c->out);
	wrong = run(c, &on_screen, then, text);
	fputs(LEAVE_SCREEN, c->out);
	if (t->rounds > 0 && text->size > 0)
		fwrite(text->data, 1, text->size, c->out);
	fflush(c->out);
	fclose(c->err);
	c->err = err;
	if (said)
		fwrite(said, 1, size, err);
	free(said);
	return wrong;
}

/* Until the process of the rounds has ended, how is in *ended, or, if this is
 * to stop, for ENDING_MS: whether it has. One for which the kernel closes a
 * file that a daemon had begun to answer for before it was stopped ends when
 * that goes on, whatever signal it gets, and nobody need wait for it. */
static bool await_end(pid_t pid, int *ended)
{
	struct timespec pause = { 0, ENDING_MS * 1000000 / ENDING_LOOKS };
	pid_t done;
	int i;

	do
		done = waitpid(pid, ended, 0);
	while (done < 0 && errno == EINTR && !stop_came());
	if (done < 0)
		kill(pid, SIGTERM);
	for (i = 0; done <= 0 && i < ENDING_LOOKS; i++) {
		nanosleep(&pause, NULL);
		done = waitpid(pid, ended, WNOHANG);
	}
	return done > 0;
}

/* All rounds in a process of their own, since who waits for a daemon that is
 * stopped is ended by a signal that ends its process, and by no other. 0, or 1
 * after it said what is wrong. */
static int run_beside(struct verb_call *c, const struct top *t)
{
	struct sighting then = { .count = 0 };
	struct buf text = BUF_INIT;
	pid_t pid;
	int ended, wrong;
	bool has_ended;

	fflush(c->out);
	pid = fork();
	if (pid < 0)
		return verb_failed(c, "Showing", -errno);
	if (pid == 0) {
		stop_by_default();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		wrong = look(c, t, &then);
		if (!wrong)
			wrong = t->is_batch ? run(c, t, &then, &text)
					    : run_on_screen(c, t, &then, &text);
		_exit(fflush(c->out) || fflush(c->err) ? 1 : wrong);
	}
	stop_begin();
	has_ended = await_end(pid, &ended);
	stop_end();
	if (has_ended && WIFEXITED(ended))
		return WEXITSTATUS(ended);
	if (!t->is_batch)
		fputs(LEAVE_SCREEN, c->out);
	fflush(c->out);
	return !has_ended || stop_came()
		       ? 0
		       : verb_wrong(c, "its process ended: %s",
				    strsignal(WTERMSIG(ended)));
}

int verb_top(struct verb_call *c)
{
	struct top t;
	int wrong = parse(c, &t);

	return wrong ? wrong : run_beside(c, &t);
}
