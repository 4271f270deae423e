#ifndef TOOLS_VERB_REMOTE_H
#define TOOLS_VERB_REMOTE_H

#include "fs/kernel/served.h"
#include "tools/verb/verb.h"

/*
 * Commands on a store that is mounted: they run inside the daemon that has it,
 * reached through MNT/.tabletfs/ctl (the protocol is in fs/kernel/mount.h).
 */

/* Runs c there, with what it prints on c->out and c->err: its exit status; 1
 * after it said what is wrong, if the daemon cannot be reached or ends. */
int remote_run(struct verb_call *c, const struct served *served);

/* The same in two halves, for who goes on with the control file: sends words,
 * of which there is at least one, and sets *ctl to the file, to be closed,
 * where the reply comes. 0 or an error, then *ctl is NULL. */
int remote_send(const struct served *served, int argc, char **argv, FILE **ctl);

/* Writes all of data to a control file, in as many writes as it takes, since
 * one may take a part only: 0 or an errno. */
int remote_write(int fd, struct bytes data);

/* Reads the reply, what was printed to out and err: the exit status, or an
 * error if it ends before that, as by a daemon that dies. */
int remote_reply(const struct served *served, FILE *ctl, FILE *out, FILE *err);

#endif
