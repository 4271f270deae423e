#include <assert.h>
#include <stdlib.h>

#include "store/text/import/import_commit.h"
#include "store/text/import/import_recipe.h"
#include "store/text/import/import_resume.h"
#include "store/text/json/json_dynamodb.h"
#include "store/text/recipe/row_json.h"
#include "store/text/value/base64.h"

/*
 * Records of headed CSV, TSV and JSON become rows: the applier of
 * store/text/recipe/apply.h makes them, and they go on as those of any import,
 * or as JSON to whoever asked for it.
 */

/* Whether the table has the family, and for this use. */
static int check_family(const struct table *t, struct bytes name,
			bool aggregate)
{
	const struct family *f = table_family(t, name);

	if (!f)
		return fail(ERR_no_family,
			    "unknown family \"%.*s\"; createfamily %.*s %.*s "
			    "makes it",
			    (int)name.size, name.data, (int)t->name.size,
			    t->name.data, (int)name.size, name.data);
	if (family_is_aggregate(f) && !aggregate)
		return fail(ERR_type_mismatch,
			    "family \"%.*s\" is one of aggregates, to which "
			    "add adds",
			    (int)name.size, name.data);
	if (!family_is_aggregate(f) && aggregate)
		return fail(ERR_type_mismatch,
			    "family \"%.*s\" is none of aggregates, so add "
			    "cannot add to it",
			    (int)name.size, name.data);
	return 0;
}

int import_recipe_init(struct importer *im,
		       const struct import_options *options)
{
	struct import_recipe *by = &im->by;
	struct bytes family;
	bool aggregate;
	size_t i;
	int err = 0;

	im->recipe = options->recipe;
	by->schema = im->store ? store_schema(im->store) : NULL;
	by->target = by->schema ? schema_table(by->schema, options->table)
				: options->target;
	by->refuse_duplicates = options->refuse_duplicates;
	by->rejects = options->rejects;
	by->emit = options->emit;
	by->context = options->context;
	/* To refuse them takes all that there are. */
	cells_seen_init(&by->seen, by->refuse_duplicates ? SIZE_MAX
				   : options->seen_max   ? options->seen_max
							 : IMPORT_SEEN_MAX);
	if (!by->target)
		return fail(ERR_no_table, "the table is gone");
	for (i = 0; !err && recipe_family(im->recipe, i, &family, &aggregate);
	     i++)
		err = check_family(by->target, family, aggregate);
	if (!err)
		err = applier_new(im->recipe, im->now_us, by->target->millis,
				  &by->applier);
	return err;
}

void import_recipe_release(struct importer *im)
{
	struct import_recipe *by = &im->by;

	applier_free(by->applier);
	schema_put(by->schema);
	cells_seen_release(&by->seen);
	buf_release(&by->hashes);
	buf_release(&by->file);
	buf_release(&by->raw_kept);
	buf_release(&by->decoded);
	buf_release(&by->line);
	free(by->names);
	free(by->columns);
}

/* As import_refuse; of an array, all of which may be on one line, with the
 * element's number. */
static int refuse(struct importer *im, int err)
{
	const char *why = err_detail();

	if (im->by.array_index > 0 && import_is_refusable(err))
		err = fail(-err, "element %llu: %s",
			   (unsigned long long)im->by.array_index,
			   why[0] ? why : err_text(err));
	return import_refuse(im, err);
}

/* For import_add_row. */
static int add_rows(struct importer *im)
{
	size_t i, k;
	int err = 0;

	for (i = 0; !err && i < im->by.rows.count; i++) {
		const struct recipe_row *row = &im->by.rows.rows[i];

		err = write_row(im->w, buf_bytes(&im->table), row->key);
		for (k = 0; !err && k < row->cell_count; k++) {
			const struct recipe_cell *c = &row->cells[k];

			err = c->add ? write_add(im->w, c->family, c->qualifier,
						 c->us, c->number)
				     : write_set(im->w, c->family, c->qualifier,
						 c->us, c->value);
		}
	}
	return err;
}

/* The rows as JSON. */
static int emit_rows(struct importer *im)
{
	struct import_recipe *by = &im->by;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < by->rows.count; i++) {
		const struct recipe_row *row = &by->rows.rows[i];

		if (row->cell_count == 0)
			continue;
		buf_reset(&by->line);
		err = row_json(row, &by->line);
		if (!err)
			err = by->emit(by->context, buf_bytes(&by->line));
		if (err < 0)
			return err;
		im->result.row_count++;
		im->result.cell_count += row->cell_count;
	}
	im->result.committed_line = im->result.line_count;
	return err < 0 ? err : 1;
}

/* Notes the hashes of the cells that are set in by->hashes, and has the
 * processor fetch where they will be looked for: among the millions that were
 * seen each is far from the one before. 0 or -ENOMEM. */
static int hash_set(struct importer *im)
{
	size_t i, k;
	int err = 0;

	buf_reset(&im->by.hashes);
	for (i = 0; i < im->by.rows.count; i++) {
		const struct recipe_row *row = &im->by.rows.rows[i];

		for (k = 0; k < row->cell_count && err == 0; k++) {
			const struct recipe_cell *c = &row->cells[k];
			uint64_t hash;

			if (c->add)
				continue;
			hash = cells_seen_hash(row->key, c->family,
					       c->qualifier, c->us);
			cells_seen_fetch(&im->by.seen, hash);
			err = buf_add(&im->by.hashes, &hash, sizeof(hash));
		}
	}
	return err;
}

/* Calls visit for each cell that is set, after hash_set: the sum of what it
 * returns, or its first error. */
static int64_t each_set(struct importer *im,
			int (*visit)(struct importer *im, uint64_t hash,
				     const struct recipe_cell *c))
{
	const uint64_t *hash = (const uint64_t *)im->by.hashes.data;
	int64_t sum = 0;
	size_t i, k;

	for (i = 0; i < im->by.rows.count; i++) {
		const struct recipe_row *row = &im->by.rows.rows[i];

		for (k = 0; k < row->cell_count; k++) {
			const struct recipe_cell *c = &row->cells[k];
			int n;

			if (c->add)
				continue;
			n = visit(im, *hash++, c);
			if (n < 0)
				return n;
			sum += n;
		}
	}
	return sum;
}

static int was_set(struct importer *im, uint64_t hash,
		   const struct recipe_cell *c)
{
	(void)c;
	return cells_seen_has(&im->by.seen, hash);
}

/* Notes the cell; 1 if its policy hides it already. */
static int note_set(struct importer *im, uint64_t hash,
		    const struct recipe_cell *c)
{
	const struct family *f;
	int err = cells_seen_add(&im->by.seen, hash);

	if (err < 0 || !c->timed)
		return err;
	f = table_family(im->by.target, c->family);
	return f && !gc_keep(family_gc(f), 0, c->us, im->now_us);
}

/* Whether a store would take the rows as one write, which it refuses as it adds
 * them; about, as to bytes. */
static int check_bounds(const struct importer *im, uint64_t cells,
			uint64_t bytes)
{
	if (cells > STORE_MUTATIONS_MAX)
		return fail(ERR_batch_too_large, "more than %d changes",
			    STORE_MUTATIONS_MAX);
	if (bytes > IMPORT_WRITE_MAX)
		return fail(ERR_batch_too_large, "more than %u bytes",
			    IMPORT_WRITE_MAX);
	return import_resume_room(im, cells, bytes);
}

/* As JSON. What goes on at once has its bounds. */
static int emit(struct importer *im)
{
	uint64_t cells = 0, bytes = 0, large = 0;
	size_t i, k;
	int err;

	for (i = 0; i < im->by.rows.count; i++) {
		const struct recipe_row *row = &im->by.rows.rows[i];

		cells += row->cell_count;
		for (k = 0; k < row->cell_count; k++) {
			const struct recipe_cell *c = &row->cells[k];

			bytes += row->key.size + c->qualifier.size +
				 c->value.size;
			if (c->value.size >= IMPORT_VALUE_LARGE)
				large += c->value.size;
		}
	}
	err = check_bounds(im, cells, bytes - large);
	if (err < 0)
		return import_refuse(im, err);
	if (im->pending_cells + cells > IMPORT_BATCH_MUTATIONS ||
	    im->pending_bytes + bytes > IMPORT_BATCH_SIZE)
		err = import_hand_on(im);
	im->pending_cells += cells;
	im->pending_bytes += bytes;
	return err < 0 ? err : emit_rows(im);
}

/* Whether there is a row with a cell. */
static bool has_cells(const struct recipe_rows *rows)
{
	size_t i = 0;

	while (i < rows->count && rows->rows[i].cell_count == 0)
		i++;
	return i < rows->count;
}

/* The rows of a record go on. 1 or an error. */
static int deliver(struct importer *im)
{
	uint64_t refused = im->result.refused_count;
	int64_t replaced, hidden;
	int err = hash_set(im);

	if (err < 0)
		return err;
	replaced = each_set(im, was_set);
	if (replaced > 0 && im->by.refuse_duplicates)
		return refuse(im,
			      fail(ERR_bad_line,
				   "row \"%.*s\" has a cell that an earlier "
				   "record of this import set",
				   (int)im->by.rows.rows[0].key.size,
				   im->by.rows.rows[0].key.data));
	err = im->by.emit ? emit(im) : import_add_row(im, add_rows);
	if (err < 0 || im->result.refused_count > refused)
		return err;
	hidden = each_set(im, note_set);
	if (hidden < 0)
		return (int)hidden;
	im->result.empty_count += !has_cells(&im->by.rows);
	im->result.hidden_count += (uint64_t)hidden;
	im->result.replaced_count += (uint64_t)replaced;
	im->result.replaced_more = im->by.seen.full;
	return 1;
}

/* A record through the recipe: each element of it that is wrong is refused by
 * itself. 1 or an error. */
static int run(struct importer *im, const struct record *record)
{
	struct import_recipe *by = &im->by;
	int err;

	applier_begin(by->applier, record);
	for (by->element = 0; (err = applier_next(by->applier, &by->rows)) != 0;
	     by->element++) {
		if (by->element < by->element_first)
			continue;
		if (err < 0)
			err = refuse(im, err);
		else if (by->rows.count == 0)
			im->result.skipped_count++;
		else
			err = deliver(im);
		if (err < 0)
			return err;
	}
	im->result.unexploded_count += applier_lacks_array(by->applier);
	by->element = by->element_first = 0;
	return 1;
}

/* Points names into header_text, which moves no more: sizes are there. */
static int bind_names(struct importer *im)
{
	struct import_recipe *by = &im->by;
	const uint8_t *text = im->header_text.data;
	size_t i;

	for (i = 0; i < by->name_count; i++) {
		by->names[i].data = text;
		text += by->names[i].size;
	}
	im->header = HEADER_DONE;
	return applier_header(by->applier, by->names, by->name_count, true);
}

static int add_name(struct importer *im, struct bytes name)
{
	im->by.names[im->by.name_count++] = name;
	return buf_add_bytes(&im->header_text, name);
}

static int make_names(struct importer *im, size_t count)
{
	free(im->by.names);
	im->by.names = calloc(count, sizeof(*im->by.names));
	im->by.name_count = 0;
	im->header_text.size = 0;
	return im->by.names ? 0 : -ENOMEM;
}

/* The names that the recipe has, parted by commas. */
static int take_own_names(struct importer *im, struct bytes names)
{
	int err = make_names(im, names.size + 1);

	while (!err) {
		const uint8_t *comma =
			names.size ? memchr(names.data, ',', names.size) : NULL;
		size_t size = comma ? (size_t)(comma - names.data) : names.size;

		err = add_name(im, bytes_of(names.data, size));
		if (!comma)
			break;
		names = bytes_after(names, size + 1);
	}
	return err < 0 ? err : bind_names(im);
}

int import_recipe_begin(struct importer *im)
{
	const struct recipe_source *source = recipe_source(im->recipe);

	if (im->by.format != RECIPE_CSV && im->by.format != RECIPE_TSV) {
		im->header = HEADER_DONE;
		return applier_json(im->by.applier);
	}
	if (source->header == RECIPE_NAMES)
		return take_own_names(im, source->names);
	if (source->header == RECIPE_HEADER)
		return 0;
	im->header = HEADER_DONE;
	return applier_header(im->by.applier, NULL, 0, false);
}

static struct bytes field(const struct importer *im, size_t i)
{
	return bytes_of(im->input.data + im->start + im->fields[i].offset,
			im->fields[i].size);
}

static int take_header(struct importer *im)
{
	size_t i;
	int err;

	im->by.raw = RAW_HEADER;
	if (im->field_count > im->field_max)
		return import_locate(im, fail(ERR_bad_line, "more than 100000 "
							    "columns"));
	err = make_names(im, im->field_count);
	for (i = 0; !err && i < im->field_count; i++)
		err = add_name(im, field(im, i));
	if (!err)
		err = import_locate(im, bind_names(im));
	if (!err && im->result.header_line == 0 &&
	    applier_passes_header(im->by.applier))
		im->result.header_line = im->by.line_base + im->line;
	return err < 0 ? err : 1;
}

/* Decodes the column, whose bytes then lie in decoded, at an offset until all
 * are. */
static int decode(struct importer *im, struct record_column *column)
{
	size_t at = im->by.decoded.size;
	int err = base64_decode(column->value, &im->by.decoded);

	column->value = bytes_of(NULL, im->by.decoded.size - at);
	return err;
}

/* Makes columns of the fields. */
static int make_columns(struct importer *im)
{
	struct import_recipe *by = &im->by;
	bool base64 = recipe_source(im->recipe)->base64;
	const uint8_t *decoded;
	size_t i;
	int err = 0;

	if (im->field_count > by->column_capacity) {
		free(by->columns);
		by->column_capacity = 0;
		by->columns = calloc(im->field_count, sizeof(*by->columns));
		if (!by->columns)
			return -ENOMEM;
		by->column_capacity = im->field_count;
	}
	buf_reset(&by->decoded);
	for (i = 0; !err && i < im->field_count; i++) {
		by->columns[i].value = field(im, i);
		by->columns[i].absent =
			by->columns[i].value.size == 0 && !im->fields[i].quoted;
		if (base64)
			err = decode(im, &by->columns[i]);
	}
	decoded = by->decoded.data;
	for (i = 0; base64 && !err && i < im->field_count; i++) {
		by->columns[i].value.data = decoded;
		decoded += by->columns[i].value.size;
	}
	return err;
}

/* As many fields as there are names, or fewer if the recipe says so. */
static int check_count(const struct importer *im)
{
	size_t count = im->field_count, names = im->by.name_count;
	bool is_short = count < names;

	if (names == 0 || count == names ||
	    (is_short && recipe_source(im->recipe)->short_absent))
		return 0;
	return fail(ERR_bad_line,
		    "wrong number of fields: %zu instead of %zu%s", count,
		    names,
		    is_short ? "; with short=absent those at the end may be "
			       "missing"
			     : "");
}

int import_recipe_record(struct importer *im)
{
	struct import_recipe *by = &im->by;
	struct record record = { .file = buf_bytes(&by->file),
				 .line = im->line };
	int err;

	if (im->header != HEADER_DONE)
		return take_header(im);
	if (im->field_count > im->field_max)
		return refuse(im, fail(ERR_bad_line, "more than 100000 "
						     "fields"));
	err = check_count(im);
	if (err < 0)
		return refuse(im, err);
	err = make_columns(im);
	if (err < 0)
		return refuse(im, err);
	record.columns = by->columns;
	record.column_count = im->field_count;
	return run(im, &record);
}

/* The present record, of a JSON text. 0 or an error. */
static int parse(struct importer *im, struct bytes text, struct record *record)
{
	int err;

	*record = (struct record){ .file = buf_bytes(&im->by.file),
				   .line = im->line,
				   .json = &im->json };
	record->root = json_parse(&im->json, text, &err);
	if (!record->root)
		return err;
	if (record->root->type != JSON_OBJECT)
		return fail(ERR_bad_line, "a record is a JSON object");
	return im->by.format == RECIPE_DYNAMODB ? json_dynamodb(&im->json) : 0;
}

int import_recipe_json(struct importer *im, struct bytes text)
{
	struct record record;
	int err = parse(im, text, &record);

	return err < 0 ? refuse(im, err) : run(im, &record);
}

int import_recipe_judge(struct importer *im, struct bytes text)
{
	struct record record;
	int err = parse(im, text, &record);

	if (err < 0)
		return err;
	applier_begin(im->by.applier, &record);
	while ((err = applier_next(im->by.applier, &im->by.rows)) > 0) {
		struct write_mark mark = write_mark(im->w);

		err = add_rows(im);
		write_rewind(im->w, mark);
		if (err < 0)
			break;
	}
	return err;
}
