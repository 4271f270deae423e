#ifndef STORE_BASE_LEASE_HOLDER_H
#define STORE_BASE_LEASE_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Who holds a lease, told so exactly that another process can know it to be
 * dead. A pid alone says little: it is given again, and two containers, or two
 * machines, have the same ones. Nothing here is kept; any thread may call.
 */
struct holder {
	char boot[37];          /* the machine's boot id; "": not known */
	uint64_t pid_namespace; /* its inode; 0: not known */
	pid_t pid;              /* in that namespace */
	uint64_t start;         /* in ticks since the boot; 0: not known, as in
				   a time namespace */
	uint64_t nonce;         /* so that no two are the same */
};

/* Bytes of a holder's text and a NUL. */
#define HOLDER_TEXT_SIZE 128

/* This process, with a nonce that no other call gets. */
void holder_self(struct holder *out);

/* "BOOT NAMESPACE PID START NONCE", one word each; text has HOLDER_TEXT_SIZE
 * bytes. */
void holder_format(const struct holder *h, char *text);

/* The holder of such a text; false, and *out is of nobody, if it is none. */
bool holder_parse(const char *text, struct holder *out);

/* Whether h is of this boot and this pid namespace, so that pids that it names
 * mean here what they mean to it. */
bool holder_is_here(const struct holder *h);

/* Whether h is known to be dead: it is here, and there is no process of its
 * pid, or one that began at another time, or a zombie. What cannot be read is
 * alive. */
bool holder_is_dead(const struct holder *h);

#endif
