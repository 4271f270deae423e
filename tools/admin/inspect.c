#include <stdlib.h>

#include "store/text/value/number.h"
#include "store/text/value/quote.h"
#include "tools/admin/inspect.h"

static int print_line(void *context, const char *text)
{
	struct verb_call *c = context;

	fprintf(c->out, "%s\n", text);
	/* A closed pipe, such as head's: the rest of a large file is not read
	 * for nothing. */
	return ferror(c->out) ? -EPIPE : 0;
}

/* Sets what the arguments from argv[first] on say: 0, or 1 after it said what
 * is wrong. */
static int take_options(struct verb_call *c, int first,
			struct inspect_options *o)
{
	static const char *const keys[] = { "count", "entries", "kind", NULL };
	const char *values[3] = { NULL, NULL, NULL };
	int64_t count = 0;
	bool entries;

	if (verb_arguments(c, first, keys, values) ||
	    verb_parse_bool(c, values[1], &entries))
		return 1;
	if (values[0] &&
	    (!int_parse(bytes_string(values[0]), &count) || count < 0))
		return verb_wrong(c, "count=%s is no decimal number of entries",
				  values[0]);
	o->entries = entries || values[0];
	o->count = (uint64_t)count;
	o->kind = values[2];
	return 0;
}

/* Without a path it is the store that main.c has put into the environment. */
int verb_inspect(struct verb_call *c)
{
	struct inspect_options options = { .quote = quote_go,
					   .line = print_line,
					   .context = c };
	/* Behind a slash, = is part of a name. */
	bool has_path =
		c->argc > 1 && c->argv[1][strcspn(c->argv[1], "=/")] != '=';
	const char *path = has_path ? c->argv[1] : getenv("TABLETFS_STORE");
	uint64_t problem_count;
	int err;

	if (!path)
		return verb_usage(c);
	if (!path[0])
		return verb_nameless(c);
	if (take_options(c, 1 + has_path, &options))
		return 1;
	err = store_inspect(path, &options, &problem_count);
	if (err < 0)
		return verb_failed(c, "Inspecting", err);
	return problem_count > 0;
}
