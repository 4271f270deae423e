#ifndef FS_STATE_MARKS_H
#define FS_STATE_MARKS_H

#include "store/base/buf.h"

/*
 * What a listing remembers of the entries that it has given, so that who comes
 * back to one finds it again, though others come and go meanwhile. One thread
 * at a time.
 *
 * An entry has a place: bytes that order as entries are listed, see
 * listing_place. It is given with an ordinal, and of ordinals some are marked,
 * with the shortest place that is behind the entry before and not behind this
 * one: all of them while they are few, then every second, every fourth, so that
 * all marks together take MARKS_SIZE_MAX at most.
 *
 * A run is a part of the ordinals that was counted on one snapshot, in order.
 * In a run of the present snapshot an ordinal is found from the mark before it
 * by counting. In an older one, where counting would find others, it is found
 * by its own mark; if that one is no longer there, by the mark before, so that
 * some entries come again but none is left out. What is given from there on is
 * another run with ordinals of its own, unless there is one of the present
 * snapshot that has this place. Who asks once more for the ordinal that was
 * looked for last, as the way to it failed, goes to the same place.
 */
#define MARKS_SIZE_MAX 65536

/* Zeroed, nothing was given yet. All fields are private but next. */
struct marks {
	uint64_t next;      /* ordinal of the listing's next entry */
	struct buf here;    /* that is at this place or behind it */
	uint64_t limit;     /* ordinal that is another run's; 0: none */
	uint64_t fresh;     /* ordinal that no entry had yet */
	struct buf end;     /* the place behind entry fresh - 1 */
	bool has_join;      /* join is set */
	struct buf join;    /* where the newest run meets another's names */
	uint32_t run;       /* that next is in */
	uint32_t runs;      /* begun so far; run 0 is of no snapshot */
	uint32_t first_run; /* of the present snapshot */
	struct buf data;    /* the marks, see marks.c */
	uint64_t stride;    /* ordinals between new marks; 0: 1 */
	uint64_t ordinal;   /* of the last mark */
	struct buf last;    /* place of it */
	struct buf walked;  /* place of the mark at hand */
	struct buf found;   /* place of the mark that was looked for */
	struct buf until;   /* of struct marks_way */
	bool has_sought;    /* it is the place of the entry sought */
	uint64_t sought;    /* ordinal that was looked for last */
};

/* How the listing gets to an entry: it goes to the first one that is at from or
 * behind it, of which the ordinal is next, and on to the ordinal; or, if by
 * place, to the first one that is at until or behind it. */
struct marks_way {
	struct bytes from, until; /* until the next call */
	bool by_place;
	bool is_ahead; /* from is not before where the listing was */
};

void marks_release(struct marks *m);

/* The listing begins, in its first snapshot, or anew. 0 or -ENOMEM. */
int marks_begin(struct marks *m);

/* The listing goes on in another snapshot. */
void marks_renew(struct marks *m);

/* The listing has given its next entry, which is at this place. 0, or -ENOMEM,
 * and it was not given. */
int marks_count(struct marks *m, struct bytes place);

/* Keeps marks of size bytes at most, or few; of the rest only next is exact. 0,
 * or -ENOMEM, and some are left. */
int marks_thin(struct marks *m, size_t size);

/* Whether the next entry cannot have the ordinal next, which is another's: then
 * marks_seek for next finds it another. */
bool marks_ended(const struct marks *m);

/* The way to the entry with this ordinal, which may be given with another, as
 * next tells when the listing has gone it. 0 or -ENOMEM. */
int marks_seek(struct marks *m, uint64_t ordinal, struct marks_way *way);

#endif
