#ifndef FS_KERNEL_MOUNT_H
#define FS_KERNEL_MOUNT_H

#include "fs/state/options.h"

/*
 * The filesystem as tools/ sees it: mount a store and serve it until it is
 * unmounted or told to end.
 *
 * Commands that find the store mounted (served.h) run inside the daemon,
 * through MNT/.tabletfs/ctl: open it O_RDWR, write one request, then read the
 * reply until end of file. A request is "w<length>\n" and, in that many bytes,
 * the command's words, each ended by a NUL byte; it may come in several writes,
 * as the kernel parts long ones, and runs when all of it is there. The reply is
 * frames: a letter, a decimal length, a newline, and that many bytes; o is
 * standard output, e is standard error, and last comes "x <status>\n", the exit
 * status, without bytes. The one word "sync" makes everything durable. Of dump
 * and export the reply is made as it is read, which then is from front to end.
 *
 * The daemon opens no path that a command names: bytes go through ctl or
 * .import. For a backup the one word "pin" pins, until the file is closed, what
 * store_pin does (store/backup.h). Standard output is then its contents and
 * the status 0; or that is the number of an error (err.h), whose detail is on
 * standard error. While the file can be read the pin lasts.
 */

/*
 * Opens the store, mounts it and serves. In the foreground it prints
 * "tabletfs: STORE is served at MNT" and returns when unmounted (0) or on an
 * error; else it returns 0 once it is served. Errors (mount point missing,
 * busy, inside the store or the store inside it, store in use) are told on
 * standard error in one sentence each and returned. Call it once, from a
 * process with one thread: it forks, blocks the signals that end a mount, and
 * sets the umask.
 */
int mount_serve(const struct mount_options *o);

struct fs;
struct store;

/* The filesystem of an open store, not mounted yet: without session, device and
 * threads. It borrows o and s, which must outlive it. After an error fs is not
 * to be released. */
int fs_init(struct fs *fs, const struct mount_options *o, struct store *s);

/* When no request is served any more: frees all nodes and drafts, whoever
 * refers to them, and commits nothing. */
void fs_release(struct fs *fs);

#endif
