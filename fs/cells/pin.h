#ifndef FS_CELLS_PIN_H
#define FS_CELLS_PIN_H

#include "fs/state/fs.h"

/*
 * The past of a table, .at/<time>: of what the store still keeps, each column's
 * newest version not after that time. .at/now is a snapshot, pinned when it is
 * first looked up. Lookups share it until it was unused for a minute; then the
 * next one pins another, under a new node, and who is still in the old one
 * stays there. After an hour it ends, and what is under it is ESTALE: a
 * snapshot keeps files from being removed.
 *
 * From any thread. A pin holds a reference of its node; one in use by a view is
 * not ended, however old it is.
 */
#define AT_SHARED_US UINT64_C(60000000)
#define AT_KEPT_US UINT64_C(3600000000)

/* What a node at or below .at/<time> sees, between at_open and at_close. */
struct at_view {
	struct pin *pin; /* of now, in use by this view; else NULL */
	const struct snapshot *snapshot; /* the pin's; NULL: the present one */
	uint64_t time_us;                /* INT64_MAX for now */
};

void pins_init(struct pins *pins);
/* Ends all, whoever refers to their nodes. No view may be open. */
void pins_release(struct fs *fs);

/* Ends those that nobody can or may use any more, as of now_us. Call it now and
 * then. */
void pins_sweep(struct fs *fs, uint64_t now_us);

/* The node that the name now in a directory .at leads to, referenced; pins a
 * snapshot if need be. 0 or an error. */
int pin_now(struct fs *fs, struct node *directory, struct node **out);

/* What node, which is .at/<time> or below it, sees; to be closed. -ESTALE if
 * that has ended; then, and on other errors, closing does nothing. */
int at_open(struct fs *fs, struct node *node, struct at_view *view);
void at_close(struct fs *fs, struct at_view *view);

/* A filter that passes what view sees, or NULL if that is all; the caller's to
 * free. 0 or -ENOMEM. */
int at_filter(const struct at_view *view, struct filter **out);

#endif
