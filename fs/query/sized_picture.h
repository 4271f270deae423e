#ifndef FS_QUERY_SIZED_PICTURE_H
#define FS_QUERY_SIZED_PICTURE_H

#include "fs/state/fs.h"

/* The files of .keyviz: "reads.svg", a metric and a format. From any thread. */
bool sized_picture_is_name(struct bytes name);

/* Appends the text of the picture that node is. 0, or an error of store_heat.
 */
int sized_picture_draw(struct fs *fs, struct node *node, struct buf *out)
	EXCLUDES(fs->tree);

#endif
