#ifndef STORE_TEXT_SPILL_MAPPED_H
#define STORE_TEXT_SPILL_MAPPED_H

#include <stddef.h>

/*
 * A file that is mapped. A page that its disk does not give would end the
 * process by SIGBUS; it reads as zeros instead, and the thread that read it is
 * told (the technique of systemd's sigbus.c).
 */
struct mapped {
	void *map; /* NULL: nothing is mapped */
	size_t size;
	struct mapped *next;
};

/* Maps size bytes of fd, to be read and changed in place; m stays where it is
 * until mapped_end. */
int mapped_begin(struct mapped *m, int fd, size_t size);
/* Nothing, if nothing is mapped. */
void mapped_end(struct mapped *m);

/* -EIO if this thread, since it last asked, has read what the disk did not
 * give, else 0. To be asked before what was read is committed. */
int mapped_error(void);

#endif
