#ifndef TOOLS_SERVE_VERB_COMMANDS_H
#define TOOLS_SERVE_VERB_COMMANDS_H

/*
 * Commands for a store that a server without a mount has: its socket in the
 * store's directory, for its user and root, where they come as to a mount
 * (fs/kernel/served.h). Some run at once; others wait for these, but not for
 * one whose reply nobody reads on; one more than there may be is told so. One
 * that names a path does so in its own process, as with a mount.
 */
struct commands;
struct service;

/* Takes commands for the store of service, which is open to be written, until
 * commands_close. 0, or negative with a sentence by fail(). */
int commands_open(const char *directory, struct service *service,
		  struct commands **out);

/* Ends those under way, whose replies are cut short. NULL is allowed. */
void commands_close(struct commands *c);

#endif
