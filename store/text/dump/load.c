#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/hash.h"
#include "store/text/dump/dump_text.h"
#include "store/text/dump/load.h"
#include "store/text/dump/load_rows.h"
#include "store/text/track/import_position.h"
#include "store/text/track/import_table.h"
#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"

/*
 * Line by line. Everything has its order, so that nothing comes twice and what
 * is counted is what is there: families, rows, and in a row families and
 * qualifiers ascend, versions descend in time. A table is made with the first
 * line that is not of its schema, and its families without policies.
 */

/* A family of the dump; all owned. */
struct load_family {
	struct buf table, name;
	enum family_type type;
	struct gc_policy *gc;
};

/* An attribute of the dump; all owned. */
struct load_attribute {
	struct buf name, value;
};

struct loader {
	struct load_rows rows;
	struct buf line; /* of what was fed, the line that has no end yet */
	uint64_t line_number;
	XXH64_state_t *hash; /* of the lines but the last; owned */
	struct dump_counts counts;
	struct load_family *families; /* of all tables; owned */
	size_t family_count, family_room;
	size_t table_families; /* index of the first of the present table */
	bool has_table;        /* one was named */
	bool made;             /* and made */
	bool millis;
	struct table_access access;
	/* Of the present table, or before the first one of the store. Owned. */
	struct load_attribute *attributes;
	size_t attribute_count, attribute_room;
	size_t attributes_size; /* of their bytes and themselves */
	struct buf name;        /* of what a line names */
	bool has_cell;          /* the present row has one */
	bool has_row, has_family, has_qualifier, has_version;
	uint64_t timestamp_us; /* of the version before */
	bool head, ended;      /* the first, the last line has come */
	bool pieces;           /* what comes is one piece of a table */
	uint32_t *begins;      /* which is to be made, and its id told here */
	const struct attribute *mark; /* that it is to have, or NULL */
};

int loader_new(struct store *s, struct loader **out)
{
	struct loader *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	l->rows.store = s;
	l->hash = XXH64_createState();
	if (!l->hash) {
		free(l);
		*out = NULL;
		return -ENOMEM;
	}
	XXH64_reset(l->hash, 0);
	return 0;
}

void loader_take_pieces(struct loader *l, uint32_t *table_id,
			const struct attribute *mark)
{
	l->pieces = true;
	l->begins = *table_id == 0 ? table_id : NULL;
	l->mark = mark;
	l->rows.table_id = *table_id;
	l->rows.commits = true;
}

static void drop_attributes(struct loader *l)
{
	while (l->attribute_count > 0) {
		struct load_attribute *a = &l->attributes[--l->attribute_count];

		buf_release(&a->name);
		buf_release(&a->value);
	}
	l->attributes_size = 0;
}

void loader_free(struct loader *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->family_count; i++) {
		buf_release(&l->families[i].table);
		buf_release(&l->families[i].name);
		gc_policy_free(l->families[i].gc);
	}
	free(l->families);
	drop_attributes(l);
	free(l->attributes);
	load_rows_release(&l->rows);
	buf_release(&l->line);
	buf_release(&l->name);
	XXH64_freeState(l->hash);
	free(l);
}

const struct dump_counts *loader_counts(const struct loader *l)
{
	return &l->counts;
}

/* Takes a word and the blank behind it from the front of *in; it may be the
 * last, without one. An empty one is no word. */
static bool take_word(struct bytes *in, struct bytes *word)
{
	const uint8_t *blank =
		in->size > 0 ? memchr(in->data, ' ', in->size) : NULL;
	size_t size = blank ? (size_t)(blank - in->data) : in->size;

	*word = bytes_of(in->data, size);
	*in = bytes_after(*in, size + (blank != NULL));
	return size > 0;
}

/* Takes a number of the given base up to max as a word, without signs or
 * needless zeros. */
static bool take_number(struct bytes *in, unsigned int base, uint64_t max,
			uint64_t *out)
{
	struct bytes word;
	size_t i;

	*out = 0;
	if (!take_word(in, &word) || (word.size > 1 && word.data[0] == '0'))
		return false;
	for (i = 0; i < word.size; i++) {
		unsigned int digit = word.data[i] - (unsigned int)'0';

		if (digit >= base || *out > (max - digit) / base)
			return false;
		*out = *out * base + digit;
	}
	return true;
}

/* The same, or - for what is not set. */
static bool take_access(struct bytes *in, unsigned int base, uint32_t *out)
{
	uint64_t number;

	if (in->size > 0 && in->data[0] == '-') {
		*out = TABLE_ACCESS_UNSET;
		*in = bytes_after(*in, 1);
		if (in->size == 0)
			return true;
		if (in->data[0] != ' ')
			return false;
		*in = bytes_after(*in, 1);
		return true;
	}
	if (!take_number(in, base, TABLE_ACCESS_UNSET - 1, &number))
		return false;
	*out = (uint32_t)number;
	return true;
}

/* Sets l->name to the bytes that the rest of a line stands for. */
static int take_name(struct loader *l, struct bytes text)
{
	buf_reset(&l->name);
	return dump_text_take(text, &l->name);
}

/* Whether positions of imports come without a word on what they are of. */
static bool lacks_number(const struct loader *l, const struct table_spec *spec)
{
	size_t i = 0;

	while (i < l->attribute_count &&
	       !bytes_equal(buf_bytes(&l->attributes[i].name),
			    BYTES_LITERAL(IMPORT_TABLE)))
		i++;
	return i == l->attribute_count &&
	       bytes_equal(spec->name, BYTES_LITERAL(IMPORT_POSITIONS));
}

/* Makes the table of this spec, with families and attributes of room in it. */
static int make_of(struct loader *l, struct table_spec *spec,
		   struct family_spec *families, struct attribute *attributes)
{
	const struct load_family *from = l->families + l->table_families;
	size_t i;

	for (i = 0; i < spec->family_count; i++) {
		families[i].name = buf_bytes(&from[i].name);
		families[i].type = from[i].type;
	}
	/* An empty value is one. */
	for (i = 0; i < spec->attribute_count; i++)
		attributes[i] = (struct attribute){
			buf_bytes(&l->attributes[i].name),
			bytes_of(l->attributes[i].value.size
					 ? l->attributes[i].value.data
					 : (const uint8_t *)"",
				 l->attributes[i].value.size),
		};
	if (l->has_table && lacks_number(l, spec))
		attributes[spec->attribute_count++] =
			(struct attribute){ BYTES_LITERAL(IMPORT_TABLE),
					    BYTES_LITERAL("0") };
	if (l->has_table && l->mark)
		attributes[spec->attribute_count++] = *l->mark;
	spec->families = families;
	spec->attributes = attributes;
	return l->has_table ? store_make_table(l->rows.store, spec)
			    : store_set_attributes(l->rows.store, BYTES_NONE,
						   attributes,
						   spec->attribute_count);
}

/* Makes the present table, if it is not made yet; or before the first one the
 * store's own attributes. */
static int make_table(struct loader *l)
{
	struct table_spec spec = {
		.name = buf_bytes(&l->rows.table),
		.in_instance = true,
		.millis = l->millis,
		.access = &l->access,
		.family_count = l->family_count - l->table_families,
		.attribute_count = l->attribute_count,
		.id = l->begins,
	};
	struct family_spec *families;
	struct attribute *attributes;
	int err = -ENOMEM;

	/* What of the schema comes with a piece is there, but of the first. */
	if (l->pieces && !(l->begins && l->has_table)) {
		drop_attributes(l);
		l->made = true;
	}
	if (l->made)
		return 0;
	families = calloc(spec.family_count + 1, sizeof(*families));
	/* And a number, and a mark. */
	attributes = calloc(spec.attribute_count + 2, sizeof(*attributes));
	if (families && attributes)
		err = make_of(l, &spec, families, attributes);
	free(families);
	free(attributes);
	drop_attributes(l);
	l->made = !err;
	return err;
}

/* The present row and table have ended. */
static int end_row(const struct loader *l)
{
	return l->has_row && !l->has_cell
		       ? fail(ERR_bad_line, "the row before it has no cell")
		       : 0;
}

static int load_table(struct loader *l, struct bytes in)
{
	struct bytes word;
	int err;

	if (!take_word(&in, &word) ||
	    (!bytes_equal(word, BYTES_LITERAL("micros")) &&
	     !bytes_equal(word, BYTES_LITERAL("millis"))))
		return fail(ERR_bad_line, "a table is of micros or millis");
	err = end_row(l);
	if (!err)
		err = make_table(l);
	if (!err)
		err = take_name(l, in);
	if (!err)
		err = load_rows_table(&l->rows, buf_bytes(&l->name));
	l->millis = bytes_equal(word, BYTES_LITERAL("millis"));
	l->access =
		(struct table_access){ TABLE_ACCESS_UNSET, TABLE_ACCESS_UNSET,
				       TABLE_ACCESS_UNSET };
	l->has_table = true;
	l->made = l->has_row = false;
	l->table_families = l->family_count;
	l->counts.tables++;
	return err;
}

static int load_access(struct loader *l, struct bytes in)
{
	if (!l->has_table || l->made || l->attribute_count > 0 ||
	    l->family_count > l->table_families)
		return fail(ERR_bad_line, "access follows a table");
	if (!take_access(&in, 8, &l->access.mode) ||
	    !take_access(&in, 10, &l->access.uid) ||
	    !take_access(&in, 10, &l->access.gid) || in.size > 0)
		return fail(ERR_bad_line,
			    "access has an octal mode, a uid and a gid, each a "
			    "number or -");
	return 0;
}

static int load_attribute(struct loader *l, struct bytes in)
{
	struct load_attribute *a, *grown;
	struct bytes name;
	int err;

	if (l->made || l->family_count > l->table_families)
		return fail(ERR_bad_line,
			    "attributes come first, or follow a table");
	if (!take_word(&in, &name))
		return fail(ERR_bad_line, "an attribute has a name");
	if (l->attribute_count > 0 &&
	    bytes_compare(
		    buf_bytes(&l->attributes[l->attribute_count - 1].name),
		    name) >= 0)
		return fail(ERR_bad_line, "attributes ascend by name");
	err = take_name(l, in);
	if (err < 0)
		return err;
	l->attributes_size += STORE_ATTRIBUTE_COST + name.size + l->name.size;
	if (l->attributes_size > STORE_ATTRIBUTES_MAX)
		return fail(ERR_attributes_full,
			    "attributes of one table have no more room");
	if (l->attribute_count == l->attribute_room) {
		size_t room = l->attribute_room ? 2 * l->attribute_room : 16;

		grown = reallocarray(l->attributes, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		l->attributes = grown;
		l->attribute_room = room;
	}
	a = &l->attributes[l->attribute_count++];
	memset(a, 0, sizeof(*a));
	err = buf_set(&a->name, name);
	return err < 0 ? err : buf_set(&a->value, buf_bytes(&l->name));
}

/* One more family of the present table, zeroed; or NULL. */
static struct load_family *add_family(struct loader *l)
{
	struct load_family *grown = l->families;

	if (l->family_count == l->family_room) {
		l->family_room = l->family_room ? 2 * l->family_room : 16;
		grown = reallocarray(l->families, l->family_room,
				     sizeof(*grown));
		if (!grown)
			return NULL;
		l->families = grown;
	}
	memset(&grown[l->family_count], 0, sizeof(*grown));
	return &grown[l->family_count++];
}

static int load_family(struct loader *l, struct bytes in)
{
	struct bytes type, policy;
	struct load_family *f;
	int err;

	if (!l->has_table || l->made)
		return fail(ERR_bad_line, "families follow their table");
	if (!take_word(&in, &type) || !take_word(&in, &policy))
		return fail(ERR_bad_line,
			    "a family has a type, a policy and a name");
	err = take_name(l, in);
	if (!err && l->family_count > l->table_families &&
	    bytes_compare(buf_bytes(&l->families[l->family_count - 1].name),
			  buf_bytes(&l->name)) >= 0)
		return fail(ERR_bad_line, "families ascend by name");
	f = err ? NULL : add_family(l);
	if (!f)
		return err ? err : -ENOMEM;
	err = family_type_parse(type, &f->type);
	if (!err)
		err = gc_policy_parse(policy, &f->gc);
	if (!err)
		err = buf_set(&f->table, buf_bytes(&l->rows.table));
	return err < 0 ? err : buf_set(&f->name, buf_bytes(&l->name));
}

static int load_row(struct loader *l, struct bytes in)
{
	int err;

	if (!l->has_table)
		return fail(ERR_bad_line, "a row is of a table");
	err = end_row(l);
	if (!err)
		err = make_table(l);
	if (!err)
		err = take_name(l, in);
	if (!err && l->has_row &&
	    bytes_compare(buf_bytes(&l->rows.row), buf_bytes(&l->name)) >= 0)
		return fail(ERR_bad_line, "rows ascend by key");
	if (!err)
		err = load_rows_row(&l->rows, buf_bytes(&l->name));
	l->has_row = true;
	l->has_cell = l->has_family = l->has_qualifier = false;
	l->counts.rows++;
	return err;
}

/* The present table's family of this name, or NULL. */
static const struct load_family *find_family(const struct loader *l,
					     struct bytes name)
{
	size_t low = l->table_families, high = l->family_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = bytes_compare(buf_bytes(&l->families[middle].name),
					  name);

		if (order == 0)
			return &l->families[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int load_in_family(struct loader *l, struct bytes in)
{
	const struct load_family *f;
	int err;

	if (!l->has_row)
		return fail(ERR_bad_line, "a family of a row follows that");
	err = take_name(l, in);
	if (err < 0)
		return err;
	if (l->has_family &&
	    bytes_compare(buf_bytes(&l->rows.family), buf_bytes(&l->name)) >= 0)
		return fail(ERR_bad_line, "families ascend in a row");
	f = find_family(l, buf_bytes(&l->name));
	if (!f)
		return fail(ERR_bad_line,
			    "its table has no family of this name");
	l->rows.aggregate = f->type >= FAMILY_INTSUM;
	l->has_family = true;
	l->has_qualifier = false;
	return buf_set(&l->rows.family, buf_bytes(&l->name));
}

static int load_qualifier(struct loader *l, struct bytes in)
{
	int err;

	if (!l->has_row || !l->has_family)
		return fail(ERR_bad_line, "a qualifier follows its family");
	err = take_name(l, in);
	if (!err && l->has_qualifier &&
	    bytes_compare(buf_bytes(&l->rows.qualifier), buf_bytes(&l->name)) >=
		    0)
		return fail(ERR_bad_line, "qualifiers ascend in a family");
	l->has_qualifier = true;
	l->has_version = false;
	return err < 0 ? err : buf_set(&l->rows.qualifier, buf_bytes(&l->name));
}

/* Takes the timestamp of a version from the front of *in. */
static int take_version(struct loader *l, struct bytes *in)
{
	uint64_t us;

	if (!l->has_row || !l->has_family || !l->has_qualifier)
		return fail(ERR_bad_line, "a version follows its qualifier");
	if (!take_number(in, 10, INT64_MAX, &us))
		return fail(ERR_bad_line,
			    "a version begins with its timestamp");
	if (l->has_version && us >= l->timestamp_us)
		return fail(ERR_bad_line, "versions descend in time");
	l->has_version = l->has_cell = true;
	l->timestamp_us = us;
	l->counts.cells++;
	return 0;
}

static int load_value(struct loader *l, struct bytes in)
{
	int err = take_version(l, &in);

	if (!err)
		err = take_name(l, in);
	return err < 0 ? err
		       : load_rows_cell(&l->rows, l->timestamp_us,
					buf_bytes(&l->name));
}

static int load_parted(struct loader *l, struct bytes in)
{
	uint64_t size = 0;
	int err = take_version(l, &in);

	if (!err && (!take_number(&in, 10, STORE_VALUE_MAX, &size) ||
		     size == 0 || in.size > 0))
		return fail(ERR_bad_line,
			    "a parted value has a size, from 1 to %u",
			    STORE_VALUE_MAX);
	return err < 0 ? err : load_rows_begin(&l->rows, l->timestamp_us, size);
}

static int load_part(struct loader *l, struct bytes in)
{
	int err = take_name(l, in);

	if (!err &&
	    (l->name.size == 0 || l->name.size > l->rows.size - l->rows.have))
		return fail(ERR_bad_line,
			    "a part of %zu bytes, where %llu are missing",
			    l->name.size,
			    (unsigned long long)(l->rows.size - l->rows.have));
	return err < 0 ? err : load_rows_part(&l->rows, buf_bytes(&l->name));
}

static int load_end(struct loader *l, struct bytes in)
{
	char hash[17];
	uint64_t tables, rows, cells;
	int err = end_row(l);

	if (!err)
		err = make_table(l);
	if (err < 0)
		return err;
	snprintf(hash, sizeof(hash), "%016llx",
		 (unsigned long long)XXH64_digest(l->hash));
	if (!take_number(&in, 10, UINT64_MAX, &tables) ||
	    !take_number(&in, 10, UINT64_MAX, &rows) ||
	    !take_number(&in, 10, UINT64_MAX, &cells))
		return fail(ERR_bad_line, "the end tells the numbers of "
					  "tables, rows and cells");
	if (tables != l->counts.tables || rows != l->counts.rows ||
	    cells != l->counts.cells)
		return fail(ERR_bad_line,
			    "%llu tables, %llu rows and %llu cells were "
			    "dumped, and other numbers have come",
			    (unsigned long long)tables,
			    (unsigned long long)rows,
			    (unsigned long long)cells);
	if (!bytes_equal(in, bytes_string(hash)))
		return fail(ERR_bad_line,
			    "its hash is not that of the lines before: the "
			    "dump is damaged");
	l->ended = true;
	return load_rows_flush(&l->rows);
}

/* What stands at the beginning of a line, up to and with the blank. */
static const struct {
	const char *word;
	int (*load)(struct loader *l, struct bytes in);
} kinds[] = {
	{ "v ", load_value },       { "q ", load_qualifier },
	{ "f ", load_in_family },   { "row ", load_row },
	{ "V ", load_parted },      { "+ ", load_part },
	{ "table ", load_table },   { "access ", load_access },
	{ "family ", load_family }, { "attribute ", load_attribute },
	{ "end ", load_end },
};

/* A whole line, without its newline. */
static int load_line(struct loader *l, struct bytes line)
{
	bool parted = l->rows.have < l->rows.size;
	size_t i = 0;

	if (!l->head) {
		l->head = true;
		return bytes_equal(line, BYTES_LITERAL(DUMP_HEAD))
			       ? 0
			       : fail(ERR_bad_line,
				      "a dump begins with the line \"" DUMP_HEAD
				      "\"");
	}
	if (l->ended)
		return fail(ERR_bad_line, "something follows the end");
	while (i < sizeof(kinds) / sizeof(kinds[0]) &&
	       !bytes_starts_with(line, bytes_string(kinds[i].word)))
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return fail(ERR_bad_line, "no line of a dump begins so");
	if (parted != (kinds[i].load == load_part))
		return fail(ERR_bad_line,
			    parted ? "parts of the value before are missing"
				   : "there is no value that it is part of");
	return kinds[i].load(l, bytes_after(line, strlen(kinds[i].word)));
}

/* Puts the line in front of what an error says of it. */
static int at_line(const struct loader *l, int err)
{
	char why[512];

	if (err == 0 || -err < ERR_BASE || err_errno(err) == EIO)
		return err;
	snprintf(why, sizeof(why), "%s", err_detail());
	return fail(-err, "line %llu: %s", (unsigned long long)l->line_number,
		    why[0] ? why : err_text(err));
}

/* Takes a line from its first byte to its newline. */
static int take_line(struct loader *l, struct bytes line)
{
	int err;

	l->line_number++;
	err = load_line(l, bytes_of(line.data, line.size - 1));
	if (!err && !l->ended)
		XXH64_update(l->hash, line.data, line.size);
	return at_line(l, err);
}

static int too_long(struct loader *l)
{
	l->line_number++;
	return at_line(l, fail(ERR_bad_line, "it has more than %zu bytes",
			       DUMP_LINE_MAX));
}

int loader_feed(struct loader *l, struct bytes piece)
{
	int err = 0;

	while (!err && piece.size > 0) {
		const uint8_t *end = memchr(piece.data, '\n', piece.size);
		size_t size = end ? (size_t)(end - piece.data) + 1 : piece.size;
		struct bytes line = bytes_of(piece.data, size);

		piece = bytes_after(piece, size);
		if (l->line.size + size > DUMP_LINE_MAX)
			return too_long(l);
		/* A line that came whole is taken where it stands. */
		if (!end || l->line.size > 0) {
			err = buf_add_bytes(&l->line, line);
			line = buf_bytes(&l->line);
		}
		if (err || !end)
			break;
		err = take_line(l, line);
		buf_reset(&l->line);
	}
	return err;
}

int loader_finish(struct loader *l)
{
	size_t i;
	int err = 0;

	if (!l->ended || l->line.size > 0)
		return fail(ERR_bad_line,
			    "the dump is cut off behind line %llu: its last "
			    "line begins with \"end\"",
			    (unsigned long long)l->line_number);
	if (l->pieces)
		return 0;
	for (i = 0; !err && i < l->family_count; i++) {
		const struct load_family *f = &l->families[i];

		if (f->gc)
			err = store_set_gc(l->rows.store, buf_bytes(&f->table),
					   buf_bytes(&f->name), f->gc);
	}
	return err < 0 ? err : store_sync(l->rows.store);
}
