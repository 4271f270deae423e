#include <assert.h>

#include "store/model/guard/guard.h"

int row_guard_add(struct row_guards *list, struct row_guard *g,
		  struct bytes row)
{
	int err = buf_set(&g->row, row);

	if (err < 0)
		return err;
	g->changed = false;
	g->next = list->first;
	list->first = g;
	return 0;
}

void row_guard_remove(struct row_guards *list, struct row_guard *g)
{
	struct row_guard **at = &list->first;

	while (*at != g) {
		assert(*at);
		at = &(*at)->next;
	}
	*at = g->next;
	buf_release(&g->row);
}

/* Whether a record is about the row, whose prefix ends so that no other row's
 * key begins with it. A range is if it ends behind the prefix and does not
 * begin behind all that starts with it. */
static bool is_about(const struct batch_record *r, struct bytes row)
{
	if (bytes_starts_with(r->key, row))
		return true;
	return r->kind == BATCH_RANGE && bytes_compare(r->key, row) < 0 &&
	       bytes_compare(r->value, row) > 0;
}

void row_guards_note(struct row_guards *list, const struct batch *batch)
{
	struct batch_record record;
	struct row_guard *g;
	size_t position = 0;

	while (list->first && batch_next(batch, &position, &record))
		for (g = list->first; g; g = g->next)
			g->changed |= is_about(&record, buf_bytes(&g->row));
}

void row_guards_note_all(struct row_guards *list)
{
	struct row_guard *g;

	for (g = list->first; g; g = g->next)
		g->changed = true;
}
