#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/conformance/case.h"

int list_add(struct list *l, char *item)
{
	char **items = realloc(l->items, (l->count + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	l->items = items;
	l->items[l->count++] = item;
	return 0;
}

int list_split(struct list *l, char *text)
{
	int err = 0;

	while (!err && text) {
		char *blank = strchr(text, ' ');

		if (blank)
			*blank++ = 0;
		err = list_add(l, text);
		text = blank;
	}
	return err;
}

const struct list *operation_expected(const struct operation *o)
{
	return o->conforming.count > 0 ? &o->conforming : &o->observed;
}

static int operation_add(struct test_case *c, unsigned int line, char *text)
{
	struct operation *grown =
		realloc(c->operations, (c->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	c->operations = grown;
	grown[c->count] = (struct operation){ .line = line };
	return list_split(&grown[c->count++].words, text);
}

/* A result line, whose comment is cut off. */
static int result_add(struct list *l, char *text)
{
	char *comment = strstr(text, " # ");

	if (comment)
		*comment = 0;
	return list_add(l, text);
}

/* in_block: lines with an indent up to "end" belong to the operation above. */
static int line_add(struct test_case *c, unsigned int line, char *text)
{
	struct operation *o =
		c->count > 0 ? &c->operations[c->count - 1] : NULL;

	if (!text[0] || text[0] == '#')
		return 0;
	if (text[0] == '>' || text[0] == '=' || text[0] == ' ') {
		if (!o || text[1] != ' ') {
			fprintf(stderr, "line %u: no operation above\n", line);
			return -EINVAL;
		}
		if (text[0] == ' ')
			return list_add(&o->block, text + 2);
		return result_add(text[0] == '>' ? &o->observed
						 : &o->conforming,
				  text + 2);
	}
	if (!strcmp(text, "end"))
		return 0;
	return operation_add(c, line, text);
}

static int read_all(const char *path, struct buf *out)
{
	FILE *in = fopen(path, "r");
	size_t size;
	int err = in ? 0 : -errno;

	while (!err) {
		err = buf_reserve(out, 65536);
		if (err < 0)
			break;
		size = fread(out->data + out->size, 1, 65536, in);
		out->size += size;
		if (size == 0)
			break;
	}
	if (in)
		fclose(in);
	return err < 0 ? err : buf_terminate(out);
}

int case_load(const char *path, struct test_case *out)
{
	unsigned int number = 0;
	char *line, *end;
	int err;

	*out = (struct test_case){ .count = 0 };
	err = read_all(path, &out->text);
	if (err < 0)
		return err;
	for (line = (char *)out->text.data; !err && line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		err = line_add(out, ++number, line);
	}
	return err;
}

void case_release(struct test_case *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		free(c->operations[i].words.items);
		free(c->operations[i].block.items);
		free(c->operations[i].observed.items);
		free(c->operations[i].conforming.items);
	}
	free(c->operations);
	buf_release(&c->text);
}
