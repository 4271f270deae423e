#include <assert.h>
#include <linux/fuse.h>
#include <unistd.h>

#include "fs/cells/prune.h"
#include "store/base/bg.h"

/* In the kernel since 6.18, not yet in the headers here. */
#define NOTIFY_PRUNE 9

/* How many buckets are looked at for one name to be dropped, at most: where
 * nearly all is in use, the lock is not to be held for long. */
#define BUCKETS_FOR_ONE 8

/* FUSE_NOTIFY_PRUNE: as much of it as has ids is sent. */
struct message {
	struct fuse_out_header header; /* error: which notification */
	uint32_t count;                /* of ids */
	uint32_t padding;
	uint64_t spare; /* 0 */
	uint64_t ids[NODES_PRUNED_AT_ONCE];
};

static_assert(offsetof(struct message, ids) == 32, "as the kernel has it");

/* Only the kernel refers to it. What an earlier name left behind for a removal
 * (renamed_from), which no lookup brings back, is kept, unless there is far too
 * much of that. */
static bool can_go(const struct nodes *nodes, const struct node *node)
{
	return node->lookups > 0 && node->references == 1 &&
	       (node->kind != NODE_CELL || !node->renamed_from.data ||
		nodes->memory > 2 * NODES_MEMORY_MAX);
}

uint32_t prune_choose(struct nodes *nodes, uint64_t *ids)
{
	size_t left = NODES_PRUNED_AT_ONCE * BUCKETS_FOR_ONE;
	uint32_t count = 0;
	struct node *node;

	/* Buckets only become more: the hand is in one of them. */
	assert(nodes->hand < nodes->bucket_count);
	for (; left > 0 && count < NODES_PRUNED_AT_ONCE; left--) {
		nodes->hand = (nodes->hand + 1) & (nodes->bucket_count - 1);
		node = nodes->buckets[nodes->hand];
		for (; node && count < NODES_PRUNED_AT_ONCE; node = node->next)
			if (can_go(nodes, node))
				ids[count++] = node_id(nodes, node);
	}
	return count;
}

/* One message, as the step of a thread: 1 if there was one to send, so that it
 * is called again, else 0. By the time the kernel is told, a node may be gone
 * and its id another's, which then goes for it. */
static int prune(void *context)
{
	struct fs *fs = context;
	struct nodes *nodes = &fs->nodes;
	struct message message = { .header.error = NOTIFY_PRUNE };
	bool is_due;

	pthread_mutex_lock(&nodes->lock);
	/* The kernel may have forgotten names by itself. */
	if (nodes->memory <= NODES_MEMORY_MAX)
		nodes->due = 0;
	is_due = nodes->due >= NODES_PRUNED_AT_ONCE;
	if (is_due) {
		nodes->due -= NODES_PRUNED_AT_ONCE;
		message.count = prune_choose(nodes, message.ids);
	}
	pthread_mutex_unlock(&nodes->lock);
	assert(message.count <= NODES_PRUNED_AT_ONCE);
	message.header.len =
		(uint32_t)offsetof(struct message, ids[message.count]);
	/* If it fails, names are kept until the hand comes round again. */
	if (message.count > 0)
		(void)!write(fuse_session_fd(fs->session), &message,
			     message.header.len);
	return is_due;
}

void prune_start(struct fs *fs)
{
	bg_start(prune, NULL, 0, fs, &fs->nodes.pruner);
}

void prune_stop(struct fs *fs)
{
	bg_stop(fs->nodes.pruner);
	fs->nodes.pruner = NULL;
}
