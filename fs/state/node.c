#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "fs/state/node.h"
#include "store/base/bg.h"
#include "store/base/err.h"
#include "store/base/hash.h"

/*
 * A hash table with chains, by parent, kind and name. A detached node stays in
 * its chain, where it is passed over, so that nodes_release and the counts of
 * memory know all nodes by the buckets alone. Functions whose name ends in
 * _locked, and those that walk a chain, need nodes->lock.
 */

/* 8 KiB; doubled when there are as many nodes as buckets. */
#define BUCKETS_AT_FIRST 1024
/* The kernel's name for the root, FUSE_ROOT_ID; no address is that. */
#define ROOT_ID 1
/* What the allocator and a bucket take of a node, beside its own bytes: two
 * headers of 8 bytes, rounding, 8 to 16 bytes of buckets. */
#define NODE_OVERHEAD 40

static_assert((BUCKETS_AT_FIRST & (BUCKETS_AT_FIRST - 1)) == 0,
	      "a bucket is found by a mask");

int nodes_init(struct nodes *nodes)
{
	memset(nodes, 0, sizeof(*nodes));
	nodes->bucket_count = BUCKETS_AT_FIRST;
	nodes->buckets = calloc(nodes->bucket_count, sizeof(struct node *));
	nodes->root = calloc(1, sizeof(struct node));
	if (!nodes->buckets || !nodes->root) {
		free(nodes->buckets);
		free(nodes->root);
		return -ENOMEM;
	}
	nodes->root->references = 1;
	/* Before there is any randomness the ids are as good as addresses. */
	(void)!getrandom(nodes->id_keys, sizeof(nodes->id_keys), 0);
	pthread_mutex_init(&nodes->lock, NULL);
	return 0;
}

/* Of a node that is in no bucket, or whose bucket goes as well. */
static void free_node(struct node *node)
{
	free(node->name);
	if (node->kind == NODE_CELL)
		free((void *)(uintptr_t)node->renamed_from.data);
	buf_release(&node->witness);
	free(node);
}

void nodes_release(struct nodes *nodes)
{
	size_t i;

	if (!nodes->buckets)
		return;
	for (i = 0; i < nodes->bucket_count; i++) {
		struct node *node, *next;

		for (node = nodes->buckets[i]; node; node = next) {
			next = node->next;
			free_node(node);
		}
	}
	free(nodes->buckets);
	free_node(nodes->root);
	pthread_mutex_destroy(&nodes->lock);
	memset(nodes, 0, sizeof(*nodes));
}

/* What is added to one half of an id for the other. The steps are those of
 * splitmix64 (Steele, Lea and Flood, 2014), which leave no bit of the key to be
 * seen in the result. */
static uint32_t mix(uint32_t half, uint64_t key)
{
	uint64_t x = half ^ key;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(x >> 32);
}

/* A permutation of 64 bits, and its reverse: a Feistel network. */
static uint64_t disguise(const struct nodes *nodes, uint64_t id)
{
	uint32_t high = (uint32_t)(id >> 32), low = (uint32_t)id, next;
	size_t i;

	for (i = 0; i < NODE_ID_ROUNDS; i++) {
		next = high ^ mix(low, nodes->id_keys[i]);
		high = low;
		low = next;
	}
	return (uint64_t)high << 32 | low;
}

static uint64_t reveal(const struct nodes *nodes, uint64_t id)
{
	uint32_t high = (uint32_t)(id >> 32), low = (uint32_t)id, next;
	size_t i = NODE_ID_ROUNDS;

	while (i > 0) {
		next = low ^ mix(high, nodes->id_keys[--i]);
		low = high;
		high = next;
	}
	return (uint64_t)high << 32 | low;
}

/* 0 is no id, and no address either: who comes there goes on. */
static bool is_reserved(uint64_t id)
{
	return id <= ROOT_ID;
}

struct node *node_of(struct nodes *nodes, uint64_t id)
{
	if (id == ROOT_ID)
		return nodes->root;
	do {
		id = reveal(nodes, id);
	} while (is_reserved(id));
	return (struct node *)(uintptr_t)id;
}

uint64_t node_id(struct nodes *nodes, const struct node *node)
{
	uint64_t id = (uint64_t)(uintptr_t)node;

	assert(node);
	if (node == nodes->root)
		return ROOT_ID;
	do {
		id = disguise(nodes, id);
	} while (is_reserved(id));
	return id;
}

/* Equal names below other parents, or of another kind, hash apart. An address
 * may stand for the parent, which lives as long as its children. */
static uint64_t hash_of(const struct node *parent, enum node_kind kind,
			struct bytes name)
{
	uint64_t seed = (uint64_t)(uintptr_t)parent + (uint64_t)kind;

	return XXH3_64bits_withSeed(name.data, name.size, seed);
}

static struct node **bucket_of(const struct nodes *nodes, uint64_t hash)
{
	return &nodes->buckets[hash & (nodes->bucket_count - 1)];
}

/* The node of this name and hash that is not detached, referenced, or NULL. */
static struct node *find_locked(const struct nodes *nodes, uint64_t hash,
				const struct node *parent, enum node_kind kind,
				struct bytes name)
{
	struct node *node = *bucket_of(nodes, hash);

	while (node &&
	       (node->hash != hash || !node->found || node->parent != parent ||
		node->kind != kind || !bytes_equal(node_name(node), name)))
		node = node->next;
	if (node)
		node->references++;
	return node;
}

/* Doubles the buckets; without memory the chains just grow longer. */
static void grow(struct nodes *nodes)
{
	struct node **old = nodes->buckets;
	size_t old_count = nodes->bucket_count, i;
	struct node **larger = calloc(old_count * 2, sizeof(struct node *));

	if (!larger)
		return;
	nodes->buckets = larger;
	nodes->bucket_count = old_count * 2;
	for (i = 0; i < old_count; i++) {
		struct node *node, *next;

		for (node = old[i]; node; node = next) {
			struct node **to = bucket_of(nodes, node->hash);

			next = node->next;
			node->next = *to;
			*to = node;
		}
	}
	free(old);
}

/* What nodes->memory counts: without witness and renamed_from, which few have.
 */
static size_t memory_of(const struct node *node)
{
	return sizeof(*node) + node->name_size + NODE_OVERHEAD;
}

/* Counts a local directory in, or out before it is none or its name changes. */
static void count_local(struct nodes *nodes, const struct node *node, bool in)
{
	struct nodes_share *all = &nodes->local[node->kept],
			   *mine = &nodes->users[node->kept][node->user];
	size_t memory = memory_of(node);

	if (!node->local || node->kind == NODE_CELL)
		return;
	all->count += in ? 1 : (size_t)-1;
	all->memory += in ? memory : -memory;
	mine->count += in ? 1 : (size_t)-1;
	mine->memory += in ? memory : -memory;
}

/* Puts a node that is in no bucket into that of its new hash. */
static void insert(struct nodes *nodes, struct node *node, uint64_t hash)
{
	struct node **bucket;

	if (nodes->count >= nodes->bucket_count)
		grow(nodes);
	bucket = bucket_of(nodes, hash);
	node->hash = hash;
	node->next = *bucket;
	*bucket = node;
	nodes->count++;
	nodes->memory += memory_of(node);
	count_local(nodes, node, true);
}

/* The reverse of insert: before the node is freed, or its name changed. */
static void take_out(struct nodes *nodes, struct node *node)
{
	struct node **at = bucket_of(nodes, node->hash);

	assert(node != nodes->root);
	while (*at != node)
		at = &(*at)->next;
	assert(nodes->count > 0 && nodes->memory >= memory_of(node));
	*at = node->next;
	nodes->count--;
	nodes->memory -= memory_of(node);
	count_local(nodes, node, false);
}

void node_unlist(struct node *directory)
{
	assert(directory->kind != NODE_CELL);
	if (!directory->listed.place)
		return;
	*directory->listed.place = directory->listed.next;
	if (directory->listed.next)
		directory->listed.next->listed.place = directory->listed.place;
	directory->listed.place = NULL;
}

/* Drops a reference, and upwards those of what ends by that: a loop, as a chain
 * of parents may be long. NULL is allowed. */
static void put_locked(struct nodes *nodes, struct node *node)
{
	while (node) {
		struct node *parent = node->parent;

		assert(node->references > 0);
		if (--node->references > 0)
			return;
		/* Each of these would refer to it. */
		assert(!node->local && !node->locals && !node->draft &&
		       node->lookups == 0);
		assert(node->kind != NODE_CELL || !node->held);
		if (node->kind != NODE_CELL)
			node_unlist(node);
		take_out(nodes, node);
		free_node(node);
		node = parent;
	}
}

/* Whether node is to be local: it was made here, or is a row or family in which
 * something is. */
static bool is_local(const struct node *node)
{
	return node->made ||
	       (node->found && node->locals &&
		(node->kind == NODE_ROW || node->kind == NODE_FAMILY));
}

static void join_locals(struct node *node)
{
	node->references++;
	node->sibling = node->parent->locals;
	node->place = &node->parent->locals;
	node->parent->locals = node;
	if (node->sibling)
		node->sibling->place = &node->sibling;
}

static void leave_locals(struct node *node)
{
	*node->place = node->sibling;
	if (node->sibling)
		node->sibling->place = node->place;
	node->sibling = NULL;
}

/* node joins or leaves the local children of its parent, and upwards those that
 * are local by that, as user's, kept or not. The caller refers to node. */
static void set_made_locked(struct nodes *nodes, struct node *node, bool made,
			    bool kept, uint16_t user)
{
	node->made = made;
	for (; node->local != is_local(node); node = node->parent) {
		assert(node->parent && node->references > node->local);
		count_local(nodes, node, false);
		node->local = !node->local;
		if (node->local) {
			node->kept = kept;
			node->user = user;
			count_local(nodes, node, true);
			join_locals(node);
		} else {
			leave_locals(node);
			put_locked(nodes, node);
		}
	}
}

/*
 * Detaches node and, first, its local children, which nothing could find any
 * more. It calls itself for those only, three levels deep at most: rows,
 * families, cells that were created.
 */
static void detach_locked(struct nodes *nodes, struct node *node)
{
	assert(node->parent);
	/* Being local may be all that keeps it. */
	node->references++;
	while (node->locals)
		detach_locked(nodes, node->locals);
	node->found = false;
	set_made_locked(nodes, node, false, false, 0);
	put_locked(nodes, node);
}

struct node *node_find(struct nodes *nodes, struct node *parent,
		       enum node_kind kind, struct bytes name)
{
	uint64_t hash = hash_of(parent, kind, name);
	struct node *node;

	pthread_mutex_lock(&nodes->lock);
	node = find_locked(nodes, hash, parent, kind, name);
	pthread_mutex_unlock(&nodes->lock);
	return node;
}

/* A node in no bucket, with one reference, the caller's; NULL: no memory. */
static struct node *make_node(struct node *parent, enum node_kind kind,
			      struct bytes name)
{
	/* Not calloc, which in glibc does not take what this thread has just
	 * freed. */
	struct node *node = malloc(sizeof(*node));

	if (!node)
		return NULL;
	*node = (struct node){
		.kind = kind,
		.found = true,
		.references = 1,
		.parent = parent,
		.name = node_name_new(name),
		.name_size = name.size,
	};
	if (!node->name) {
		free(node);
		return NULL;
	}
	parent->references++;
	return node;
}

/* A node was made: counts it, with the lock held, if there are too many. Two
 * are to go for each new one, so that nodes get fewer. Whether that makes a
 * whole message for the pruner, which then is to be woken. */
static bool is_crowded(struct nodes *nodes)
{
	if (!nodes->pruner || nodes->memory <= NODES_MEMORY_MAX)
		return false;
	nodes->due += 2;
	return nodes->due % NODES_PRUNED_AT_ONCE == 0;
}

int node_enter(struct nodes *nodes, struct node *parent, enum node_kind kind,
	       struct bytes name, struct node **out)
{
	bool wake = false;
	uint64_t hash = hash_of(parent, kind, name);
	struct node *node;

	pthread_mutex_lock(&nodes->lock);
	node = find_locked(nodes, hash, parent, kind, name);
	if (!node) {
		node = make_node(parent, kind, name);
		if (node) {
			insert(nodes, node, hash);
			wake = is_crowded(nodes);
		}
	}
	pthread_mutex_unlock(&nodes->lock);
	/* Not with the lock held, under which no other is taken. */
	if (wake)
		bg_wake(nodes->pruner);
	*out = node;
	return node ? 0 : -ENOMEM;
}

void node_get(struct nodes *nodes, struct node *node)
{
	pthread_mutex_lock(&nodes->lock);
	assert(node->references > 0);
	node->references++;
	pthread_mutex_unlock(&nodes->lock);
}

void node_put(struct nodes *nodes, struct node *node)
{
	if (!node)
		return;
	pthread_mutex_lock(&nodes->lock);
	put_locked(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

void node_remember(struct nodes *nodes, struct node *node)
{
	pthread_mutex_lock(&nodes->lock);
	if (node->lookups++ == 0)
		node->references++;
	pthread_mutex_unlock(&nodes->lock);
}

void node_hand_out(struct nodes *nodes, struct node *node)
{
	pthread_mutex_lock(&nodes->lock);
	if (node->lookups++ > 0)
		put_locked(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

void node_forget(struct nodes *nodes, struct node *node, uint64_t count)
{
	if (node == nodes->root)
		return;
	pthread_mutex_lock(&nodes->lock);
	/* The kernel counts as well; a mistake of ours ends here. */
	assert(node->lookups >= count);
	node->lookups -= count;
	if (node->lookups == 0 && count > 0)
		put_locked(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

bool node_is_remembered(struct nodes *nodes, const struct node *node)
{
	bool is;

	pthread_mutex_lock(&nodes->lock);
	is = node->lookups > 0;
	pthread_mutex_unlock(&nodes->lock);
	return is;
}

void node_set_local(struct nodes *nodes, struct node *node, bool local)
{
	pthread_mutex_lock(&nodes->lock);
	/* What cannot be found any more is to end with its last reference. */
	if (node->found || !local)
		set_made_locked(nodes, node, local, false, 0);
	pthread_mutex_unlock(&nodes->lock);
}

/* By the golden section: neighbours are far from each other. */
static uint16_t share_of(uid_t uid)
{
	return (uint16_t)(uid * UINT32_C(0x9e3779b1) >> 20);
}

/* Whether uid may have one more directory that is not kept: 0 or -ENOSPC. */
static int check_share(const struct nodes *nodes, uid_t uid)
{
	const struct nodes_share *all = &nodes->local[false],
				 *mine = &nodes->users[false][share_of(uid)];

	if (all->memory < NODES_MADE_MAX && mine->memory < NODES_USER_MADE_MAX)
		return 0;
	return fail(ENOSPC,
		    "user %u has %zu directories without a cell of %zu that "
		    "are in memory alone, where one may have %zu MiB and all "
		    "%zu: put a file into them, or remove those that are not "
		    "needed (find -empty)",
		    uid, mine->count, all->count, NODES_USER_MADE_MAX >> 20,
		    NODES_MADE_MAX >> 20);
}

int node_make(struct nodes *nodes, struct node *node, uid_t uid)
{
	int err = 0;

	pthread_mutex_lock(&nodes->lock);
	if (node->kind != NODE_CELL && !node->local)
		err = check_share(nodes, uid);
	if (!err && node->found)
		set_made_locked(nodes, node, true, false, share_of(uid));
	pthread_mutex_unlock(&nodes->lock);
	return err;
}

/* One that is kept for user goes, any: who removes a tree will not miss it. */
static bool let_go_locked(struct nodes *nodes, uint16_t user)
{
	size_t left = nodes->bucket_count;
	struct node *n = NULL;

	while (!n && left-- > 0) {
		n = *bucket_of(nodes, nodes->kept_hand++);
		while (n &&
		       !(n->made && n->kept && n->user == user && !n->locals))
			n = n->next;
	}
	if (!n)
		return false;
	n->references++;
	set_made_locked(nodes, n, false, false, 0);
	put_locked(nodes, n);
	return true;
}

bool node_keep(struct nodes *nodes, struct node *node, uid_t uid)
{
	uint16_t user = share_of(uid);
	const size_t *all = &nodes->local[true].memory,
		     *mine = &nodes->users[true][user].memory;
	bool stay = true;

	pthread_mutex_lock(&nodes->lock);
	while (!node->local &&
	       (*all >= NODES_KEPT_MAX || *mine >= NODES_USER_KEPT_MAX) &&
	       let_go_locked(nodes, user))
		stay = false;
	if (node->found && (node->local || *all < NODES_KEPT_MAX))
		set_made_locked(nodes, node, true, true, user);
	stay &= node->local;
	pthread_mutex_unlock(&nodes->lock);
	return stay;
}

void node_know(struct nodes *nodes, struct node *node, uint64_t timestamp_us,
	       uint64_t seq)
{
	pthread_mutex_lock(&nodes->lock);
	/* A cell's newest version may be removed, and the next then be older:
	 * its sequence decides. A directory only grows newer. */
	if (node->kind == NODE_CELL ? seq >= node->seq
				    : node->timestamp_us < timestamp_us)
		node->timestamp_us = timestamp_us;
	if (node->seq < seq)
		node->seq = seq;
	pthread_mutex_unlock(&nodes->lock);
}

uint64_t node_seq(struct nodes *nodes, const struct node *node)
{
	uint64_t seq;

	pthread_mutex_lock(&nodes->lock);
	seq = node->seq;
	pthread_mutex_unlock(&nodes->lock);
	return seq;
}

void node_take_witness(struct nodes *nodes, struct node *family,
		       struct buf *witness, uint32_t *ahead)
{
	assert(family->kind == NODE_FAMILY);
	pthread_mutex_lock(&nodes->lock);
	*witness = family->witness;
	*ahead = family->ahead;
	family->witness = (struct buf)BUF_INIT;
	pthread_mutex_unlock(&nodes->lock);
}

void node_give_witness(struct nodes *nodes, struct node *family,
		       struct buf *witness, uint32_t ahead)
{
	struct buf old;

	assert(family->kind == NODE_FAMILY);
	pthread_mutex_lock(&nodes->lock);
	old = family->witness;
	family->witness = *witness;
	family->ahead = ahead;
	pthread_mutex_unlock(&nodes->lock);
	*witness = old;
}

bool node_committed(struct nodes *nodes, struct node *cell,
		    uint64_t timestamp_us, uint64_t seq)
{
	bool is_reached = true;
	struct node *n;

	assert(cell->kind == NODE_CELL);
	pthread_mutex_lock(&nodes->lock);
	/* Also back: utimensat may have moved the version. */
	cell->timestamp_us = timestamp_us;
	for (n = cell; n; n = n->parent) {
		if (n->timestamp_us < timestamp_us)
			n->timestamp_us = timestamp_us;
		if (n->seq < seq)
			n->seq = seq;
		if (n->parent && !n->found)
			is_reached = false;
		/* n stays: who commits the cell refers to it, and so to all
		 * above it. */
		set_made_locked(nodes, n, false, false, 0);
	}
	pthread_mutex_unlock(&nodes->lock);
	return is_reached;
}

void node_detach(struct nodes *nodes, struct node *node)
{
	pthread_mutex_lock(&nodes->lock);
	if (node->found)
		detach_locked(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

uint8_t *node_name_new(struct bytes name)
{
	/* The empty qualifier needs a place, too. */
	uint8_t *copy = malloc(name.size + 1);

	if (copy && name.size > 0)
		memcpy(copy, name.data, name.size);
	return copy;
}

void node_rename(struct nodes *nodes, struct node *node, uint8_t *name,
		 size_t size)
{
	struct bytes key = bytes_of(name, size);
	uint64_t hash = hash_of(node->parent, node->kind, key);
	struct node *other;

	pthread_mutex_lock(&nodes->lock);
	/* Renamed over, or made by a lookup since the store was changed. */
	other = find_locked(nodes, hash, node->parent, node->kind, key);
	if (other && other != node)
		detach_locked(nodes, other);
	put_locked(nodes, other);
	take_out(nodes, node);
	free(node->name);
	node->name = name;
	node->name_size = size;
	insert(nodes, node, hash);
	pthread_mutex_unlock(&nodes->lock);
}

void node_exchange(struct nodes *nodes, struct node *a, struct node *b)
{
	uint64_t hash;
	uint8_t *name;
	size_t size;

	assert(a != b && a->parent == b->parent && a->kind == b->kind);
	pthread_mutex_lock(&nodes->lock);
	/* Out with the sizes that they came in with: memory counts names. */
	hash = a->hash;
	take_out(nodes, a);
	take_out(nodes, b);
	name = a->name;
	size = a->name_size;
	a->name = b->name;
	a->name_size = b->name_size;
	b->name = name;
	b->name_size = size;
	insert(nodes, a, b->hash);
	insert(nodes, b, hash);
	pthread_mutex_unlock(&nodes->lock);
}
