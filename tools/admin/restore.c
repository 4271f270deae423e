#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/text/dump/dump.h"
#include "store/text/dump/load.h"
#include "store/text/value/gcpolicy.h"
#include "tools/admin/partial.h"
#include "tools/admin/restore.h"
#include "tools/verb/remote.h"
#include "tools/verb/stop.h"

/* A table on its way into a store. */
struct restoring {
	struct verb_call *c;
	const struct served *served; /* NULL: c->store is open */
	const char *from, *table, *name;
	char holder[HOLDER_TEXT_SIZE]; /* this process */
	struct partial partial;        /* what it is until it is whole */
	struct store *backup;          /* owned; open to read */
	struct schema *schema;         /* its; referenced */
	char id[16]; /* the table's, as text, by which it is known, or "" */
};

/* Runs a command where the store is: its exit status. */
static int run(const struct restoring *r, FILE *out, int argc, char **argv)
{
	struct verb_call c = { NULL, argc, argv, out, r->c->err };

	return r->served ? remote_run(&c, r->served)
			 : verb_run(r->c->store, argc, argv, c.out, c.err);
}

/* run of restore-piece, or protect, with words that are not changed, of which
 * there are up to WORDS_MAX, and NULL. */
#define WORDS_MAX 5
static int run_words(const struct restoring *r, FILE *out,
		     const char *const *given)
{
	char *words[WORDS_MAX + 1] = { NULL };
	int count;

	for (count = 0; count < WORDS_MAX && given[count]; count++)
		words[count] = (char *)(uintptr_t)given[count];
	return run(r, out, count, words);
}

/* The table of the backup, or NULL after it said that there is none. */
static const struct table *find_table(const struct restoring *r)
{
	const struct table *t = schema_table(r->schema, bytes_string(r->table));

	if (!t)
		verb_wrong(r->c, "the backup %s has no table \"%s\"", r->from,
			   r->table);
	return t;
}

static int open_backup(struct restoring *r)
{
	struct store_options options;
	struct buf path = BUF_INIT;
	int err = backup_find(r->from, &path);

	store_options_init(&options);
	options.read_only = true;
	options.background = false;
	if (!err)
		err = store_open((const char *)path.data, &options, &r->backup);
	buf_release(&path);
	if (err < 0)
		return verb_failed(r->c, "Opening the backup", err);
	r->schema = store_schema(r->backup);
	return 0;
}

/* The command that makes the table is not interrupted: who is does not know
 * whether there is one to be removed. */
static int begin(struct restoring *r, const char *text)
{
	const char *const words[] = { "restore-piece", "begin", r->name,
				      r->holder,       text,    NULL };
	FILE *out = fmemopen(r->id, sizeof(r->id), "w");
	sigset_t stops, before;
	int status;

	if (!out)
		return verb_failed(r->c, "Restoring", -ENOMEM);

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, &before);
	status = run_words(r, out, words);
	fclose(out);
	if (status)
		r->id[0] = 0;
	stop_begin();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int send_piece(struct restoring *r, const char *text)
{
	const char *const words[] = { "restore-piece", "more", r->id, text,
				      NULL };

	return r->id[0] ? run_words(r, r->c->out, words) : begin(r, text);
}

/* All pieces, one command for each. */
static int send_pieces(struct restoring *r)
{
	struct dump *pieces = NULL;
	struct buf text = BUF_INIT;
	int status = 0;
	int err = dump_table_open(r->backup, bytes_string(r->table),
				  bytes_string(r->partial.name), &pieces);

	while (!err && !status) {
		buf_reset(&text);
		err = dump_piece(pieces, &text);
		if (err <= 0)
			break;
		err = buf_terminate(&text);
		if (!err && r->id[0])
			err = stop_check();
		if (err)
			break;
		status = send_piece(r, (const char *)text.data);
	}
	if (err < 0)
		status = verb_failed(r->c, "Reading the backup", err);
	dump_table_close(pieces);
	buf_release(&text);
	return status;
}

/* Adds a word, ended by a NUL, to a command; text has its bytes. */
static int add_word(struct buf *text, size_t *count, struct bytes word)
{
	int err = buf_add_bytes(text, word);

	++*count;
	return err ? err : buf_add_byte(text, 0);
}

/* All families that have a policy, and it. */
static int add_policies(const struct table *t, struct buf *text, size_t *count)
{
	struct buf policy = BUF_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < t->family_count && !err; i++) {
		const struct family *f = &t->families[i];

		if (!family_gc(f))
			continue;
		buf_reset(&policy);
		err = gc_policy_print_words(family_gc(f), &policy);
		if (!err)
			err = add_word(text, count, f->name);
		if (!err)
			err = add_word(text, count, buf_bytes(&policy));
	}
	buf_release(&policy);
	return err;
}

/* Policies come into force when all versions are there: none is hidden that the
 * backup shows. */
static int end(const struct restoring *r, const struct table *t)
{
	const char *first[] = { "restore-piece", "end", r->id, r->name };
	struct buf text = BUF_INIT;
	char **words = NULL, *at;
	size_t count = 0, i;
	int status = 1, err = 0;

	for (i = 0; i < 4 && !err; i++)
		err = add_word(&text, &count, bytes_string(first[i]));
	if (!err)
		err = add_policies(t, &text, &count);
	if (!err)
		words = calloc(count + 1, sizeof(*words));
	if (words) {
		at = (char *)text.data;
		for (i = 0; i < count; i++, at += strlen(at) + 1)
			words[i] = at;
		status = run(r, r->c->out, (int)count, words);
	} else {
		verb_failed(r->c, "Restoring", -ENOMEM);
	}
	free(words);
	buf_release(&text);
	return status;
}

/* What of the table is there goes, if it does not get its name. */
static int bring_table(struct restoring *r, const struct table *t)
{
	const char *const drop[] = { "restore-piece", "drop", r->id, NULL };
	const char *const protect[] = { "protect", r->name, "on", NULL };
	int status = send_pieces(r);

	if (!status)
		status = end(r, t);
	if (status && r->id[0])
		(void)run_words(r, r->c->out, drop);
	if (!status && attributes_find(&t->attributes,
				       BYTES_LITERAL(STORE_PROTECTED), NULL))
		status = run_words(r, r->c->out, protect);
	return status;
}

/* Takes the words: 0, or 1 after it said what is wrong. */
static int take_words(struct restoring *r)
{
	enum { TABLE, AS };
	static const char *const keys[] = { "table", "as", NULL };
	const char *values[2] = { NULL, NULL };
	struct holder self;

	if (verb_arguments(r->c, 3, keys, values) || verb_once(r->c, 3))
		return 1;
	if (!values[TABLE])
		return verb_usage(r->c);
	r->from = r->c->argv[1];
	r->table = values[TABLE];
	r->name = values[AS] ? values[AS] : r->table;
	holder_self(&self);
	holder_format(&self, r->holder);
	if (!partial_init(&r->partial, bytes_string(r->name), r->holder))
		return verb_wrong(r->c,
				  "a table cannot be restored as \"%s\": as= "
				  "gives it a name of up to %zu letters, "
				  "digits, _ - and .",
				  r->name, PARTIAL_OF_MAX);
	return 0;
}

static int restore_table(struct verb_call *c, const struct served *served)
{
	struct restoring r = { .c = c, .served = served };
	const struct table *t;
	int status = take_words(&r);

	if (!status)
		status = open_backup(&r);
	if (status)
		return status;
	t = find_table(&r);
	status = t ? bring_table(&r, t) : 1;
	schema_put(r.schema);
	store_close(r.backup);
	return status;
}

bool restore_has_table(const struct verb_call *c)
{
	return c->argc > 3;
}

int verb_restore_from(struct verb_call *c)
{
	struct backup_result r;
	int err;

	if (c->argc < 3)
		return verb_usage(c);
	if (c->store)
		return restore_table(c, NULL);
	stop_begin();
	err = backup_restore(c->argv[1], c->argv[2], stop_check, &r);
	if (err < 0)
		return verb_failed(c, "Restoring", err);
	fprintf(c->out, "%llu files, %llu bytes\n",
		(unsigned long long)r.copied_count, (unsigned long long)r.size);
	return 0;
}

int remote_restore_from(struct verb_call *c, const struct served *served)
{
	return restore_table(c, served);
}

static bool has_table(struct store *s, const char *name)
{
	struct schema *schema = store_schema(s);
	bool has = schema_table(schema, bytes_string(name));

	schema_put(schema);
	return has;
}

/* As loader_take_pieces. */
static int load_piece(struct store *s, const char *text, uint32_t *table_id,
		      const struct attribute *mark)
{
	struct loader *l;
	int err = loader_new(s, &l);

	if (err)
		return err;
	loader_take_pieces(l, table_id, mark);
	err = loader_feed(l, bytes_string(text));
	if (!err)
		err = loader_finish(l);
	loader_free(l);
	return err;
}

/* Makes the table, which the process of holder brings, and prints its id: the
 * status. */
static int begin_table(struct verb_call *c, const char *name,
		       const char *holder, const char *text)
{
	struct partial p;
	uint32_t id = 0;
	int err;

	if (has_table(c->store, name))
		return verb_wrong(c,
				  "there is a table \"%s\" already; as= gives "
				  "another name",
				  name);
	if (!partial_init(&p, bytes_string(name), holder))
		return verb_usage(c);
	err = partial_drop_left(c->store, &p, false);
	if (!err)
		err = load_piece(c->store, text, &id, &p.mark);
	if (err < 0)
		return verb_failed(c, "Restoring", err);
	fprintf(c->out, "%u", (unsigned int)id);
	return 0;
}

/* Ends the table by the words behind its name: families, each with its policy.
 */
static int finish_table(struct verb_call *c, uint32_t id)
{
	size_t count = (size_t)(c->argc - 4) / 2, i;
	struct family_spec *families = calloc(count + 1, sizeof(*families));
	const struct attribute unmark = partial_unmark();
	struct table_spec last = { .name = bytes_string(c->argv[3]),
				   .families = families,
				   .family_count = count,
				   .attributes = &unmark,
				   .attribute_count = 1 };
	struct gc_policy *gc;
	int err = families ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i++) {
		families[i].name = bytes_string(c->argv[4 + 2 * i]);
		err = gc_policy_parse(bytes_string(c->argv[5 + 2 * i]), &gc);
		families[i].gc = err ? NULL : gc;
	}
	if (!err)
		err = store_finish_table(c->store, id, &last);
	for (i = 0; i < count && families; i++)
		gc_policy_free((struct gc_policy *)(uintptr_t)families[i].gc);
	free(families);
	return err;
}

int verb_restore_piece(struct verb_call *c)
{
	const char *word = c->argc > 2 ? c->argv[1] : "";
	uint32_t id = c->argc > 2 ? (uint32_t)strtoul(c->argv[2], NULL, 10) : 0;
	int err;

	if (!strcmp(word, "begin") && c->argc == 5)
		return begin_table(c, c->argv[2], c->argv[3], c->argv[4]);
	if (id == 0)
		return verb_usage(c);
	if (!strcmp(word, "more") && c->argc == 4)
		err = load_piece(c->store, c->argv[3], &id, NULL);
	else if (!strcmp(word, "end") && c->argc >= 4 && c->argc % 2 == 0)
		err = finish_table(c, id);
	else if (!strcmp(word, "drop") && c->argc == 3)
		err = store_discard_table(c->store, id);
	else
		return verb_usage(c);
	return err < 0 ? verb_failed(c, "Restoring", err) : 0;
}
