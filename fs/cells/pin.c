#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/pin.h"
#include "store/text/value/time.h"

static_assert(AT_SHARED_US < AT_KEPT_US, "one is shared before it ends");

/* One snapshot that .at/now of a table shows, or a moment. All is guarded by
 * pins.lock. A table has several if some were still in use when they were too
 * old to share: only one's node is found. */
struct pin {
	struct pin *next;
	struct node *node; /* of the name now, referenced; of a moment NULL */
	uint64_t time_us;  /* of a moment */
	uint64_t size;     /* bytes that it takes, as accounts have it */
	struct snapshot *snapshot; /* owned; for good, as long as users > 0;
				      NULL of a moment that rests */
	uint64_t made_us, used_us; /* as fs_steady told */
	unsigned int users;        /* views */
	bool alone; /* of one view, in no list, since the moment rests */
};

void pins_init(struct pins *pins)
{
	pthread_mutex_init(&pins->lock, NULL);
	pins->first = NULL;
	pins->moments = 0;
}

/* The moment is no longer held. With the lock held, or at the end. */
static void let_go(struct fs *fs, struct pin *p)
{
	assert(p->users == 0 && !p->node);
	if (!p->snapshot)
		return;
	store_snapshot_release(fs->store, p->snapshot);
	memory_give(store_memory(fs->store), MEMORY_MOMENTS, p->size);
	p->snapshot = NULL;
	fs->pins.moments--;
}

/* Ends the pin that *at points to; *at is then the next. Its node lives on
 * while the kernel knows it, and finds no pin. With the lock held, or at the
 * end. */
static void end_pin(struct fs *fs, struct pin **at)
{
	struct pin *p = *at;

	assert(p->users == 0);
	*at = p->next;
	if (p->node) {
		node_detach(&fs->nodes, p->node);
		node_put(&fs->nodes, p->node);
		store_snapshot_release(fs->store, p->snapshot);
	} else {
		let_go(fs, p);
	}
	free(p);
}

void pins_release(struct fs *fs)
{
	while (fs->pins.first)
		end_pin(fs, &fs->pins.first);
	pthread_mutex_destroy(&fs->pins.lock);
}

/* Whether a pin ends, which nobody uses. One that the kernel knows the name of
 * may have somebody in it, who is let be for an hour; a moment may have, too,
 * and then rests. With the lock held. */
static bool is_over(struct fs *fs, struct pin *p, uint64_t now_us)
{
	uint64_t age_us = now_us - p->made_us;

	if (p->node)
		return age_us >= AT_KEPT_US ||
		       (now_us - p->used_us >= AT_SHARED_US &&
			!node_is_remembered(&fs->nodes, p->node));
	if (age_us >= AT_KEPT_US)
		let_go(fs, p);
	return age_us >= AT_KEPT_US + MOMENT_RESTS_US;
}

static void sweep_locked(struct fs *fs, uint64_t now_us)
{
	struct pin **at = &fs->pins.first;

	while (*at) {
		if ((*at)->users == 0 && is_over(fs, *at, now_us))
			end_pin(fs, at);
		else
			at = &(*at)->next;
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
		if (p->node && p->node->parent == directory && p->node->found)
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

/* The node that says what all below it see: .at/<time>, or that of a moment. */
static const struct node *root_of(const struct node *node)
{
	while (node->kind != NODE_AT_TIME && node->kind != NODE_AS_OF_STORE)
		node = node->parent;
	return node;
}

static void use_pin(struct pin *p, struct at_view *view)
{
	p->users++;
	p->used_us = fs_steady();
	view->pin = p;
	view->snapshot = p->snapshot;
}

/* The pin of this node, or of this moment if that is NULL, in use by view if it
 * does not rest; NULL if there is none. With the lock held. */
static struct pin *find_pin(struct fs *fs, const struct node *node,
			    uint64_t time_us, struct at_view *view)
{
	struct pin *p = fs->pins.first;

	/* Also one that is not shared any more: this node is its own. */
	while (p && (p->node != node || p->time_us != time_us))
		p = p->next;
	if (p && p->snapshot)
		use_pin(p, view);
	return p;
}

/* Ends the moment that was used longest ago, if one is not in use: whether it
 * did. With the lock held. */
static bool end_oldest(struct fs *fs)
{
	struct pin **at, **oldest = NULL;

	for (at = &fs->pins.first; *at; at = &(*at)->next)
		if (!(*at)->node && (*at)->snapshot && (*at)->users == 0 &&
		    (!oldest || (*at)->used_us < (*oldest)->used_us))
			oldest = at;
	if (oldest)
		end_pin(fs, oldest);
	return oldest != NULL;
}

/* One more moment, which takes size bytes, goes in the place of others if there
 * is no room for it; in use there are no more than requests and open lists.
 * With the lock held. */
static void make_room(struct fs *fs, uint64_t size)
{
	struct memory *memory = store_memory(fs->store);

	while (fs->pins.moments >= MOMENTS_HELD && end_oldest(fs))
		;
	while (!memory_take(memory, MEMORY_MOMENTS, size, 0)) {
		if (end_oldest(fs))
			continue;
		memory_hold(memory, MEMORY_MOMENTS, size);
		return;
	}
}

/* About what a moment has in memory: its schema, and rules made of that. */
static uint64_t size_of(struct fs *fs, const struct snapshot *moment)
{
	struct schema *schema = store_schema_at(fs->store, moment);
	uint64_t size = sizeof(struct pin) + sizeof(*schema);
	size_t i;

	for (i = 0; i < schema->table_count; i++)
		size += 2 * (sizeof(*schema->tables) +
			     schema->tables[i].family_count *
				     (sizeof(*schema->tables[i].families) +
				      STORE_FAMILY_NAME_MAX / 2));
	schema_put(schema);
	return size;
}

/* As store_moment, of just this time. */
static int open_snapshot(struct fs *fs, uint64_t time_us, struct snapshot **out)
{
	int err = store_moment(fs->store, time_us, out);

	if (err || store_moment_time(*out) == time_us)
		return err;
	store_snapshot_release(fs->store, *out);
	*out = NULL;
	return -ERR_no_moment;
}

/* Takes p, of a moment that is in no list, for view, and into the list unless
 * another has that by now, or rests there. With the lock held. */
static void enter_moment(struct fs *fs, struct pin *p, struct at_view *view)
{
	struct pin *other = find_pin(fs, NULL, p->time_us, view);

	if (other && other->snapshot) {
		store_snapshot_release(fs->store, p->snapshot);
		free(p);
		return;
	}
	use_pin(p, view);
	p->alone = other != NULL;
	if (p->alone)
		return;
	make_room(fs, p->size);
	p->next = fs->pins.first;
	fs->pins.first = p;
	fs->pins.moments++;
}

/* Opens the moment for view. Without the lock, as the schema is read; another
 * may do the same meanwhile. */
static int open_moment(struct fs *fs, uint64_t time_us, struct at_view *view)
{
	struct pin *p = calloc(1, sizeof(*p));
	int err = p ? open_snapshot(fs, time_us, &p->snapshot) : -ENOMEM;

	if (err) {
		free(p);
		return err;
	}
	p->time_us = time_us;
	p->size = size_of(fs, p->snapshot);
	p->made_us = fs_steady();
	pthread_mutex_lock(&fs->pins.lock);
	enter_moment(fs, p, view);
	pthread_mutex_unlock(&fs->pins.lock);
	return 0;
}

/* What is held of a moment that was given up since cannot be read. */
int at_open_moment(struct fs *fs, uint64_t time_us, struct at_view *view)
{
	char text[CLOCK_TEXT_SIZE];
	uint64_t found_us;
	int err = store_find_moment(fs->store, time_us, &found_us);

	*view = (struct at_view){ .time_us = INT64_MAX };
	if (!err && found_us != time_us)
		err = -ERR_no_moment;
	if (!err) {
		pthread_mutex_lock(&fs->pins.lock);
		find_pin(fs, NULL, time_us, view);
		pthread_mutex_unlock(&fs->pins.lock);
		if (view->pin)
			return 0;
		loop_hand_over();
		err = open_moment(fs, time_us, view);
	}
	if (err != -ERR_no_moment)
		return err;
	clock_print(time_us, text, sizeof(text));
	return fail(ERR_moment_gone,
		    "what was at %s is no longer kept: go there anew, or to a "
		    "later time",
		    text);
}

int at_open(struct fs *fs, struct node *node, struct at_view *view)
{
	const struct node *root;
	int err;

	assert(node_is_past(node) && node->kind != NODE_AT);
	root = root_of(node);
	if (at_is_moment(root)) {
		err = at_open_moment(fs, root->timestamp_us, view);
		if (root->kind == NODE_AT_TIME)
			view->table_id = root->table_id;
		return err;
	}
	*view = (struct at_view){ .time_us = INT64_MAX };
	if (!bytes_equal(node_name(root), BYTES_LITERAL("now")))
		return time_parse(node_name(root), &view->time_us);
	pthread_mutex_lock(&fs->pins.lock);
	find_pin(fs, root, 0, view);
	pthread_mutex_unlock(&fs->pins.lock);
	return view->pin ? 0 : -ESTALE;
}

void at_close(struct fs *fs, struct at_view *view)
{
	struct pin *p = view->pin;

	if (!p)
		return;
	pthread_mutex_lock(&fs->pins.lock);
	assert(p->users > 0);
	p->users--;
	pthread_mutex_unlock(&fs->pins.lock);
	if (p->alone) {
		store_snapshot_release(fs->store, p->snapshot);
		free(p);
	}
	view->pin = NULL;
}

bool at_is_moment(const struct node *node)
{
	if (!node_is_past(node))
		return false;
	while (node && node->kind != NODE_AS_OF_STORE &&
	       (node->kind != NODE_AT_TIME || !node->table_id))
		node = node->parent;
	return node != NULL;
}

/* What a node stands for is told under the lock, so that who finds one finds
 * that too. */
int at_enter(struct fs *fs, struct node *directory, const struct at_moment *m,
	     struct node **out)
{
	int err;

	assert(m->time_us > 0 &&
	       (m->table_id > 0) == (m->kind == NODE_AT_TIME));
	pthread_mutex_lock(&fs->pins.lock);
	err = node_enter(&fs->nodes, directory, m->kind, m->name, out);
	if (!err && (*out)->timestamp_us == 0) {
		(*out)->table_id = m->table_id;
		node_know(&fs->nodes, *out, m->time_us, 0);
	}
	pthread_mutex_unlock(&fs->pins.lock);
	return err;
}

struct node *at_find(struct fs *fs, struct node *directory, enum node_kind kind,
		     struct bytes name)
{
	struct node *node;

	pthread_mutex_lock(&fs->pins.lock);
	node = node_find(&fs->nodes, directory, kind, name);
	pthread_mutex_unlock(&fs->pins.lock);
	return node;
}

int at_schema(struct fs *fs, struct node *node, struct schema **schema,
	      const struct table **table)
{
	struct at_view view;
	int err = at_open(fs, node, &view);

	*schema = NULL;
	*table = NULL;
	if (err)
		return err;
	*schema = store_schema_at(fs->store, view.snapshot);
	if (view.table_id)
		*table = table_by_id(*schema, view.table_id);
	at_close(fs, &view);
	return 0;
}

int at_filter(const struct at_view *view, struct filter **out)
{
	*out = NULL;
	/* No timestamp is later; and time_us + 1 is one. */
	if (view->time_us >= INT64_MAX)
		return 0;
	return filter_new_timestamps(0, view->time_us + 1, out);
}
