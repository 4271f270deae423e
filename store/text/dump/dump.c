#include <stdlib.h>

#include "store/base/hash.h"
#include "store/text/dump/dump.h"
#include "store/text/dump/dump_text.h"
#include "store/text/print/moment.h"
#include "store/text/track/import_table.h"
#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"
#include "store/text/value/utf8.h"

/*
 * Text is made cell by cell; a value of more than
 * DUMP_PART bytes by parts, of which a large one is read as they are written.
 */
struct dump {
	struct text_stream stream; /* first */
	struct store *store;
	bool (*stop)(void);
	struct moment moment; /* owned */
	size_t table;         /* the present one */
	struct scan *scan;    /* owned; of the present table, or NULL */
	struct dump_counts counts;
	XXH64_state_t *hash; /* of all text; owned */
	bool begun, ended;
	struct buf
		name; /* of what is dumped as pieces, for table; else empty */
	bool named;   /* a piece has told what the table is */
	/* Of the cell before; an empty row: none yet. */
	struct buf row, family, qualifier;
	/* Of a value that is parted: what is left from at on. */
	struct large *large; /* owned, or NULL: */
	struct buf value;    /* then it is this */
	uint64_t at, size;   /* at == size: none */
	struct buf part;
};

static int add_number(uint32_t number, const char *format, struct buf *out)
{
	return number == TABLE_ACCESS_UNSET ? buf_add_string(out, " -")
					    : buf_printf(out, format, number);
}

/* The line of who may do what with a table, if that is set. */
static int add_access(const struct table_access *a, struct buf *out)
{
	int err;

	if (a->mode == TABLE_ACCESS_UNSET && a->uid == TABLE_ACCESS_UNSET &&
	    a->gid == TABLE_ACCESS_UNSET)
		return 0;
	err = buf_add_string(out, "access");
	if (!err)
		err = add_number(a->mode, " %o", out);
	if (!err)
		err = add_number(a->uid, " %u", out);
	if (!err)
		err = add_number(a->gid, " %u", out);
	return err < 0 ? err : buf_add_byte(out, '\n');
}

/* A line of words, bytes and a newline. */
static int add_line(const char *words, struct bytes s, struct buf *out)
{
	int err = buf_add_string(out, words);

	if (!err)
		err = dump_text_add(s, out);
	return err < 0 ? err : buf_add_byte(out, '\n');
}

/* A line for each from *i on, up to one of this name; empty: all. Whose dropped
 * tables were goes by ids, which another store has not. */
static int add_attributes(const struct attributes *a, size_t *i,
			  struct bytes name, struct buf *out)
{
	int err = 0;

	for (; !err && *i < a->count &&
	       (name.size == 0 || bytes_compare(a->items[*i].name, name) < 0);
	     ++*i) {
		if (bytes_starts_with(a->items[*i].name,
				      BYTES_LITERAL(STORE_DROPPED)))
			continue;
		err = buf_add_string(out, "attribute ");
		if (!err)
			err = buf_add_bytes(out, a->items[*i].name);
		if (!err)
			err = add_line(" ", a->items[*i].value, out);
	}
	return err;
}

/* Those of a table, with what it is known by to imports. */
static int add_table_attributes(const struct schema *schema,
				const struct table *t, struct buf *out)
{
	const struct attributes *a = &t->attributes;
	uint64_t number;
	size_t i = 0;
	int err = 0;

	if (import_table_dumped(schema, t, &number)) {
		err = add_attributes(a, &i, BYTES_LITERAL(IMPORT_TABLE), out);
		if (!err)
			err = buf_printf(out, "attribute %s '%llu\n",
					 IMPORT_TABLE,
					 (unsigned long long)number);
	}
	return err ? err : add_attributes(a, &i, BYTES_NONE, out);
}

/* Those that the same table has in another store. */
static int add_own_attributes(const struct table *t, struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < t->attributes.count; i++) {
		struct bytes name = t->attributes.items[i].name;
		struct attributes one = { &t->attributes.items[i], 1, 0, NULL };
		size_t first = 0;

		if (!bytes_equal(name, BYTES_LITERAL(IMPORT_TABLE)) &&
		    !bytes_equal(name, BYTES_LITERAL(STORE_PROTECTED)))
			err = add_attributes(&one, &first, BYTES_NONE, out);
	}
	return err;
}

/* The line that begins a table of this name. */
static int add_table_line(const struct table *t, struct bytes name,
			  struct buf *out)
{
	return add_line(t->millis ? "table millis " : "table micros ", name,
			out);
}

static int add_families(const struct table *t, struct buf *out)
{
	int err = 0;
	size_t i;

	for (i = 0; !err && i < t->family_count; i++) {
		const struct family *f = &t->families[i];

		err = buf_printf(out, "family %s ", family_type_word(f->type));
		if (!err)
			err = gc_policy_print_words(family_gc(f), out);
		if (!err)
			err = add_line(" ", f->name, out);
	}
	return err;
}

static int add_table(const struct schema *schema, const struct table *t,
		     struct buf *out)
{
	int err = add_table_line(t, t->name, out);

	if (!err)
		err = add_access(&t->access, out);
	if (!err)
		err = add_table_attributes(schema, t, out);
	return err < 0 ? err : add_families(t, out);
}

/* Begins the present table. */
static int enter_table(struct dump *d, struct buf *out)
{
	const struct table *t = &d->moment.schema->tables[d->table];
	struct scan_range range = { .keep_large = true, .stop = d->stop };
	int err = add_table(d->moment.schema, t, out);

	if (!err)
		err = moment_scan(d->store, &d->moment, t, &range, &d->scan);
	d->counts.tables++;
	buf_reset(&d->row);
	return err;
}

static void leave_table(struct dump *d)
{
	scan_close(d->scan);
	d->scan = NULL;
	d->table++;
}

/* The lines of what the cell has another of than the one before. */
static int add_names(struct dump *d, const struct cell *c, struct buf *out)
{
	bool new_row = !bytes_equal(buf_bytes(&d->row), c->row);
	bool new_family =
		new_row || !bytes_equal(buf_bytes(&d->family), c->family);
	bool new_qualifier =
		new_family ||
		!bytes_equal(buf_bytes(&d->qualifier), c->qualifier);
	int err = 0;

	if (new_row) {
		d->counts.rows++;
		err = add_line("row ", c->row, out);
		if (!err)
			err = buf_set(&d->row, c->row);
	}
	if (!err && new_family) {
		err = add_line("f ", c->family, out);
		if (!err)
			err = buf_set(&d->family, c->family);
	}
	if (!err && new_qualifier) {
		err = add_line("q ", c->qualifier, out);
		if (!err)
			err = buf_set(&d->qualifier, c->qualifier);
	}
	return err;
}

/* The next part of the value that is parted. */
static int add_part(struct dump *d, struct buf *out)
{
	uint64_t left = d->size - d->at;
	size_t size = left < DUMP_PART ? (size_t)left : DUMP_PART, whole;
	struct bytes part;
	int err = 0;

	if (d->large) {
		buf_reset(&d->part);
		err = buf_reserve(&d->part, size);
		if (!err)
			err = large_read(d->large, d->at, d->part.data, size);
		part = bytes_of(d->part.data, size);
	} else {
		part = bytes_of(d->value.data + d->at, size);
	}
	if (err)
		return err;
	/* What is to fit into one piece. */
	if (d->name.size > 0) {
		err = buf_add_string(out, "+ ");
		if (!err)
			err = dump_text_add_base64(part, out);
		if (!err)
			err = buf_add_byte(out, '\n');
		goto advance;
	}
	/* Of UTF-8 a part ends with a character. */
	whole = size < left ? utf8_whole(part) : size;
	if (whole > 0 && utf8_valid(bytes_of(part.data, whole)))
		part.size = whole;
	err = add_line("+ ", part, out);
advance:
	d->at += part.size;
	if (d->at == d->size) {
		large_put(d->large);
		d->large = NULL;
	}
	return err;
}

/* The line of a value that follows in parts. */
static int begin_parts(struct dump *d, const struct cell *c, struct buf *out)
{
	int err = -ESTALE;

	d->size = cell_size(c);
	d->at = 0;
	if (c->blob.size > 0)
		err = scan_open_large(d->scan, c, &d->large);
	if (err == -ESTALE) {
		buf_reset(&d->value);
		err = scan_load(d->scan, c, &d->value);
	}
	return err < 0 ? err
		       : buf_printf(out, "V %llu %llu\n",
				    (unsigned long long)c->timestamp_us,
				    (unsigned long long)d->size);
}

/* Whether a value is parted is of its size alone: where the store holds it may
 * be another place once it was loaded. */
static int add_cell(struct dump *d, const struct cell *c, struct buf *out)
{
	struct bytes value = c->value;
	int err = add_names(d, c, out);

	d->counts.cells++;
	if (!err && cell_size(c) > DUMP_PART)
		return begin_parts(d, c, out);
	if (!err && c->blob.size > 0) {
		buf_reset(&d->value);
		err = scan_load(d->scan, c, &d->value);
		value = buf_bytes(&d->value);
	}
	if (!err)
		err = buf_printf(out, "v %llu ",
				 (unsigned long long)c->timestamp_us);
	return err < 0 ? err : add_line("", value, out);
}

/* Appends what one step makes, all but the last line. */
static int step(struct dump *d, struct buf *out)
{
	struct cell cell;
	size_t i = 0;
	int err;

	if (!d->begun) {
		d->begun = true;
		err = buf_add_string(out, DUMP_HEAD "\n");
		return err < 0 ? err
			       : add_attributes(&d->moment.schema->attributes,
						&i, BYTES_NONE, out);
	}
	if (d->at < d->size)
		return add_part(d, out);
	if (!d->scan)
		return enter_table(d, out);
	err = scan_next(d->scan, CURSOR_VERSION, &cell);
	if (err > 0)
		err = add_cell(d, &cell, out);
	else if (err == 0)
		leave_table(d);
	return err;
}

/* The last line, with the hash of all before it. */
static int add_end(struct dump *d, struct buf *out)
{
	return buf_printf(out, "end %llu %llu %llu %016llx\n",
			  (unsigned long long)d->counts.tables,
			  (unsigned long long)d->counts.rows,
			  (unsigned long long)d->counts.cells,
			  (unsigned long long)XXH64_digest(d->hash));
}

/* For text_stream. */
static int dump_next(struct text_stream *t, struct buf *out)
{
	struct dump *d = (struct dump *)t;
	size_t before = out->size;
	int err = 0;

	if (d->ended)
		return 0;
	while (!err && out->size - before < TEXT_STREAM_PIECE &&
	       (d->table < d->moment.schema->table_count || !d->begun))
		err = step(d, out);
	if (err < 0)
		return err;
	XXH64_update(d->hash, out->data + before, out->size - before);
	d->ended = d->table == d->moment.schema->table_count;
	if (d->ended)
		err = add_end(d, out);
	else if (d->scan)
		/* Whoever reads it may go away for a while. */
		scan_rest(d->scan);
	return err < 0 ? err : 1;
}

/* For text_stream. */
static void dump_close(struct text_stream *t)
{
	struct dump *d = (struct dump *)t;

	scan_close(d->scan);
	large_put(d->large);
	moment_release(d->store, &d->moment);
	XXH64_freeState(d->hash);
	buf_release(&d->row);
	buf_release(&d->family);
	buf_release(&d->qualifier);
	buf_release(&d->value);
	buf_release(&d->part);
	buf_release(&d->name);
	free(d);
}

static int dump_new(struct store *s, struct snapshot *at, bool (*stop)(void),
		    struct dump **out)
{
	struct dump *d = calloc(1, sizeof(*d));
	int err;

	*out = NULL;
	if (!d) {
		store_snapshot_release(s, at);
		return -ENOMEM;
	}
	d->stream = (struct text_stream){ "Dumping", dump_next, dump_close };
	d->store = s;
	d->stop = stop;
	d->moment.snapshot = at;
	d->hash = XXH64_createState();
	err = d->hash ? moment_take(s, &d->moment) : -ENOMEM;
	if (err < 0) {
		dump_close(&d->stream);
		return err;
	}
	XXH64_reset(d->hash, 0);
	*out = d;
	return 0;
}

int dump_open(struct store *s, struct snapshot *at, bool (*stop)(void),
	      struct text_stream **out)
{
	struct dump *d;
	int err = dump_new(s, at, stop, &d);

	*out = d ? &d->stream : NULL;
	return err;
}

int dump_table_open(struct store *s, struct bytes table, struct bytes name,
		    struct dump **out)
{
	struct scan_range range = { .keep_large = true };
	const struct table *t;
	struct dump *d;
	int err = dump_new(s, NULL, NULL, &d);

	*out = NULL;
	if (err)
		return err;
	t = schema_table(d->moment.schema, table);
	err = t ? buf_set(&d->name, name)
		: fail(ERR_no_table, "table \"%s\" not found", err_name(table));
	if (!err) {
		d->begun = true;
		d->table = (size_t)(t - d->moment.schema->tables);
		err = moment_scan(s, &d->moment, t, &range, &d->scan);
	}
	if (err)
		dump_close(&d->stream);
	else
		*out = d;
	return err;
}

/* What comes before the rows of a piece: of the first all that the table is, of
 * others what their rows need. */
static int add_piece_head(const struct dump *d, const struct table *t,
			  struct buf *out)
{
	int err = buf_add_string(out, DUMP_HEAD "\n");

	if (!err)
		err = add_table_line(t, buf_bytes(&d->name), out);
	if (!err && !d->named)
		err = add_access(&t->access, out);
	if (!err && !d->named)
		err = add_own_attributes(t, out);
	return err < 0 ? err : add_families(t, out);
}

/* A value is never parted over two pieces: what takes one begins and ends with
 * it. */
int dump_piece(struct dump *d, struct buf *out)
{
	size_t before = out->size, head;
	int err;

	if (d->ended)
		return 0;
	buf_reset(&d->row);
	d->counts = (struct dump_counts){ .tables = 1 };
	err = add_piece_head(d, &d->moment.schema->tables[d->table], out);
	head = out->size;
	while (err >= 0 && d->named && d->scan &&
	       (out->size - head < DUMP_PIECE || d->at < d->size))
		err = step(d, out);
	if (err < 0)
		return err;
	XXH64_reset(d->hash, 0);
	XXH64_update(d->hash, out->data + before, out->size - before);
	d->named = true;
	d->ended = !d->scan;
	err = add_end(d, out);
	return err < 0 ? err : 1;
}

void dump_table_close(struct dump *d)
{
	if (d)
		dump_close(&d->stream);
}
