#ifndef FS_CELLS_PLACE_H
#define FS_CELLS_PLACE_H

#include "fs/state/fs.h"
#include "fs/state/path.h"

/*
 * A place is where a node is: its path in key bytes and what the schema says of
 * it, both as long as fs->tree is held, under which no name changes. A path
 * alone is old at once: a rename moves the row or the table, and another may
 * take the name before the path is used. So who reads or writes the store by a
 * path has a place for it, from before the first look to after the last write,
 * and asks its node anew for each request:
 *
 *	int err = place_enter(fs, node, &place);
 *
 *	if (!err)
 *		err = store_set_gc(fs->store, place.path.table, ...);
 *	place_leave(fs, &place);
 *
 * Commands name tables themselves, and need no place. What a scan, a snapshot
 * or a struct write has resolved goes by the table's id, so it may outlive the
 * place in which it was opened; what is resolved later is not to be.
 *
 * fs->tree is held for reading by any number of requests, and alone by a
 * rename, which changes the store and then the nodes before it lets go: nobody
 * sees one without the other. Renames wait for all who hold it, so what may
 * take long (a scan, a whole import) enters anew for each piece; and who comes
 * waits for the renames that wait, or as long as others come, each before the
 * last is gone, none has its turn. No thread takes it twice. For its place in
 * the order of locks see fs.h.
 */

/* What of a table's schema decides about files. */
struct cell_rules {
	bool millis;     /* timestamps are multiples of 1000 */
	bool expires;    /* some family of the table has an age rule */
	bool has_family; /* the path's family is in the schema */
	bool aggregate;  /* and of an aggregate type */
	struct table_access access; /* the mount's where it sets nothing */
};

/* It points into itself: do not copy. */
struct place {
	struct path path;
	struct schema *schema;     /* owned, of now, or below a moment of then;
				      NULL: there was no memory */
	const struct table *table; /* path's, in schema; NULL: there is none */
	struct cell_rules rules;   /* without a table nothing is set */
};

/* Holds fs->tree and fills *place, below a moment (pin.h) by the schema of
 * that, or the error of at_open: 0, -ERR_no_table if node is in a table that
 * the store does not have, -ESTALE if another table has taken the name of that,
 * both with all else filled, or -ENOMEM. To be left in every case. If a rename
 * is under way, hands the lead over and waits. */
int place_enter(struct fs *fs, struct node *node, struct place *place)
	ACQUIRES_SHARED(fs->tree) EXCLUDES(fs->tree);
void place_leave(struct fs *fs, struct place *place) RELEASES_SHARED(fs->tree);

/* What place_enter would return: for who goes on with what is open, and need
 * not know where that is by now. */
int place_check(struct fs *fs, struct node *node) EXCLUDES(fs->tree);

/* place_enter for who holds fs->tree; to be released in every case. */
int place_find(struct fs *fs, struct node *node, struct place *place)
	NEEDS_SHARED(fs->tree);
void place_release(struct place *place);

/* Makes the place of a directory that of its child of this kind and key, which
 * has to live as long. 0 or -ERR_no_table. */
int place_step(struct place *place, enum node_kind kind, struct bytes key);

/* Whether an error of place_enter says that the node's table was dropped. */
bool place_is_dropped(int err);

/* When the rule of a family of the place's table will hide a newest version
 * with this timestamp; UINT64_MAX: never, also if there is no such family. */
uint64_t place_expiry(const struct place *place, struct bytes family,
		      uint64_t timestamp_us);

void tree_init(struct fs *fs);
void tree_release(struct fs *fs);

/* fs->tree without a place: for reading, or alone. */
void tree_hold(struct fs *fs) ACQUIRES_SHARED(fs->tree) EXCLUDES(fs->tree);
void tree_let_go(struct fs *fs) RELEASES_SHARED(fs->tree);
void tree_hold_alone(struct fs *fs) ACQUIRES(fs->tree) EXCLUDES(fs->tree);
void tree_let_go_alone(struct fs *fs) RELEASES(fs->tree);

/* What is set in over counts. */
void access_lay_over(struct table_access *access,
		     const struct table_access *over);

/* Asserts that this thread holds fs->tree, for reading or alone. */
void tree_assert_held(struct fs *fs) ASSERTS_SHARED(fs->tree);

#endif
