#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/place/place.h"
#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/base/volume/volume_posix_partial.h"
#include "store/engine/read/cursor.h"
#include "store/engine/repair/repair.h"
#include "store/engine/repair/repair_find.h"
#include "store/engine/run/open.h"
#include "store/model/admin/change.h"
#include "store/model/model.h"
#include "store/model/schema.h"

/* By the table's id, so that it is another for each table. At most 20 bytes,
 * which a table's name may have. */
#define RECOVERED_NAME "recovered_%u"

/* What the engine could not read. */
struct loss {
	struct buf problem;       /* a sentence */
	struct buf after, before; /* encoded keys; empty: not known */
};

struct store_repair {
	struct loss *losses; /* in the order in which they were met */
	size_t loss_count;
	struct store *s;      /* the new one */
	struct schema *found; /* tables by their cells */
	void (*tell)(void *context, const char *text); /* the user's */
	void *context;
};

/* Keeps a loss for tell_losses: names of tables are known only when the new
 * store is open. Its keys may be bounds that are not known, which are empty. */
static int note_loss(void *context, const char *problem, struct bytes after,
		     struct bytes before)
{
	struct store_repair *r = context;
	struct loss *l, *grown;
	int err;

	grown = realloc(r->losses, (r->loss_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->losses = grown;
	l = &grown[r->loss_count++];
	*l = (struct loss){ BUF_INIT, BUF_INIT, BUF_INIT };
	err = buf_add_string(&l->problem, problem);
	if (err == 0)
		err = buf_add_bytes(&l->after, after);
	return err < 0 ? err : buf_add_bytes(&l->before, before);
}

/* Bytes for a person: others than those of ASCII's printable ones as \xHH. */
static int add_printable(struct buf *out, struct bytes b)
{
	size_t i;
	int err = 0;

	for (i = 0; i < b.size && err == 0; i++)
		err = b.data[i] >= ' ' && b.data[i] < 0x7f
			      ? buf_add_byte(out, b.data[i])
			      : buf_printf(out, "\\x%02x", b.data[i]);
	return err;
}

/* "table NAME row "KEY"", of an encoded key, or as much of that as it holds. */
static int describe_key(const struct schema *schema, struct bytes key,
			struct buf *out)
{
	struct buf scratch = BUF_INIT;
	const struct table *t;
	struct bytes row;
	size_t end;
	int err;

	if (key.size < KEY_TABLE_SIZE)
		return buf_printf(out, "an unknown key");
	t = table_by_id(schema, key_table(key));
	if (t)
		err = buf_printf(out, "table %.*s", (int)t->name.size,
				 (const char *)t->name.data);
	else
		err = buf_printf(out, "%s",
				 key_table(key) ? "a table without a record"
						: "the schema");
	if (err == 0 && key_part(key, KEY_TABLE_SIZE, &scratch, &row, &end) < 0)
		row = BYTES_NONE;
	if (err == 0 && row.size > 0)
		err = buf_printf(out, " row \"");
	if (err == 0)
		err = add_printable(out, row);
	if (err == 0 && row.size > 0)
		err = buf_add_byte(out, '"');
	buf_release(&scratch);
	return err;
}

/* " FAMILY:QUALIFIER" of an entry's key. */
static int describe_column(struct bytes key, struct buf *out)
{
	struct buf scratch = BUF_INIT;
	struct key_parts parts;
	struct bytes part;
	size_t end;
	int err = key_split(key, &parts);

	if (err == 0)
		err = key_part(key, parts.row_end, &scratch, &part, &end);
	if (err == 0)
		err = buf_printf(out, " %.*s:", (int)part.size, part.data);
	if (err == 0)
		err = key_part(key, parts.family_end, &scratch, &part, &end);
	if (err == 0)
		err = add_printable(out, part);
	buf_release(&scratch);
	return err;
}

/* A sentence about a loss, with a NUL behind it. Equal bounds are one entry,
 * whose column is named as well. */
static int describe(const struct schema *schema, const struct loss *l,
		    struct buf *out)
{
	struct bytes after = buf_bytes(&l->after);
	struct bytes before = buf_bytes(&l->before);
	int err;

	buf_reset(out);
	err = buf_add_bytes(out, buf_bytes(&l->problem));
	if (after.size > 0 && bytes_equal(after, before)) {
		if (err == 0)
			err = buf_printf(out, "; lost: ");
		if (err == 0)
			err = describe_key(schema, after, out);
		if (err == 0)
			err = describe_column(after, out);
		return err < 0 ? err : buf_terminate(out);
	}
	if (err == 0 && after.size > 0)
		err = buf_printf(out, "; lost from ");
	if (err == 0 && after.size > 0)
		err = describe_key(schema, after, out);
	if (err == 0 && before.size > 0)
		err = buf_printf(out,
				 after.size > 0 ? " to " : "; lost up to ");
	if (err == 0 && before.size > 0)
		err = describe_key(schema, before, out);
	return err < 0 ? err : buf_terminate(out);
}

/* In the order in which they were met. */
static int tell_losses(struct store_repair *r)
{
	struct schema *schema = store_schema(r->s);
	struct buf text = BUF_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < r->loss_count && err == 0; i++) {
		err = describe(schema, &r->losses[i], &text);
		if (err == 0)
			r->tell(r->context, (const char *)text.data);
	}
	buf_release(&text);
	schema_put(schema);
	return err;
}

/* Notes the family of a cell of table id, and that table, under the name that
 * it gets if it has no record. */
static int note_family(struct store_repair *r, uint32_t id,
		       const struct cell *cell)
{
	struct family_spec spec = { .name = cell->family };
	char name[STORE_TABLE_NAME_MAX];
	struct family *f;
	struct table *t;
	int err = 0;

	snprintf(name, sizeof(name), RECOVERED_NAME, id);
	t = schema_find(r->found, bytes_string(name));
	if (!t) {
		err = schema_add_table(r->found, bytes_string(name), &t);
		if (err < 0)
			return err;
		t->id = id;
	}
	return table_find_family(t, cell->family)
		       ? 0
		       : table_add_family(t, &spec, &f);
}

/* Which tables and families have cells. The engine was opened without rules, so
 * that no schema hides any. */
static int find_tables(struct store_repair *r, struct engine *e)
{
	uint8_t start[KEY_TABLE_SIZE];
	struct cursor *cursor;
	struct cell cell;
	int err;

	put_u32be(start, SCHEMA_TABLE_ID + 1);
	err = cursor_open(e, NULL, bytes_of(start, sizeof(start)), BYTES_NONE,
			  BYTES_NONE, &cursor);
	if (err < 0)
		return err;
	while ((err = cursor_next(cursor, CURSOR_FAMILY, &cell)) == 1) {
		err = note_family(r, key_table(cursor_row_prefix(cursor)),
				  &cell);
		if (err < 0)
			break;
	}
	cursor_close(cursor);
	return err;
}

/*
 * Of a family with parts of aggregates the type is set: sketches have a form of
 * their own, but numbers could be those of a sum, a minimum or a maximum. Which
 * it was only the user knows: until it is said, they stay apart in a family
 * without a type, and FAMILY_INTSUM notes that here. One part that is no sketch
 * is enough for it, and no later part takes it back.
 */
static int note_part(void *context, struct bytes key, struct bytes value)
{
	struct table *t = context;
	struct buf scratch = BUF_INIT;
	struct key_parts parts;
	struct family *f = NULL;
	struct bytes name;
	size_t end;
	int err = key_split(key, &parts);

	if (err == 0)
		err = key_part(key, parts.row_end, &scratch, &name, &end);
	if (err == 0)
		f = table_find_family(t, name);
	if (f && f->type != FAMILY_INTSUM)
		f->type = aggregate_is_state(AGGREGATE_HLL, value)
				  ? FAMILY_INTHLL
				  : FAMILY_INTSUM;
	buf_release(&scratch);
	return err;
}

/* Looks through the table's parts of aggregates, which are told by their kind
 * of key. */
static int find_types(struct store_repair *r, struct table *t)
{
	uint8_t start[KEY_TABLE_SIZE], end[KEY_TABLE_SIZE];

	put_u32be(start, t->id);
	put_u32be(end, t->id + 1);
	return engine_find_parts(store_engine(r->s),
				 bytes_of(start, sizeof(start)),
				 bytes_of(end, sizeof(end)), note_part, t);
}

/* Tells of what is no loss of the engine's. 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) static int say(struct store_repair *r,
						     const char *fmt, ...)
{
	char *text;
	va_list args;
	int size;

	va_start(args, fmt);
	size = vasprintf(&text, fmt, args);
	va_end(args);
	if (size < 0)
		return -ENOMEM;
	r->tell(r->context, text);
	free(text);
	return 0;
}

/* Tells of the families whose type is not known, which is unset again: with
 * FAMILY_INTSUM left in place, minima would be added up, and the type could not
 * be changed. */
static int forget_types(struct store_repair *r, struct table *t)
{
	size_t i;
	int err = 0;

	for (i = 0; i < t->family_count && err == 0; i++) {
		struct family *f = &t->families[i];

		if (f->type != FAMILY_INTSUM)
			continue;
		f->type = FAMILY_BYTES;
		err = say(r,
			  "family %.*s of table %.*s has parts of sums, minima "
			  "or maxima; of each only the last one shows, until "
			  "tabletfs setvaluetype says which they are",
			  (int)f->name.size, (const char *)f->name.data,
			  (int)t->name.size, (const char *)t->name.data);
	}
	return err;
}

/* Leaves out the families that are more than a table may have, and says so. */
static int limit_families(struct store_repair *r, struct table *t)
{
	int err = 0;

	while (t->family_count > STORE_FAMILIES_MAX && err == 0) {
		const struct family *f = &t->families[--t->family_count];

		err = say(r,
			  "table %.*s would have more than %d families: the "
			  "cells of family %.*s are left out",
			  (int)t->name.size, (const char *)t->name.data,
			  STORE_FAMILIES_MAX, (int)f->name.size,
			  (const char *)f->name.data);
	}
	return err;
}

/* Adds a table with its id, families and their types, without policies; durable
 * when it returns 0. More families than a table may have would make a record
 * that nobody reads. A birth of 1 is before all sequences, so that cells of any
 * age are seen. The id may be one that the lost record of the next id would
 * have been beyond. */
static int schema_adopt(struct store *s, const struct table *found)
{
	struct change c;
	struct table *t = NULL;
	size_t i;
	int err;

	err = change_begin(s, &c);
	if (err == 0 && schema_find(c.schema, found->name))
		err = fail(ERR_table_exists, "table \"%s\" already exists",
			   err_name(found->name));
	if (err == 0 && found->family_count > STORE_FAMILIES_MAX)
		err = fail(ERR_too_many_families,
			   "table \"%s\" would have %zu families",
			   err_name(found->name), found->family_count);
	if (err == 0)
		err = schema_add_table(c.schema, found->name, &t);
	if (err < 0)
		return change_end(&c, err);
	assert(found->id != SCHEMA_TABLE_ID);
	t->id = found->id;
	t->birth_seq = 1;
	for (i = 0; i < found->family_count && err == 0; i++) {
		struct family_spec spec = { .name = found->families[i].name,
					    .type = found->families[i].type };
		struct family *f;

		err = table_add_family(t, &spec, &f);
		if (err == 0)
			f->birth_seq = 1;
	}
	/* The id was given by a record that is lost. */
	if (c.next_table_id <= t->id)
		c.next_table_id = t->id + 1;
	if (err == 0)
		err = change_put(&c, t);
	if (err == 0)
		err = change_put_next_id(&c);
	return change_end(&c, err);
}

/* Makes a table of what has cells and no record. Its name may be taken, by an
 * earlier repair: then it gets underscores. Its families are found's, whose
 * types are set on the way. */
static int adopt_table(struct store_repair *r, struct table *found)
{
	struct table t = *found;
	struct buf name = BUF_INIT;
	int err = buf_set(&name, t.name);

	while (err == 0 && schema_find(r->s->schema, buf_bytes(&name)))
		err = buf_add_byte(&name, '_');
	t.name = buf_bytes(&name);
	if (err == 0)
		err = find_types(r, &t);
	if (err == 0)
		err = say(r,
			  "what was a table whose record is lost, or one that "
			  "was dropped, is table %.*s now, without its rules",
			  (int)t.name.size, (const char *)t.name.data);
	if (err == 0)
		err = limit_families(r, &t);
	if (err == 0)
		err = forget_types(r, &t);
	if (err == 0)
		err = schema_adopt(r->s, &t);
	buf_release(&name);
	return err;
}

/* Gives tables that have cells and no record one. What was dropped and not
 * compacted yet looks the same and is back, which adopt_table says. */
static int adopt_tables(struct store_repair *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < r->found->table_count && err == 0; i++)
		if (!table_by_id(r->s->schema, r->found->tables[i].id))
			err = adopt_table(r, &r->found->tables[i]);
	return err;
}

/* Passes on what the check of the new store finds. */
static void tell_problem(void *context, const char *problem)
{
	struct store_repair *r = context;

	r->tell(r->context, problem);
}

/* Opens what the engine has made, without the model, to see all of its cells.
 * Only where something was lost: else every table has its record. */
static int look_for_tables(struct store_repair *r, struct volume *to,
			   const struct engine_options *o)
{
	struct engine *e;
	int err = engine_open(to, o, &e), closed;

	if (err < 0)
		return err;
	err = find_tables(r, e);
	closed = engine_close(e);
	return err < 0 ? err : closed;
}

/* Opens what was made, completes its schema and checks it; to is ended. Nothing
 * works in the background meanwhile, so that r->s->schema may be read as it is.
 */
static int complete(struct store_repair *r, struct volume *to)
{
	struct store_options options;
	int err, closed;

	store_options_init(&options);
	options.background = false;
	err = store_open_volume(to, &options, &r->s);
	if (err < 0)
		return err;
	err = adopt_tables(r);
	if (err == 0)
		err = tell_losses(r);
	if (err == 0)
		err = store_check(r->s, tell_problem, r);
	closed = store_close(r->s);
	return err < 0 ? err : closed;
}

/* Ends to in every case. */
static int repair_volume(struct store_repair *r, struct volume *from,
			 struct volume *to, struct repair_result *result)
{
	const struct repair_report report = { note_loss, r };
	struct engine_options options;
	int err;

	engine_options_init(&options);
	err = schema_new(&r->found);
	if (err == 0)
		err = from->ops->lease_share(from);
	if (err < 0) {
		to->ops->close(to);
		return err;
	}
	err = engine_repair(from, to, &options, &report, result);
	from->ops->lease_release(from);
	if (err == 0 && result->lost_count > 0)
		err = look_for_tables(r, to, &options);
	if (err == 0)
		return complete(r, to);
	to->ops->close(to);
	return err;
}

/* What store_repair holds besides volumes. */
static void repair_release(struct store_repair *r)
{
	while (r->loss_count > 0) {
		struct loss *l = &r->losses[--r->loss_count];

		buf_release(&l->problem);
		buf_release(&l->after);
		buf_release(&l->before);
	}
	free(r->losses);
	schema_put(r->found);
}

/* from stays the caller's. */
int store_repair_volume(struct volume *from, struct volume *to,
			void (*tell)(void *context, const char *text),
			void *context, struct repair_result *result)
{
	struct store_repair r = { .tell = tell, .context = context };
	int err = repair_volume(&r, from, to, result);

	repair_release(&r);
	return err;
}

static int repair_into(struct volume *from, const char *directory,
		       void (*tell)(void *context, const char *text),
		       void *context, struct repair_result *result)
{
	struct volume *to;
	int err = volume_posix_open(directory, true, &to);

	return err < 0 ? err
		       : store_repair_volume(from, to, tell, context, result);
}

/* Copies the repaired store of a directory to a place of another kind, where it
 * is there when it is whole. */
static int publish(const char *directory, const char *to)
{
	const struct backup_options alone = { .keep = 0 };
	struct store_options options;
	struct backup_result copied;
	struct store *s;
	int err, closed;

	store_options_init(&options);
	options.background = false;
	err = store_open(directory, &options, &s);
	if (err < 0)
		return err;
	err = store_backup(s, to, &alone, &copied);
	closed = store_close(s);
	return err < 0 ? err : closed;
}

/* A repair opens the new store again and again, and what has no names to be
 * exchanged would be seen half done: so it is made in a directory for what is
 * temporary, and copied. What has problems of its own stays there, for a look.
 */
static int repair_elsewhere(struct volume *from, const char *to,
			    void (*tell)(void *context, const char *text),
			    void *context, struct repair_result *result)
{
	struct buf directory = BUF_INIT;
	int err = backup_free_place(to);

	if (err == 0)
		err = volume_posix_temporary(&directory);
	if (err < 0)
		goto release;
	err = repair_into(from, (char *)directory.data, tell, context, result);
	if (err == 0)
		err = publish((char *)directory.data, to);
	if (err == -ERR_check_failed)
		tell(context, (char *)directory.data);
	else
		volume_posix_discard((char *)directory.data);
release:
	buf_release(&directory);
	return err;
}

/* As volume_posix_open_damaged, of a store wherever it is. */
static int open_damaged(const char *where, struct volume **out)
{
	const struct volume_kind *kind;
	const char *place;
	int err = volume_place(where, &kind, &place);

	*out = NULL;
	if (err < 0)
		return err;
	return kind ? kind->open(place, false, out)
		    : volume_posix_open_damaged(where, out);
}

/* What was made is discarded on failure but for that of the check: what has
 * problems of its own is worth a look. */
static int repair_beside(struct volume *from, struct volume_partial *to,
			 void (*tell)(void *context, const char *text),
			 void *context, struct repair_result *result)
{
	int err = repair_into(from, (const char *)to->path.data, tell, context,
			      result);

	if (!err)
		return volume_partial_finish(to);
	if (err == -ERR_check_failed)
		volume_partial_keep(to);
	else
		volume_partial_abandon(to);
	return err;
}

/* Names are asked about before the store is touched. */
int store_repair(const char *directory, const char *to,
		 void (*tell)(void *context, const char *text), void *context,
		 struct repair_result *result)
{
	const struct volume_kind *kind;
	struct volume_partial partial;
	struct volume *from = NULL;
	const char *place;
	char unmarked[1000] = "";
	int err = volume_place(to, &kind, &place);

	if (err >= 0 && !kind)
		err = volume_partial_begin(to, &partial);
	if (err < 0)
		return err;
	err = open_damaged(directory, &from);
	if (err > 0)
		snprintf(unmarked, sizeof(unmarked), "%s", err_detail());
	if (err >= 0)
		err = engine_repairable(from);
	if (err == 0 && unmarked[0])
		tell(context, unmarked);
	if (err == 0 && kind)
		err = repair_elsewhere(from, to, tell, context, result);
	else if (err == 0)
		err = repair_beside(from, &partial, tell, context, result);
	else if (!kind)
		volume_partial_abandon(&partial);
	if (from)
		from->ops->close(from);
	return err;
}
