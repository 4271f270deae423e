#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/recipe/field.h"

static void field_release(struct field *f)
{
	free((void *)f->name.data);
	free(f->steps);
}

void fields_release(struct fields *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		field_release(&f->items[i]);
	free(f->items);
	*f = (struct fields){ 0 };
}

/* A name that is being taken apart. */
struct naming {
	struct bytes text; /* of the recipe, from its first byte on */
	size_t at;         /* in text */
	uint8_t *name;     /* room for all of text */
	size_t size;       /* of name */
	size_t key;        /* where the present step's key begins in name */
	bool in_key;       /* a key is open: not so behind an index */
	bool quoted;       /* any part of it is */
	struct field *field;
};

static bool is_bare(uint8_t c)
{
	return c > ' ' && c != 0x7f && !strchr("|{}(),\"", c);
}

static void add_step(struct naming *n, struct field_step step)
{
	n->field->steps[n->field->step_count++] = step;
}

static void end_key(struct naming *n)
{
	if (n->in_key)
		add_step(n, (struct field_step){
				    .key = bytes_of(n->name + n->key,
						    n->size - n->key) });
	n->in_key = false;
}

/* From one quote to the other. */
static int take_quoted(struct naming *n)
{
	n->quoted = true;
	for (n->at++; n->at < n->text.size; n->at++) {
		if (n->text.data[n->at] == '"') {
			n->at++;
			if (n->at == n->text.size || n->text.data[n->at] != '"')
				return 0;
		}
		n->name[n->size++] = n->text.data[n->at];
	}
	return fail(ERR_bad_argument, "a \" without the one that ends it");
}

/* "[12]" at n->at: how many bytes that is; 0 if it is none. */
static size_t index_size(const struct naming *n, uint64_t *index)
{
	size_t i = n->at + 1;

	*index = 0;
	for (; i < n->text.size && i - n->at <= 9; i++) {
		uint8_t c = n->text.data[i];

		if (c == ']')
			return i > n->at + 1 ? i + 1 - n->at : 0;
		if (c < '0' || c > '9')
			return 0;
		*index = *index * 10 + (c - '0');
	}
	return 0;
}

static void take_bare(struct naming *n)
{
	struct field_step step = { .is_index = true };
	uint8_t c = n->text.data[n->at];
	size_t size = c == '[' ? index_size(n, &step.index) : 0;

	if (size > 0) {
		/* Of "[0]" at the very front no key was begun. */
		if (n->size == n->key && n->size == 0 && !n->quoted)
			n->in_key = false;
		end_key(n);
		add_step(n, step);
		memcpy(n->name + n->size, n->text.data + n->at, size);
		n->size += size;
		n->at += size;
		return;
	}
	if (c == '.') {
		end_key(n);
		n->in_key = true;
		n->key = n->size + 1;
	} else if (!n->in_key) {
		n->in_key = true;
		n->key = n->size;
	}
	n->name[n->size++] = c;
	n->at++;
}

/* What a bare name that begins with # or $ stands for. */
static int take_special(struct field *f)
{
	size_t i;

	if (bytes_equal(f->name, BYTES_LITERAL("$file"))) {
		f->kind = FIELD_FILE;
		return 0;
	}
	if (bytes_equal(f->name, BYTES_LITERAL("$line"))) {
		f->kind = FIELD_LINE;
		return 0;
	}
	if (bytes_equal(f->name, BYTES_LITERAL("$name"))) {
		f->kind = FIELD_MEMBER;
		return 0;
	}
	if (f->name.data[0] == '$')
		return fail(ERR_bad_argument,
			    "of names with $ there are {$file}, {$line} and, "
			    "with explode, {$name}; {\"$x\"} is a field");
	f->kind = FIELD_POSITION;
	for (i = 1; i < f->name.size && i < 8; i++) {
		if (f->name.data[i] < '0' || f->name.data[i] > '9')
			break;
		f->position = f->position * 10 + (f->name.data[i] - '0');
	}
	if (i < f->name.size || f->position == 0)
		return fail(ERR_bad_argument,
			    "a position is {#1} or more; {\"#x\"} is a field");
	return 0;
}

/* Takes the name apart into *f, whose memory is there. */
static int parse(struct naming *n)
{
	int err = 0;

	n->in_key = true;
	while (!err && n->at < n->text.size) {
		if (n->text.data[n->at] == '"') {
			n->in_key = true;
			err = take_quoted(n);
		} else if (is_bare(n->text.data[n->at])) {
			take_bare(n);
		} else {
			break;
		}
	}
	if (err < 0)
		return err;
	end_key(n);
	n->field->name = bytes_of(n->name, n->size);
	if (n->quoted)
		return 0;
	if (n->size == 0)
		return fail(ERR_bad_argument,
			    "the name of a field is missing; with a blank or "
			    "one of | { } ( ) , it stands in \"...\"");
	return n->name[0] == '#' || n->name[0] == '$' ? take_special(n->field)
						      : 0;
}

static bool same_field(const struct field *a, const struct field *b)
{
	size_t i;

	if (a->kind != b->kind || a->step_count != b->step_count ||
	    !bytes_equal(a->name, b->name))
		return false;
	for (i = 0; i < a->step_count; i++)
		if (a->steps[i].is_index != b->steps[i].is_index ||
		    !bytes_equal(a->steps[i].key, b->steps[i].key))
			return false;
	return true;
}

/* Gives the field to the list, or frees it if it is there. */
static int keep(struct fields *f, struct field *field, size_t *index)
{
	for (*index = 0; *index < f->count; ++*index) {
		if (same_field(&f->items[*index], field)) {
			field_release(field);
			return 0;
		}
	}
	if (f->count == f->capacity) {
		size_t capacity = f->capacity * 2 + 8;
		struct field *items =
			realloc(f->items, capacity * sizeof(*items));

		if (!items) {
			field_release(field);
			return -ENOMEM;
		}
		f->items = items;
		f->capacity = capacity;
	}
	f->items[f->count++] = *field;
	return 0;
}

int fields_take(struct fields *f, struct bytes text, size_t *index,
		size_t *size)
{
	struct field field = { .column = FIELD_NO_COLUMN };
	struct naming n = { .text = text, .field = &field };
	int err = -ENOMEM;

	*size = 0;
	n.name = malloc(text.size + 1);
	/* A step takes a byte of text at least, but the last. */
	field.steps = calloc(text.size + 2, sizeof(*field.steps));
	field.name = bytes_of(n.name, 0);
	if (n.name && field.steps)
		err = parse(&n);
	if (err < 0) {
		field_release(&field);
		return err;
	}
	*size = n.at;
	return keep(f, &field, index);
}
