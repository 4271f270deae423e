#include <stdlib.h>

#include "tests/conformance/run.h"

/* Tables, families and time; and the table of all operations. */

const char *word(const struct operation *o, size_t i)
{
	return i < o->words.count ? o->words.items[i] : "";
}

const char *option(const struct operation *o, size_t first, const char *key)
{
	size_t i, size = strlen(key);

	for (i = first; i < o->words.count; i++)
		if (!strncmp(o->words.items[i], key, size) &&
		    o->words.items[i][size] == '=')
			return o->words.items[i] + size + 1;
	return NULL;
}

int run_skip(struct run *r, const char *why)
{
	r->skip = why;
	return RUN_SKIP;
}

static int put_ok(struct run *r, int err)
{
	return err ? err : buf_add_string(&r->out, "ok\n");
}

/* table T and family F of the operation as bytes, in memory. */
struct names {
	struct buf memory;
	struct bytes table, family;
};

static bool parse_names(const struct operation *o, struct names *n)
{
	size_t table_size;

	n->memory = (struct buf)BUF_INIT;
	if (!parse_name(word(o, 1), &n->memory))
		return false;
	table_size = n->memory.size;
	if (!parse_name(word(o, 2), &n->memory))
		return false;
	n->table = bytes_of(n->memory.data, table_size);
	n->family = bytes_after(buf_bytes(&n->memory), table_size);
	return true;
}

static int run_table(struct run *r, const struct operation *o)
{
	struct buf name = BUF_INIT;
	int err = RUN_MALFORMED;

	if (parse_name(word(o, 1), &name))
		err = put_ok(r, store_create_table(r->store, buf_bytes(&name),
						   true, NULL, 0));
	buf_release(&name);
	/* The emulator has no limit; Bigtable's is 1000. */
	return err == -ERR_too_many_tables ? RUN_AGREES : err;
}

static int run_droptable(struct run *r, const struct operation *o)
{
	struct buf name = BUF_INIT;
	int err = RUN_MALFORMED;

	if (parse_name(word(o, 1), &name))
		err = put_ok(
			r, store_drop_table(r->store, buf_bytes(&name), false));
	buf_release(&name);
	return err;
}

static int run_tables(struct run *r, const struct operation *o)
{
	struct schema *schema = store_schema(r->store);
	size_t i;
	int err = 0;

	(void)o;
	for (i = 0; !err && i < schema->table_count; i++) {
		err = buf_add_string(&r->out, "table ");
		if (!err)
			err = put_name(&r->out, schema->tables[i].name);
		if (!err)
			err = buf_add_byte(&r->out, '\n');
	}
	schema_put(schema);
	return err ? err : buf_add_string(&r->out, "end\n");
}

static int run_family(struct run *r, const struct operation *o)
{
	const char *gc_text = option(o, 3, "gc");
	const char *type_text = option(o, 3, "type");
	struct family_spec spec = { .type = FAMILY_BYTES };
	struct gc_policy *gc = NULL;
	struct names n;
	int err = RUN_MALFORMED;

	if (parse_names(o, &n) && (!gc_text || parse_gc(gc_text, &gc)) &&
	    (!type_text || parse_type(type_text, &spec.type))) {
		spec.name = n.family;
		spec.gc = gc;
		err = put_ok(r, store_create_family(r->store, n.table, &spec));
	}
	gc_policy_free(gc);
	buf_release(&n.memory);
	return err;
}

static int run_dropfamily(struct run *r, const struct operation *o)
{
	struct names n;
	int err = RUN_MALFORMED;

	if (parse_names(o, &n))
		err = put_ok(r, store_drop_family(r->store, n.table, n.family));
	buf_release(&n.memory);
	return err;
}

static int run_setgc(struct run *r, const struct operation *o)
{
	const char *text = option(o, 3, "gc");
	struct gc_policy *gc = NULL;
	struct names n;
	int err = RUN_MALFORMED;

	if (parse_names(o, &n) && text && parse_gc(text, &gc))
		err = put_ok(r, store_set_gc(r->store, n.table, n.family, gc));
	gc_policy_free(gc);
	buf_release(&n.memory);
	return err;
}

static int run_settype(struct run *r, const struct operation *o)
{
	const char *text = option(o, 3, "type");
	enum family_type type;
	struct names n;
	int err = RUN_MALFORMED;

	if (parse_names(o, &n) && text && parse_type(text, &type))
		err = put_ok(r,
			     store_set_type(r->store, n.table, n.family, type));
	buf_release(&n.memory);
	return err;
}

static int run_families(struct run *r, const struct operation *o)
{
	struct schema *schema = store_schema(r->store);
	const struct table *t;
	struct names n;
	size_t i;
	int err = RUN_MALFORMED;

	if (parse_names(o, &n)) {
		t = schema_table(schema, n.table);
		err = t ? 0 : -ERR_no_table;
		for (i = 0; !err && i < t->family_count; i++) {
			err = buf_add_string(&r->out, "family ");
			if (!err)
				err = put_name(&r->out, t->families[i].name);
			if (!err)
				err = buf_add_byte(&r->out, '\n');
		}
	}
	schema_put(schema);
	buf_release(&n.memory);
	return err ? err : buf_add_string(&r->out, "end\n");
}

static int run_wait(struct run *r, const struct operation *o)
{
	(void)o;
	return store_compact(r->store, BYTES_NONE);
}

static int run_sleep(struct run *r, const struct operation *o)
{
	r->now_us += strtoull(word(o, 1), NULL, 10) * 1000;
	return 0;
}

operation_run *operation_find(const char *name)
{
	static const struct {
		const char *name;
		operation_run *run;
	} all[] = {
		{ "table", run_table },
		{ "droptable", run_droptable },
		{ "tables", run_tables },
		{ "family", run_family },
		{ "dropfamily", run_dropfamily },
		{ "families", run_families },
		{ "setgc", run_setgc },
		{ "settype", run_settype },
		{ "set", run_set },
		{ "add", run_set },
		{ "merge", run_set },
		{ "delcol", run_delcol },
		{ "delfam", run_delfam },
		{ "delrow", run_delrow },
		{ "mutate", run_mutate },
		{ "bulk", run_bulk },
		{ "check", run_check },
		{ "incr", run_incr },
		{ "append", run_append },
		{ "rmw", run_rmw },
		{ "dropprefix", run_dropprefix },
		{ "dropall", run_dropall },
		{ "scan", run_scan },
		{ "keys", run_keys },
		{ "hash", run_hash },
		{ "lookup", run_lookup },
		{ "count", run_count },
		{ "wait", run_wait },
		{ "sleep", run_sleep },
		{ "import", run_import },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			return all[i].run;
	return NULL;
}
