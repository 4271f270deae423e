#include <stdlib.h>

#include "store/text/advice/advice.h"
#include "store/text/advice/advice_look.h"
#include "store/text/value/quote.h"

/*
 * The rules. Each is a function that prints its line, ok or advice; what it
 * goes by was looked at before.
 */
#define MB (UINT64_C(1) << 20)
#define ROW_MUCH (100 * MB)
#define ROW_MOST (256 * MB)
#define CELL_MUCH (10 * MB)
#define CELL_MOST (100 * MB)
#define KEY_MUCH 200
#define FAMILIES_MUCH 100
#define NAME_MUCH 20  /* bytes of family and qualifier, in the mean */
#define NAME_SHARE 50 /* of a hundred bytes */
#define VERSIONS_MUCH 1000
#define HOT_WRITES 5000.0 /* fewer tell nothing */
#define HOT_SHARE 0.5
#define HOT_TIMES 2  /* so often is a column written that is rewritten */
#define STAIRS_MIN 8 /* columns of time in which anything was written */
#define STAIRS_ORDER 0.95
#define TABLES_MUCH 20
#define TABLE_ROWS 10000 /* more are no small table */

struct advice {
	struct store *s;
	const struct schema *schema;
	const struct table *table;
	struct advice_look look;
	struct heat_picture *heat; /* of writes */
	bool (*stop)(void);
	struct buf *out;
};

/* What stands behind an advice. */
static int add_rest(struct advice *a, const char *why, const char *what,
		    const char *recipe)
{
	int err = buf_printf(a->out, "\n  why %s\n  do %s\n", why, what);

	if (err == 0 && recipe)
		err = buf_printf(a->out, "  recipe %s\n", recipe);
	return err;
}

static int add_size(uint64_t n, struct buf *out)
{
	if (n < 10000)
		return buf_printf(out, "%llu bytes", (unsigned long long)n);
	if (n < 10 * MB)
		return buf_printf(out, "%llu KiB",
				  (unsigned long long)(n >> 10));
	return buf_printf(out, "%llu MiB", (unsigned long long)(n >> 20));
}

static int add_place(const struct advice_most *m, struct buf *out)
{
	int err = quote_go(buf_bytes(&m->row), out);

	if (err < 0 || m->family.size == 0)
		return err;
	err = buf_add_byte(out, ' ');
	if (err == 0)
		err = quote_go_part(buf_bytes(&m->family), out);
	if (err == 0)
		err = buf_add_byte(out, ':');
	return err < 0 ? err : quote_go_part(buf_bytes(&m->qualifier), out);
}

/* "ok RULE: the largest has 12 bytes, in "row"". */
static int add_most(struct advice *a, bool is_ok, const char *rule,
		    const struct advice_most *m)
{
	int err = buf_printf(a->out, "%s %s: the largest has ",
			     is_ok ? "ok" : "advice", rule);

	if (err == 0)
		err = add_size(m->value, a->out);
	if (err == 0 && m->value > 0)
		err = buf_add_string(a->out, ": ");
	if (err == 0 && m->value > 0)
		err = add_place(m, a->out);
	return err < 0 || !is_ok ? err : buf_add_byte(a->out, '\n');
}

static int row_size(struct advice *a)
{
	uint64_t size = a->look.row.value;
	int err = add_most(a, size < ROW_MUCH, "row size", &a->look.row);

	if (err < 0 || size < ROW_MUCH)
		return err;
	return add_rest(a,
			size < ROW_MOST
				? "a row is read, exported and changed as one; "
				  "Bigtable advises less than 100 MiB"
				: "a row is read, exported and changed as one; "
				  "Bigtable takes no more than 256 MiB",
			"make several rows of it, by what its columns or "
			"versions differ in: a day, a page",
			"key '{id}#{when|time|unix_s}'");
}

static int cell_bytes(struct advice *a)
{
	uint64_t size = a->look.cell.value;
	int err = add_most(a, size < CELL_MUCH, "cell size", &a->look.cell);

	if (err < 0 || size < CELL_MUCH)
		return err;
	return add_rest(
		a,
		size < CELL_MOST ? "commands and exports hold a value in "
				   "memory; Bigtable advises less than 10 MiB"
				 : "this is the limit, here and on Bigtable",
		"keep it in a file or in parts, and its name here", NULL);
}

static int key_length(struct advice *a)
{
	const struct advice_look *l = &a->look;
	uint64_t mean = l->rows ? l->key_size / l->rows : 0;
	unsigned int share = l->all_of_cells
				     ? (unsigned int)(l->keys_of_cells * 100 /
						      l->all_of_cells)
				     : 0;
	bool is_ok = mean <= KEY_MUCH;
	int err = buf_printf(a->out,
			     "%s key length: %llu bytes in the mean, %u %% of "
			     "what cells have",
			     is_ok ? "ok" : "advice", (unsigned long long)mean,
			     share);

	if (err == 0 && l->keys.key.size > 0) {
		err = buf_add_string(a->out, "; such as ");
		if (err == 0)
			err = quote_go(buf_bytes(&l->keys.key), a->out);
	}
	if (err < 0 || is_ok)
		return err < 0 ? err : buf_add_byte(a->out, '\n');
	return add_rest(a,
			"a key stands with each of its cells, in memory and in "
			"each answer",
			"leave out what all keys have, shorten what repeats, "
			"and keep the rest in a column",
			"key '{name|slice(0,40)}#{name|hash(8)}'");
}

static int families(struct advice *a)
{
	bool is_ok = a->table->family_count <= FAMILIES_MUCH;
	int err = buf_printf(a->out, "%s families: %zu",
			     is_ok ? "ok" : "advice", a->table->family_count);

	if (err == 0 && a->table->family_count > 0)
		err = buf_printf(a->out, ", such as %.*s",
				 (int)a->table->families[0].name.size,
				 (const char *)a->table->families[0].name.data);
	if (err < 0 || is_ok)
		return err < 0 ? err : buf_add_byte(a->out, '\n');
	return add_rest(a,
			"families are for what is read or kept together; "
			"Bigtable advises no more than 100",
			"make qualifiers of what are names of things, in one "
			"family",
			"rest family");
}

/* Many different names are data, such as a list of friends. */
static int name_length(struct advice *a)
{
	const struct advice_look *l = &a->look;
	uint64_t mean = l->name_count ? l->name_sizes / l->name_count : 0;
	unsigned int share = l->all_of_cells
				     ? (unsigned int)(l->names_of_cells * 100 /
						      l->all_of_cells)
				     : 0;
	bool is_ok = l->name_count == ADVICE_NAMES || mean < NAME_MUCH ||
		     share < NAME_SHARE;
	int err = buf_printf(a->out,
			     "%s names: families with qualifiers have %llu "
			     "bytes in the mean, %u %% of what cells have",
			     is_ok ? "ok" : "advice", (unsigned long long)mean,
			     share);

	if (err == 0 && !is_ok) {
		err = buf_add_string(a->out, "; the longest: ");
		if (err == 0)
			err = add_place(&l->name, a->out);
	}
	if (err < 0 || is_ok)
		return err < 0 ? err : buf_add_byte(a->out, '\n');
	return add_rest(a,
			"names stand with each cell, in memory and in each "
			"answer",
			"shorten them, and keep one table that tells what they "
			"mean",
			"set m:t '{temperature_in_degrees}'");
}

static int versions(struct advice *a)
{
	const struct advice_most *m = &a->look.versions;
	bool is_ok = m->value <= VERSIONS_MUCH;
	int err = buf_printf(a->out,
			     "%s versions: of columns without a policy the "
			     "most is %llu",
			     is_ok ? "ok" : "advice",
			     (unsigned long long)m->value);

	if (err == 0 && m->value > 0)
		err = buf_add_string(a->out, ": ");
	if (err == 0 && m->value > 0)
		err = add_place(m, a->out);
	if (err < 0 || is_ok)
		return err < 0 ? err : buf_add_byte(a->out, '\n');
	err = buf_printf(
		a->out,
		"\n  why all of them are kept for ever, and a row grows "
		"with them\n  do tabletfs setgcpolicy ");
	if (err == 0)
		err = quote_go_part(a->table->name, a->out);
	if (err == 0)
		err = buf_add_byte(a->out, ' ');
	if (err == 0)
		err = quote_go_part(buf_bytes(&m->family), a->out);
	return err < 0 ? err
		       : buf_add_string(
				 a->out,
				 " maxversions=100; or a row for each "
				 "time, if they are a series\n"
				 "  recipe key '{id}#{when|time|unix_s}'\n");
}

/* What was written to the keys of a row of the picture, and of those behind it
 * if it is the first of several parts. */
static double heat_of(const struct heat_picture *p, size_t row)
{
	const double *values = p->values + row * p->columns;
	double sum = 0;
	size_t i;

	for (i = 0; i < p->row[row].parts * p->columns; i++)
		sum += values[i];
	return sum * (double)p->column_s;
}

/* Whether a row of the picture is one row of the table: the next key is its
 * own with a zero behind it. */
static bool is_one(const struct heat_row *r)
{
	return r->start.size > 0 && r->end.size == r->start.size + 1 &&
	       bytes_starts_with(r->end, r->start) &&
	       r->end.data[r->start.size] == 0;
}

/* The columns of a row, of which no more than max are counted. */
static int count_columns(struct advice *a, struct bytes row, uint64_t max,
			 uint64_t *count)
{
	const struct scan_range range = { .table = a->table->name,
					  .row = row,
					  .keep_large = true,
					  .stop = a->stop };
	struct scan *scan;
	struct cell c;
	int found = scan_open(a->s, NULL, &range, &scan);

	*count = 0;
	if (found < 0)
		return found;
	while (*count < max &&
	       (found = scan_next(scan, CURSOR_COLUMN, &c)) == 1)
		++*count;
	scan_close(scan);
	return found < 0 ? found : 0;
}

/* A load counts by 16 KiB and other writes one by one, so which share of all a
 * row has is not known, and not told; and writes of ever new columns are no
 * rewriting. */
static int rewriting(struct advice *a)
{
	const struct heat_picture *p = a->heat;
	double sum = 0, most = 0, n;
	uint64_t columns, enough;
	size_t r, hot = 0;
	int err;

	for (r = 0; r < p->rows; r += p->row[r].parts) {
		n = heat_of(p, r);
		sum += n;
		if (is_one(&p->row[r]) && n > most) {
			most = n;
			hot = r;
		}
	}
	if (sum < HOT_WRITES || most < HOT_SHARE * sum)
		return buf_printf(a->out,
				  "ok rewriting: of about %.0f writes, each 16 "
				  "KiB of a bulk load being one, no row has "
				  "half\n",
				  sum);
	enough = (uint64_t)(most / HOT_TIMES);
	err = count_columns(a, p->row[hot].start, enough, &columns);
	if (err == 0)
		err = buf_printf(a->out, "%s rewriting: ",
				 columns < enough ? "advice" : "ok");
	if (err == 0)
		err = quote_go(p->row[hot].start, a->out);
	if (err == 0)
		err = buf_printf(a->out,
				 " has had about %.0f writes, and has "
				 "%s%llu columns",
				 most, columns < enough ? "" : "at least ",
				 (unsigned long long)columns);
	if (err == 0 && columns >= enough)
		return buf_add_byte(a->out, '\n');
	return err < 0 ? err
		       : add_rest(
				 a,
				 "each write is a version more, in the log and "
				 "to be merged away; on Bigtable, one server "
				 "has them all",
				 "add to a family of aggregates, gather writes "
				 "in the program, or make a row for each time",
				 "key '{id}#{when|time|unix_s}'");
}

static int numbers(struct advice *a)
{
	const struct advice_segment *s = NULL;
	size_t i;
	int err;

	for (i = 0; i < ADVICE_SEGMENTS && !s; i++)
		if (advice_is_unpadded(&a->look.keys.segments[i]))
			s = &a->look.keys.segments[i];
	if (!s)
		return buf_add_string(a->out,
				      "ok numbers: none in keys that is out of "
				      "order\n");
	err = buf_printf(a->out,
			 "advice numbers: segment %zu has numbers of %zu to "
			 "%zu digits, so that ",
			 i, s->shortest, s->longest);
	if (err == 0)
		err = quote_go(buf_bytes(&s->before), a->out);
	if (err == 0)
		err = buf_add_string(a->out, " comes before ");
	if (err == 0)
		err = quote_go(buf_bytes(&s->after), a->out);
	return err < 0 ? err
		       : add_rest(a,
				  "rows are in the order of their bytes, so a "
				  "range from 3 to 20 is empty",
				  "write them with zeros in front, as many "
				  "digits as there may be",
				  "key '{id|pad(8)}'");
}

/* Where in a column of the picture writes are, in rows; -1: there are none. */
static double middle(const struct heat_picture *p, size_t column)
{
	double sum = 0, places = 0;
	size_t r;

	for (r = 0; r < p->rows; r++) {
		sum += p->values[r * p->columns + column];
		places += (double)r * p->values[r * p->columns + column];
	}
	return sum > 0 ? places / sum : -1;
}

/* Whether writes go up the keys with time: of all pairs of times nearly all. Of
 * few steps that tells nothing. */
static bool is_staircase(const struct heat_picture *p, size_t *steps)
{
	double order = 0, pairs = 0, x, y;
	size_t i, j;

	*steps = 0;
	for (i = 0; i < p->columns; i++) {
		x = middle(p, i);
		*steps += x >= 0;
		for (j = i + 1; j < p->columns && x >= 0; j++) {
			y = middle(p, j);
			if (y < 0)
				continue;
			order += (y > x) - (y < x);
			pairs++;
		}
	}
	return order >= STAIRS_ORDER * pairs;
}

static int rising(struct advice *a)
{
	const struct advice_keys *k = &a->look.keys;
	bool is_time = advice_is_time(k), is_sequence = advice_is_sequence(k);
	size_t steps;
	bool rises = is_staircase(a->heat, &steps);
	int err;

	if ((is_time || is_sequence) && steps < STAIRS_MIN)
		return buf_printf(a->out,
				  "ok rising keys: they lead with a %s, but of "
				  "%zu moments of writes on the heat map it "
				  "cannot be told whether these go up with "
				  "time\n",
				  is_time ? "time" : "sequence", steps);
	if (!rises || !(is_time || is_sequence))
		return buf_printf(a->out,
				  "ok rising keys: writes do not go up the "
				  "keys with time, by %zu moments of the heat "
				  "map\n",
				  steps);
	err = buf_printf(a->out,
			 "advice rising keys: they lead with a %s, and writes "
			 "are a staircase of %zu steps in keyviz "
			 "metric=writes; the last key is ",
			 is_time ? "time" : "sequence", steps);
	if (err == 0)
		err = quote_go(buf_bytes(&k->key), a->out);
	return err < 0 ? err
		       : add_rest(a,
				  "nothing here; if moved to Bigtable, one "
				  "server has all writes",
				  "put before it what tells writers apart, or "
				  "a salt",
				  "key '{device}#{when|time|unix_s}'");
}

static bool has_shape_of(const struct table *a, const struct table *b)
{
	size_t i;

	if (a->family_count != b->family_count || a->family_count == 0)
		return false;
	for (i = 0; i < a->family_count; i++)
		if (!bytes_equal(a->families[i].name, b->families[i].name))
			return false;
	return true;
}

static int alike(struct advice *a)
{
	const struct table *other = NULL, *t;
	size_t i, count = 0;
	uint64_t rows;
	int err = 0;

	for (i = 0; i < a->schema->table_count && err == 0; i++) {
		t = &a->schema->tables[i];
		if (!has_shape_of(a->table, t))
			continue;
		err = store_estimate_rows(a->s, t->name, BYTES_NONE, BYTES_NONE,
					  &rows);
		if (err == 0 && rows <= TABLE_ROWS) {
			count++;
			other = t == a->table ? other : t;
		}
		err = err == -ERR_no_table ? 0 : err;
	}
	if (err < 0)
		return err;
	err = buf_printf(a->out, "%s tables alike: %zu small ones",
			 count < TABLES_MUCH ? "ok" : "advice", count);
	if (err < 0 || count < TABLES_MUCH)
		return err < 0 ? err : buf_add_byte(a->out, '\n');
	err = buf_add_string(a->out, " with the same families, such as ");
	if (err == 0)
		err = quote_go(other->name, a->out);
	return err < 0 ? err
		       : add_rest(a,
				  "there are 1,000 tables at most, and what is "
				  "in two of them is in no one scan",
				  "make one table, with the name of each in "
				  "front of its keys; deleterows prefix= drops "
				  "one of them",
				  "key '{tenant}#{id}'");
}

static int add_looked(struct advice *a)
{
	return buf_printf(a->out, "looked at %llu rows with %llu cells: %s\n",
			  (unsigned long long)a->look.rows,
			  (unsigned long long)a->look.cells,
			  a->look.is_whole ? "all of the table"
					   : "stretches of the table");
}

static int run(struct advice *a, bool (*stop)(void))
{
	static int (*const rules[])(struct advice *) = {
		add_looked, row_size,    cell_bytes, key_length,
		families,   name_length, versions,   rewriting,
		numbers,    rising,      alike,
	};
	const struct heat_query q = { .table = a->table->name,
				      .metric = HEAT_WRITES };
	size_t i;
	int err = store_heat(a->s, &q, &a->heat);

	if (err == 0)
		err = advice_look(a->s, a->table, stop, &a->look);
	for (i = 0; i < sizeof(rules) / sizeof(*rules) && err == 0; i++)
		err = rules[i](a);
	advice_look_release(&a->look);
	heat_picture_free(a->heat);
	return err;
}

int advice_print(struct store *s, struct bytes table, bool (*stop)(void),
		 struct buf *out)
{
	struct schema *schema = store_schema(s);
	struct advice *a = calloc(1, sizeof(*a));
	int err = a ? 0 : -ENOMEM;

	if (a) {
		a->s = s;
		a->schema = schema;
		a->stop = stop;
		a->table = schema_table(schema, table);
		a->out = out;
	}
	if (a && !a->table)
		err = fail(ERR_no_table, "table \"%.*s\" not found",
			   (int)table.size, (const char *)table.data);
	if (err == 0)
		err = run(a, stop);
	free(a);
	schema_put(schema);
	return err;
}
