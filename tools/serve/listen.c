#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "store/base/err.h"
#include "tools/serve/listen.h"

#define DEFAULT_ADDRESS "127.0.0.1:8086"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static bool is_loopback(const union address *a)
{
	const struct in6_addr *v6 = &a->v6.sin6_addr;

	if (a->any.sa_family == AF_INET)
		return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
	return a->any.sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(v6) ||
		(IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127));
}

/* Fills in what clients write, and refuses what the options do not allow. */
static int describe(struct listener *l, bool insecure)
{
	union address a = { 0 };
	socklen_t size = sizeof(a);
	char text[INET6_ADDRSTRLEN];

	if (getsockname(l->fd, &a.any, &size) < 0)
		return fail(errno, "the address of a socket");
	if (a.any.sa_family == AF_UNIX) {
		snprintf(l->address, sizeof(l->address), "unix:%.*s",
			 (int)sizeof(a.local.sun_path),
			 *l->path ? l->path : a.local.sun_path);
		return 0;
	}
	if (a.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text));
		snprintf(l->address, sizeof(l->address), "%s:%u", text,
			 ntohs(a.v4.sin_port));
	} else if (a.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text));
		snprintf(l->address, sizeof(l->address), "[%s]:%u", text,
			 ntohs(a.v6.sin6_port));
	} else {
		return fail(ERR_bad_argument,
			    "a socket of an unknown family %d",
			    a.any.sa_family);
	}
	l->remote = !is_loopback(&a);
	if (l->remote && !insecure)
		return fail(ERR_bad_argument,
			    "%s is reached from other machines, and whoever "
			    "connects owns the store: say insecure=yes if that "
			    "is meant",
			    l->address);
	return 0;
}

/* Whether there is a socket at this address that nobody listens on. To connect
 * to what is no socket is refused as well. */
static bool is_left_over(const struct sockaddr_un *a)
{
	struct stat st;
	bool left;
	int fd;

	if (lstat(a->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	left = connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 &&
	       errno == ECONNREFUSED;
	close(fd);
	return left;
}

static int open_local(const char *path, bool users_all, struct listener *l)
{
	union address a = { .local = { .sun_family = AF_UNIX } };
	struct stat st;
	char *absolute;
	int err;

	if (!*path || strlen(path) >= sizeof(a.local.sun_path))
		return fail(ERR_bad_argument,
			    "unix:%s: the path has 1 to %zu bytes", path,
			    sizeof(a.local.sun_path) - 1);
	strcpy(a.local.sun_path, path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* The mode, less the umask, is taken over by what bind makes. */
	if (l->fd < 0 || fchmod(l->fd, 0600) < 0)
		return fail(errno, "unix:%s", path);
	err = bind(l->fd, &a.any, sizeof(a.local));
	if (err < 0 && errno == EADDRINUSE && is_left_over(&a.local)) {
		unlink(path);
		err = bind(l->fd, &a.any, sizeof(a.local));
	}
	if (!err && users_all)
		err = chmod(path, 0666);
	if (err < 0)
		return fail(errno, "unix:%s", path);
	/* Absolute, if that is not too long: a daemon leaves its directory. */
	absolute = realpath(path, NULL);
	if (absolute && strlen(absolute) < sizeof(l->path))
		path = absolute;
	if (lstat(path, &st) == 0) {
		strcpy(l->path, path);
		l->device = st.st_dev;
		l->ino = st.st_ino;
	}
	free(absolute);
	return 0;
}

/* The address of host, which may be in brackets, and port. */
static int parse_address(const char *word, union address *out, socklen_t *size)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	const char *colon = strrchr(word, ':');
	char host[128];
	size_t n = colon ? (size_t)(colon - word) : 0;
	char *end;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : ULONG_MAX;

	if (!colon || n >= sizeof(host) || colon[1] < '0' || colon[1] > '9' ||
	    *end || port > 65535)
		return fail(ERR_bad_argument,
			    "%s is no address: 127.0.0.1:8086, [::1]:8086, "
			    ":0 or unix:PATH is one",
			    word);
	memcpy(host, word, n);
	host[n] = '\0';
	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		memmove(host, host + 1, n - 1);
	} else if (n == 0 || strcmp(host, "localhost") == 0) {
		strcpy(host, "127.0.0.1");
	}
	/* Some systems take a star for the loopback. */
	if (strcmp(host, "*") == 0 ||
	    getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return fail(ERR_bad_argument,
			    "%s: %s is no address of IPv4 or IPv6; 0.0.0.0 "
			    "and [::] stand for all of them",
			    word, host);
	*size = found->ai_addrlen;
	memcpy(out, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

static int open_address(const char *word, struct listener *l)
{
	union address a = { 0 };
	socklen_t size = 0;
	int one = 1, err = parse_address(word, &a, &size);

	if (err < 0)
		return err;
	l->fd = socket(a.any.sa_family,
		       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0 ||
	    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) <
		    0 ||
	    bind(l->fd, &a.any, size) < 0)
		return fail(errno, "%s", word);
	return 0;
}

static int take_inherited(struct listener *l)
{
	int n = sd_listen_fds(0);

	if (n < 0)
		return fail(-n, "the sockets that LISTEN_FDS=%s tells of",
			    getenv("LISTEN_FDS"));
	if (n != 1)
		return fail(ERR_bad_argument,
			    "systemd has handed over %d sockets, not 1", n);
	l->fd = SD_LISTEN_FDS_START;
	if (sd_is_socket(l->fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0)
		return fail(ERR_bad_argument,
			    "what systemd has handed over is no stream "
			    "socket that listens");
	if (fcntl(l->fd, F_SETFL, O_NONBLOCK) < 0)
		return fail(errno, "a socket");
	return 0;
}

int listen_open(const char *word, bool users_all, bool insecure,
		struct listener *out)
{
	int handed = sd_listen_fds(0);
	bool inherited = word ? strcmp(word, "systemd") == 0 : handed != 0;
	int err;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	out->inherited = inherited;
	if (!inherited && handed != 0)
		err = fail(ERR_bad_argument,
			   "systemd has handed over a socket, and %s is "
			   "another: leave that out, or the socket",
			   word);
	else if (inherited)
		err = take_inherited(out);
	else if (word && strncmp(word, "unix:", 5) == 0)
		err = open_local(word + 5, users_all, out);
	else
		err = open_address(word ? word : DEFAULT_ADDRESS, out);
	if (err == 0)
		err = describe(out, insecure);
	if (err == 0 && !inherited && listen(out->fd, SOMAXCONN) < 0)
		err = fail(errno, "%s", out->address);
	if (err < 0)
		listen_close(out);
	return err;
}

void listen_move(struct listener *from, struct listener *to)
{
	*to = *from;
	from->fd = -1;
	from->path[0] = '\0';
}

/* The socket at path, if it still is the one made here. */
static void remove_path(struct listener *l)
{
	struct stat st;

	if (*l->path && lstat(l->path, &st) == 0 && st.st_dev == l->device &&
	    st.st_ino == l->ino)
		unlink(l->path);
	l->path[0] = '\0';
}

void listen_end(struct listener *l)
{
	if (!l->inherited)
		(void)shutdown(l->fd, SHUT_RDWR);
	remove_path(l);
}

void listen_close(struct listener *l)
{
	remove_path(l);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
