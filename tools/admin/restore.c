#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/text/dump/dump.h"
#include "store/text/dump/load.h"
#include "store/text/value/gcpolicy.h"
#include "tools/admin/restore.h"
#include "tools/verb/remote.h"
#include "tools/verb/stop.h"

#define PARTIAL ".partial"

/* A table on its way into a store. */
struct restoring {
	struct verb_call *c;
	const struct served *served; /* NULL: c->store is open */
	const char *from, *table, *name;
	char partial[STORE_TABLE_NAME_MAX + 1]; /* the name until it is whole */
	struct store *backup;                   /* owned; open to read */
	struct schema *schema;                  /* its; referenced */
	bool begun; /* there is a table of that name, and it is this one */
};

/* Runs a command where the store is: its exit status. */
static int run(const struct restoring *r, int argc, char **argv)
{
	struct verb_call c = { NULL, argc, argv, r->c->out, r->c->err };

	return r->served ? remote_run(&c, r->served)
			 : verb_run(r->c->store, argc, argv, c.out, c.err);
}

/* run with words that are not changed, of which there are up to four. */
static int run_words(const struct restoring *r, const char *a, const char *b,
		     const char *c, const char *d)
{
	const char *given[] = { a, b, c, d };
	char *words[5] = { NULL };
	int count;

	for (count = 0; count < 4 && given[count]; count++)
		words[count] = (char *)(uintptr_t)given[count];
	return run(r, count, words);
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
	sigset_t stops, before;
	int status;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, &before);
	status = run_words(r, "restore-piece", "begin", r->name, text);
	r->begun = !status;
	stop_begin();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

/* All pieces, one command for each. */
static int send_pieces(struct restoring *r)
{
	struct dump *pieces = NULL;
	struct buf text = BUF_INIT;
	int status = 0;
	int err = dump_table_open(r->backup, bytes_string(r->table),
				  bytes_string(r->partial), &pieces);

	while (!err && !status) {
		buf_reset(&text);
		err = dump_piece(pieces, &text);
		if (err <= 0)
			break;
		err = buf_terminate(&text);
		if (!err && r->begun)
			err = stop_check();
		if (err)
			break;
		status = r->begun ? run_words(r, "restore-piece", "more",
					      (const char *)text.data, NULL)
				  : begin(r, (const char *)text.data);
	}
	if (err < 0)
		status = verb_failed(r->c, "Reading the backup", err);
	dump_table_close(pieces);
	buf_release(&text);
	return status;
}

/* Policies come into force when all versions are there: none is hidden that the
 * backup shows. */
static int set_policies(const struct restoring *r, const struct table *t)
{
	struct buf family = BUF_INIT, policy = BUF_INIT;
	int status = 0, err = 0;
	size_t i;

	for (i = 0; i < t->family_count && !status && !err; i++) {
		const struct family *f = &t->families[i];

		if (!family_gc(f))
			continue;
		buf_reset(&policy);
		err = gc_policy_print_words(family_gc(f), &policy);
		if (!err)
			err = buf_terminate(&policy);
		if (!err)
			err = buf_set(&family, f->name);
		if (!err)
			err = buf_terminate(&family);
		if (!err)
			status = run_words(r, "setgcpolicy", r->partial,
					   (const char *)family.data,
					   (const char *)policy.data);
	}
	buf_release(&family);
	buf_release(&policy);
	return err ? verb_failed(r->c, "Setting policies", err) : status;
}

/* What of the table is there goes, if it does not get its name. */
static int bring_table(struct restoring *r, const struct table *t)
{
	int status = send_pieces(r);

	if (!status)
		status = set_policies(r, t);
	if (!status)
		status = run_words(r, "restore-piece", "end", r->partial,
				   r->name);
	if (status && r->begun)
		(void)run_words(r, "deletetable", r->partial, NULL, NULL);
	if (!status && attributes_find(&t->attributes,
				       BYTES_LITERAL(STORE_PROTECTED), NULL))
		status = run_words(r, "protect", r->name, "on", NULL);
	return status;
}

/* Takes the words: 0, or 1 after it said what is wrong. */
static int take_words(struct restoring *r)
{
	enum { TABLE, AS };
	static const char *const keys[] = { "table", "as", NULL };
	const char *values[2] = { NULL, NULL };
	int n;

	if (verb_arguments(r->c, 3, keys, values) || verb_once(r->c, 3))
		return 1;
	if (!values[TABLE])
		return verb_usage(r->c);
	r->from = r->c->argv[1];
	r->table = values[TABLE];
	r->name = values[AS] ? values[AS] : r->table;
	n = snprintf(r->partial, sizeof(r->partial), "%s" PARTIAL, r->name);
	if (n >= (int)sizeof(r->partial) ||
	    store_check_table_name(bytes_string(r->name)) < 0)
		return verb_wrong(r->c,
				  "a table cannot be restored as \"%s\": as= "
				  "gives it a name of up to %zu letters, "
				  "digits, _ - and .",
				  r->name,
				  sizeof(r->partial) - sizeof(PARTIAL));
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
	err = backup_restore(c->argv[1], c->argv[2], &r);
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

static int load_piece(struct store *s, const char *text, bool begin)
{
	struct loader *l;
	int err = loader_new(s, &l);

	if (err)
		return err;
	loader_take_pieces(l, begin);
	err = loader_feed(l, bytes_string(text));
	if (!err)
		err = loader_finish(l);
	loader_free(l);
	return err;
}

int verb_restore_piece(struct verb_call *c)
{
	const char *word = c->argc > 2 ? c->argv[1] : "";
	int err;

	if (!strcmp(word, "begin") && c->argc == 4) {
		if (has_table(c->store, c->argv[2]))
			return verb_wrong(c,
					  "there is a table \"%s\" already; "
					  "as= gives another name",
					  c->argv[2]);
		err = load_piece(c->store, c->argv[3], true);
		if (err == -ERR_table_exists)
			return verb_wrong(c,
					  "there is a table \"%s" PARTIAL
					  "\", as a restore leaves it that was "
					  "killed; deletetable removes it",
					  c->argv[2]);
	} else if (!strcmp(word, "more") && c->argc == 3) {
		err = load_piece(c->store, c->argv[2], false);
	} else if (!strcmp(word, "end") && c->argc == 4) {
		err = store_rename_table(c->store, bytes_string(c->argv[2]),
					 bytes_string(c->argv[3]));
	} else {
		return verb_usage(c);
	}
	return err < 0 ? verb_failed(c, "Restoring", err) : 0;
}
