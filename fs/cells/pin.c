#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/pin.h"
#include "store/text/value/time.h"

static_assert(AT_SHARED_US < AT_KEPT_US, "one is shared before it ends");

/* One snapshot that .at/now of a table shows. All is guarded by pins.lock. A
 * table has several if some were still in use when they were too old to share:
 * only one's node is found. */
struct pin {
	struct pin *next;
	struct node *node;         /* of the name now; referenced */
	struct snapshot *snapshot; /* owned; for good, as long as users > 0 */
	uint64_t made_us, used_us; /* as fs_steady told */
	unsigned int users;        /* views */
};

void pins_init(struct pins *pins)
{
	pthread_mutex_init(&pins->lock, NULL);
	pins->first = NULL;
}

/* Ends the pin that *at points to; *at is then the next. Its node lives on
 * while the kernel knows it, and finds no pin. With the lock held, or at the
 * end. */
static void end_pin(struct fs *fs, struct pin **at)
{
	struct pin *p = *at;

	assert(p->users == 0);
	*at = p->next;
	node_detach(&fs->nodes, p->node);
	node_put(&fs->nodes, p->node);
	store_snapshot_release(fs->store, p->snapshot);
	free(p);
}

void pins_release(struct fs *fs)
{
	while (fs->pins.first)
		end_pin(fs, &fs->pins.first);
	pthread_mutex_destroy(&fs->pins.lock);
}

/* A pin that the kernel knows the name of may have somebody in it, who is let
 * be for an hour. */
static void sweep_locked(struct fs *fs, uint64_t now_us)
{
	struct pin **at = &fs->pins.first;

	while (*at) {
		struct pin *p = *at;
		bool unused = now_us - p->used_us >= AT_SHARED_US &&
			      !node_is_remembered(&fs->nodes, p->node);

		if (p->users == 0 &&
		    (unused || now_us - p->made_us >= AT_KEPT_US))
			end_pin(fs, at);
		else
			at = &p->next;
	}
}

void pins_sweep(struct fs *fs, uint64_t now_us)
{
	pthread_mutex_lock(&fs->pins.lock);
	sweep_locked(fs, now_us);
	pthread_mutex_unlock(&fs->pins.lock);
}

/* A new pin for the name now in directory, which no node has; the list's first
 * then. 0 or an error. With the lock held. */
static int make_pin(struct fs *fs, struct node *directory, uint64_t now_us)
{
	struct pin *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = store_snapshot(fs->store, &p->snapshot);
	if (err)
		goto free_pin;
	err = node_enter(&fs->nodes, directory, NODE_AT_TIME,
			 BYTES_LITERAL("now"), &p->node);
	if (err)
		goto release_snapshot;
	p->made_us = p->used_us = now_us;
	p->next = fs->pins.first;
	fs->pins.first = p;
	return 0;

release_snapshot:
	store_snapshot_release(fs->store, p->snapshot);
free_pin:
	free(p);
	return err;
}

int pin_now(struct fs *fs, struct node *directory, struct node **out)
{
	uint64_t now_us = fs_steady();
	struct pin *p;
	int err = 0;

	assert(directory->kind == NODE_AT);
	pthread_mutex_lock(&fs->pins.lock);
	sweep_locked(fs, now_us);
	for (p = fs->pins.first; p; p = p->next)
		if (p->node->parent == directory && p->node->found)
			break;
	if (p && (now_us - p->used_us >= AT_SHARED_US ||
		  now_us - p->made_us >= AT_KEPT_US)) {
		node_detach(&fs->nodes, p->node);
		p = NULL;
	}
	if (!p) {
		err = make_pin(fs, directory, now_us);
		p = fs->pins.first;
	}
	if (!err) {
		p->used_us = now_us;
		node_get(&fs->nodes, p->node);
		*out = p->node;
	}
	pthread_mutex_unlock(&fs->pins.lock);
	return err;
}

int at_open(struct fs *fs, struct node *node, struct at_view *view)
{
	struct pin *p;

	assert(node_is_past(node) && node->kind != NODE_AT);
	memset(view, 0, sizeof(*view));
	while (node->kind != NODE_AT_TIME)
		node = node->parent;
	if (!bytes_equal(node_name(node), BYTES_LITERAL("now")))
		return time_parse(node_name(node), &view->time_us);
	view->time_us = INT64_MAX;
	pthread_mutex_lock(&fs->pins.lock);
	/* Also one that is not shared any more: this node is its own. */
	for (p = fs->pins.first; p && p->node != node; p = p->next)
		;
	if (p) {
		p->users++;
		p->used_us = fs_steady();
		view->pin = p;
		view->snapshot = p->snapshot;
	}
	pthread_mutex_unlock(&fs->pins.lock);
	return p ? 0 : -ESTALE;
}

void at_close(struct fs *fs, struct at_view *view)
{
	if (!view->pin)
		return;
	pthread_mutex_lock(&fs->pins.lock);
	assert(view->pin->users > 0);
	view->pin->users--;
	pthread_mutex_unlock(&fs->pins.lock);
	view->pin = NULL;
}

int at_filter(const struct at_view *view, struct filter **out)
{
	*out = NULL;
	/* No timestamp is later; and time_us + 1 is one. */
	if (view->time_us >= INT64_MAX)
		return 0;
	return filter_new_timestamps(0, view->time_us + 1, out);
}
