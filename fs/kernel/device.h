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
 *
 * Mostly one thread waits, the leader (see loop.h); who has just lost the lead
 * may be a second. The counts below are then not exact, and each may find the
 * descriptor blocking or not as the other left it: that costs a wait, or a look
 * too many, and never a request.
 */
struct device {
	_Atomic unsigned int misses; /* looks without success, one by one */
	_Atomic unsigned int rest;   /* waits until the next look; 0: look */
};

/* Makes the session, which is mounted and whose userdata is its struct fs with
 * device set, receive and answer so from now on, on the descriptor it has. 0 or
 * an error. */
int device_use(struct fuse_session *session);

#endif
