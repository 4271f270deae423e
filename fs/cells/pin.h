#ifndef FS_CELLS_PIN_H
#define FS_CELLS_PIN_H

#include "fs/query/at.h"

void pins_init(struct pins *pins);
void pins_release(struct fs *fs);

/* Ends those that nobody can or may use any more. Call it now and then. */
void pins_sweep(struct fs *fs, uint64_t now_us);

/* The node that the name now in a directory .at leads to; referenced. */
int pin_now(struct fs *fs, struct node *directory, struct node **out);

/* -ESTALE if it has ended. */
int at_open(struct fs *fs, struct node *node, struct at_view *view);
void at_close(struct fs *fs, struct at_view *view);

/* A filter that passes what view sees, or NULL if that is all. */
int at_filter(const struct at_view *view, struct filter **out);

#endif
