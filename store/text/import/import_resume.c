#include <assert.h>

#include "store/base/hash.h"
#include "store/text/import/import_resume.h"
#include "store/text/track/import_table.h"

/*
 * A position is where the next record begins. It is taken down when rows are
 * handed on, by then all of the records before it, and travels with them: in
 * the write that goes to the log, or in the load that is published.
 */

/* What a write may have for a position to have room beside it. */
#define POSITION_SIZE_LIMIT (IMPORT_WRITE_MAX - 8192)

static bool is_on(const struct importer *im)
{
	return im->resume.name.size > 0;
}

/* Takes the name; the second the table's number, too. The first is of what an
 * older program noted. */
#define FORGET                                                              \
	"to begin anew: tabletfs deletecolumn " IMPORT_POSITIONS " '%.*s' " \
	"import position"
#define FORGET_TABLE FORGET ".%llu"

/* A position for the table, when there was none. */
static void begin(struct importer *im, uint64_t table)
{
	im->resume.saved = (struct import_position){ .table = table,
						     .line = 1,
						     .time_us = im->now_us };
}

/* That of a store, whose table of that name may be another by now. */
static int load(struct importer *im)
{
	struct import_resume *r = &im->resume;
	struct bytes name = buf_bytes(&r->name);
	uint64_t table;
	int err = import_position_prepare(im->store);

	if (!err)
		err = import_table_claim(im->store, buf_bytes(&im->table),
					 &table);
	if (!err)
		err = import_position_load(im->store, name, table, &r->saved);
	if (err < 0)
		return err;
	if (err == 0)
		begin(im, table);
	if (r->saved.table != table)
		return fail(ERR_bad_argument,
			    "resume=%.*s: it is of another table than "
			    "\"%.*s\" or of one that was dropped, or from a "
			    "dump of an older tabletfs, which did not tell"
			    "; " FORGET,
			    (int)name.size, name.data, (int)im->table.size,
			    (char *)im->table.data, (int)name.size, name.data);
	return 0;
}

int import_resume_init(struct importer *im,
		       const struct import_options *options)
{
	struct import_resume *r = &im->resume;
	int err;

	r->hand_on = options->hand_on;
	r->context = options->context;
	if (options->resume.size == 0)
		return 0;
	if (options->resume.size > IMPORT_NAME_MAX)
		return fail(ERR_bad_argument,
			    "resume=: a name has %d bytes at most",
			    IMPORT_NAME_MAX);
	r->by_marks = !options->recipe;
	err = buf_set(&r->name, options->resume);
	if (err < 0)
		return err;
	if (im->store) {
		err = load(im);
	} else if (options->position) {
		r->saved = *options->position;
	} else {
		begin(im, 0);
	}
	r->now = r->loaded = r->saved;
	im->now_us = r->saved.time_us;
	return err;
}

void import_resume_release(struct importer *im)
{
	buf_release(&im->resume.name);
	buf_release(&im->resume.head);
}

int import_resume_check_recipe(struct importer *im)
{
	struct import_resume *r = &im->resume;
	struct buf text = BUF_INIT;
	uint64_t hash;
	int err;

	if (!is_on(im) || !im->recipe)
		return 0;
	err = recipe_print(im->recipe, &text);
	hash = hash64(buf_bytes(&text));
	buf_release(&text);
	if (err < 0)
		return err;
	/* Nothing is in yet. */
	if (r->saved.offset == 0 && r->saved.elements == 0)
		r->saved.recipe_hash = hash;
	r->now = r->loaded = r->saved;
	if (r->saved.recipe_hash == hash)
		return 0;
	return fail(ERR_bad_argument,
		    "resume=%.*s: it began with another recipe, so go on with "
		    "that; " FORGET_TABLE,
		    (int)r->name.size, (char *)r->name.data, (int)r->name.size,
		    (char *)r->name.data, (unsigned long long)r->saved.table);
}

/* The hash of the first bytes before an offset, and how many those are. */
static void note_head(const struct import_resume *r, struct import_position *p)
{
	uint64_t size =
		p->offset < IMPORT_HEAD_SIZE ? p->offset : IMPORT_HEAD_SIZE;

	assert(size <= r->head.size);
	p->head_size = size;
	p->head_hash = hash64(bytes_of(r->head.data, size));
}

int import_resume_look(struct importer *im, struct bytes data)
{
	struct import_resume *r = &im->resume;
	size_t room = IMPORT_HEAD_SIZE - r->head.size;
	int err;

	if (!is_on(im) || r->by_marks)
		return 1;
	err = buf_add(&r->head, data.data, data.size < room ? data.size : room);
	if (err < 0)
		return err;
	if (r->is_checked)
		return 1;
	if (r->head.size < r->saved.head_size)
		return 0;
	if (hash64(bytes_of(r->head.data, r->saved.head_size)) !=
		    r->saved.head_hash &&
	    r->saved.head_size > 0)
		return fail(
			ERR_bad_argument,
			"%.*s: it begins otherwise than the file that "
			"resume=%.*s has taken up to line %llu; " FORGET_TABLE,
			(int)im->by.file.size, (char *)im->by.file.data,
			(int)r->name.size, (char *)r->name.data,
			(unsigned long long)r->saved.line - 1,
			(int)r->name.size, (char *)r->name.data,
			(unsigned long long)r->saved.table);
	r->is_checked = true;
	return 1;
}

int import_resume_skip(struct importer *im)
{
	struct import_resume *r = &im->resume;
	size_t left = im->input.size - im->start;
	uint64_t at = r->base + im->start;

	if (!is_on(im) || r->by_marks || r->is_there ||
	    im->header != HEADER_DONE)
		return 1;
	if (at + left < r->saved.offset) {
		im->start = im->input.size;
		return 0;
	}
	r->is_there = true;
	if (at > r->saved.offset)
		return 1;
	im->start += r->saved.offset - at;
	im->at = 0;
	im->line = im->line_next = r->saved.line;
	im->by.in_array = r->saved.in_array;
	im->by.element_first = r->saved.elements;
	im->result.line_count = im->by.line_base + im->line - 1;
	im->result.committed_line = im->result.line_count;
	return 1;
}

bool import_resume_takes_rest(const struct importer *im)
{
	return !is_on(im) || im->resume.by_marks ||
	       im->by.format == RECIPE_JSON;
}

int import_resume_end(struct importer *im)
{
	struct import_resume *r = &im->resume;

	if (!is_on(im) || r->by_marks)
		return 0;
	if (!r->is_there && r->saved.offset > 0)
		return fail(ERR_bad_argument,
			    "%.*s: it has %llu bytes, and resume=%.*s has "
			    "taken %llu already: it was cut or exchanged"
			    "; " FORGET_TABLE,
			    (int)im->by.file.size, (char *)im->by.file.data,
			    (unsigned long long)im->result.byte_count,
			    (int)r->name.size, (char *)r->name.data,
			    (unsigned long long)r->saved.offset,
			    (int)r->name.size, (char *)r->name.data,
			    (unsigned long long)r->saved.table);
	if (im->start < im->input.size || im->csv == CSV_SKIP)
		im->result.left_line = im->line;
	if (im->csv == CSV_QUOTED) {
		im->result.left_line += im->csv_lines;
		im->result.left_quote = im->csv_begin - im->csv_line_at;
	}
	return 0;
}

/* Takes down where the next record begins; in the middle of one that is passed
 * over, where that does. */
static void note(struct importer *im)
{
	struct import_resume *r = &im->resume;

	if (r->by_marks || !r->is_there)
		return;
	r->now.offset = r->base + im->start - r->dropped;
	r->now.line = im->line;
	r->now.elements = im->by.element;
	r->now.format = im->by.format;
	r->now.in_array = im->by.in_array;
	if (im->by.array_ended) {
		r->now.offset = im->by.array_end;
		r->now.line = im->by.array_end_line;
		r->now.in_array = true;
	}
	note_head(r, &r->now);
}

int import_resume_room(const struct importer *im, uint64_t count, uint64_t size)
{
	if (!is_on(im) ||
	    (count < STORE_MUTATIONS_MAX && size < POSITION_SIZE_LIMIT))
		return 0;
	return fail(ERR_batch_too_large,
		    "with its position more than %d changes or 256 MiB",
		    STORE_MUTATIONS_MAX);
}

int import_resume_add(struct importer *im)
{
	struct import_resume *r = &im->resume;

	if (!is_on(im))
		return 0;
	note(im);
	return import_position_add(im->w, buf_bytes(&r->name), &r->now);
}

void import_resume_committed(struct importer *im)
{
	im->resume.saved = im->resume.loaded = im->resume.now;
}

void import_resume_loaded(struct importer *im)
{
	note(im);
	im->resume.loaded = im->resume.now;
}

int import_resume_publish(struct importer *im)
{
	struct import_resume *r = &im->resume;
	struct write *w = NULL;
	int err;

	if (!is_on(im))
		return 0;
	err = write_new(im->store, &w);
	if (!err)
		err = import_position_add(w, buf_bytes(&r->name), &r->loaded);
	if (!err)
		err = store_bulk_add(im->load, w);
	write_free(w);
	/* 1: it was taken, as all that only sets is. */
	assert(err != 0);
	return err < 0 ? err : 0;
}

void import_resume_published(struct importer *im)
{
	im->resume.saved = im->resume.loaded;
}

int import_resume_settle(struct importer *im)
{
	struct import_resume *r = &im->resume;
	int err = 0;

	if (!is_on(im))
		return 0;
	note(im);
	if (import_position_equal(&r->now, &r->saved) ||
	    (r->by_marks && write_count(im->w) > 0))
		return 0;
	if (im->w) {
		err = import_resume_add(im);
		if (!err)
			err = store_commit_more(im->store, im->w);
	} else if (r->hand_on) {
		err = r->hand_on(r->context, &r->now);
	}
	if (!err)
		import_resume_committed(im);
	return err;
}

int import_resume_emitted(struct importer *im)
{
	struct import_resume *r = &im->resume;

	if (!r->hand_on || im->pending_cells == 0)
		return 0;
	im->pending_cells = im->pending_bytes = 0;
	return is_on(im) ? import_resume_settle(im)
			 : r->hand_on(r->context, &r->now);
}
