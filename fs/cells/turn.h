#ifndef FS_CELLS_TURN_H
#define FS_CELLS_TURN_H

#include "fs/state/fs.h"

/*
 * Who may be in a place (place.h) for long, as who asks for a condition, takes
 * a turn first. A rename waits for all who are in one, and all who come after
 * it wait with it; with few turns, each for one line, that is not for long.
 */
#define TURNS_MAX 4

void turns_init(struct turns *t);
void turns_release(struct turns *t);

/* Waits for a turn, without fs->tree. 0, or -EINTR if who asked for the request
 * has given up. Hands the lead over. */
int turn_take(struct fs *fs) EXCLUDES(fs->tree);
/* For each that was taken. */
void turn_give(struct fs *fs);

#endif
