#include "store/text/print/moment.h"

int moment_take(struct store *s, struct moment *m)
{
	int err = m->snapshot ? 0 : store_snapshot(s, &m->snapshot);

	m->schema = err < 0 ? NULL : store_schema_at(s, m->snapshot);
	return err;
}

void moment_release(struct store *s, struct moment *m)
{
	schema_put(m->schema);
	store_snapshot_release(s, m->snapshot);
	*m = (struct moment){ NULL, NULL };
}

int moment_scan(struct store *s, const struct moment *m, const struct table *t,
		struct scan_range *range, struct scan **out)
{
	range->table_id = t->id;
	return scan_open(s, m->snapshot, range, out);
}

int moment_select(struct store *s, const struct moment *m,
		  const struct table *t, struct select *select,
		  struct scan_range *how, struct select_scan **out)
{
	how->table_id = t->id;
	return select_open(s, m->snapshot, select, how, out);
}

bool moment_is_present(struct store *s, const struct table *t)
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
	return found != NULL;
}
