#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/store.h"
#include "store/text/recipe/apply.h"
#include "store/text/recipe/apply_state.h"
#include "store/text/recipe/flatten.h"

/* Of the present record: what the recipe makes of it. The header, and what it
 * has to have, are in apply_header.c. */

int applier_new(struct recipe *r, uint64_t now_us, bool millis,
		struct applier **out)
{
	struct applier *a = calloc(1, sizeof(*a));

	*out = a;
	if (!a)
		return -ENOMEM;
	a->recipe = r;
	a->millis = millis;
	a->now_us = millis ? now_us - now_us % 1000 : now_us;
	a->evaluation.fields = &r->fields;
	a->evaluation.zone_s = r->source.zone_s;
	a->rows = calloc(r->count + 1, sizeof(*a->rows));
	a->keys = calloc(r->count + 1, sizeof(*a->keys));
	if (a->rows && a->keys)
		return 0;
	applier_free(a);
	*out = NULL;
	return -ENOMEM;
}

void applier_free(struct applier *a)
{
	if (!a)
		return;
	evaluation_release(&a->evaluation);
	buf_release(&a->left);
	buf_release(&a->right);
	buf_release(&a->text);
	free(a->rest_columns);
	free(a->names);
	free(a->cells);
	free(a->places);
	free(a->order);
	free(a->sorted);
	free(a->sorted_places);
	free(a->rows);
	free(a->keys);
	free(a);
}

/* A refusal of the whole record that names no single field. */
static int refuse_column(const char *why, struct bytes family,
			 struct bytes qualifier)
{
	return fail(ERR_bad_line, "column \"%.*s:%.*s\" %s", (int)family.size,
		    family.data,
		    (int)(qualifier.size < 100 ? qualifier.size : 100),
		    qualifier.data, why);
}

/* The next cell, zeroed, with the statement's family; its place is next to it.
 * NULL without memory. */
static struct recipe_cell *add_cell(struct applier *a,
				    const struct statement *s)
{
	struct recipe_cell *cell;

	if (a->cell_count == a->cell_capacity) {
		size_t capacity = a->cell_capacity * 2 + 16;
		struct recipe_cell *cells =
			realloc(a->cells, capacity * sizeof(*cells));
		struct cell_place *places;

		if (!cells)
			return NULL;
		a->cells = cells;
		places = realloc(a->places, capacity * sizeof(*places));
		if (!places)
			return NULL;
		a->places = places;
		a->cell_capacity = capacity;
	}
	cell = &a->cells[a->cell_count];
	*cell = (struct recipe_cell){ .family = s->family,
				      .us = a->at_us,
				      .timed = a->timed };
	a->places[a->cell_count++] = (struct cell_place){ .group = s->group };
	return cell;
}

/* Makes a moment the time of a cell, for what says "at". */
static int cell_time(struct applier *a, const struct template *t, uint64_t *us)
{
	int64_t time;
	int err = evaluate_time(&a->evaluation, t, &time);

	if (err < 0)
		return err;
	if (err == 1)
		return fail(ERR_bad_line, "the field of \"at\" is absent");
	if (time < 0)
		return fail(ERR_bad_line,
			    "the time of \"at\" is before 1970, which no cell "
			    "can have");
	*us = (uint64_t)time;
	if (a->millis)
		*us -= *us % 1000;
	return 0;
}

/* Appends the qualifier and the value of a set or add: 1 if the value is
 * absent. */
static int append_cell(struct applier *a, const struct statement *s,
		       struct cell_place *place)
{
	int err;

	place->value = a->text.size;
	err = evaluate_text(&a->evaluation, &s->value, &a->text);
	if (err)
		return err;
	place->value_size = a->text.size - place->value;
	place->qualifier = a->text.size;
	err = evaluate_text(&a->evaluation, &s->name, &a->text);
	if (err == 1)
		return fail(ERR_bad_line,
			    "a field of a qualifier of family \"%.*s\" is "
			    "absent",
			    (int)s->family.size, s->family.data);
	place->qualifier_size = a->text.size - place->qualifier;
	return err;
}

/* What add adds, and when: never at the time of at, for each microsecond would
 * have an accumulator. 1 if it adds nothing. */
static int finish_add(struct applier *a, const struct statement *s,
		      const struct cell_place *place, struct recipe_cell *cell)
{
	struct bytes number =
		bytes_of(a->text.data + place->value, place->value_size);
	int found;

	cell->add = true;
	cell->us = a->now_us;
	cell->timed = s->time.count > 0;
	found = int_parse_added(number, &cell->number);
	if (found == 0)
		return 1;
	if (found < 0)
		return fail(ERR_bad_line,
			    "\"%.*s\" is no 64-bit integer that could be added",
			    (int)(number.size < 100 ? number.size : 100),
			    number.data);
	return cell->timed ? cell_time(a, &s->time, &cell->us) : 0;
}

/* set and add. */
static int apply_cell(struct applier *a, const struct statement *s)
{
	struct recipe_cell *cell = add_cell(a, s);
	struct cell_place *place;
	int err;

	if (!cell)
		return -ENOMEM;
	place = &a->places[a->cell_count - 1];
	err = append_cell(a, s, place);
	if (!err && s->kind == STATEMENT_ADD)
		err = finish_add(a, s, place, cell);
	if (err == 1)
		a->cell_count--;
	return err < 0 ? err : 0;
}

/* One field of rest. */
static int rest_cell(struct applier *a, const struct statement *s,
		     struct bytes name, const struct value *v)
{
	struct cell_place *place;
	int err;

	if (v->absent)
		return 0;
	if (!add_cell(a, s))
		return -ENOMEM;
	place = &a->places[a->cell_count - 1];
	place->value = a->text.size;
	place->value_size = v->text.size;
	err = buf_add_bytes(&a->text, v->text);
	place->qualifier = a->text.size;
	place->qualifier_size = name.size;
	return err < 0 ? err : buf_add_bytes(&a->text, name);
}

struct rest_context {
	struct applier *a;
	const struct statement *s;
};

/* For flatten. */
static int rest_leaf(void *context, struct bytes name,
		     const struct json_node *n)
{
	struct rest_context *c = context;
	struct value v;
	int err = record_value(&c->a->record, n, &c->a->left, &v);

	return err < 0 ? err : rest_cell(c->a, c->s, name, &v);
}

static int apply_rest(struct applier *a, const struct statement *s)
{
	struct rest_context context = { a, s };
	const struct record *r = &a->record;
	size_t i;
	int err = 0;

	if (r->root)
		return flatten(r, &a->recipe->fields, rest_leaf, &context);
	for (i = 0; !err && i < a->rest_count; i++) {
		size_t column = a->rest_columns[i];
		struct value v = { .absent = true };

		if (column < r->column_count) {
			v.absent = r->columns[column].absent;
			v.text = r->columns[column].value;
		}
		err = rest_cell(a, s, a->names[column], &v);
	}
	return err;
}

/* Appends a row key to out. */
static int add_key(struct applier *a, const struct statement *s,
		   struct buf *out)
{
	size_t before = out->size;
	int err = evaluate_key(&a->evaluation, &s->name, out);

	if (!err && out->size - before > STORE_ROW_KEY_MAX)
		return fail(ERR_bad_line,
			    "the row key has %zu bytes; %d are allowed",
			    out->size - before, STORE_ROW_KEY_MAX);
	return err;
}

static int apply_key(struct applier *a, const struct statement *s)
{
	struct cell_place *key = &a->keys[a->row_count++];
	int err;

	key->group = s->group;
	key->qualifier = a->text.size;
	err = add_key(a, s, &a->text);
	key->qualifier_size = a->text.size - key->qualifier;
	return err;
}

/* Statements that make something, in their order. */
static int apply_all(struct applier *a)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < a->recipe->count; i++) {
		const struct statement *s = &a->recipe->items[i];

		if (s->kind == STATEMENT_KEY)
			err = apply_key(a, s);
		else if (s->kind == STATEMENT_SET || s->kind == STATEMENT_ADD)
			err = apply_cell(a, s);
		else if (s->kind == STATEMENT_REST)
			err = apply_rest(a, s);
	}
	return err;
}

/* Whether one of the skips holds: 1, 0 or an error. */
static int is_skipped(struct applier *a)
{
	size_t i;
	int holds = 0;

	for (i = 0; holds == 0 && i < a->recipe->count; i++)
		if (a->recipe->items[i].kind == STATEMENT_SKIP)
			holds = condition_holds(&a->recipe->items[i].condition,
						&a->evaluation, &a->left,
						&a->right);
	return holds;
}

/* For qsort_r, of cells' indices: groups, then what is set before what is
 * added, then columns. */
static int compare_cells(const void *x, const void *y, void *context)
{
	const struct applier *a = context;
	size_t i = *(const size_t *)x, k = *(const size_t *)y;
	const struct recipe_cell *left = &a->cells[i], *right = &a->cells[k];
	int order;

	if (a->places[i].group != a->places[k].group)
		return a->places[i].group < a->places[k].group ? -1 : 1;
	if (left->add != right->add)
		return left->add - right->add;
	order = bytes_compare(left->family, right->family);
	if (order == 0)
		order = bytes_compare(left->qualifier, right->qualifier);
	return order ? order : (i > k) - (i < k);
}

/* Room to sort the cells in. 0 or -ENOMEM. */
static int reserve_sorted(struct applier *a)
{
	size_t capacity = a->cell_capacity;

	if (a->sorted_capacity >= a->cell_count)
		return 0;
	a->sorted_capacity = 0;
	free(a->order);
	free(a->sorted);
	free(a->sorted_places);
	a->order = calloc(capacity, sizeof(*a->order));
	a->sorted = calloc(capacity, sizeof(*a->sorted));
	a->sorted_places = calloc(capacity, sizeof(*a->sorted_places));
	if (!a->order || !a->sorted || !a->sorted_places)
		return -ENOMEM;
	a->sorted_capacity = capacity;
	return 0;
}

/* Whether the cells at i - 1 and i of those sorted set the same column. */
static bool is_set_twice(const struct applier *a, size_t i)
{
	const struct recipe_cell *cell = &a->sorted[i], *before = cell - 1;

	return a->sorted_places[i - 1].group == a->sorted_places[i].group &&
	       !cell->add && !before->add &&
	       bytes_equal(before->family, cell->family) &&
	       bytes_equal(before->qualifier, cell->qualifier);
}

/* Puts the cells into that order. A record that sets a column twice would lose
 * one of the values: it is refused. */
static int sort_cells(struct applier *a)
{
	size_t count = a->cell_count, i;
	int err = reserve_sorted(a);

	if (err < 0)
		return err;
	for (i = 0; i < count; i++)
		a->order[i] = i;
	if (count > 1)
		qsort_r(a->order, count, sizeof(*a->order), compare_cells, a);
	for (i = 0; i < count; i++) {
		a->sorted[i] = a->cells[a->order[i]];
		a->sorted_places[i] = a->places[a->order[i]];
		if (i > 0 && is_set_twice(a, i))
			return refuse_column("is set twice by one record",
					     a->sorted[i].family,
					     a->sorted[i].qualifier);
	}
	return 0;
}

/* The text moves no more: points the cells and rows into it. */
static int place_all(struct applier *a)
{
	const uint8_t *text = a->text.data;
	size_t i, k;
	int err = 0;

	for (i = 0; !err && i < a->cell_count; i++) {
		const struct cell_place *p = &a->places[i];
		struct recipe_cell *cell = &a->cells[i];

		cell->value = bytes_of(text + p->value, p->value_size);
		cell->qualifier =
			bytes_of(text + p->qualifier, p->qualifier_size);
		if (p->qualifier_size > STORE_QUALIFIER_MAX)
			err = refuse_column("has too long a qualifier",
					    cell->family, cell->qualifier);
		else if (p->value_size > STORE_VALUE_MAX)
			err = refuse_column("has a value over 100 MiB",
					    cell->family, cell->qualifier);
	}
	if (!err)
		err = sort_cells(a);
	for (i = 0; !err && i < a->row_count; i++) {
		size_t first = 0;

		while (first < a->cell_count &&
		       a->sorted_places[first].group < a->keys[i].group)
			first++;
		for (k = first; k < a->cell_count; k++)
			if (a->sorted_places[k].group != a->keys[i].group)
				break;
		a->rows[i] = (struct recipe_row){
			bytes_of(text + a->keys[i].qualifier,
				 a->keys[i].qualifier_size),
			a->sorted + first, k - first
		};
	}
	return err;
}

/* What becomes of a->record, which is one element of it already. */
static int apply_record(struct applier *a, struct recipe_rows *rows)
{
	const struct statement *at = recipe_find(a->recipe, STATEMENT_AT);
	int err;

	a->text.size = a->cell_count = a->row_count = 0;
	*rows = (struct recipe_rows){ a->rows, 0 };
	a->evaluation.record = &a->record;
	err = is_skipped(a);
	if (err)
		return err;
	a->at_us = a->now_us;
	a->timed = at;
	if (at)
		err = cell_time(a, &at->name, &a->at_us);
	if (!err)
		err = apply_all(a);
	if (!err)
		err = place_all(a);
	if (!err)
		rows->count = a->row_count;
	return err < 0 ? err : 1;
}

void applier_begin(struct applier *a, const struct record *record)
{
	a->record = *record;
	a->begun = true;
	a->lacks_array = false;
	a->elements = NULL;
}

bool applier_lacks_array(const struct applier *a)
{
	return a->lacks_array;
}

/* Finds the array or object that explode names and its first element. Neither,
 * or null, has none. 0 or a refusal. */
static int begin_elements(struct applier *a, const struct statement *explode)
{
	/* Without steps: the record itself. */
	static const struct field all = { .kind = FIELD_NAME };
	const struct piece *p = explode->name.pieces;
	const struct field *f =
		p->is_field ? &a->recipe->fields.items[p->field] : &all;
	const struct json_node *n = record_node(&a->record, f);

	a->begun = false;
	a->record.exploded = f;
	a->lacks_array = !n || n->type == JSON_NULL;
	if (a->lacks_array)
		return 0;
	if (n->type != JSON_ARRAY && n->type != JSON_OBJECT)
		return fail(ERR_bad_line,
			    "field \"%.*s\" is no array or object",
			    (int)f->name.size, f->name.data);
	a->record.of_array = n->type == JSON_ARRAY;
	a->elements = json_first(a->record.json, n);
	return 0;
}

int applier_next(struct applier *a, struct recipe_rows *rows)
{
	const struct statement *explode =
		recipe_find(a->recipe, STATEMENT_EXPLODE);
	int err;

	if (!explode) {
		if (!a->begun)
			return 0;
		a->begun = false;
		return apply_record(a, rows);
	}
	if (a->begun) {
		err = begin_elements(a, explode);
		if (err < 0)
			return err;
	}
	if (!a->elements)
		return 0;
	if (a->record.element)
		a->record.index++;
	a->record.element = a->elements;
	a->elements = json_next(a->record.json, a->elements);
	if (a->record.exploded->step_count == 0 &&
	    a->record.element->type != JSON_OBJECT)
		return fail(ERR_bad_line,
			    "member \"%.*s\": a record is a JSON object",
			    (int)(a->record.element->key.size < 100
					  ? a->record.element->key.size
					  : 100),
			    a->record.element->key.data);
	return apply_record(a, rows);
}

int applier_keys(struct applier *a, const struct record *record,
		 struct buf *out)
{
	size_t i;
	int err = 0;

	a->evaluation.record = record;
	for (i = 0; !err && i < a->recipe->count; i++) {
		if (a->recipe->items[i].kind != STATEMENT_KEY)
			continue;
		err = add_key(a, &a->recipe->items[i], out);
		if (!err)
			err = buf_add_byte(out, '\n');
	}
	return err;
}
