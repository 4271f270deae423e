#ifndef FS_TREE_ACCESS_H
#define FS_TREE_ACCESS_H

#include <sys/stat.h>

#include "fs/cells/place.h"

/*
 * Who may do what. With allow_other the kernel checks that, each step of each
 * path, by the owner and mode that it is shown; without, all is of one user.
 * Here is decided which owner and mode are shown, from what is set at the
 * table, and which chmod is taken elsewhere, where none can be set.
 *
 * A table is shared if its mode lets its group or all others make names in it.
 * What one of these makes there through a path is shown as theirs as long as it
 * is known (makers.h), the table's access is what it was, and nothing was
 * removed from the row but by its name: who removes it otherwise, as commands
 * do, does not say what else is gone with it. The kernel lets nobody but an
 * owner set times and modes, and in a sticky directory rename and remove.
 */

/* Permissions of cells where the table says nothing else. */
#define ACCESS_CELL_MODE 0644
#define ACCESS_DIRECTORY_MODE 0755

/* Who makes a name, and with which mode: as they asked, less their umask. */
struct maker {
	uid_t uid;
	mode_t mode;
};

/* What is in a table is its owner's and as open as the table is: there each may
 * do what the owner of this can do by its mode, if the table's mode lets them
 * do it. What is unset in access stays in *st. */
void access_apply(const struct table_access *access, struct stat *st);

/* Owner and mode of a table that has this set, over what the mount says: none
 * is unset. */
struct table_access access_of(struct fs *fs, const struct table_access *set);

/* Takes from mode whatever by does not give all who may be of that class: what
 * is left lets nobody do what they may not do by both. Nothing of either is
 * unset. */
void access_narrow(struct table_access *access, const struct table_access *by);

/* The permissions that a cell, type S_IFREG, or a directory, S_IFDIR, shows in
 * a table. */
mode_t access_mode(const struct table_access *access, mode_t type);

/* What is to be remembered of who made something in a table with this access;
 * 0: nothing, as it is the owner's, or root's, who needs not own. life is
 * another number in another table, and once something was removed there that
 * is not told here. */
uint64_t access_maker(uint32_t life, const struct table_access *access,
		      uid_t uid);

/* Shows that, after access_apply, if it still holds: the maker has as owner
 * what those may do as whom they could make it, and no more. */
void access_apply_maker(uint32_t life, const struct table_access *access,
			uint64_t maker, struct stat *st);

/*
 * Whether chmod to asked, of what shows usual in a table with this access, is
 * taken, which changes nothing. It has to be usual for all whom the table lets
 * in, except that group and others need not be given w, since it is the
 * table that says who writes; a special bit may be left out. So whoever asks
 * for nobody else to read is not deceived.
 */
bool access_takes_mode(const struct table_access *access, mode_t usual,
		       mode_t asked);

/* Whether uid, who was let write in a table with this access, in which nothing
 * is unset, may read it as well, whatever groups they are in. */
bool access_reads(const struct table_access *access, uid_t uid);

/* place has been made by uid, from now on; 0, root: it is the table's owner's.
 */
void access_note_maker(struct fs *fs, const struct place *place,
		       enum node_kind kind, uid_t uid);

/* Who is remembered to have made what is at place; 0: nobody. */
uint64_t access_maker_at(struct fs *fs, const struct place *place,
			 enum node_kind kind);

/* The same as a user, if it still holds; 0: nobody. */
uid_t access_made_by(struct fs *fs, const struct place *place,
		     enum node_kind kind);

/* Fills owner and mode of what maker made at place in *st, which shows what it
 * would in a table with nothing set. */
void access_show_made(struct fs *fs, const struct place *place, uint64_t maker,
		      struct stat *st);

/* The same of what is at place, by whoever is remembered. */
void access_show(struct fs *fs, const struct place *place, enum node_kind kind,
		 struct stat *st);

#endif
