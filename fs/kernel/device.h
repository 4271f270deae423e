#ifndef FS_KERNEL_DEVICE_H
#define FS_KERNEL_DEVICE_H

#include <stdatomic.h>
#include <fuse_lowlevel.h>

/*
 * How requests come from the kernel: the thread that waits for one looks for it
 * a short while before it sleeps. To wake a sleeping CPU, the more so of a
 * virtual machine, takes longer than most answers, so a client with one request
 * after the other on another CPU waits a third less. Where looking does not
 * pay, as with a client on the same CPU or one that thinks, it is tried more
 * and more seldom; a mount without requests sleeps.
 */
struct device {
	_Atomic unsigned int misses; /* trials without success, one by one */
	_Atomic unsigned int rest;   /* waits until the next trial */
};

/* The session, whose userdata is its struct fs, goes by that from now on, on
 * the descriptor it has. 0 or an error. */
int device_use(struct fuse_session *session);

#endif
