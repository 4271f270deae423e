#include <stddef.h>

#include "store/text/track/import_position.h"
#include "store/text/track/import_table.h"

#define TABLE BYTES_LITERAL(IMPORT_POSITIONS)
#define FAMILY BYTES_LITERAL("import")
#define QUALIFIER BYTES_LITERAL("position")

#define VERSION 1

/* A text is shorter; what is longer is none. */
#define TEXT_MAX 1024

static const struct {
	const char *name;
	size_t at;
} fields[] = {
	{ "table", offsetof(struct import_position, table) },
	{ "line", offsetof(struct import_position, line) },
	{ "offset", offsetof(struct import_position, offset) },
	{ "elements", offsetof(struct import_position, elements) },
	{ "time", offsetof(struct import_position, time_us) },
	{ "format", offsetof(struct import_position, format) },
	{ "in_array", offsetof(struct import_position, in_array) },
	{ "head_size", offsetof(struct import_position, head_size) },
	{ "head_hash", offsetof(struct import_position, head_hash) },
	{ "recipe_hash", offsetof(struct import_position, recipe_hash) },
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

/* As position_parse has to find and set each by its offset. */
_Static_assert(sizeof(struct import_position) == FIELD_COUNT * sizeof(uint64_t),
	       "each field is in the text");

static uint64_t *field(struct import_position *p, size_t i)
{
	return (uint64_t *)(void *)((uint8_t *)p + fields[i].at);
}

bool import_position_equal(const struct import_position *a,
			   const struct import_position *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

int import_position_print(const struct import_position *p, struct buf *out)
{
	struct import_position copy = *p;
	size_t i;
	int err = buf_printf(out, "version %d\n", VERSION);

	for (i = 0; !err && i < FIELD_COUNT; i++)
		err = buf_printf(out, "%s %llu\n", fields[i].name,
				 (unsigned long long)*field(&copy, i));
	return err;
}

/* Takes "name number\n" off the front. */
static bool take_number(struct bytes *text, const char *name, uint64_t *out)
{
	size_t size = strlen(name), i;
	uint64_t n = 0;

	if (!bytes_starts_with(*text, bytes_of(name, size)) ||
	    text->size < size + 3 || text->data[size] != ' ')
		return false;
	for (i = size + 1; i < text->size && text->data[i] != '\n'; i++) {
		unsigned int digit = text->data[i] - (unsigned int)'0';

		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (i == size + 1 || i == text->size)
		return false;
	*text = bytes_after(*text, i + 1);
	*out = n;
	return true;
}

int import_position_parse(struct bytes text, struct import_position *p)
{
	uint64_t version = 0;
	size_t i;

	*p = (struct import_position){ 0 };
	if (text.size > TEXT_MAX || !take_number(&text, "version", &version))
		return fail(ERR_bad_argument, "it is no position");
	if (version != VERSION)
		return fail(ERR_bad_argument,
			    "it was written by a newer version");
	for (i = 0; i < FIELD_COUNT; i++)
		if (!take_number(&text, fields[i].name, field(p, i)))
			return fail(ERR_bad_argument, "it has no %s",
				    fields[i].name);
	if (text.size > 0 || p->time_us > INT64_MAX ||
	    p->head_size > IMPORT_HEAD_SIZE || p->head_size > p->offset ||
	    p->line == 0 || p->format > RECIPE_CONTROL)
		return fail(ERR_bad_argument, "its numbers cannot be");
	return 0;
}

/* The column of a table's number; 0: that of an older program. */
static int add_column(uint64_t table, struct buf *out)
{
	int err = buf_add_bytes(out, QUALIFIER);

	if (!err && table)
		err = buf_printf(out, ".%llu", (unsigned long long)table);
	return err;
}

/* As import_position_load, from that column. */
static int load_column(struct store *s, struct bytes name, uint64_t table,
		       struct import_position *p)
{
	struct buf column = BUF_INIT, memory = BUF_INIT;
	struct cell cell;
	int err = add_column(table, &column);

	if (!err)
		err = store_get(s, NULL, TABLE, name, FAMILY,
				buf_bytes(&column), &cell, &memory);
	if (err == -ERR_no_table)
		err = 0;
	if (err == 1 && import_position_parse(cell.value, p) < 0)
		err = fail(ERR_bad_argument,
			   "table " IMPORT_POSITIONS ", row \"%.*s\": %s; "
			   "delete import:%.*s of it to import from the "
			   "beginning",
			   (int)name.size, name.data, err_detail(),
			   (int)column.size, column.data);
	buf_release(&column);
	buf_release(&memory);
	return err;
}

/* From an older program's column into its table's own. 1 or an error. */
static int move(struct store *s, struct bytes name,
		const struct import_position *p)
{
	struct write *w = NULL;
	int err = write_new(s, &w);

	if (!err)
		err = write_row(w, TABLE, name);
	if (!err)
		err = write_delete_column(w, FAMILY, QUALIFIER);
	if (!err)
		err = import_position_add(w, name, p);
	if (!err)
		err = store_commit(s, w, false);
	write_free(w);
	return err < 0 ? err : 1;
}

int import_position_load(struct store *s, struct bytes name, uint64_t table,
			 struct import_position *p)
{
	struct schema *schema;
	int err = load_column(s, name, table, p);

	if (err != 0)
		return err;
	err = load_column(s, name, 0, p);
	if (err <= 0)
		return err;
	if (p->table == table)
		return move(s, name, p);
	schema = store_schema(s);
	err = import_table_is_there(schema, p->table) ? 0 : 1;
	schema_put(schema);
	return err;
}

int import_position_prepare(struct store *s)
{
	const struct table_access private = { 0700, TABLE_ACCESS_UNSET,
					      TABLE_ACCESS_UNSET };
	const struct family_spec family = { .name = FAMILY };
	const struct table_spec spec = { .name = TABLE,
					 .access = &private,
					 .families = &family,
					 .family_count = 1 };
	int err = store_make_table(s, &spec);

	if (err == -ERR_table_exists)
		err = store_create_family(s, TABLE, &family);
	return err == -ERR_family_exists ? 0 : err;
}

/* The table may be one of milliseconds. */
int import_position_add(struct write *w, struct bytes name,
			const struct import_position *p)
{
	struct buf column = BUF_INIT, text = BUF_INIT;
	int err = import_position_print(p, &text);

	if (!err)
		err = add_column(p->table, &column);
	if (!err)
		err = write_row(w, TABLE, name);
	if (!err)
		err = write_set(w, FAMILY, buf_bytes(&column),
				p->time_us - p->time_us % 1000,
				buf_bytes(&text));
	buf_release(&column);
	buf_release(&text);
	return err;
}
