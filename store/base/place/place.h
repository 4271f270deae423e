#ifndef STORE_BASE_PLACE_PLACE_H
#define STORE_BASE_PLACE_PLACE_H

#include "store/base/volume/volume.h"

/*
 * Where a store is, as users say it: a directory, or KIND:PLACE, a place of a
 * kind of volume that was registered. A KIND is a lower-case letter and more of
 * them or digits, two at least; what begins otherwise, or has a slash before
 * its colon, is a directory, so that ./ab:c is one.
 *
 * A kind that was not registered is looked for as a plugin, tabletfs-KIND.so:
 * beside the program, in ../lib/tabletfs from there, or in the directory that
 * the variable TABLETFS_PLUGINS names. Kinds stay; any thread may call.
 */
struct volume_kind {
	const char *name;
	/* As volume_posix_open; place is what follows the colon. */
	int (*open)(const char *place, bool create, struct volume **out);
	/* As volume_holder and volume_marked. */
	int (*holder)(const char *place, struct buf *line, bool *here);
	int (*marked)(const char *place, struct volume_mark *out);
};

/* What a plugin has by the name of volume_plugin. */
struct volume_plugin {
	const char *version; /* of the program that it is a part of */
	const struct volume_kind *kind;
};

#define VOLUME_KINDS_MAX 8

/* kind is borrowed. -EEXIST if there is one of its name, -ENOSPC if there are
 * too many. */
int volume_register(const struct volume_kind *kind);

/* 0 if where is a directory: *kind is NULL and *place is where. 1 if it is of a
 * kind. -ERR_no_such_kind if it is of none that is known. */
int volume_place(const char *where, const struct volume_kind **kind,
		 const char **place);

/* 0 if where is a directory, for what makes no other kind of store: else
 * -EINVAL, which says how one comes there, or -ERR_no_such_kind. */
int volume_place_local(const char *where);

/* The volume that is there; takes no lease. With create, one that is made if it
 * is missing. *out is NULL on failure. */
int volume_open(const char *where, bool create, struct volume **out);

/* Replaces line by who has the lease there, without taking it: 0 with the line
 * that its holder wrote; 1 if it is shared by readers, with words for people;
 * -ENOENT when nobody has it. *here: the holder is of this machine, this boot
 * and this pid namespace, or does not say; only then do pids in its line mean
 * anything here. A path there may, wherever the holder is, and is to be asked
 * whether it serves this store. */
int volume_holder(const char *where, struct buf *line, bool *here);

/* The mark of what is there, as the volume of its present holder has it: of a
 * directory, its device and inode. */
int volume_marked(const char *where, struct volume_mark *out);

#endif
