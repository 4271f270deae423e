#ifndef FS_CELLS_PIN_H
#define FS_CELLS_PIN_H

#include "fs/state/fs.h"

/*
 * Views: what a node of the past sees, which is a snapshot, a cell time, or
 * neither. Of the past of a table, .at/<time>, that is, of what the store still
 * keeps, each column's newest version not after that time. .at/now is a
 * snapshot, pinned when it is first looked up. Lookups share it until it was
 * unused for a minute; then the next one pins another, under a new node, and
 * who is still in the old one stays there. After an hour it ends, and what is
 * under it is ESTALE: a snapshot keeps files from being removed.
 *
 * Below .as-of/<time> a node sees a moment of the store's history, which its
 * ancestor names by time_us. One that is looked at is held, for all who do, for
 * an hour at most, or until there is no room for another, of which there are
 * MOMENTS_HELD, and it is the one that was used
 * longest ago. Then it is opened anew, as long as history has it, at first for
 * each request by itself; once history has not, what is under it is ESTALE
 * (ERR_moment_gone).
 *
 * From any thread. A pin of now holds a reference of its node; one in use by a
 * view is not ended, however old it is.
 */
#define AT_SHARED_US UINT64_C(60000000)
#define AT_KEPT_US UINT64_C(3600000000)
/* How long a moment is not held that was for an hour, so that history can let
 * it go if that wants to, whoever goes on asking for it. */
#define MOMENT_RESTS_US UINT64_C(60000000)
/* Each has a schema in memory, which is in the account MEMORY_MOMENTS. */
#define MOMENTS_HELD 16

/* What a node in the past sees, between at_open and at_close. */
struct at_view {
	struct pin *pin; /* of now or a moment, in use by this view; else NULL
			  */
	const struct snapshot *snapshot; /* the pin's; NULL: the present one */
	uint64_t time_us;  /* of cells; INT64_MAX for now and a moment */
	uint32_t table_id; /* of a table at a moment; else 0 */
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

/* A node that stands for a moment, and its kind. */
struct at_moment {
	enum node_kind kind; /* NODE_AS_OF_STORE; NODE_AT_TIME: of a table */
	struct bytes name;
	uint64_t time_us;  /* as store_moment_time told it */
	uint32_t table_id; /* of the table, then; else 0 */
};

/* The node of this kind and name in directory, referenced, which is entered as
 * m says if there is none; what it stands for stays. 0 or -ENOMEM. */
int at_enter(struct fs *fs, struct node *directory, const struct at_moment *m,
	     struct node **out);
/* That node, referenced, if there is one, or NULL. */
struct node *at_find(struct fs *fs, struct node *directory, enum node_kind kind,
		     struct bytes name);

/* Whether node stands for a moment, or is below one. */
bool at_is_moment(const struct node *node);

/* What node, which is .at/<time> or stands for a moment, or is below one of
 * these, sees; to be closed. -ESTALE or -ERR_moment_gone if that has ended;
 * then, and on other errors, closing does nothing. */
int at_open(struct fs *fs, struct node *node, struct at_view *view);
/* The same of a moment, of all tables. */
int at_open_moment(struct fs *fs, uint64_t time_us, struct at_view *view);
void at_close(struct fs *fs, struct at_view *view);

/* The schema of a node's moment, referenced, and the table there that it is in,
 * NULL if it is in none: 0 or an error of at_open. */
int at_schema(struct fs *fs, struct node *node, struct schema **schema,
	      const struct table **table);

/* A filter that passes what view sees, or NULL if that is all; the caller's to
 * free. 0 or -ENOMEM. */
int at_filter(const struct at_view *view, struct filter **out);

#endif
