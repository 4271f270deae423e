#ifndef FS_STATE_NODE_H
#define FS_STATE_NODE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fs/state/names.h"
#include "store/base/buf.h"
#include "store/store.h"

/*
 * Nodes: what the kernel holds a node id of, and what lives in memory only
 * (directories made by mkdir, files created and not yet committed). A node's
 * id is its address, except that the root's is 1. It is found by its parent,
 * kind and name (key bytes, not the escaped form) until it is detached, and
 * freed with its last reference: each lookup that the kernel remembers, each
 * open handle, each child counts, and so does being local.
 *
 * One lock guards all nodes; no other lock is taken under it, and no call of
 * the store is made. Calls may come from any thread.
 */

/* The first five make st_ino, which is the same for good: never renumber. */
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
	NODE_IMPORT,      /* table/.import, and each step with its value */
	NODE_IMPORT_STEP, /* a step's name, before its value */
	NODE_IMPORT_FILE, /* .import/csv, tsv, jsonl */
	NODE_IMPORT_LAST,
	NODE_MUTATE,
	NODE_TABLE_STATS,
	NODE_SCAN,      /* table/.scan, and each step with its value */
	NODE_SCAN_STEP, /* a step's name, before its value */
	NODE_SCAN_TEXT, /* a terminal that is a file */
	NODE_SCAN_ROWS, /* the terminal that is a directory of links */
	NODE_SCAN_LINK,
	NODE_SCAN_SEGMENTS, /* the same, links by segment */
	NODE_SCAN_SEGMENT,
	NODE_AT,      /* table/.at */
	NODE_AT_TIME, /* .at/<time>, and the table under it as it was */
	NODE_AT_ROW,
	NODE_AT_FAMILY,
	NODE_AT_CELL,
	NODE_DROP,       /* table/.drop */
	NODE_DROP_STEP,  /* .drop/prefix, range */
	NODE_DROP_RANGE, /* its value */
	NODE_DROP_PREVIEW,
	NODE_DROP_APPLY,
	NODE_INSTANCE, /* .tabletfs */
	NODE_HELP,
	NODE_PROGRAM_VERSION,
	NODE_STATS,
	NODE_METRICS,
	NODE_ERRORS,
	NODE_CTL,
};

struct draft;

struct node {
	enum node_kind kind;
	_Atomic bool found; /* by its name, that is, not detached */
	_Atomic bool local; /* exists although the store does not know it */
	_Atomic bool gone; /* unlinked or renamed over: never committed again */
	uint32_t references;
	uint32_t ahead;       /* of a family: see witness */
	uint64_t lookups;     /* by the kernel; one reference for all */
	struct node *parent;  /* referenced; NULL for the root */
	struct node *next;    /* with the same hash */
	struct node *locals;  /* first local child */
	struct node *sibling; /* next local child of parent */
	struct draft *draft;  /* while a handle is open; see draft.h */
	/* A cell: its newest version as last seen, seq 0 if not known. A
	 * directory: its newest change, as far as the mount knows. seq never
	 * goes back: what was read of the store before it is old. */
	_Atomic uint64_t timestamp_us;
	uint64_t seq;
	/* A cell: its size as last seen, to choose how to look at it. */
	_Atomic uint64_t size;
	/* A row: cells up to this sequence came with its last rename. */
	_Atomic uint64_t moved_seq;
	/* A directory: the kernel keeps its attributes. */
	_Atomic bool shown;
	/* A directory: fs->outside when the kernel began to cache its list. */
	_Atomic uint64_t listed;
	struct bytes renamed_from; /* qualifier its history came by; owned */
	struct buf witness;        /* a family: see keep.c */
	uint8_t *name;             /* owned */
	size_t name_size;
	uint64_t hash; /* of parent, kind and name */
};

/* What nodes may take together, see prune.h. */
#define NODES_MEMORY_MAX ((size_t)32 << 20)
#define NODES_PRUNED_AT_ONCE 128

struct nodes {
	pthread_mutex_t lock;
	struct node *root;
	struct node **buckets;
	size_t bucket_count; /* a power of two */
	size_t count;
	size_t memory;     /* of all but the root */
	size_t hand;       /* the bucket where pruning is */
	size_t due;        /* to be pruned */
	struct bg *pruner; /* woken when that is enough; NULL: none */
};

int nodes_init(struct nodes *nodes);
/* Frees all nodes, whoever refers to them. */
void nodes_release(struct nodes *nodes);

static inline struct bytes node_name(const struct node *node)
{
	return bytes_of(node->name, node->name_size);
}

static inline bool node_is_data(const struct node *node)
{
	return node->kind <= NODE_CELL;
}

/* In .at. */
static inline bool node_is_past(const struct node *node)
{
	return node->kind >= NODE_AT && node->kind <= NODE_AT_CELL;
}

struct node *node_of(struct nodes *nodes, uint64_t id);
uint64_t node_id(struct nodes *nodes, const struct node *node);

/* The child with this name, or NULL; referenced. */
struct node *node_find(struct nodes *nodes, struct node *parent,
		       enum node_kind kind, struct bytes name);
/* The same, made if there is none. 0 or -ENOMEM. */
int node_enter(struct nodes *nodes, struct node *parent, enum node_kind kind,
	       struct bytes name, struct node **out);
void node_get(struct nodes *nodes, struct node *node);
void node_put(struct nodes *nodes, struct node *node);
/* The kernel was told of node once more, in place of a reference; has forgotten
 * count of those. */
void node_hand_out(struct nodes *nodes, struct node *node);
/* As that, but the reference stays. */
void node_remember(struct nodes *nodes, struct node *node);
void node_forget(struct nodes *nodes, struct node *node, uint64_t count);

bool node_is_remembered(struct nodes *nodes, const struct node *node);

void node_set_local(struct nodes *nodes, struct node *node, bool local);
/* What a lookup has just seen; a directory's newest change never goes back. */
void node_know(struct nodes *nodes, struct node *node, uint64_t timestamp_us,
	       uint64_t seq);
/* cell has a version with this timestamp and sequence in the store: it and its
 * directories are no longer only local. Whether its path leads to it; if not,
 * another node has its name, or the kernel believes that there is none. */
bool node_committed(struct nodes *nodes, struct node *cell,
		    uint64_t timestamp_us, uint64_t seq);
uint64_t node_seq(struct nodes *nodes, const struct node *node);
/* Takes a family's witness out, which may be none, and puts one in; only one of
 * several threads gets it. The buffer changes its owner. */
void node_take_witness(struct nodes *nodes, struct node *family,
		       struct buf *witness, uint32_t *ahead);
void node_give_witness(struct nodes *nodes, struct node *family,
		       struct buf *witness, uint32_t ahead);
/* Its name no longer finds it, and its local children end. */
void node_detach(struct nodes *nodes, struct node *node);
/* Gives node another name in its parent; what had it is detached. */
int node_rename(struct nodes *nodes, struct node *node, struct bytes name);

/* Exchanges the names of two nodes of one parent and kind. */
void node_exchange(struct nodes *nodes, struct node *a, struct node *b);

/*
 * Where a node is, in key bytes; what does not apply is empty. It points into
 * itself: do not copy.
 */
struct path {
	struct bytes table, row, family, qualifier;
	struct bytes leaf; /* the node's own name */
	uint8_t room[256];
	uint8_t *memory; /* if room was too small */
};

#define ROOT_INO 1

#endif
