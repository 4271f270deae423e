#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tools/verb/verb.h"

/* Where the system or a file is at fault, the detail says where and the
 * number's text what; else the detail says all, in cbt's words. After -ENOMEM
 * the detail may be that of an earlier error, so it is not asked. */
const char *verb_error_text(int err)
{
	static _Thread_local char
		text[1280]; /* err_detail() and a number's text */
	const char *detail = err_detail(), *number = err_text(err);
	size_t size = strlen(detail), end = strlen(number);

	if (err == -ENOMEM || !detail[0])
		return number;
	if (-err >= ERR_BASE && err_errno(err) != EIO)
		return detail;
	/* What has passed through a report tells it already. */
	if (size >= end && !strcmp(detail + size - end, number))
		return detail;
	snprintf(text, sizeof(text), "%s: %s", detail, number);
	return text;
}

/* The exit status of a verb that fails. */
static int failure_of(const struct verb_call *c)
{
	const struct verb *v = c->argc > 0 ? verb_find(c->argv[0]) : NULL;

	return v && v->flags & VERB_ANSWERS ? 2 : 1;
}

int verb_wrong(struct verb_call *c, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	/* At once: a server's threads each say something. */
	fprintf(c->err, "tabletfs: %s\n", text ? text : fmt);
	free(text);
	return failure_of(c);
}

int verb_nameless(struct verb_call *c)
{
	return verb_wrong(c,
			  "the store's name is empty; say tabletfs -store DIR "
			  "%s",
			  c->argv[0]);
}

int verb_failed(struct verb_call *c, const char *doing, int err)
{
	return verb_wrong(c, "%s: %s", doing, verb_error_text(err));
}

/* Only for verbs that were found: argv[0] is one. */
int verb_usage(struct verb_call *c)
{
	return verb_wrong(c, "usage: tabletfs %s",
			  verb_find(c->argv[0])->usage);
}

const struct verb *verb_find(const char *name)
{
	const struct verb *v;

	for (v = verbs; v->name; v++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

/* Whether cbt has the command for what only Bigtable's service has. */
static bool is_of_service(const char *word)
{
	return strstr(word, "appprofile") || strstr(word, "cluster") ||
	       strstr(word, "instance");
}

/* The one way to run a verb: words are as they came, so that none, or an
 * unknown one, is told here. */
int verb_run(struct store *s, int argc, char **argv, FILE *out, FILE *err)
{
	struct verb_call c = { s, argc, argv, out, err };
	const struct verb *v;

	err_clear();
	if (argc < 1)
		return verb_wrong(&c, "no command was given");
	v = verb_find(argv[0]);
	if (!v && is_of_service(argv[0]))
		return verb_wrong(&c,
				  "%s is of Bigtable's service; a store has "
				  "no instances, clusters nor app profiles",
				  argv[0]);
	if (!v)
		return verb_wrong(&c,
				  "Unknown command \"%s\"; tabletfs help lists "
				  "them",
				  argv[0]);
	if (!s && !(v->flags & VERB_NO_STORE))
		return verb_wrong(&c, "%s needs a store", argv[0]);
	return v->run(&c);
}

/* By the rights and in the places of another process, which sent the words, a
 * path may well name another file. */
int verb_serve(struct store *s, int argc, char **argv, FILE *out, FILE *err)
{
	struct verb_call c = { s, argc, argv, out, err };
	const struct verb *v = argc > 0 ? verb_find(argv[0]) : NULL;

	if (v && v->flags & VERB_OUTSIDE)
		return verb_wrong(&c,
				  "%s does not run in a daemon, which opens no "
				  "path; run tabletfs %s",
				  v->name, v->usage);
	return verb_run(s, argc, argv, out, err);
}

/* A word without = is no argument at all, which cbt says in these words. */
int verb_arguments(struct verb_call *c, int first, const char *const *keys,
		   const char **values)
{
	int i;

	assert(first >= 1 && keys && values);
	for (i = first; i < c->argc; i++) {
		const char *equals = strchr(c->argv[i], '=');
		struct bytes key = bytes_string(c->argv[i]);
		size_t k = 0;

		if (!equals)
			return verb_wrong(c, "bad arg \"%s\"", c->argv[i]);
		key.size = (size_t)(equals - c->argv[i]);
		while (keys[k] && !bytes_equal(bytes_string(keys[k]), key))
			k++;
		if (!keys[k])
			return verb_wrong(c, "unknown arg key \"%.*s\"",
					  (int)key.size, key.data);
		values[k] = equals + 1;
	}
	return 0;
}

int verb_once(struct verb_call *c, int first)
{
	int i, k;

	for (i = first; i < c->argc; i++)
		for (k = first; k < i; k++) {
			size_t size = strcspn(c->argv[i], "=");

			if (!strncmp(c->argv[i], c->argv[k], size + 1))
				return verb_wrong(c, "%.*s= is given twice",
						  (int)size, c->argv[i]);
		}
	return 0;
}

int verb_parse_bool(struct verb_call *c, const char *text, bool *out)
{
	/* Go's list: the first half is false. */
	static const char *const words[] = { "0",     "f",     "F",    "FALSE",
					     "false", "False", "1",    "t",
					     "T",     "TRUE",  "true", "True" };
	size_t i;

	*out = false;
	if (!text || !text[0])
		return 0;
	for (i = 0; i < 12; i++) {
		if (!strcmp(text, words[i])) {
			*out = i >= 6;
			return 0;
		}
	}
	return verb_wrong(
		c, "strconv.ParseBool: parsing \"%s\": invalid syntax", text);
}

/* A quoted element is put together in memory, for its doubled quotes are
 * one. */
int list_next(const char **rest, struct buf *memory, struct bytes *out)
{
	const char *p = *rest;
	size_t size;
	int err = 0;

	if (!p)
		return 0;
	buf_reset(memory);
	if (*p != '"') {
		/* Not quoted, so nothing of it changes: it is shown where it
		 * stands. */
		size = strcspn(p, ",");
		*out = bytes_of(p, size);
		*rest = p[size] ? p + size + 1 : NULL;
		return 1;
	}
	/* Up to the quote that is not doubled; p then stands on it. */
	for (p++; !err && *p && (*p != '"' || p[1] == '"'); p++) {
		if (*p == '"')
			p++;
		err = buf_add_byte(memory, (uint8_t)*p);
	}
	if (err < 0)
		return err;
	if (*p != '"' || (p[1] && p[1] != ','))
		return fail(ERR_bad_argument,
			    "extraneous or missing \" in quoted-field");
	*rest = p[1] ? p + 2 : NULL;
	*out = buf_bytes(memory);
	return 1;
}
