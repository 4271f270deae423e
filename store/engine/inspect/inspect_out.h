#ifndef STORE_ENGINE_INSPECT_INSPECT_OUT_H
#define STORE_ENGINE_INSPECT_INSPECT_OUT_H

#include "store/base/volume/volume.h"
#include "store/inspect.h"

/*
 * The lines of an inspection, see store/inspect.h. Calls return 0, -ENOMEM, or
 * what the receiver of lines returned. One thread, no lock.
 */
struct inspect {
	const struct inspect_options *options;
	const char *path;       /* of the file under way; borrowed */
	uint64_t problem_count; /* in all */
	uint64_t entry_count;   /* of the file: lines for entries */
	bool is_brief;          /* only what is wrong is told, and entries if
				   they are wanted */
	bool is_useless;        /* of the file: nothing wrong is a problem */
	struct buf line;        /* under way */
	struct buf scratch;     /* a part of a key */
};

/* What a manifest beside the file tells of it. */
struct inspect_facts {
	bool has_manifest; /* else nothing is known */
	bool is_named;     /* it is one of the store's files */
	uint64_t size;     /* that it was finished with; 0: it was not */
};

/* A line about the file, unless only what is wrong is told. */
__attribute__((format(printf, 2, 3))) int inspect_line(struct inspect *i,
						       const char *fmt, ...);

/* The same if told so or not. */
__attribute__((format(printf, 2, 3))) int inspect_always(struct inspect *i,
							 const char *fmt, ...);

/* What is wrong with part, in the bytes from offset to end. */
int inspect_problem(struct inspect *i, uint64_t offset, uint64_t end,
		    const char *part, const char *what);

/* The same of what is no problem. */
int inspect_note(struct inspect *i, uint64_t offset, uint64_t end,
		 const char *part, const char *what);

/* Whether a line for the next entry is wanted, which is counted then. */
bool inspect_wants(struct inspect *i);

/* Begins, in i->line, what inspect_end gives out. */
void inspect_begin(struct inspect *i);

/* Appends what printf would print. */
__attribute__((format(printf, 2, 3))) int inspect_add(struct inspect *i,
						      const char *fmt, ...);

/*
 * Appends a key, or as much of one as these bytes are, which may be anything:
 * " table N row TEXT family TEXT qualifier TEXT timestamp N seq N kind N", and
 * as " bytes TEXT" what is no such part. A bound of a range that is the
 * successor of a prefix is " behind" that prefix.
 */
int inspect_add_key(struct inspect *i, struct bytes key);

int inspect_end(struct inspect *i);

/* What err_detail() says, without the file's path in front of it. */
const char *inspect_reason(const struct inspect *i);

#endif
