#ifndef FS_KERNEL_SERVED_H
#define FS_KERNEL_SERVED_H

#include "fs/kernel/answer.h"
#include "store/store.h"

/*
 * Where a store that is in use is mounted. The line that its daemon leaves in
 * the store's lock names a place, at which something else may be by now: the
 * daemon goes on for a moment after an unmount, and as long as a file is open
 * after a lazy one. So what is mounted there is asked which store it serves
 * (.tabletfs/stats), and reached by the descriptor that was asked, whatever is
 * mounted over it then.
 */
struct served {
	const char *directory; /* of the store; borrowed of served_open's */
	int root;              /* the mount's root, open; -1: there is none, or
			      it is served by SERVED_SOCKET alone */
	struct buf place;      /* its path, or the socket's, ended by a NUL */
	struct buf holder; /* who has the store, as it says; ended by a NUL */
	/* As served_at found: its daemon, and whether that shows what another
	 * writes. */
	int pid;
	bool follows;
};

/*
 * Opens the store, with o. While another process has it that does not serve
 * it, such as a command, or a daemon whose mount has gone, this waits for the
 * end of that, and says so on standard error: 10 s at most, after which it is
 * -ERR_store_in_use; less if it says that it serves. 0 with *out; 1 if it is
 * mounted or takes commands by its socket, with *served, which the caller
 * releases; or an error.
 */
int served_open(const char *directory, const struct store_options *o,
		struct store **out, struct served *served);

/* Who serves the store, which is not opened: 1 with *served, to be released, 0
 * if whoever has it does not serve it, -ENOENT if nobody has it, or an error.
 * The teller is told whom this waits for. */
int served_find(const char *directory, const struct answer_teller *teller,
		struct served *served);

/* Who may not look into the store reaches it by a mount that lets them in:
 * fills served with the one at place, which the kernel's table says is of the
 * store in directory; 1, to be released, 0 if no daemon says there that it is
 * one, or an error. Waits for the daemon, a minute at most. */
int served_at(const char *directory, const char *place, struct served *served);

/* Whether that is so: its store may have been moved since, and another one be
 * at that path. */
bool served_is_of(const struct served *served, const char *directory);

/* Leaves one that may be released again. */
void served_release(struct served *served);

/* The pid of the daemon that serves the mount at place, as it says itself; 0 if
 * that is no such mount, or may not be looked at. It waits for the daemon. */
int served_pid(const char *place);

/* What stands in the line between the pid of a daemon and its place. */
#define SERVED_AT "mounted at "

/* A server without a mount takes commands at a socket of this name in the
 * store's directory, and says so in its line by these words. The protocol is
 * that of .tabletfs/ctl (mount.h). */
#define SERVED_SOCKET "ctl.sock"
#define SERVED_BY_SOCKET "takes commands"

/* The socket's address in the directory of this descriptor. */
struct sockaddr_un;
void served_address(int directory, struct sockaddr_un *out);

/* A connection to that of the store in directory, or -ECONNREFUSED and the
 * like. */
int served_connect(const char *directory);

/* Lines of .tabletfs/stats: the mark of the store, which is of a directory as
 * stat(2) has it. */
#define SERVED_DEVICE "store_device "
#define SERVED_INODE "store_inode "
/* And the daemon, which is in no lock file if it only reads. */
#define SERVED_PID "daemon_pid "

#endif
