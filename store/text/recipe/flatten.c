#include <assert.h>

#include "store/text/recipe/flatten.h"

/* A walk; the way down to the present node, of which there is one more step for
 * each level of the tree. */
struct walk {
	const struct record *record;
	const struct fields *fields;
	int (*leaf)(void *context, struct bytes name,
		    const struct json_node *n);
	void *context;
	struct bytes keys[JSON_DEPTH_MAX];
	size_t depth;
	struct buf name;
};

/* Whether the field's path is the one that the walk has gone. */
static bool is_here(const struct walk *w, const struct field *f)
{
	size_t i;

	if (f->kind != FIELD_NAME || f->step_count != w->depth)
		return false;
	for (i = 0; i < w->depth; i++)
		if (f->steps[i].is_index ||
		    !bytes_equal(f->steps[i].key, w->keys[i]))
			return false;
	return true;
}

static bool is_named(const struct walk *w)
{
	size_t i;

	for (i = 0; i < w->fields->count; i++)
		if (w->fields->items[i].used &&
		    is_here(w, &w->fields->items[i]))
			return true;
	return false;
}

static int walk_node(struct walk *w, const struct json_node *n);

static int walk_object(struct walk *w, const struct json_node *n)
{
	size_t before = w->name.size;
	const struct json_node *child = json_first(w->record->json, n);
	int err = 0;

	assert(w->depth < JSON_DEPTH_MAX);
	for (; !err && child; child = json_next(w->record->json, child)) {
		w->keys[w->depth++] = child->key;
		if (w->depth > 1)
			err = buf_add_byte(&w->name, '.');
		if (!err)
			err = buf_add_bytes(&w->name, child->key);
		if (!err)
			err = walk_node(w, child);
		w->depth--;
		w->name.size = before;
	}
	return err;
}

/* Calls itself as deep as the tree is. */
static int walk_node(struct walk *w, const struct json_node *n)
{
	const struct record *r = w->record;

	if (is_named(w))
		return 0;
	if (r->element && is_here(w, r->exploded))
		n = r->element;
	if (n->type == JSON_OBJECT)
		return walk_object(w, n);
	return w->leaf(w->context, buf_bytes(&w->name), n);
}

int flatten(const struct record *r, const struct fields *fields,
	    int (*leaf)(void *context, struct bytes name,
			const struct json_node *n),
	    void *context)
{
	struct walk w = {
		.record = r, .fields = fields, .leaf = leaf, .context = context
	};
	bool all = r->element && r->exploded->step_count == 0;
	int err = walk_object(&w, all ? r->element : r->root);

	buf_release(&w.name);
	return err;
}
