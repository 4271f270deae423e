#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/state/node.h"
#include "store/base/bg.h"
#include "store/base/hash.h"

#define BUCKETS_AT_FIRST 1024
#define ROOT_ID 1

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
	pthread_mutex_init(&nodes->lock, NULL);
	return 0;
}

static void free_node(struct node *node)
{
	free(node->name);
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

struct node *node_of(struct nodes *nodes, uint64_t id)
{
	return id == ROOT_ID ? nodes->root : (struct node *)(uintptr_t)id;
}

uint64_t node_id(struct nodes *nodes, const struct node *node)
{
	return node == nodes->root ? ROOT_ID : (uint64_t)(uintptr_t)node;
}

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

/* The node of this hash, referenced, or NULL. */
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

static size_t memory_of(const struct node *node)
{
	/* With what the allocator and a bucket take. */
	return sizeof(*node) + node->name_size + 40;
}

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
}

/* Detached nodes stay in their buckets, so that release finds all. */
static void take_out(struct nodes *nodes, struct node *node)
{
	struct node **at = bucket_of(nodes, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	nodes->count--;
	nodes->memory -= memory_of(node);
}

/* With the lock held: drops references upwards as long as nodes end. */
static void put_locked(struct nodes *nodes, struct node *node)
{
	while (node) {
		struct node *parent = node->parent;

		assert(node->references > 0);
		if (--node->references > 0)
			return;
		assert(!node->locals && !node->draft);
		take_out(nodes, node);
		free_node(node);
		node = parent;
	}
}

static void set_local_locked(struct nodes *nodes, struct node *node, bool local)
{
	struct node **at;

	if (node->local == local)
		return;
	node->local = local;
	if (local) {
		node->references++;
		node->sibling = node->parent->locals;
		node->parent->locals = node;
		return;
	}
	at = &node->parent->locals;
	while (*at != node)
		at = &(*at)->sibling;
	*at = node->sibling;
	node->sibling = NULL;
	put_locked(nodes, node);
}

/* Local nodes are at most two levels deep: rows, families, created cells. */
static void detach_locked(struct nodes *nodes, struct node *node)
{
	node->references++;
	while (node->locals)
		detach_locked(nodes, node->locals);
	node->found = false;
	set_local_locked(nodes, node, false);
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

static struct node *make_node(struct node *parent, enum node_kind kind,
			      struct bytes name)
{
	/* Not calloc, which takes no node that was just freed. */
	struct node *node = malloc(sizeof(*node));

	if (!node)
		return NULL;
	*node = (struct node){
		.kind = kind,
		.found = true,
		.references = 1,
		.parent = parent,
		.name = malloc(name.size + 1),
		.name_size = name.size,
	};
	if (!node->name) {
		free(node);
		return NULL;
	}
	parent->references++;
	if (name.size > 0)
		memcpy(node->name, name.data, name.size);
	return node;
}

/* A node was made: whether enough of them now are one too many. */
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
	if (wake)
		bg_wake(nodes->pruner);
	*out = node;
	return node ? 0 : -ENOMEM;
}

void node_get(struct nodes *nodes, struct node *node)
{
	pthread_mutex_lock(&nodes->lock);
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
	if (node->found || !local)
		set_local_locked(nodes, node, local);
	pthread_mutex_unlock(&nodes->lock);
}

void node_know(struct nodes *nodes, struct node *node, uint64_t timestamp_us,
	       uint64_t seq)
{
	pthread_mutex_lock(&nodes->lock);
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

	pthread_mutex_lock(&nodes->lock);
	cell->timestamp_us = timestamp_us;
	for (n = cell; n; n = n->parent) {
		if (n->timestamp_us < timestamp_us)
			n->timestamp_us = timestamp_us;
		if (n->seq < seq)
			n->seq = seq;
		if (n->parent && !n->found)
			is_reached = false;
		/* n stays: who commits it refers to it. */
		set_local_locked(nodes, n, false);
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

int node_rename(struct nodes *nodes, struct node *node, struct bytes name)
{
	uint64_t hash = hash_of(node->parent, node->kind, name);
	uint8_t *copy = malloc(name.size + 1);
	struct node *other;

	if (!copy)
		return -ENOMEM;
	if (name.size > 0)
		memcpy(copy, name.data, name.size);
	pthread_mutex_lock(&nodes->lock);
	other = find_locked(nodes, hash, node->parent, node->kind, name);
	if (other && other != node)
		detach_locked(nodes, other);
	put_locked(nodes, other);
	take_out(nodes, node);
	free(node->name);
	node->name = copy;
	node->name_size = name.size;
	insert(nodes, node, hash);
	pthread_mutex_unlock(&nodes->lock);
	return 0;
}

void node_exchange(struct nodes *nodes, struct node *a, struct node *b)
{
	uint64_t hash;
	uint8_t *name;
	size_t size;

	pthread_mutex_lock(&nodes->lock);
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
