#ifndef FS_STATE_NODE_H
#define FS_STATE_NODE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "fs/state/names.h"
#include "store/base/buf.h"

/*
 * Nodes: what the kernel holds a node id of, and what lives in memory only
 * (directories made by mkdir, files created and not yet committed). A node's
 * id is its address in disguise, as file handles show it to everybody, except
 * that the root's is 1. It is found by its parent,
 * kind and name (key bytes, not the escaped form) until it is detached, and
 * freed with its last reference: each open handle, each child, whoever works on
 * it counts, and so do the kernel's lookups, all as one, and being local.
 *
 * One lock guards all nodes; no other lock is taken under it, and no call of
 * the store is made. Calls may come from any thread and take it themselves. Who
 * passes a node to one refers to it, or serves a request of the kernel's, which
 * does.
 */
struct bg;
struct draft;
struct held_ino;

/*
 * The first five are the data, and part of st_ino, which is the same for good:
 * never renumber. A child of a directory of data, or of .at/<time>, has the
 * kind that follows its directory's; of a control directory, so it is where
 * names are keys.
 */
enum node_kind {
	NODE_ROOT = 0,
	NODE_TABLE = 1,
	NODE_ROW = 2,
	NODE_FAMILY = 3,
	NODE_CELL = 4,
	NODE_VERSIONS,      /* family/.versions */
	NODE_COLUMN,        /* .versions/<qualifier> */
	NODE_VERSION,       /* .versions/<qualifier>/<timestamp> */
	NODE_ROW_JSON,      /* row/.row.jsonl */
	NODE_SCHEMA,        /* table/.schema */
	NODE_SCHEMA_FAMILY, /* .schema/<family> */
	NODE_GC,
	NODE_TYPE,
	NODE_GRANULARITY,
	NODE_RECIPES,     /* table/.recipes */
	NODE_RECIPE,      /* .recipes/<name> */
	NODE_IMPORT,      /* table/.import, and each step with its value */
	NODE_IMPORT_STEP, /* a step's name, before its value */
	NODE_IMPORT_FILE, /* .import/csv, tsv, jsonl */
	NODE_IMPORT_LAST,
	NODE_MUTATE,
	NODE_TABLE_STATS,
	NODE_ADVICE,
	NODE_KEYVIZ,      /* table/.keyviz; its files are NODE_SCAN_EXPORT */
	NODE_SCAN,        /* table/.scan, and each step with its value */
	NODE_SCAN_STEP,   /* a step's name, before its value */
	NODE_SCAN_TEXT,   /* a terminal that is a file */
	NODE_SCAN_EXPORT, /* a file with a size: see sized.h */
	NODE_SCAN_ROWS, /* the terminal that is a directory of links to rows */
	NODE_SCAN_LINK,
	NODE_SCAN_SEGMENTS, /* the terminal with links by segment of the key */
	NODE_SCAN_SEGMENT,
	NODE_AT,      /* table/.at */
	NODE_AT_TIME, /* .at/<time>, and the table under it as it was; also
			 .as-of/<time>, and a table of NODE_AS_OF_STORE */
	NODE_AT_ROW,
	NODE_AT_FAMILY,
	NODE_AT_CELL,
	NODE_AT_VERSIONS, /* of a moment: what is data's without AT */
	NODE_AT_COLUMN,
	NODE_AT_VERSION,
	NODE_AT_SCHEMA,
	NODE_AT_SCHEMA_FAMILY,
	NODE_AT_GC,
	NODE_AT_TYPE,
	NODE_AS_OF,       /* table/.as-of, .tabletfs/as-of */
	NODE_AS_OF_LINK,  /* a time by another name: 5m, oldest */
	NODE_AS_OF_STORE, /* .tabletfs/as-of/<time>: all tables */
	NODE_DROP,        /* table/.drop */
	NODE_DROP_STEP,   /* .drop/prefix, range */
	NODE_DROP_RANGE,  /* its value */
	NODE_DROP_PREVIEW,
	NODE_DROP_APPLY,
	NODE_INSTANCE, /* .tabletfs */
	NODE_HELP,
	NODE_PROGRAM_VERSION,
	NODE_STATS,
	NODE_METRICS,
	NODE_ERRORS,
	NODE_LOG,
	NODE_CTL,
};

struct node {
	enum node_kind kind; /* for good */

	/* found, local and timestamp_us are written with nodes.lock held; all
	 * of these are read by anybody at any time. */
	_Atomic bool found; /* by its name, that is, not detached */
	_Atomic bool local; /* exists also if the store does not know it: made,
			       or a row or family in which a local one is */
	_Atomic bool gone; /* unlinked or renamed over: never committed again */
	_Atomic bool shown; /* a directory: the kernel keeps its attributes */
	/* A cell: the kernel was given its bytes as they are. */
	_Atomic bool given;
	/* Of a cell, its newest version's as last seen; of a directory, the
	 * time of its newest change, as far as the mount knows, which never
	 * goes back; of one that stands for a moment, the moment's, for good.
	 */
	_Atomic uint64_t timestamp_us;
	/* Of a cell: its size as last seen, to choose how to look at it. Of a
	 * version, size and time are what its open files show when it has
	 * gone. */
	_Atomic uint64_t size;
	union {
		/* Of a row: cells up to this sequence came with its last
		 * rename. */
		_Atomic uint64_t moved_seq;
		/* Of a table, or one at a moment: its id, for good; 0 until it
		 * was looked up, and of .at/<time>. */
		_Atomic uint32_t table_id;
		/* Of a cell that is open: its inode number; else NULL. Guarded
		 * by nodes.lock; see ino.h. */
		struct held_ino *held;
	};

	/* The rest is guarded by nodes.lock. */
	uint32_t references;
	bool made;            /* here, and no cell has come since */
	bool kept;            /* local not as mkdir made it, see node_keep */
	uint16_t user;        /* of a local directory: whose share has it */
	uint32_t ahead;       /* of a family: how far its witness lay ahead */
	uint64_t lookups;     /* by the kernel; one reference for all */
	struct node *parent;  /* for good; referenced; NULL for the root */
	struct node *next;    /* in the same bucket */
	struct node *locals;  /* first local child */
	struct node *sibling; /* next local child of parent */
	struct node **place;  /* what points to it among these */
	struct draft *draft;  /* while a handle is open; see draft.h */
	/* Of the version or change that timestamp_us is of; 0 if not known. It
	 * never goes back: what was read of the store before it is old. */
	uint64_t seq;
	struct buf witness; /* of a family: see keep.c */
	/* Key bytes, owned; while fs->tree is held they do not change. */
	uint8_t *name;
	size_t name_size;
	uint64_t hash; /* of parent, kind and name */
	union {
		/* Of a cell: the qualifier that its history came from, for
		 * unlink to give it back; owned. Not of nodes.lock alone: it is
		 * written with fs->tree held alone by who refers to the node,
		 * and read with fs->tree held, or by who holds nodes.lock and
		 * finds that only the kernel refers to the node. */
		struct bytes renamed_from;
		/* Of a directory: its place among those whose list the kernel
		 * keeps, see notify.h; place is NULL if it is not there. */
		struct {
			struct node *next;
			struct node **place;
		} listed;
	};
};

static_assert(sizeof(uintptr_t) <= sizeof(uint64_t), "an id is an address");

/* What nodes may take together, in bytes as memory counts them, see prune.h. */
#define NODES_MEMORY_MAX ((size_t)32 << 20)
/* Of these, local directories, which cannot be pruned: of all users, and of
 * one; and those that stayed when their last cell went. */
#define NODES_MADE_MAX ((size_t)24 << 20)
#define NODES_USER_MADE_MAX ((size_t)16 << 20)
#define NODES_KEPT_MAX ((size_t)8 << 20)
#define NODES_USER_KEPT_MAX ((size_t)4 << 20)
/* Users are told apart by a hash: of two, one time in so many, both have one
 * share. */
#define NODES_USERS ((size_t)1 << 12)

struct nodes_share {
	size_t count, memory; /* of local directories */
};

/* Ids in one message to the kernel: 1 KiB of them. */
#define NODES_PRUNED_AT_ONCE 128

/* Of inode numbers of open cells: 8 KiB. */
#define NODES_HELD_BUCKETS 1024

/* Three make a permutation of 64 bits that looks random (Luby, Rackoff); the
 * fourth also to who chooses both halves. */
#define NODE_ID_ROUNDS 4

struct nodes {
	pthread_mutex_t lock; /* guards what follows and all nodes */
	struct node *root;    /* in no bucket; always referenced */
	struct node **buckets;
	size_t bucket_count; /* a power of two */
	size_t count;        /* in the buckets, also detached ones */
	size_t memory;       /* of all but the root, in bytes */
	/* Of these, local directories, those that are not kept first. */
	struct nodes_share local[2], users[2][NODES_USERS];
	size_t kept_hand; /* the bucket where one that is kept was let go */
	size_t hand;      /* the bucket where pruning is */
	size_t due;       /* how many names are to be pruned */
	struct held_ino *held[NODES_HELD_BUCKETS]; /* see ino.h */
	_Atomic size_t held_count; /* written with the lock held */
	/* Woken when that is enough for a message; NULL: none. Set before the
	 * first request. */
	struct bg *pruner;
	/* Of the disguise of ids; random, and set for good. */
	uint64_t id_keys[NODE_ID_ROUNDS];
};

/* 0 or -ENOMEM. */
int nodes_init(struct nodes *nodes);
/* Frees all nodes, whoever refers to them. Does nothing to a zeroed one. */
void nodes_release(struct nodes *nodes);

/* Key bytes; of what may be renamed meanwhile, only with fs->tree or nodes.lock
 * held. */
static inline struct bytes node_name(const struct node *node)
{
	return bytes_of(node->name, node->name_size);
}

/* The root, a table, row, family or cell. */
static inline bool node_is_data(const struct node *node)
{
	return node->kind <= NODE_CELL;
}

/* In .at or .as-of, which are read-only. */
static inline bool node_is_past(const struct node *node)
{
	return node->kind >= NODE_AT && node->kind <= NODE_AS_OF_STORE;
}

/* The node of an id that the kernel was given and has not forgotten. Takes no
 * reference. */
struct node *node_of(struct nodes *nodes, uint64_t id);
uint64_t node_id(struct nodes *nodes, const struct node *node);

/* The child that is found by this name, or NULL; referenced. */
struct node *node_find(struct nodes *nodes, struct node *parent,
		       enum node_kind kind, struct bytes name);

/* The child of this name, made if there is none; referenced. The name is
 * copied. 0, or -ENOMEM with *out NULL. */
int node_enter(struct nodes *nodes, struct node *parent, enum node_kind kind,
	       struct bytes name, struct node **out);

void node_get(struct nodes *nodes, struct node *node);
/* NULL is allowed. */
void node_put(struct nodes *nodes, struct node *node);

/* The kernel is told of node once more; the caller's reference becomes the
 * kernel's. */
void node_hand_out(struct nodes *nodes, struct node *node);

/* The kernel is told of node once more; the caller's reference, if there is
 * one, stays the caller's. */
void node_remember(struct nodes *nodes, struct node *node);

/* The kernel has forgotten count of the times that it was told of node, at most
 * as many as there were. The root is never forgotten. */
void node_forget(struct nodes *nodes, struct node *node, uint64_t count);

/* Whether the kernel has not forgotten all of them. */
bool node_is_remembered(struct nodes *nodes, const struct node *node);

/* Whether node was made here, and so exists without the store, as do the row
 * and family that it is in; being local is a reference. A node that is detached
 * does not become local. Not of the root. */
void node_set_local(struct nodes *nodes, struct node *node, bool local);

/* node_set_local of what uid makes. -ENOSPC, with the reason, if it is a
 * directory, not local yet, and uid, or all, have as many as there may be. */
int node_make(struct nodes *nodes, struct node *node, uid_t uid);

/* node_set_local of a directory whose last cell uid has removed. Whether all
 * such stay: if uid has as many as there may be, another goes, or this one. */
bool node_keep(struct nodes *nodes, struct node *node, uid_t uid);

/* What a lookup has just seen of node. Of a cell, an older sequence than it
 * knows changes nothing; of a directory, an older time. */
void node_know(struct nodes *nodes, struct node *node, uint64_t timestamp_us,
	       uint64_t seq);

/* cell has a version with this timestamp and sequence in the store: it and its
 * directories are no longer made here, and are as new as that. Whether its
 * path leads to it; if not, another node has its name, or the kernel believes
 * that there is none. */
bool node_committed(struct nodes *nodes, struct node *cell,
		    uint64_t timestamp_us, uint64_t seq);

/* The newest sequence that is known of node; 0: none. */
uint64_t node_seq(struct nodes *nodes, const struct node *node);

/* Takes a family's witness out, which may be none, to be given back or released
 * by the caller: of several threads only one gets it. */
void node_take_witness(struct nodes *nodes, struct node *family,
		       struct buf *witness, uint32_t *ahead);

/* Puts a witness in. *witness is then the one that was there meanwhile, mostly
 * none, which the caller has to release. */
void node_give_witness(struct nodes *nodes, struct node *family,
		       struct buf *witness, uint32_t ahead);

/* Its name no longer finds it, and neither it nor its children are local any
 * more. It lives on as long as it is referred to. */
void node_detach(struct nodes *nodes, struct node *node);

/* Gives node another name in its parent; what had that is detached. Needs
 * fs->tree alone. name is from node_name_new, and is node's afterwards:
 * what changes the store before this cannot find that there is no memory. */
void node_rename(struct nodes *nodes, struct node *node, uint8_t *name,
		 size_t size);

/* directory's list is not one that the kernel keeps, or no longer. With
 * nodes.lock held. */
void node_unlist(struct node *directory);

/* A copy of key bytes, to be freed; NULL without memory. */
uint8_t *node_name_new(struct bytes name);

/* Exchanges the names of two nodes of one parent and kind. Needs fs->tree
 * alone. */
void node_exchange(struct nodes *nodes, struct node *a, struct node *b);

#endif
