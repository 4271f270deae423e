#include "store/base/err.h"
#include "store/engine/estimate/plan.h"
#include "store/model/model.h"
#include "store/model/filter/scan_bounds.h"

int scan_plan(struct store *s, const struct scan_range *range,
	      struct scan_plan *out)
{
	struct schema *schema = store_schema(s);
	const struct table *table = schema_table(schema, range->table);
	uint32_t id = table ? table->id : 0;
	struct buf start = BUF_INIT, end = BUF_INIT;
	struct filter_need need = { .row_is_head = false };
	size_t prefix;
	int err;

	schema_put(schema);
	*out = (struct scan_plan){ 0 };
	if (id == 0)
		return fail(ERR_no_table, "table \"%.*s\" not found",
			    (int)range->table.size,
			    (const char *)range->table.data);
	if (range->filter)
		need = filter_need(range->filter);
	out->row_head = need.row_head;
	out->row_is_head = need.row_is_head;
	out->has_family = need.has_family;
	out->has_qualifier = need.has_family && need.has_qualifier;
	out->family = need.family;
	out->qualifier = need.qualifier;
	if (!range->reverse)
		out->since_us = range->since_us > need.since_us
					? range->since_us
					: need.since_us;
	err = scan_bounds(range, &need, id, &start, &end, &prefix);
	if (err == 0)
		err = engine_plan(s->engine, buf_bytes(&start), buf_bytes(&end),
				  prefix, out);
	buf_release(&start);
	buf_release(&end);
	return err;
}
