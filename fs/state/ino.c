#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/state/ino.h"
#include "fs/state/path.h"
#include "store/base/hash.h"

/* The number of an open cell, in a bucket of nodes->held by that number.
 * Guarded by nodes.lock. */
struct held_ino {
	uint64_t ino;
	uint32_t opens;
	bool is_passed; /* another cell was told another number for it */
	struct held_ino *next;
};

/*
 * Each directory's number is part of the seed of its children's, and so
 * is the kind. The factor, 2^64 by the golden ratio, spreads both over the
 * seed. Of n names, two have the same number with a probability of about
 * n^2 / 2^65: one in 37 million for a million names.
 */
uint64_t ino_of_child(uint64_t parent_ino, enum node_kind kind,
		      struct bytes name)
{
	uint64_t seed = parent_ino * 0x9e3779b97f4a7c15u + (uint64_t)kind;
	uint64_t ino = XXH3_64bits_withSeed(name.data, name.size, seed);

	/* 0 is no number to readdir(3), 1 is the root's. */
	return ino > ROOT_INO ? ino : ino + 2;
}

uint64_t path_ino(const struct path *path, enum node_kind kind)
{
	const struct bytes names[] = { [NODE_TABLE] = path->table,
				       [NODE_ROW] = path->row,
				       [NODE_FAMILY] = path->family,
				       [NODE_CELL] = path->qualifier };
	enum node_kind k;
	uint64_t ino = ROOT_INO;

	assert(kind >= NODE_TABLE && kind <= NODE_CELL);
	for (k = NODE_TABLE; k <= kind; k++)
		ino = ino_of_child(ino, k, names[k]);
	return ino;
}

/* Calls itself as often as the path has names: DEPTH_MAX at most. */
static uint64_t ino_locked(const struct node *node)
{
	if (!node->parent)
		return ROOT_INO;
	return ino_of_child(ino_locked(node->parent), node->kind,
			    node_name(node));
}

uint64_t node_ino(struct nodes *nodes, struct node *node)
{
	uint64_t ino;

	pthread_mutex_lock(&nodes->lock);
	ino = ino_locked(node);
	pthread_mutex_unlock(&nodes->lock);
	return ino;
}

/* What points to the entry of this number, or to the NULL at its place. */
static struct held_ino **find_locked(struct nodes *nodes, uint64_t ino)
{
	struct held_ino **at = &nodes->held[ino % NODES_HELD_BUCKETS];

	while (*at && (*at)->ino != ino)
		at = &(*at)->next;
	return at;
}

/* What comes after a number that is not to be had: that of a child without a
 * name, which a cell does not have. */
static uint64_t next_ino(uint64_t ino)
{
	return ino_of_child(ino, NODE_CELL, BYTES_NONE);
}

/* ino_of_cell. The hash of a name belongs to who has the name: who was looked
 * up by it and then removed has lost it, unless it was open. */
static uint64_t of_cell_locked(struct nodes *nodes, const struct node *node,
			       uint64_t hash)
{
	struct held_ino *other;

	if (node && node->held)
		return node->held->ino;
	if (node && !node->found)
		hash = next_ino(hash);
	while ((other = *find_locked(nodes, hash))) {
		other->is_passed = true;
		hash = next_ino(hash);
	}
	return hash;
}

uint64_t ino_of_cell(struct nodes *nodes, const struct node *node,
		     uint64_t hash)
{
	assert(!node || node->kind == NODE_CELL);
	pthread_mutex_lock(&nodes->lock);
	hash = of_cell_locked(nodes, node, hash);
	pthread_mutex_unlock(&nodes->lock);
	return hash;
}

uint64_t ino_of_listed(struct nodes *nodes, struct node *family,
		       uint64_t family_ino, struct bytes qualifier)
{
	uint64_t hash = ino_of_child(family_ino, NODE_CELL, qualifier);
	struct node *node;

	/* Mostly nothing is open, and what is opened now is listed so. */
	if (nodes->held_count == 0)
		return hash;
	node = node_find(nodes, family, NODE_CELL, qualifier);
	hash = ino_of_cell(nodes, node, hash);
	node_put(nodes, node);
	return hash;
}

int ino_hold(struct nodes *nodes, struct node *cell)
{
	/* Before the lock, and mostly not in vain. */
	struct held_ino *made = malloc(sizeof(*made));

	assert(cell->kind == NODE_CELL);
	if (!made)
		return -ENOMEM;
	pthread_mutex_lock(&nodes->lock);
	if (!cell->held) {
		*made = (struct held_ino){
			.ino = of_cell_locked(nodes, cell, ino_locked(cell)),
		};
		*find_locked(nodes, made->ino) = made;
		cell->held = made;
		cell->references++;
		nodes->held_count++;
		made = NULL;
	}
	cell->held->opens++;
	pthread_mutex_unlock(&nodes->lock);
	free(made);
	return 0;
}

bool ino_let_go(struct nodes *nodes, struct node *cell)
{
	struct held_ino *held, **at;
	bool is_told = false;

	pthread_mutex_lock(&nodes->lock);
	held = cell->held;
	assert(held && held->opens > 0);
	if (--held->opens > 0) {
		pthread_mutex_unlock(&nodes->lock);
		return false;
	}
	is_told = held->is_passed ||
		  (cell->found && held->ino != ino_locked(cell));
	at = find_locked(nodes, held->ino);
	assert(*at == held);
	*at = held->next;
	cell->held = NULL;
	nodes->held_count--;
	pthread_mutex_unlock(&nodes->lock);
	free(held);
	node_put(nodes, cell);
	return is_told;
}

void inos_release(struct nodes *nodes)
{
	struct held_ino *held, *next;
	size_t i;

	for (i = 0; i < NODES_HELD_BUCKETS; i++) {
		for (held = nodes->held[i]; held; held = next) {
			next = held->next;
			free(held);
		}
		nodes->held[i] = NULL;
	}
}
