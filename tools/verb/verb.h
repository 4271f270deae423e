#ifndef TOOLS_VERB_VERB_H
#define TOOLS_VERB_VERB_H

#include <stdio.h>

#include "store/store.h"

/*
 * Verbs: the commands of `tabletfs`, by their words. A verb runs in the
 * process of the command when the store is free, and inside the daemon when it
 * is mounted, several at a time; it writes to out and err only and returns its
 * exit status, 0 or 1, or 2 where its header says so. Errors are one sentence
 * each, after "tabletfs: ", in cbt's words. Inside the daemon the working
 * directory, the environment, files and standard input are not those of the
 * command: a verb that needs them does not run there.
 *
 * Everything here is the caller's and borrowed for the call.
 */
struct verb_call {
	struct store *store; /* NULL for a verb that needs none */
	int argc;            /* at least 1 */
	char **argv;         /* argv[0] is the verb */
	FILE *out, *err;
};

enum verb_flags {
	VERB_NO_STORE = 1, /* runs without a store */
	VERB_CREATES = 2,  /* makes the store if there is none */
	VERB_READS = 4,    /* changes nothing, so the store is opened to read */
	VERB_OUTSIDE = 8,  /* never runs in a daemon, which opens no path and
			      does not wait for itself */
	VERB_ANSWERS = 16, /* a status of 1 is an answer: what fails ends with
			      2, also before and after the verb runs */
	VERB_STOPS = 32,   /* ends what it began after SIGINT and SIGTERM, see
			      stop.h */
	VERB_INNER = 64,   /* for other verbs alone: help does not list it */
};

struct verb {
	const char *name;
	unsigned int flags;  /* enum verb_flags */
	const char *usage;   /* one line, without "usage: tabletfs " */
	const char *summary; /* for the list of help */
	const char *help;    /* what follows usage in the help of the verb */
	int (*run)(struct verb_call *c);
};

/* By name; ended by one without a name. They stand in tools/table.c. */
extern const struct verb verbs[];

/* NULL if there is none of this name. */
const struct verb *verb_find(const char *name);

/* Runs the verb argv[0]: its exit status. s is NULL if there is no store; a
 * verb that needs one says so. What err_detail() said before is forgotten. */
int verb_run(struct store *s, int argc, char **argv, FILE *out, FILE *err);

/* The same inside the daemon, see fs/kernel/mount.h: refuses verbs that are
 * VERB_OUTSIDE. */
int verb_serve(struct store *s, int argc, char **argv, FILE *out, FILE *err);

/* Each says what is wrong on c->err, as one line, and returns the status of a
 * failure, 1 or of a verb that is VERB_ANSWERS 2: the sentence given; "<doing>:
 * <what the error says>"; or the verb's usage. */
__attribute__((format(printf, 2, 3))) int verb_wrong(struct verb_call *c,
						     const char *fmt, ...);
int verb_failed(struct verb_call *c, const char *doing, int err);
int verb_usage(struct verb_call *c);

/* The same of a store whose name is "". */
int verb_nameless(struct verb_call *c);

/* What the last error says: its detail, or the text of its number, or both.
 * Valid until the thread's next error. */
const char *verb_error_text(int err);

/*
 * key=value arguments from argv[first] on, among the keys, a list ended by
 * NULL: values[i] is set to the value of keys[i], the last if repeated, and
 * left alone if there is none. 0, or 1 after it said what is wrong.
 */
int verb_arguments(struct verb_call *c, int first, const char *const *keys,
		   const char **values);

/* Whether of such arguments none has the key of another, for verbs that are not
 * cbt's: 0, or 1 after it said which. */
int verb_once(struct verb_call *c, int first);

/* Go's strconv.ParseBool; "" and NULL are false. 0, or 1 after it said what is
 * wrong. */
int verb_parse_bool(struct verb_call *c, const char *text, bool *out);

/* Takes the first element of a comma-separated list, which may be quoted as in
 * CSV, from the front: 1 with *out, 0 at the end, or an error. *out lives in
 * *rest or in memory, until the next call. *rest is NULL at the end. */
int list_next(const char **rest, struct buf *memory, struct bytes *out);

#endif
