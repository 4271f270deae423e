#include "store/base/err.h"
#include "store/text/recipe/apply.h"
#include "store/text/recipe/row_json.h"
#include "store/text/value/utf8.h"
#include "tests/fuzz/target.h"

/* Parses a text: NULL if it is refused, which has to say why and where. */
static struct recipe *parse(struct bytes text)
{
	struct recipe *r;

	MUST(recipe_new(&r) == 0);
	if (recipe_parse(r, text, "r") == 0)
		return r;
	MUST(!strncmp(err_detail(), "r:", 2));
	recipe_free(r);
	return NULL;
}

/* Makes rows of a record, each as JSON that can be read again. */
static void apply(struct recipe *r, struct bytes text)
{
	struct json json = { 0 }, again = { 0 };
	struct record record = { .json = &json };
	struct buf line = BUF_INIT;
	struct recipe_rows rows;
	struct applier *a;
	size_t i;
	int err;

	MUST(applier_new(r, 1000000, false, &a) == 0);
	record.root = json_parse(&json, text, &err);
	MUST(record.root);
	err = applier_json(a);
	if (err == 0)
		applier_begin(a, &record);
	while (err == 0 && (err = applier_next(a, &rows)) != 0) {
		MUST(err == 1 || err_detail()[0]);
		for (i = 0; err == 1 && i < rows.count; i++) {
			buf_reset(&line);
			MUST(row_json(&rows.rows[i], &line) == 0);
			MUST(json_parse(&again, buf_bytes(&line), &err));
			err = 1;
		}
		err = 0;
	}
	applier_free(a);
	buf_release(&line);
	json_release(&json);
	json_release(&again);
}

/* What is taken reads again from its own text, and refuses or takes any record
 * without harm. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT, second = BUF_INIT;
	struct recipe *r = parse(bytes_of(data, size)), *again;

	if (!r)
		return 0;
	MUST(recipe_print(r, &text) == 0);
	again = parse(buf_bytes(&text));
	MUST(again);
	MUST(recipe_print(again, &second) == 0);
	MUST(bytes_equal(buf_bytes(&text), buf_bytes(&second)));
	/* No table has a family that is not UTF-8. */
	if (recipe_check(r) == 0 && utf8_valid(bytes_of(data, size)))
		apply(r, BYTES_LITERAL("{\"a\": \"2026-01-05T10:11:12.5Z\", "
				       "\"b\": {\"c\": -1, \"d\": [\"x#y\", "
				       "null, {\"e\": \"\"}]}, \"f\": "
				       "\"www.example.com\", \"g\": \"007\"}"));
	recipe_free(r);
	recipe_free(again);
	buf_release(&text);
	buf_release(&second);
	return 0;
}
