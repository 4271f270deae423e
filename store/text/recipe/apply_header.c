#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/apply_state.h"
#include "store/text/value/name_list.h"

/* Marks what a template uses. */
static void use(struct fields *fields, const struct template *t, bool optional)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct piece *p = &t->pieces[i];
		struct field *f;

		if (!p->is_field)
			continue;
		f = &fields->items[p->field];
		f->used = true;
		f->needed |= !optional && !p->has_default;
	}
}

static void mark_none(struct fields *fields)
{
	size_t i;

	for (i = 0; i < fields->count; i++)
		fields->items[i].used = fields->items[i].needed = false;
}

/* By the statements that count: those that were replaced have left their
 * fields. */
static void mark(struct recipe *r)
{
	size_t i;

	mark_none(&r->fields);
	for (i = 0; i < r->count; i++) {
		const struct statement *s = &r->items[i];
		const struct condition *c = &s->condition;
		bool asks = c->test == CONDITION_EXISTS ||
			    c->test == CONDITION_EMPTY;

		if (s->kind == STATEMENT_EXPLODE)
			continue;
		use(&r->fields, &s->name, false);
		use(&r->fields, &s->value, false);
		use(&r->fields, &s->time, false);
		use(&r->fields, &c->left, asks);
		use(&r->fields, &c->right, false);
	}
}

static int lacks_field(struct bytes name, const struct bytes *names,
		       size_t count)
{
	struct name_list has = { .count = 0 };
	const char *hint = "; it has ";
	size_t i;

	if (count > 0 && bytes_starts_with(names[0], BYTES_LITERAL("#")))
		hint = "; it begins with #: comment='#' passes over such lines";
	else if (count == 1)
		hint = "; it is one field: is it CSV, and the delimiter right?";
	else
		for (i = 0; i < count; i++)
			name_list_add(&has, names[i]);
	return fail(ERR_bad_argument, "the header has no field \"%.*s\"%s%s",
		    (int)(name.size < 100 ? name.size : 100), name.data, hint,
		    has.text);
}

static int wrong_header(struct bytes name, const char *why)
{
	return fail(ERR_bad_argument, "the header %s \"%.*s\"", why,
		    (int)(name.size < 200 ? name.size : 200), name.data);
}

/* Finds the column of one field. */
static int find_column(struct field *f, const struct bytes *names, size_t count,
		       bool has_names)
{
	size_t i;

	f->column = FIELD_NO_COLUMN;
	if (!f->used || f->kind == FIELD_FILE || f->kind == FIELD_LINE)
		return 0;
	if (f->kind == FIELD_POSITION) {
		f->column = f->position - 1;
		if (has_names && f->column >= count)
			return lacks_field(f->name, names, count);
		return 0;
	}
	for (i = 0; has_names && i < count; i++) {
		if (!bytes_equal(names[i], f->name))
			continue;
		if (f->column != FIELD_NO_COLUMN)
			return wrong_header(f->name, "has twice the field");
		f->column = i;
	}
	if (f->column != FIELD_NO_COLUMN)
		return 0;
	if (!has_names)
		return fail(ERR_bad_argument,
			    "without a header fields are {#1} and so on, not "
			    "\"%.*s\"",
			    (int)f->name.size, f->name.data);
	return f->needed ? lacks_field(f->name, names, count) : 0;
}

static bool is_used_column(const struct fields *fields, size_t column)
{
	size_t i;

	for (i = 0; i < fields->count; i++)
		if (fields->items[i].used && fields->items[i].column == column)
			return true;
	return false;
}

/* For qsort, of pointers into the names. */
static int compare_names(const void *a, const void *b)
{
	return bytes_compare(**(const struct bytes *const *)a,
			     **(const struct bytes *const *)b);
}

/* Of the columns that rest takes each name is there once. */
static int check_rest(const struct applier *a)
{
	const struct bytes **sorted =
		calloc(a->rest_count + 1, sizeof(*sorted));
	size_t i;
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < a->rest_count; i++)
		sorted[i] = &a->names[a->rest_columns[i]];
	qsort(sorted, a->rest_count, sizeof(*sorted), compare_names);
	for (i = 1; !err && i < a->rest_count; i++)
		if (bytes_equal(*sorted[i - 1], *sorted[i]))
			err = wrong_header(*sorted[i],
					   "has twice, for rest, the field");
	free(sorted);
	return err;
}

/* Collects the columns that no statement names. */
static int find_rest(struct applier *a, const struct bytes *names, size_t count)
{
	size_t i;

	free(a->rest_columns);
	free(a->names);
	a->rest_count = 0;
	a->rest_columns = calloc(count + 1, sizeof(*a->rest_columns));
	a->names = calloc(count + 1, sizeof(*a->names));
	if (!a->rest_columns || !a->names)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		a->names[i] = names[i];
		if (!is_used_column(&a->recipe->fields, i))
			a->rest_columns[a->rest_count++] = i;
	}
	return check_rest(a);
}

int applier_header(struct applier *a, const struct bytes *names, size_t count,
		   bool has_names)
{
	struct recipe *r = a->recipe;
	size_t i;
	int err = 0;

	if (recipe_find(r, STATEMENT_EXPLODE))
		return fail(ERR_bad_argument,
			    "explode is of JSON, whose records have arrays and "
			    "objects");
	mark(r);
	for (i = 0; !err && i < r->fields.count; i++)
		err = find_column(&r->fields.items[i], names, count, has_names);
	if (err < 0 || !recipe_find(r, STATEMENT_REST))
		return err;
	if (!has_names)
		return fail(ERR_bad_argument,
			    "rest needs the names of a header, or "
			    "header=names:a,b");
	return find_rest(a, names, count);
}

bool applier_passes_header(const struct applier *a)
{
	const struct fields *fields = &a->recipe->fields;
	bool by_position = false;
	size_t i;

	if (recipe_find(a->recipe, STATEMENT_HEADER) ||
	    recipe_find(a->recipe, STATEMENT_REST))
		return false;
	for (i = 0; i < fields->count; i++) {
		if (fields->items[i].used &&
		    fields->items[i].kind == FIELD_NAME)
			return false;
		by_position |= fields->items[i].used &&
			       fields->items[i].kind == FIELD_POSITION;
	}
	return by_position;
}

int applier_key_header(struct applier *a, const struct bytes *names,
		       size_t count)
{
	struct recipe *r = a->recipe;
	size_t i;
	int err = 0;

	mark_none(&r->fields);
	for (i = 0; i < r->count; i++)
		if (r->items[i].kind == STATEMENT_KEY)
			use(&r->fields, &r->items[i].name, true);
	for (i = 0; !err && i < r->fields.count; i++)
		if (r->fields.items[i].kind != FIELD_POSITION)
			err = find_column(&r->fields.items[i], names, count,
					  true);
	return err;
}

int applier_json(struct applier *a)
{
	const struct fields *fields = &a->recipe->fields;
	size_t i;

	mark(a->recipe);
	for (i = 0; i < fields->count; i++)
		if (fields->items[i].used &&
		    fields->items[i].kind == FIELD_POSITION)
			return fail(
				ERR_bad_argument,
				"{%.*s} is a position, which only CSV and TSV "
				"have",
				(int)fields->items[i].name.size,
				fields->items[i].name.data);
	return 0;
}
