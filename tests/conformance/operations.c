#include <stdlib.h>

#include "tests/conformance/target.h"

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

void *run_alloc(struct run *r, size_t size)
{
	int err;

	return proto_alloc(&r->arena, size, &err);
}

struct bytes run_keep(struct run *r, struct bytes b)
{
	uint8_t *p = run_alloc(r, b.size + 1);

	if (p && b.size > 0)
		memcpy(p, b.data, b.size);
	return bytes_of(p, b.size);
}

int run_words(struct run *r, const char *line, struct list *out)
{
	char *text = (char *)(uintptr_t)run_keep(r, bytes_string(line)).data;

	return text ? list_split(out, text) : -ENOMEM;
}

static int put_ok(struct run *r, int err)
{
	return err ? err : buf_add_string(&r->out, "ok\n");
}

/* "splits=B,B"; those are kept, and nothing that a case asks for goes by
 * them. */
static bool parse_splits(struct run *r, const char *text,
			 struct proto_create_table *q)
{
	while (text && *text) {
		struct bytes word = bytes_of(text, strcspn(text, ","));
		struct proto_split *grown = run_alloc(
			r, (q->initial_splits.count + 1) * sizeof(*grown));

		if (!grown)
			return false;
		if (q->initial_splits.count > 0)
			memcpy(grown, q->initial_splits.at,
			       q->initial_splits.count * sizeof(*grown));
		q->initial_splits.at = grown;
		word = run_keep(r, word);
		if (!word.data ||
		    !parse_bytes(r, (const char *)word.data,
				 &grown[q->initial_splits.count++].key))
			return false;
		text += word.size;
		text += *text == ',';
	}
	return true;
}

static int run_table(struct run *r, const struct operation *o)
{
	struct proto_create_table q = { .parent = BYTES_NONE };
	int err = RUN_MALFORMED;

	if (parse_name(r, word(o, 1), &q.table_id) &&
	    parse_splits(r, option(o, 2, "splits"), &q))
		err = put_ok(r, r->target->create_table(r, &q));
	/* The emulator has no limit; Bigtable's is 1000. */
	return target_status(r, err) == CALL_RESOURCE_EXHAUSTED ? RUN_AGREES
								: err;
}

static int run_droptable(struct run *r, const struct operation *o)
{
	struct bytes name;

	if (!parse_name(r, word(o, 1), &name))
		return RUN_MALFORMED;
	return put_ok(r, r->target->drop_table(r, name));
}

static int compare_names(const void *a, const void *b)
{
	const struct bytes *x = a, *y = b;

	return bytes_compare(*x, *y);
}

static int put_names(struct run *r, const char *kind, struct names *names)
{
	size_t i;
	int err = 0;

	if (names->count > 1)
		qsort(names->at, names->count, sizeof(*names->at),
		      compare_names);
	for (i = 0; !err && i < names->count; i++) {
		err = buf_printf(&r->out, "%s ", kind);
		if (!err)
			err = put_name(&r->out, names->at[i]);
		if (!err)
			err = buf_add_byte(&r->out, '\n');
	}
	return err ? err : buf_add_string(&r->out, "end\n");
}

static int run_tables(struct run *r, const struct operation *o)
{
	struct names names = { NULL, 0 };
	int err = r->target->list_tables(r, &names);

	(void)o;
	return err ? err : put_names(r, "table", &names);
}

static int run_families(struct run *r, const struct operation *o)
{
	struct names names = { NULL, 0 };
	struct bytes table;
	int err;

	if (!parse_name(r, word(o, 1), &table))
		return RUN_MALFORMED;
	err = r->target->list_families(r, table, &names);
	return err ? err : put_names(r, "family", &names);
}

/* NAME T F [gc=G] [type=Y] */
static int change_family(struct run *r, const struct operation *o,
			 struct family_change *change)
{
	const char *gc_text = option(o, 3, "gc");
	const char *type_text = option(o, 3, "type");
	struct gc_policy *gc = NULL;
	struct bytes table;
	int err = RUN_MALFORMED;

	if (parse_name(r, word(o, 1), &table) &&
	    parse_name(r, word(o, 2), &change->family.name) &&
	    (gc_text ? parse_gc(gc_text, &gc) : !change->set_gc) &&
	    (type_text ? parse_type(type_text, &change->family.type)
		       : !change->set_type)) {
		change->family.gc = gc;
		err = put_ok(r, r->target->change_family(r, table, change));
	}
	gc_policy_free(gc);
	return err;
}

static int run_family(struct run *r, const struct operation *o)
{
	return change_family(r, o,
			     &(struct family_change){ .kind = FAMILY_CREATE });
}

static int run_dropfamily(struct run *r, const struct operation *o)
{
	return change_family(r, o,
			     &(struct family_change){ .kind = FAMILY_DROP });
}

static int run_setgc(struct run *r, const struct operation *o)
{
	return change_family(r, o,
			     &(struct family_change){ .kind = FAMILY_UPDATE,
						      .set_gc = true });
}

static int run_settype(struct run *r, const struct operation *o)
{
	return change_family(r, o,
			     &(struct family_change){ .kind = FAMILY_UPDATE,
						      .set_type = true });
}

/* No request asks for it: a server's store is compacted by a command. */
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
