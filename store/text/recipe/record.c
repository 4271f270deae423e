#include <assert.h>

#include "store/text/recipe/record.h"
#include "store/text/value/base64.h"
#include "store/text/value/json_text.h"
#include "store/text/value/number.h"
#include "store/text/value/utf8.h"

/* A step down from n; NULL if it leads nowhere. */
static const struct json_node *step_from(const struct json *j,
					 const struct json_node *n,
					 const struct field_step *step)
{
	uint64_t i = 0;

	if (n->type != (step->is_index ? JSON_ARRAY : JSON_OBJECT))
		return NULL;
	for (n = json_first(j, n); n; n = json_next(j, n), i++)
		if (step->is_index ? i == step->index
				   : bytes_equal(n->key, step->key))
			return n;
	return NULL;
}

/* Whether the first steps of path are all those of head. */
static bool begins_with(const struct field *path, const struct field *head)
{
	size_t i;

	if (path->step_count < head->step_count)
		return false;
	for (i = 0; i < head->step_count; i++)
		if (path->steps[i].is_index != head->steps[i].is_index ||
		    path->steps[i].index != head->steps[i].index ||
		    !bytes_equal(path->steps[i].key, head->steps[i].key))
			return false;
	return true;
}

const struct json_node *record_node(const struct record *r,
				    const struct field *f)
{
	const struct json_node *n = r->root;
	size_t i = 0;

	if (r->element && begins_with(f, r->exploded)) {
		n = r->element;
		i = r->exploded->step_count;
	}
	for (; n && i < f->step_count; i++)
		n = step_from(r->json, n, &f->steps[i]);
	return n;
}

/* A leaf as JSON. Bytes, which only DynamoDB's types make, become base64
 * again. */
static int print_leaf(const struct json_node *n, struct buf *out)
{
	int err;

	if (n->type != JSON_STRING)
		return buf_add_bytes(out, n->text);
	if (utf8_valid(n->text))
		return json_text_string(n->text, out);
	err = buf_add_byte(out, '"');
	if (!err)
		err = base64_encode(n->text, out);
	return err ? err : buf_add_byte(out, '"');
}

/* A node as JSON text, without blanks. It calls itself as deep as the tree is,
 * JSON_DEPTH_MAX at most. */
static int print_node(const struct json *j, const struct json_node *n,
		      struct buf *out)
{
	bool object = n->type == JSON_OBJECT;
	const struct json_node *child;
	int err;

	if (!object && n->type != JSON_ARRAY)
		return print_leaf(n, out);
	err = buf_add_byte(out, object ? '{' : '[');
	for (child = json_first(j, n); !err && child;
	     child = json_next(j, child)) {
		if (object) {
			err = json_text_string(child->key, out);
			if (!err)
				err = buf_add_byte(out, ':');
		}
		if (!err)
			err = print_node(j, child, out);
		if (!err && child->next)
			err = buf_add_byte(out, ',');
	}
	return err < 0 ? err : buf_add_byte(out, object ? '}' : ']');
}

int record_value(const struct record *r, const struct json_node *n,
		 struct buf *memory, struct value *v)
{
	int err = 0;

	*v = (struct value){ .absent = !n || n->type == JSON_NULL };
	if (v->absent)
		return 0;
	v->text = n->text;
	v->json = n->type != JSON_STRING;
	if (n->type == JSON_ARRAY || n->type == JSON_OBJECT) {
		buf_reset(memory);
		err = print_node(r->json, n, memory);
		v->text = buf_bytes(memory);
	}
	return err;
}

static int number_value(uint64_t n, struct buf *memory, struct value *v)
{
	int err;

	buf_reset(memory);
	err = print_u64(n, 1, memory);
	*v = (struct value){ .text = buf_bytes(memory) };
	return err;
}

int record_get(const struct record *r, const struct field *f,
	       struct buf *memory, struct value *v)
{
	const struct record_column *column;

	*v = (struct value){ .absent = true };
	switch (f->kind) {
	case FIELD_FILE:
		*v = (struct value){ .text = r->file };
		return 0;
	case FIELD_MEMBER:
		if (!r->element)
			break;
		if (!r->of_array) {
			*v = (struct value){ .text = r->element->key };
			return 0;
		}
		return number_value(r->index, memory, v);
	case FIELD_LINE:
		return number_value(r->line, memory, v);
	case FIELD_NAME:
	case FIELD_POSITION:
		break;
	}
	if (r->root)
		return record_value(r, record_node(r, f), memory, v);
	if (f->column >= r->column_count)
		return 0;
	column = &r->columns[f->column];
	*v = (struct value){ .text = column->value, .absent = column->absent };
	return 0;
}
