#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fs/command/command.h"
#include "fs/kernel/served.h"
#include "store/base/bg.h"
#include "store/store.h"
#include "store/text/spill/spill.h"
#include "store/text/watch/store_figures.h"
#include "tools/admin/streams.h"
#include "tools/serve/peer.h"
#include "tools/serve/verb/commands.h"
#include "tools/serve/verb/serve_figures.h"
#include "tools/verb/verb.h"

/* Commands that run at once. One whose reader takes nothing, as a pager does,
 * does not run; its thread is one of these. */
#define RUNNING_MAX 4
#define RUNNERS 64
#define REQUEST_MAX ((size_t)161 << 20)
#define RECEIVED_MAX 65536
/* For more of a request, or for one that is refused. */
#define WAIT_MS 60000
#define REFUSED_MS 1000

/* A thread, once there was so much to do, and the command that it has. */
struct runner {
	struct commands *all;
	struct bg *bg; /* NULL: not started */
	atomic_int fd; /* -1: it is free, for the taker to change */
};

struct commands {
	struct service *service;
	struct store *store; /* its */
	int directory;       /* descriptor */
	int listener;
	int ending; /* an eventfd, readable at the end */
	atomic_bool ended;
	struct bg *taker; /* of connections */
	struct runner runners[RUNNERS];

	pthread_mutex_t lock;
	pthread_cond_t left;  /* there is one less, or the end */
	unsigned int running; /* protected by lock */
};

/* One under way. */
struct command {
	struct commands *all;
	int fd;
	bool running;           /* as one of RUNNING_MAX */
	bool broken;            /* nobody takes the reply */
	struct backup_pin *pin; /* or NULL */
};

/* Of the thread's command, for scans, which ask without saying whose. */
static _Thread_local const struct commands *running;

static bool stop(void)
{
	return running && atomic_load(&running->ended);
}

/* Waits for this of fd: whether it came, before the end and the time. */
static bool await(const struct command *c, short events, int ms)
{
	struct pollfd fds[] = { { c->fd, events, 0 },
				{ c->all->ending, POLLIN, 0 } };
	int n;

	do {
		n = poll(fds, 2, ms);
	} while (n < 0 && errno == EINTR);
	return n > 0 && !fds[1].revents;
}

/* Waits to be one of those that run: whether the server does not end. */
static bool enter(struct command *c)
{
	struct commands *all = c->all;

	pthread_mutex_lock(&all->lock);
	while (all->running == RUNNING_MAX && !atomic_load(&all->ended))
		pthread_cond_wait(&all->left, &all->lock);
	all->running++;
	pthread_mutex_unlock(&all->lock);
	c->running = true;
	return !atomic_load(&all->ended);
}

static void leave(struct command *c)
{
	pthread_mutex_lock(&c->all->lock);
	c->all->running--;
	pthread_cond_signal(&c->all->left);
	pthread_mutex_unlock(&c->all->lock);
	c->running = false;
}

/* Waits for the reader, for as long as it is there: whether it takes more. Who
 * waits holds up no other command. */
static bool await_reader(struct command *c)
{
	bool ran = c->running, ready;

	if (ran)
		leave(c);
	ready = await(c, POLLOUT, -1);
	return ran ? enter(c) && ready : ready;
}

/* As command_stream.write. */
static bool send_bytes(void *context, struct bytes data)
{
	struct command *c = context;

	while (data.size > 0 && !c->broken) {
		ssize_t n = send(c->fd, data.data, data.size,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			data = bytes_after(data, (size_t)n);
		else if (n < 0 && errno == EAGAIN)
			c->broken = !await_reader(c);
		else
			c->broken = true;
	}
	return !c->broken;
}

/* Takes a request into in: 1 with *words, 0 if the peer went or the server
 * ends, or an error. */
static int receive(struct command *c, struct spill *in, struct bytes *words)
{
	uint8_t part[RECEIVED_MAX];
	int err = 0;

	while (err == 0) {
		ssize_t n;

		if (in->size > REQUEST_MAX - sizeof(part))
			return fail(EFBIG, "a request of more than %zu bytes",
				    REQUEST_MAX);
		if (!await(c, POLLIN, WAIT_MS))
			return 0;
		n = recv(c->fd, part, sizeof(part), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return 0;
		if (n > 0)
			err = spill_add(in, bytes_of(part, (size_t)n));
		if (err == 0 && in->size > 0)
			err = command_find(spill_bytes(in), words);
	}
	return err;
}

/* The reply of a command that has as much to tell as the store holds. */
static void send_stream(struct command *c, struct text_stream *stream)
{
	struct buf piece = BUF_INIT;
	bool good = true;

	while (stream && good) {
		buf_reset(&piece);
		good = command_next(&stream, &piece) == 0 &&
		       send_bytes(c, buf_bytes(&piece));
	}
	if (stream)
		stream->close(stream);
	buf_release(&piece);
}

/* As the mount's: what store_pin describes, or an error's number. */
static int run_pin(struct command *c, FILE *out, FILE *err)
{
	struct buf contents = BUF_INIT;
	int failed = store_pin(c->all->store, &contents, &c->pin);

	if (failed)
		fputs(err_detail(), err);
	else
		fwrite(contents.data, 1, contents.size, out);
	buf_release(&contents);
	return -failed;
}

/* sync and pin are no verbs: the former is for what a mount has open. */
static int run_words(struct command *c, int argc, char **argv, FILE *out,
		     FILE *err, struct text_stream **stream)
{
	struct store *s = c->all->store;
	int found;

	err_clear();
	if (!strcmp(argv[0], "pin"))
		return run_pin(c, out, err);
	if (!strcmp(argv[0], "metrics"))
		return store_print_figures(s, serve_print_figures,
					   c->all->service, argc, argv, out,
					   err);
	found = streams_open(s, argc, argv, err, stop, stream);
	return found ? found < 0 : verb_serve(s, argc, argv, out, err);
}

static void run(struct command *c, int argc, char **argv)
{
	struct command_stream streams[2] = { { send_bytes, c, 'o' },
					     { send_bytes, c, 'e' } };
	FILE *out = command_open(&streams[0]), *err = command_open(&streams[1]);
	struct text_stream *stream = NULL;
	char last[32];
	int status = 1, n;

	if (out && err)
		status = run_words(c, argc, argv, out, err, &stream);
	/* The frames come before the last line. */
	if (out && fclose(out))
		status = status ? status : 1;
	if (err)
		fclose(err);
	if (stream) {
		send_stream(c, stream);
		return;
	}
	n = snprintf(last, sizeof(last), "x %d\n", status);
	send_bytes(c, bytes_of(last, (size_t)n));
}

/* Says why nothing was run. */
static void refuse(struct command *c)
{
	struct command_stream errors = { send_bytes, c, 'e' };
	FILE *err = command_open(&errors);

	if (err) {
		fprintf(err, "tabletfs: %s\n", err_detail());
		fclose(err);
	}
	send_bytes(c, bytes_string("x 1\n"));
}

/* One request, and its reply; a pin lasts as long as the peer is there. */
static void serve(struct command *c)
{
	char **words = calloc(COMMAND_WORDS_MAX + 1, sizeof(*words));
	struct bytes request = BYTES_NONE;
	struct spill in;
	int got;

	spill_init(&in, c->all->store, MEMORY_REQUESTS, REQUEST_MAX);
	got = words ? receive(c, &in, &request) : 0;
	if (got > 0)
		got = command_split(request, words);
	if (got > 0 && enter(c))
		run(c, got, words);
	if (c->running)
		leave(c);
	if (got < 0)
		refuse(c);
	if (c->pin && !c->broken)
		(void)await(c, POLLIN, -1);
	store_unpin(c->all->store, c->pin);
	spill_release(&in);
	free(words);
}

/* As bg_start's step: serves the command that the runner was given. */
static int work(void *context)
{
	struct runner *r = context;
	struct command c = { .all = r->all, .fd = atomic_load(&r->fd) };
	uid_t uid;

	if (c.fd < 0)
		return 0;
	running = r->all;
	if (peer_uid(c.fd, &uid) == 0 && (uid == 0 || uid == geteuid()))
		serve(&c);
	running = NULL;
	close(c.fd);
	atomic_store(&r->fd, -1);
	return 0;
}

/* Gives the command to a runner: whether there is one. */
static bool hand_on(struct commands *all, int fd)
{
	struct runner *r = all->runners;

	while (r < all->runners + RUNNERS && atomic_load(&r->fd) >= 0)
		r++;
	if (r == all->runners + RUNNERS)
		return false;
	atomic_store(&r->fd, fd);
	if (r->bg)
		bg_wake(r->bg);
	else if (bg_start(work, NULL, 0, r, &r->bg) < 0)
		atomic_store(&r->fd, -1);
	return r->bg;
}

/* Tells one that is too many so, when its request has come, which would get an
 * error otherwise. All are held up by others as it is. */
static void turn_away(struct commands *all, int fd)
{
	struct command c = { .all = all, .fd = fd };
	char buffer[65536];

	if (await(&c, POLLIN, REFUSED_MS))
		while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
			;
	(void)fail(EBUSY,
		   "%d commands are under way in the server already, or wait "
		   "for who reads what they print; end one, such as a pager, "
		   "and try again",
		   RUNNERS);
	refuse(&c);
}

/* As bg_start's step: waits for the next command. */
static int take(void *context)
{
	struct commands *all = context;
	struct command c = { .all = all, .fd = all->listener };
	int fd;

	if (!await(&c, POLLIN, -1))
		return atomic_load(&all->ended) ? 0 : 1;
	fd = accept4(all->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -errno : 1;
	if (hand_on(all, fd))
		return 1;
	turn_away(all, fd);
	close(fd);
	return 1;
}

/* A socket in the directory, however long its path is; one of a server that
 * died is in the way, as the store is this one's. */
static int open_socket(struct commands *c, const char *directory)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	c->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	c->listener =
		socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	c->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->directory < 0 || c->listener < 0 || c->ending < 0)
		return fail(errno, "%s/" SERVED_SOCKET, directory);
	(void)unlinkat(c->directory, SERVED_SOCKET, 0);
	served_address(c->directory, &a);
	/* The mode, less the umask, is taken over by what bind makes. */
	if (fchmod(c->listener, 0600) < 0 ||
	    bind(c->listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(c->listener, SOMAXCONN) < 0)
		return fail(errno, "%s/" SERVED_SOCKET, directory);
	return 0;
}

int commands_open(const char *directory, struct service *service,
		  struct commands **out)
{
	struct commands *c = calloc(1, sizeof(*c));
	int err, i;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->service = service;
	c->store = service->store;
	c->directory = c->listener = c->ending = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->left, NULL);
	for (i = 0; i < RUNNERS; i++) {
		c->runners[i].all = c;
		atomic_init(&c->runners[i].fd, -1);
	}
	err = open_socket(c, directory);
	if (!err)
		err = bg_start(take, NULL, 0, c, &c->taker);
	if (err < 0)
		commands_close(c);
	else
		*out = c;
	return err;
}

void commands_close(struct commands *c)
{
	const uint64_t one = 1;
	int i;

	if (!c)
		return;
	atomic_store(&c->ended, true);
	if (c->ending >= 0)
		(void)!write(c->ending, &one, sizeof(one));
	bg_stop(c->taker);
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->left);
	pthread_mutex_unlock(&c->lock);
	for (i = 0; i < RUNNERS; i++) {
		bg_stop(c->runners[i].bg);
		if (atomic_load(&c->runners[i].fd) >= 0)
			close(c->runners[i].fd);
	}
	pthread_cond_destroy(&c->left);
	pthread_mutex_destroy(&c->lock);
	if (c->listener >= 0) {
		(void)unlinkat(c->directory, SERVED_SOCKET, 0);
		close(c->listener);
	}
	if (c->ending >= 0)
		close(c->ending);
	if (c->directory >= 0)
		close(c->directory);
	free(c);
}
