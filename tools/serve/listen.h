#ifndef TOOLS_SERVE_LISTEN_H
#define TOOLS_SERVE_LISTEN_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>

/* A socket that listens, without blocking. */
struct listener {
	int fd;
	bool remote;       /* other machines may connect */
	bool inherited;    /* systemd's, who listens on */
	char address[128]; /* as clients write it */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* or "" */
	dev_t device; /* what lies at path */
	ino_t ino;
};

/*
 * Listens on
 *
 *   127.0.0.1:8086  an IPv4 address, or one of IPv6 in [ ]; or localhost
 *   :8086           the same as 127.0.0.1:8086; of port 0 any that is free
 *   unix:PATH       a socket there, which only the process's user may open, or
 *                   anybody with users_all; one that nobody listens on any more
 *                   is replaced
 *   systemd         the socket that systemd has handed over
 *   NULL            that one if there is one, else 127.0.0.1:8086
 *
 * One that was handed over and is not used is an error.
 *
 * An address that is not this machine's alone is refused without insecure;
 * remote and address say so then. 0, or negative with a sentence by fail().
 */
int listen_open(const char *word, bool users_all, bool insecure,
		struct listener *out);

/* Makes the second what the first was, which is closed then. */
void listen_move(struct listener *from, struct listener *to);

/* Nobody connects to it any more, unless it is inherited: then they wait for
 * who has it next. The descriptor stays open for threads that look at it. */
void listen_end(struct listener *l);

/* Removes the socket at path, if it still is the one made here. */
void listen_close(struct listener *l);

#endif
