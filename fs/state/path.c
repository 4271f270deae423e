#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/state/name.h"
#include "fs/state/path.h"

/* How deep a path can be, and more: a table, .scan, each of its steps once with
 * a value, a terminal and what is in it, which is less than 32. */
#define DEPTH_MAX 64

struct bytes *path_part(struct path *path, enum node_kind kind)
{
	switch (kind) {
	case NODE_TABLE:
		return &path->table;
	case NODE_ROW:
	case NODE_AT_ROW:
		return &path->row;
	case NODE_FAMILY:
	case NODE_AT_FAMILY:
	case NODE_SCHEMA_FAMILY:
	case NODE_AT_SCHEMA_FAMILY:
		return &path->family;
	case NODE_CELL:
	case NODE_COLUMN:
	case NODE_AT_CELL:
	case NODE_AT_COLUMN:
		return &path->qualifier;
	default: /* a timestamp, a step, or a name that is always the same */
		return NULL;
	}
}

/* Copies node's name to *room, which moves on behind it. */
static struct bytes copy_name(uint8_t **room, const struct node *node)
{
	struct bytes copy = bytes_of(*room, node->name_size);

	if (node->name_size > 0)
		memcpy(*room, node->name, node->name_size);
	*room += node->name_size;
	return copy;
}

int node_path(struct nodes *nodes, struct node *node, struct path *out)
{
	struct node *n;
	uint8_t *room;
	size_t size;

	/* Not the room, which need not be cleared. */
	memset(out, 0, offsetof(struct path, room));
	out->memory = NULL;
	room = out->room;
	pthread_mutex_lock(&nodes->lock);
	/* The leaf is copied by itself: kinds without a part have one too. */
	size = node->name_size;
	for (n = node; n; n = n->parent)
		if (path_part(out, n->kind))
			size += n->name_size;
	if (size > sizeof(out->room)) {
		room = out->memory = malloc(size);
		if (!room) {
			pthread_mutex_unlock(&nodes->lock);
			return -ENOMEM;
		}
	}
	for (n = node; n; n = n->parent) {
		struct bytes *part = path_part(out, n->kind);

		if (part)
			*part = copy_name(&room, n);
	}
	out->leaf = copy_name(&room, node);
	assert(room == (out->memory ? out->memory : out->room) + size);
	pthread_mutex_unlock(&nodes->lock);
	return 0;
}

void path_release(struct path *path)
{
	free(path->memory);
	path->memory = NULL;
}

/* How the name of a node is escaped in its directory. */
static enum name_level level_of(enum node_kind kind)
{
	switch (kind) {
	case NODE_TABLE:
		return NAME_TABLE;
	case NODE_ROW:
	case NODE_SCAN_LINK:
	case NODE_AT_ROW:
		return NAME_ROW;
	case NODE_FAMILY:
	case NODE_AT_FAMILY:
	case NODE_SCHEMA_FAMILY:
	case NODE_AT_SCHEMA_FAMILY:
		return NAME_FAMILY;
	case NODE_CELL:
	case NODE_COLUMN:
	case NODE_AT_CELL:
	case NODE_AT_COLUMN:
		return NAME_QUALIFIER;
	default:
		return NAME_VALUE;
	}
}

int node_print_path(struct nodes *nodes, struct node *node, struct buf *out)
{
	const struct node *chain[DEPTH_MAX], *n;
	size_t count = 0;
	int err = 0;

	pthread_mutex_lock(&nodes->lock);
	for (n = node; n->parent && count < DEPTH_MAX; n = n->parent)
		chain[count++] = n;
	assert(!n->parent);
	if (count == 0)
		err = buf_add_byte(out, '/');
	while (count > 0 && !err) {
		n = chain[--count];
		err = buf_add_byte(out, '/');
		if (!err)
			err = name_encode(level_of(n->kind), node_name(n), out);
	}
	pthread_mutex_unlock(&nodes->lock);
	return err;
}

bool node_has_locals(struct nodes *nodes, struct node *parent)
{
	bool has;

	pthread_mutex_lock(&nodes->lock);
	has = parent->locals != NULL;
	pthread_mutex_unlock(&nodes->lock);
	return has;
}

/* They are in no order: what is beyond most is cut off now and then, and what
 * would come behind the last that was left is passed over. */
int node_add_locals(struct nodes *nodes, struct node *parent, struct bytes from,
		    size_t most, struct names *out, bool *more)
{
	struct buf last = BUF_INIT;
	struct node *n;
	int err = 0;

	*more = false;
	pthread_mutex_lock(&nodes->lock);
	for (n = parent->locals; n && !err; n = n->sibling) {
		if (bytes_compare(node_name(n), from) < 0 ||
		    (*more &&
		     bytes_compare(node_name(n), buf_bytes(&last)) > 0))
			continue;
		err = names_add(out, node_name(n));
		if (!err && out->memory.size / 2 > most) {
			*more = true;
			err = names_cut(out, most, &last);
		}
	}
	if (!err && out->memory.size > most) {
		size_t count = out->count;

		err = names_cut(out, most, &last);
		*more = *more || out->count < count;
	}
	pthread_mutex_unlock(&nodes->lock);
	buf_release(&last);
	return err;
}

int node_find_local(struct nodes *nodes, struct node *parent, struct bytes head,
		    uint64_t hash, struct buf *name)
{
	struct node *n;
	int err = 0;

	pthread_mutex_lock(&nodes->lock);
	for (n = parent->locals; n && !err; n = n->sibling)
		if (bytes_starts_with(node_name(n), head) &&
		    name_hash(node_name(n)) == hash)
			err = buf_add_bytes(name, node_name(n)) ? -ENOMEM : 1;
	pthread_mutex_unlock(&nodes->lock);
	return err;
}
