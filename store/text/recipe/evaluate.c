#include <assert.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/text/function/time_format.h"
#include "store/text/recipe/evaluate.h"
#include "store/text/value/name_list.h"

void evaluation_release(struct evaluation *e)
{
	buf_release(&e->source);
	buf_release(&e->joined);
	buf_release(&e->scratch[0]);
	buf_release(&e->scratch[1]);
	*e = (struct evaluation){ 0 };
}

/* A refusal that begins with the name of the field. */
static int refuse(const struct evaluation *e, const struct piece *p,
		  const char *why)
{
	struct bytes name = e->fields->items[p->field].name;

	if (name.size > 100)
		name.size = 100;
	return fail(ERR_bad_line, "field \"%.*s\": %s", (int)name.size,
		    name.data, why);
}

/* The scratch that the text does not lie in: some functions leave it where it
 * was made before. */
static struct buf *free_scratch(struct evaluation *e, struct bytes text)
{
	const struct buf *first = &e->scratch[0];
	bool used = text.size > 0 && first->data && text.data >= first->data &&
		    text.data < first->data + first->capacity;

	return &e->scratch[used];
}

/* A field through its functions: *v, good until the next. */
static int piece_value(struct evaluation *e, const struct piece *p,
		       struct value *v)
{
	size_t i;
	int err = record_get(e->record, &e->fields->items[p->field], &e->source,
			     v);

	for (i = 0; !err && i < p->call_count; i++) {
		err = function_run(&p->calls[i], e->zone_s, v,
				   free_scratch(e, v->text));
		if (err == -ERR_bad_line)
			return refuse(e, p, err_detail());
	}
	return err;
}

int evaluate_text(struct evaluation *e, const struct template *t,
		  struct buf *out)
{
	size_t before = out->size, i;
	int err = 0;

	for (i = 0; !err && i < t->count; i++) {
		const struct piece *p = &t->pieces[i];
		struct value v = { .text = p->text };

		if (p->is_field)
			err = piece_value(e, p, &v);
		assert(err < 0 || v.type == VALUE_TEXT);
		if (!err && v.absent) {
			out->size = before;
			return 1;
		}
		if (!err)
			err = buf_add_bytes(out, v.text);
	}
	return err;
}

/* Whether the text that begins at out->data + at, and is followed by tail, has
 * tail in it before its end: so its end could be taken for an earlier one. Puts
 * tail behind it for that, and takes it away. */
static int holds(struct buf *out, size_t at, struct bytes tail)
{
	size_t end = out->size;
	const uint8_t *found;
	int err = buf_add_bytes(out, tail);

	if (err < 0)
		return err;
	found = memmem(out->data + at, out->size - at, tail.data, tail.size);
	out->size = end;
	return found < out->data + end;
}

/* The field has been appended from at on; next is the piece behind it, or
 * NULL. */
static int check_delimiter(const struct evaluation *e, const struct piece *p,
			   const struct piece *next, size_t at, struct buf *out)
{
	char message[200];
	int held;

	if (p->any || !next || next->is_field)
		return 0;
	held = holds(out, at, next->text);
	if (held <= 0)
		return held;
	snprintf(message, sizeof(message),
		 "it holds \"%.*s\", which parts the row key; |any lets it",
		 (int)(next->text.size < 50 ? next->text.size : 50),
		 next->text.data);
	return refuse(e, p, message);
}

/* Whether n, which may be NULL, is an object with such a member. */
static bool has_member(const struct json *j, const struct json_node *n,
		       struct bytes name)
{
	if (!n || n->type != JSON_OBJECT)
		return false;
	for (n = json_first(j, n); n; n = json_next(j, n))
		if (bytes_equal(n->key, name))
			return true;
	return false;
}

/* A field of the key is absent. Of JSON, whose names no header tells: where it
 * is in what explode has taken out, or what there is. */
static int refuse_absent(const struct evaluation *e, const struct piece *p)
{
	static const char absent[] = "it is absent, and the row key needs it";
	const struct record *r = e->record;
	const struct field *f = &e->fields->items[p->field];
	const struct json_node *n;
	struct name_list has = { .count = 0 };
	char why[400];

	if (!r->root || f->kind != FIELD_NAME ||
	    has_member(r->json, r->root, f->steps[0].key))
		return refuse(e, p, absent);
	if (has_member(r->json, r->element, f->steps[0].key)) {
		snprintf(why, sizeof(why), "%s; {%.*s.%.*s} is there", absent,
			 (int)r->exploded->name.size, r->exploded->name.data,
			 (int)f->name.size, f->name.data);
		return refuse(e, p, why);
	}
	n = r->element && r->exploded->step_count == 0 ? r->element : r->root;
	for (n = json_first(r->json, n); n; n = json_next(r->json, n))
		name_list_add(&has, n->key);
	snprintf(why, sizeof(why), "%s; the record has %s", absent,
		 has.count ? has.text : "none");
	return refuse(e, p, why);
}

int evaluate_key(struct evaluation *e, const struct template *t,
		 struct buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < t->count; i++) {
		const struct piece *p = &t->pieces[i];
		struct value v = { .text = p->text };
		size_t at = out->size;

		if (p->is_field)
			err = piece_value(e, p, &v);
		if (err < 0)
			return err;
		if (v.absent)
			return refuse_absent(e, p);
		if (v.text.size == 0)
			return refuse(e, p,
				      "it is empty, and the row key needs it");
		err = buf_add_bytes(out, v.text);
		if (!err && p->is_field)
			err = check_delimiter(
				e, p, i + 1 < t->count ? p + 1 : NULL, at, out);
	}
	return err;
}

/* A text, joined of several fields perhaps, as a time of ISO 8601. */
static int joined_time(struct evaluation *e, const struct template *t,
		       int64_t *us)
{
	int err;

	buf_reset(&e->joined);
	err = evaluate_text(e, t, &e->joined);
	return err ? err
		   : time_format_read(BYTES_NONE, buf_bytes(&e->joined),
				      e->zone_s, us);
}

int evaluate_time(struct evaluation *e, const struct template *t, int64_t *us)
{
	struct value v;
	int err;

	*us = 0;
	if (!template_is_time(t))
		return joined_time(e, t, us);
	err = piece_value(e, &t->pieces[0], &v);
	assert(err < 0 || v.type == VALUE_TIME);
	*us = err < 0 ? 0 : v.us;
	return err < 0 ? err : v.absent;
}
