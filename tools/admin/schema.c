#include <assert.h>
#include <stdlib.h>

#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"
#include "tools/admin/partial.h"
#include "tools/admin/schema.h"
#include "tools/verb/verb.h"

/* Tables and families: what cbt's admin commands do, each with one call of
 * store/admin.h. Most of this file is about arguments, and the table that ls
 * prints. */

/* Frees a list of families that owns its names and policies, though struct
 * family_spec only borrows them and has them const. */
static void spec_free(struct family_spec *specs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		gc_policy_free((struct gc_policy *)(uintptr_t)specs[i].gc);
		free((void *)(uintptr_t)specs[i].name.data);
	}
	free(specs);
}

/* Adds one family to the list, or replaces the one of that name: the last one
 * counts. Copies the name; takes spec's policy in every case. 0 or -ENOMEM. */
static int spec_add(struct family_spec **specs, size_t *count,
		    struct family_spec spec)
{
	struct family_spec *grown;
	uint8_t *name = malloc(spec.name.size + 1);
	size_t i = 0;

	/* As many as a command line holds, so one after another will do. */
	while (i < *count && !bytes_equal((*specs)[i].name, spec.name))
		i++;
	grown = name ? realloc(*specs, (*count + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		free(name);
		gc_policy_free((struct gc_policy *)(uintptr_t)spec.gc);
		return -ENOMEM;
	}
	*specs = grown;
	if (i < *count) {
		gc_policy_free((struct gc_policy *)(uintptr_t)grown[i].gc);
		free((void *)(uintptr_t)grown[i].name.data);
	} else {
		++*count;
	}
	if (spec.name.size > 0)
		memcpy(name, spec.name.data, spec.name.size);
	spec.name.data = name;
	grown[i] = spec;
	return 0;
}

/* families=F:GC:TYPE,...; 0, or 1 after it said what is wrong. The list is the
 * caller's to free in both cases. */
static int parse_families(struct verb_call *c, const char *text,
			  struct family_spec **specs, size_t *count)
{
	struct buf memory = BUF_INIT;
	struct family_spec spec;
	struct bytes element;
	int err;

	if (!text[0])
		return verb_wrong(c, "Invalid families arg format: EOF");
	while ((err = list_next(&text, &memory, &element)) > 0) {
		err = family_spec_parse(element, &spec);
		if (err < 0) {
			verb_wrong(c, "%s", verb_error_text(err));
			break;
		}
		err = spec_add(specs, count, spec);
		if (err < 0)
			break;
	}
	/* Other errors were told where they arose, by family_spec_parse. */
	if (err == -ENOMEM || err == -ERR_bad_argument)
		verb_failed(c, "Invalid families arg format", err);
	buf_release(&memory);
	return err < 0;
}

/* Everything is parsed before the table is made, so that a wrong policy leaves
 * none. splits are taken and not looked at, unless they are empty. */
int verb_createtable(struct verb_call *c)
{
	enum { FAMILIES, SPLITS, GRANULARITY };
	static const char *const keys[] = { "families", "splits", "granularity",
					    NULL };
	const char *values[3] = { NULL, NULL, NULL };
	struct family_spec *specs = NULL;
	size_t count = 0;
	bool millis = false;
	int err = 0;

	if (c->argc < 2)
		return verb_usage(c);
	if (!c->argv[1][0])
		return verb_wrong(c, "Creating table: TableID is required");
	if (verb_arguments(c, 2, keys, values))
		return 1;
	if (values[SPLITS] && !values[SPLITS][0])
		return verb_wrong(c, "Invalid splits arg format: EOF");
	if (values[GRANULARITY]) {
		millis = !strcmp(values[GRANULARITY], "millis");
		if (!millis && strcmp(values[GRANULARITY], "micros"))
			return verb_wrong(c,
					  "granularity must be micros or "
					  "millis, not \"%s\"",
					  values[GRANULARITY]);
	}
	if (values[FAMILIES] &&
	    parse_families(c, values[FAMILIES], &specs, &count)) {
		spec_free(specs, count);
		return 1;
	}
	/* One change of the schema: the table is there with all its families,
	 * or not. */
	err = store_create_table(c->store, bytes_string(c->argv[1]), millis,
				 specs, count);
	spec_free(specs, count);
	return err < 0 ? verb_failed(c, "Creating table", err) : 0;
}

/* With all its rows, unlike rmdir in a mount, which wants it empty. */
int verb_deletetable(struct verb_call *c)
{
	int err;

	if (c->argc != 2)
		return verb_usage(c);
	err = store_drop_table(c->store, bytes_string(c->argv[1]), false);
	return err < 0 ? verb_failed(c, "Deleting table", err) : 0;
}

/* As in createtable the family may have a policy and a type, so what is wrong
 * is told in words of the parsers. */
int verb_createfamily(struct verb_call *c)
{
	struct family_spec spec;
	int err;

	if (c->argc != 3)
		return verb_usage(c);
	err = family_spec_parse(bytes_string(c->argv[2]), &spec);
	if (err < 0)
		return verb_wrong(c, "%s", verb_error_text(err));
	err = store_create_family(c->store, bytes_string(c->argv[1]), &spec);
	gc_policy_free((struct gc_policy *)(uintptr_t)spec.gc);
	return err < 0 ? verb_failed(c, "Creating column family", err) : 0;
}

int verb_deletefamily(struct verb_call *c)
{
	int err;

	if (c->argc != 3)
		return verb_usage(c);
	err = store_drop_family(c->store, bytes_string(c->argv[1]),
				bytes_string(c->argv[2]));
	return err < 0 ? verb_failed(c, "Deleting column family", err) : 0;
}

/* The policy may be one word or several, which are joined by blanks. force may
 * stand before or behind it. */
int verb_setgcpolicy(struct verb_call *c)
{
	struct buf words = BUF_INIT;
	struct gc_policy *gc = NULL;
	int i, err = 0, first = 3, last = c->argc - 1;

	if (c->argc < 4)
		return verb_usage(c);
	if (!strcmp(c->argv[first], "force"))
		first++;
	else if (!strcmp(c->argv[last], "force"))
		last--;
	for (i = first; !err && i <= last; i++) {
		err = buf_add_string(&words, c->argv[i]);
		if (!err)
			err = buf_add_byte(&words, ' ');
	}
	if (!err)
		err = gc_policy_parse(buf_bytes(&words), &gc);
	buf_release(&words);
	if (err < 0)
		return verb_wrong(c, "%s", verb_error_text(err));
	err = store_set_gc(c->store, bytes_string(c->argv[1]),
			   bytes_string(c->argv[2]), gc);
	gc_policy_free(gc);
	return err < 0 ? verb_failed(c, "Setting GC policy", err) : 0;
}

int verb_setvaluetype(struct verb_call *c)
{
	enum family_type type;
	int err;

	if (c->argc != 4)
		return verb_usage(c);
	err = family_type_parse(bytes_string(c->argv[3]), &type);
	if (err < 0)
		return verb_failed(c, "Failed to update family value type",
				   err);
	err = store_set_type(c->store, bytes_string(c->argv[1]),
			     bytes_string(c->argv[2]), type);
	return err < 0 ? verb_failed(c, "Set value type", err) : 0;
}

static bool is_protected(const struct table *t)
{
	return attributes_find(&t->attributes, BYTES_LITERAL(STORE_PROTECTED),
			       NULL);
}

/* yes, or no, of a table that is there. */
static int tell_protection(struct verb_call *c)
{
	struct schema *schema = store_schema(c->store);
	const struct table *t = schema_table(schema, bytes_string(c->argv[1]));
	bool protected;

	if (!t) {
		schema_put(schema);
		return verb_wrong(c, "table \"%s\" not found", c->argv[1]);
	}
	protected = is_protected(t);
	schema_put(schema);
	fprintf(c->out, "%s\n", protected ? "yes" : "no");
	return 0;
}

int verb_protect(struct verb_call *c)
{
	const char *word = c->argc == 3 ? c->argv[2] : "";
	bool yes = !strcmp(word, "on") || !strcmp(word, "yes");
	int err;

	if (c->argc == 2)
		return tell_protection(c);
	if (!yes && strcmp(word, "off") != 0 && strcmp(word, "no") != 0)
		return verb_usage(c);
	err = store_set_attribute(c->store, bytes_string(c->argv[1]),
				  BYTES_LITERAL(STORE_PROTECTED),
				  yes ? BYTES_LITERAL("1") : BYTES_NONE);
	return err < 0 ? verb_failed(c, "Protecting table", err) : 0;
}

/* As Go's tabwriter aligns what cbt ls prints: by tabs, columns at least
 * PADDING wider than their text. */
#define TAB 8
#define PADDING 4

/* Prints text and the tabs that end its column, whose widest text has widest
 * bytes. */
static void put_aligned(FILE *out, const char *text, size_t widest)
{
	size_t end = (widest + PADDING + TAB - 1) / TAB * TAB;
	size_t at = strlen(text);

	assert(at <= widest);
	fputs(text, out);
	/* A tab ends at the next multiple of TAB. */
	for (; at < end; at = at / TAB * TAB + TAB)
		fputc('\t', out);
}

/* The widths of the first two columns of what ls prints: in bytes, of the
 * widest text, at least those of the heads that are given. 0 or -ENOMEM. */
static int find_widths(const struct table *t, size_t *names, size_t *policies)
{
	struct buf text = BUF_INIT;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < t->family_count; i++) {
		buf_reset(&text);
		err = gc_policy_print(family_gc(&t->families[i]), &text);
		if (text.size > *policies)
			*policies = text.size;
		if (t->families[i].name.size > *names)
			*names = t->families[i].name.size;
	}
	buf_release(&text);
	return err;
}

/* A line of ls. 0 or -ENOMEM, and then it prints nothing. */
static int list_family(FILE *out, const struct family *f, size_t names,
		       size_t policies)
{
	struct buf text = BUF_INIT, name = BUF_INIT;
	int err = gc_policy_print(family_gc(f), &text);

	if (!err)
		err = buf_terminate(&text);
	if (!err)
		err = buf_set(&name, f->name);
	if (!err)
		err = buf_terminate(&name);
	if (!err) {
		put_aligned(out, (char *)name.data, names);
		put_aligned(out, (char *)text.data, policies);
		fprintf(out, "%s\n", family_type_json(f->type));
	}
	buf_release(&text);
	buf_release(&name);
	return err;
}

/* The families of a table, and if it is protected that. 0 or -ENOMEM, after
 * which some are missing. */
static int list_families(struct verb_call *c, const struct table *t)
{
	static const char *const heads[] = { "Family Name", "GC Policy",
					     "Value Type" };
	size_t names = strlen(heads[0]), policies = strlen(heads[1]), i;
	struct bytes as;
	int err = find_widths(t, &names, &policies);

	put_aligned(c->out, heads[0], names);
	put_aligned(c->out, heads[1], policies);
	fprintf(c->out, "%s\n", heads[2]);
	put_aligned(c->out, "-----------", names);
	put_aligned(c->out, "---------", policies);
	fputs("----------\n", c->out);
	for (i = 0; !err && i < t->family_count; i++)
		err = list_family(c->out, &t->families[i], names, policies);
	if (!err && is_protected(t))
		fputs("Protected against deletion\n", c->out);
	if (!err && partial_is(t, &as))
		fprintf(c->out,
			"Not whole: it is to be \"%s\", by restore-from or "
			"undelete, which begins anew if it was killed; "
			"deletetable removes it\n",
			err_name(as));
	return err;
}

/* A schema is a picture of one moment, so what is printed agrees with itself
 * whatever others change. */
int verb_ls(struct verb_call *c)
{
	struct schema *schema;
	const struct table *t;
	int err = 0;
	size_t i;

	if (c->argc > 2)
		return verb_usage(c);
	schema = store_schema(c->store);
	if (c->argc == 1) {
		for (i = 0; i < schema->table_count; i++)
			fprintf(c->out, "%.*s\n",
				(int)schema->tables[i].name.size,
				schema->tables[i].name.data);
		schema_put(schema);
		return 0;
	}
	t = schema_table(schema, bytes_string(c->argv[1]));
	if (t)
		err = list_families(c, t);
	else
		err = fail(ERR_no_table, "table \"%s\" not found", c->argv[1]);
	schema_put(schema);
	return err < 0 ? verb_failed(c, "Getting table info", err) : 0;
}
