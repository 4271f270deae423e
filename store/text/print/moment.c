#include "store/text/print/moment.h"

int moment_take(struct store *s, struct moment *m)
{
	struct schema *after;
	bool same;
	int err;

	for (;;) {
		m->schema = store_schema(s);
		err = store_snapshot(s, &m->snapshot);
		if (err < 0) {
			schema_put(m->schema);
			m->schema = NULL;
			return err;
		}
		/* If it changed in between, which of them the snapshot sees is
		 * not known. */
		after = store_schema(s);
		same = after->seq == m->schema->seq;
		schema_put(after);
		if (same)
			return 0;
		moment_release(s, m);
	}
}

void moment_release(struct store *s, struct moment *m)
{
	store_snapshot_release(s, m->snapshot);
	schema_put(m->schema);
	*m = (struct moment){ NULL, NULL };
}

static int is_gone(const struct table *t)
{
	return fail(ERR_no_table,
		    "table %.*s, or a family of it, was dropped meanwhile",
		    (int)t->name.size, (const char *)t->name.data);
}

int moment_scan(struct store *s, const struct moment *m, const struct table *t,
		struct scan_range *range, struct scan **out)
{
	struct schema *now = store_schema(s);
	const struct table *found = table_by_id(now, t->id);
	int err;

	*out = NULL;
	range->table = found ? found->name : BYTES_NONE;
	err = found ? scan_open(s, m->snapshot, range, out) : is_gone(t);
	schema_put(now);
	return err;
}

int moment_select(struct store *s, const struct moment *m,
		  const struct table *t, struct select *select,
		  struct scan_range *how, struct select_scan **out)
{
	struct schema *now = store_schema(s);
	const struct table *found = table_by_id(now, t->id);
	int err;

	*out = NULL;
	how->table = found ? found->name : BYTES_NONE;
	err = found ? select_open(s, m->snapshot, select, how, out)
		    : is_gone(t);
	schema_put(now);
	return err;
}

int moment_check(struct store *s, const struct table *t)
{
	struct schema *now = store_schema(s);
	const struct table *found = table_by_id(now, t->id);
	size_t i;

	for (i = 0; found && i < t->family_count; i++) {
		const struct family *f =
			table_family(found, t->families[i].name);

		if (!f || f->birth_seq != t->families[i].birth_seq)
			found = NULL;
	}
	schema_put(now);
	return found ? 0 : is_gone(t);
}
