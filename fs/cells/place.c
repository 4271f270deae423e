#include <assert.h>
#include <errno.h>

#include "fs/cells/loop.h"
#include "fs/cells/pin.h"
#include "fs/cells/place.h"

/* The filesystem whose tree this thread holds. */
static _Thread_local const struct fs *held;

void tree_init(struct fs *fs)
{
	pthread_rwlockattr_t attributes;

	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setkind_np(
		&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&fs->tree.lock, &attributes);
	pthread_rwlockattr_destroy(&attributes);
}

void tree_release(struct fs *fs)
{
	pthread_rwlock_destroy(&fs->tree.lock);
}

UNCHECKED void tree_hold(struct fs *fs)
{
	assert(!held);
	/* A row's cells may be on their way: others serve meanwhile. */
	if (pthread_rwlock_tryrdlock(&fs->tree.lock)) {
		loop_hand_over();
		pthread_rwlock_rdlock(&fs->tree.lock);
	}
	held = fs;
}

UNCHECKED void tree_hold_alone(struct fs *fs)
{
	assert(!held);
	pthread_rwlock_wrlock(&fs->tree.lock);
	held = fs;
}

UNCHECKED void tree_let_go(struct fs *fs)
{
	tree_assert_held(fs);
	held = NULL;
	pthread_rwlock_unlock(&fs->tree.lock);
}

UNCHECKED void tree_let_go_alone(struct fs *fs)
{
	tree_let_go(fs);
}

UNCHECKED void tree_assert_held(struct fs *fs)
{
	(void)fs;
	assert(held == fs);
}

/* Whether an age rule is part of the policy. Calls itself as deep as a policy
 * is, GC_DEPTH_MAX at most. */
static bool has_age(const struct gc_policy *policy)
{
	if (!policy)
		return false;
	return policy->type == GC_MAX_AGE || has_age(policy->left) ||
	       has_age(policy->right);
}

static bool table_expires(const struct table *table)
{
	size_t i;

	for (i = 0; i < table->family_count; i++)
		if (has_age(family_gc(&table->families[i])))
			return true;
	return false;
}

void access_lay_over(struct table_access *access,
		     const struct table_access *over)
{
	if (over->mode != TABLE_ACCESS_UNSET)
		access->mode = over->mode;
	if (over->uid != TABLE_ACCESS_UNSET)
		access->uid = over->uid;
	if (over->gid != TABLE_ACCESS_UNSET)
		access->gid = over->gid;
}

/* The rules of the place's table. */
static void take_rules(struct place *place)
{
	place->rules.millis = place->table->millis;
	access_lay_over(&place->rules.access, &place->table->access);
	place->rules.expires = table_expires(place->table);
}

/* Looks the path's table up, which has this id, or any if that is 0. 0, also in
 * a path without one, -ERR_no_table, or -ESTALE if another has the name. */
static int find_table(struct place *place, uint32_t id)
{
	struct bytes name = place->path.table;

	place->table = schema_table(place->schema, name);
	if (name.size == 0)
		return 0;
	if (!place->table)
		return fail(ERR_no_table, "%.*s", (int)name.size,
			    (const char *)name.data);
	if (id && place->table->id != id) {
		place->table = NULL;
		return fail(ESTALE,
			    "the table of this file was dropped: what is "
			    "called %.*s is another",
			    (int)name.size, (const char *)name.data);
	}
	take_rules(place);
	return 0;
}

/* Looks the path's family up, if the path has one, in its table. */
static void find_family(struct place *place)
{
	struct bytes name = place->path.family;
	const struct family *family = place->table && name.size > 0
					      ? table_family(place->table, name)
					      : NULL;

	place->rules.has_family = family != NULL;
	place->rules.aggregate = family && family_is_aggregate(family);
}

/* The id of the table that node is in or is, as far as that was looked up. */
static uint32_t table_id_of(const struct node *node)
{
	while (node && node->kind != NODE_TABLE)
		node = node->parent;
	return node ? node->table_id : 0;
}

int place_find(struct fs *fs, struct node *node, struct place *place)
{
	int err;

	tree_assert_held(fs);
	place->schema = NULL;
	place->table = NULL;
	place->rules = (struct cell_rules){ .access = fs->options->access };
	err = node_path(&fs->nodes, node, &place->path);
	if (err)
		return err;
	if (at_is_moment(node)) {
		err = at_schema(fs, node, &place->schema, &place->table);
		if (place->table)
			take_rules(place);
	} else {
		place->schema = store_schema(fs->store);
		err = find_table(place, table_id_of(node));
	}
	find_family(place);
	return err;
}

void place_release(struct place *place)
{
	path_release(&place->path);
	schema_put(place->schema);
}

int place_enter(struct fs *fs, struct node *node, struct place *place)
{
	tree_hold(fs);
	return place_find(fs, node, place);
}

void place_leave(struct fs *fs, struct place *place)
{
	place_release(place);
	tree_let_go(fs);
}

int place_check(struct fs *fs, struct node *node)
{
	struct place place;
	int err = place_enter(fs, node, &place);

	place_leave(fs, &place);
	return err;
}

int place_step(struct place *place, enum node_kind kind, struct bytes key)
{
	struct bytes *part = path_part(&place->path, kind);
	int err = 0;

	assert(part);
	*part = key;
	if (kind == NODE_TABLE)
		err = find_table(place, 0);
	if (part == &place->path.family)
		find_family(place);
	return err;
}

bool place_is_dropped(int err)
{
	return err == -ERR_no_table || err == -ESTALE;
}

uint64_t place_expiry(const struct place *place, struct bytes family,
		      uint64_t timestamp_us)
{
	const struct family *f =
		place->table ? table_family(place->table, family) : NULL;

	return f ? gc_expiry(family_gc(f), 0, timestamp_us) : UINT64_MAX;
}
