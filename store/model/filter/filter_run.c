#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/model/filter/filter_run.h"

/* Steps are compared: a wider one is the smaller number. */
static_assert(CURSOR_ROW < CURSOR_FAMILY && CURSOR_FAMILY < CURSOR_COLUMN &&
		      CURSOR_COLUMN < CURSOR_VERSION,
	      "steps go from wide to narrow");

/* What things cost, as regex_watched counts: as many cells as a cursor passes
 * before it looks; a part's work with a cell; a byte of a large value, or
 * of one whose bits are looked at; some bytes that are compared. */
#define CELL_WORK (REGEX_WATCH_WORK / CURSOR_STOP_CELLS)
#define STEP_WORK 64
#define BYTE_WORK 4
#define COMPARE_WORK(size) ((size) / 4)

/*
 * The tree is walked once, before the first row, to tell each part where the
 * cells that it passes go next. So a cell goes from part to part in a loop;
 * only interleaves branch.
 */
static unsigned int link_parts(struct filter_run *r, struct filter *f,
			       struct filter *next, struct filter *decides,
			       unsigned int level);

/* Each part passes on to the next one, the last to where f does. A condition in
 * a later part rests on all in earlier ones, so levels add up. */
static unsigned int link_chain(struct filter_run *r, struct filter *f,
			       unsigned int level)
{
	size_t i, last = f->part_count - 1;

	for (i = 0; i < last; i++)
		level = link_parts(r, f->parts[i], f->parts[i + 1], NULL,
				   level);
	return link_parts(r, f->parts[last], f->next, f->decides, level);
}

/* The parts from first on side by side: each is given what f is, and passes on
 * to where f does, so that the highest level counts. */
static unsigned int link_branches(struct filter_run *r, struct filter *f,
				  size_t first, unsigned int level)
{
	unsigned int highest = level, l;
	size_t i;

	for (i = first; i < f->part_count; i++) {
		if (!f->parts[i])
			continue;
		l = link_parts(r, f->parts[i], f->next, f->decides, level);
		if (l > highest)
			highest = l;
	}
	return highest;
}

/* level is that of conditions that rest on nothing but those that f's input
 * rests on; returns the same for what comes out of f. A filter may have been in
 * a run before: all of its links are set anew, and the epoch that no row has.
 * The recursion is as deep as FILTER_DEPTH_MAX. */
static unsigned int link_parts(struct filter_run *r, struct filter *f,
			       struct filter *next, struct filter *decides,
			       unsigned int level)
{
	f->next = next;
	f->decides = decides;
	f->epoch = 0;
	f->counted = f->answers[0].showing = f->answers[1].showing = 0;
	f->number = r->linked++;
	switch (f->kind) {
	case FILTER_CHAIN:
		return link_chain(r, f, level);
	case FILTER_INTERLEAVE:
	case FILTER_UNION:
		return link_branches(r, f, 0, level);
	case FILTER_CONDITION:
		f->level = link_parts(r, f->parts[0], NULL, f, level);
		f->next_decided = r->conditions;
		r->conditions = f;
		return link_branches(r, f, 1, f->level + 1);
	default:
		return level;
	}
}

/* Matches that were left, with a cell that is: they would be gone on with. */
static void forget_matches(struct filter *f)
{
	size_t i;

	if (f->regex)
		regex_forget(f->regex);
	for (i = 0; i < f->part_count; i++)
		if (f->parts[i])
			forget_matches(f->parts[i]);
}

/* As many passes decide as there are levels: what comes out of the root rests
 * on that many. */
void filter_run_start(struct filter_run *r, struct filter *root)
{
	*r = (struct filter_run){ .root = root };
	forget_matches(root);
	r->levels = link_parts(r, root, NULL, NULL, 0);
}

void filter_run_release(struct filter_run *r)
{
	buf_release(&r->row);
	buf_release(&r->family);
	buf_release(&r->qualifier);
	free(r->cells);
	*r = (struct filter_run){ .root = NULL };
}

/* All counters of parts begin anew, by other epochs. Family and qualifier are
 * forgotten; as the epochs have changed already, it does no harm that empty
 * ones equal those of a first cell with an empty family. */
static void begin_pass(struct filter_run *r)
{
	const struct filter *f;

	if (r->paused)
		forget_matches(r->root);
	r->paused = false;
	r->row_epoch++;
	r->family_epoch++;
	r->column_epoch++;
	r->family.size = 0;
	r->qualifier.size = 0;
	r->count = r->taken = 0;
	r->undecided = 0;
	for (f = r->conditions; f; f = f->next_decided)
		r->undecided += f->level == r->level;
}

/* What conditions have decided was about the row before. */
int filter_run_row(struct filter_run *r, struct bytes row)
{
	struct filter *f;
	int err = buf_set(&r->row, row);

	r->level = 0;
	for (f = r->conditions; f; f = f->next_decided)
		f->matched = false;
	begin_pass(r);
	return err;
}

/* What the passes before decided stays in the conditions. */
void filter_run_again(struct filter_run *r)
{
	assert(filter_run_decides(r));
	r->level++;
	begin_pass(r);
}

/* A cell has come out. In a pass that decides it does not matter. */
static int output(struct filter_run *r, const struct filter_cell *c)
{
	struct filter_cell *grown;
	size_t room;

	if (filter_run_decides(r))
		return 0;
	if (r->count == r->room) {
		room = r->room * 2 + 4;
		grown = realloc(r->cells, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->cells = grown;
		r->room = room;
	}
	r->cells[r->count++] = *c;
	return 0;
}

/* A cell has come through all of a predicate, which in the pass of its level is
 * the answer. In an earlier pass it is none: conditions inside are not decided
 * yet. */
static void decide(struct filter_run *r, struct filter *condition)
{
	if (condition->level != r->level || condition->matched)
		return;
	assert(r->undecided > 0);
	condition->matched = true;
	r->undecided--;
}

/* An empty range, such as one whose start lies behind its end, holds nothing.
 */
static bool in_range(const struct filter_range *range, struct bytes b)
{
	int order;

	if (range->has_start) {
		order = bytes_compare(b, range->start);
		if (order < 0 || (order == 0 && range->start_open))
			return false;
	}
	if (range->has_end) {
		order = bytes_compare(b, range->end);
		if (order > 0 || (order == 0 && !range->end_closed))
			return false;
	}
	return true;
}

/* By the number of the part as well as the row, so that samples of one filter
 * are independent of each other. */
static uint64_t sample_hash(const struct filter *f, struct bytes row)
{
	uint64_t mixed[2] = { hash64(row), f->number };

	return hash64(bytes_of(mixed, sizeof(mixed)));
}

/* A part that answers the same for all of a row, family or column: it is asked
 * at the first cell of each that comes to it. An error is no answer. */
static int match_once(const struct filter_run *r, struct filter *f,
		      uint64_t epoch, struct bytes subject)
{
	int matched;

	if (f->epoch == epoch)
		return f->matched;
	if (f->kind == FILTER_SAMPLE)
		matched = sample_hash(f, subject) < f->limit;
	else
		matched = regex_match(f->regex, subject, r->watch);
	if (matched < 0)
		return matched;
	f->epoch = epoch;
	f->matched = matched;
	return matched;
}

/* The number of this cell among those that f was given in the epoch, from 1. Of
 * a cell that is shown again the copies are counted anew. */
static uint64_t count_cell(const struct filter_run *r, struct filter *f,
			   uint64_t epoch)
{
	if (f->counted < r->first_showing)
		f->count_before = f->epoch == epoch ? f->count : 0;
	if (f->counted < r->showing)
		f->count = f->count_before;
	f->counted = r->showing;
	f->epoch = epoch;
	return ++f->count;
}

/* Asked once about a cell, however many copies come and however often it is
 * shown: they have its value, or lost it. */
static int match_value(const struct filter_run *r, struct filter *f,
		       struct bytes value)
{
	bool some = value.size > 0;
	int matched;

	if (f->answers[some].showing >= r->first_showing)
		return f->answers[some].matched;
	matched = regex_match(f->regex, value, r->watch);
	if (matched < 0)
		return matched;
	f->answers[some].showing = r->showing;
	f->answers[some].matched = matched;
	return matched;
}

static bool has_bits(struct bytes value, struct bytes mask)
{
	size_t i;

	if (value.size != mask.size)
		return false;
	for (i = 0; i < mask.size; i++)
		if ((value.data[i] & mask.data[i]) != mask.data[i])
			return false;
	return true;
}

/* in_range, as work: at most all bytes of one with those of each bound. */
static uint64_t range_work(const struct filter_range *range, struct bytes b)
{
	size_t start = range->start.size, end = range->end.size;

	return COMPARE_WORK(start < b.size ? start : b.size) +
	       COMPARE_WORK(end < b.size ? end : b.size);
}

/* Whether a part that is not composed of others passes the cell, which it may
 * change: 1, 0 or an error. Only values that are looked at are loaded, once for
 * all copies of a cell: load keeps them. */
static int passes(struct filter_run *r, struct filter *f, struct filter_cell *c)
{
	const struct cell *cell = &c->cell;
	int err;

	if ((f->kind == FILTER_VALUE || f->kind == FILTER_VALUES ||
	     f->kind == FILTER_BITMASK) &&
	    cell->blob.size > 0) {
		err = r->load(r->load_context, &c->cell);
		if (err < 0)
			return err;
		r->work += c->cell.value.size * BYTE_WORK;
	}
	switch (f->kind) {
	case FILTER_STRIP:
		c->cell.value = c->cell.blob = BYTES_NONE;
		return 1;
	case FILTER_LABEL:
		c->label = buf_bytes(&f->name);
		return 1;
	case FILTER_SAMPLE:
	case FILTER_ROW:
		return match_once(r, f, r->row_epoch, cell->row);
	case FILTER_FAMILY:
		return match_once(r, f, r->family_epoch, cell->family);
	case FILTER_QUALIFIER:
		return match_once(r, f, r->column_epoch, cell->qualifier);
	case FILTER_VALUE:
		return match_value(r, f, cell->value);
	case FILTER_COLUMNS:
		r->work += range_work(&f->range, cell->qualifier);
		return bytes_equal(cell->family, buf_bytes(&f->name)) &&
		       in_range(&f->range, cell->qualifier);
	case FILTER_VALUES:
		r->work += range_work(&f->range, cell->value);
		return in_range(&f->range, cell->value);
	case FILTER_BITMASK:
		r->work += f->name.size == cell->value.size
				   ? f->name.size * BYTE_WORK
				   : 0;
		return has_bits(cell->value, buf_bytes(&f->name));
	case FILTER_TIMESTAMPS:
		return cell->timestamp_us >= f->from_us &&
		       cell->timestamp_us < f->to_us;
	case FILTER_ROW_LIMIT:
		return count_cell(r, f, r->row_epoch) <= f->limit;
	case FILTER_ROW_OFFSET:
		return count_cell(r, f, r->row_epoch) > f->limit;
	case FILTER_COLUMN_LIMIT:
		return count_cell(r, f, r->column_epoch) <= f->limit;
	case FILTER_BLOCK:
		return 0;
	default:
		return 1;
	}
}

/* Where a condition sends its cells in this pass; NULL: nowhere. Of its own
 * level or a later one it is not decided yet: the predicate gets them, also
 * while only conditions inside it are decided. Once it is, and in the last
 * pass, a branch does. */
static struct filter *branch(const struct filter_run *r, const struct filter *f)
{
	if (f->level >= r->level && filter_run_decides(r))
		return f->parts[0];
	return f->matched ? f->parts[1] : f->parts[2];
}

/* Counts a step with a cell, of which there may be millions: now and then
 * whether to stop is asked in the middle, where it cannot pause. */
static int count_step(struct filter_run *r)
{
	r->work += STEP_WORK;
	if (r->work < r->look_at)
		return 0;
	r->look_at = r->work + REGEX_WATCH_WORK;
	return regex_stopped(r->watch);
}

/* One cell from part f on to the end of its way. An interleave sends copies, by
 * value, so that one branch's changes are not seen by the others; all else goes
 * on in the loop. What passes the end of a predicate decides and goes no
 * further. */
static int send(struct filter_run *r, struct filter *f, struct filter_cell c)
{
	size_t i, count = r->count;
	int err;

	for (;;) {
		struct filter *next = f->next;

		err = count_step(r);
		if (err < 0)
			return err;
		switch (f->kind) {
		case FILTER_SINK:
			return output(r, &c);
		case FILTER_CHAIN:
			f = f->parts[0];
			continue;
		case FILTER_CONDITION:
			f = branch(r, f);
			if (!f)
				return 0;
			continue;
		case FILTER_INTERLEAVE:
		case FILTER_UNION:
			for (i = 0; i < f->part_count; i++) {
				err = send(r, f->parts[i], c);
				if (err < 0)
					return err;
				if (f->kind == FILTER_UNION && r->count > count)
					break;
			}
			return 0;
		default:
			err = passes(r, f, &c);
			if (err <= 0)
				return err;
		}
		if (f->decides)
			decide(r, f->decides);
		else if (!next)
			return output(r, &c);
		if (!next)
			return 0;
		f = next;
	}
}

/* Finds out what has begun by comparing names, since whoever shows cells may
 * have stepped over many. */
static int begin_cell(struct filter_run *r, const struct cell *cell)
{
	bool same_family = bytes_equal(buf_bytes(&r->family), cell->family);
	int err = 0;

	if (!same_family ||
	    !bytes_equal(buf_bytes(&r->qualifier), cell->qualifier)) {
		r->column_epoch++;
		r->family_epoch += !same_family;
		err = buf_set(&r->family, cell->family);
		if (!err)
			err = buf_set(&r->qualifier, cell->qualifier);
	}
	r->timestamp_us = cell->timestamp_us;
	r->first_showing = r->showing;
	return err;
}

/* Cells before this one may have taken so long that it has to wait; then
 * nothing was begun. */
int filter_run_cell(struct filter_run *r, const struct cell *cell)
{
	struct filter_cell c = { .cell = *cell };
	int err = regex_watched(r->watch, r->work);

	r->count = r->taken = 0;
	r->work = 0;
	if (err < 0)
		return err;
	r->work = CELL_WORK;
	r->look_at = REGEX_WATCH_WORK;
	r->showing++;
	if (!r->paused)
		err = begin_cell(r, cell);
	if (!err)
		err = send(r, r->root, c);
	r->paused = err == -EAGAIN;
	if (err < 0)
		r->count = 0;
	return err;
}

/* Copies come in the order of the parts of interleaves. */
const struct filter_cell *filter_run_take(struct filter_run *r)
{
	return r->taken < r->count ? &r->cells[r->taken++] : NULL;
}

/* Families and qualifiers ascend: before the family there may be more in the
 * next one; behind it or behind the range there is nothing in this row. */
static enum cursor_step columns_step(const struct filter_run *r,
				     const struct filter *f)
{
	struct bytes qualifier = buf_bytes(&r->qualifier);
	int order = bytes_compare(buf_bytes(&r->family), buf_bytes(&f->name));

	if (order != 0)
		return order < 0 ? CURSOR_FAMILY : CURSOR_ROW;
	if (in_range(&f->range, qualifier))
		return CURSOR_VERSION;
	if (f->range.has_end && bytes_compare(qualifier, f->range.end) >= 0)
		return CURSOR_ROW;
	return CURSOR_COLUMN;
}

static enum cursor_step step_of(const struct filter_run *r,
				const struct filter *f);

/* What a later part has no use for may be skipped unless an earlier one counts
 * it: the widest step of the parts up to the first that counts. */
static enum cursor_step chain_step(const struct filter_run *r,
				   const struct filter *f)
{
	enum cursor_step step = CURSOR_VERSION, s;
	size_t i;

	for (i = 0; i < f->part_count; i++) {
		s = step_of(r, f->parts[i]);
		step = s < step ? s : step;
		if (f->parts[i]->counts)
			break;
	}
	return step;
}

/* What no part has a use for may be skipped: the narrowest step. */
static enum cursor_step interleave_step(const struct filter_run *r,
					const struct filter *f)
{
	enum cursor_step step = CURSOR_ROW, s;
	size_t i;

	for (i = 0; i < f->part_count; i++) {
		s = step_of(r, f->parts[i]);
		step = s > step ? s : step;
	}
	return step;
}

/* How far from the cell shown last the next one may lie that f passes or that
 * changes what f does. Each kind asks its state of the present epoch only: a
 * part that the cell did not reach knows nothing of it. */
static enum cursor_step step_of(const struct filter_run *r,
				const struct filter *f)
{
	enum cursor_step step = CURSOR_VERSION;

	switch (f->kind) {
	case FILTER_BLOCK:
		return CURSOR_ROW;
	case FILTER_SAMPLE:
	case FILTER_ROW:
		return f->epoch == r->row_epoch && !f->matched ? CURSOR_ROW
							       : step;
	case FILTER_FAMILY:
		return f->epoch == r->family_epoch && !f->matched
			       ? CURSOR_FAMILY
			       : step;
	case FILTER_QUALIFIER:
		return f->epoch == r->column_epoch && !f->matched
			       ? CURSOR_COLUMN
			       : step;
	case FILTER_COLUMNS:
		return columns_step(r, f);
	case FILTER_TIMESTAMPS:
		return r->timestamp_us <= f->from_us ? CURSOR_COLUMN : step;
	case FILTER_ROW_LIMIT:
		return f->epoch == r->row_epoch && f->count >= f->limit
			       ? CURSOR_ROW
			       : step;
	case FILTER_COLUMN_LIMIT:
		return f->epoch == r->column_epoch && f->count >= f->limit
			       ? CURSOR_COLUMN
			       : step;
	case FILTER_CHAIN:
		return chain_step(r, f);
	case FILTER_INTERLEAVE:
	case FILTER_UNION:
		return interleave_step(r, f);
	case FILTER_CONDITION:
		f = branch(r, f);
		return f ? step_of(r, f) : CURSOR_ROW;
	default:
		return step;
	}
}

/* Once all conditions of a pass are decided, the rest of the row is of no use
 * to it. */
enum cursor_step filter_run_step(const struct filter_run *r)
{
	if (filter_run_decides(r) && r->undecided == 0)
		return CURSOR_ROW;
	return step_of(r, r->root);
}

/* Only one family is needed. */
static void need_family(struct filter_need *n, struct bytes family)
{
	n->has_family = true;
	n->family = family;
}

/* What several parts need is what all of them do, so for rows the longest head
 * and for times the latest start will do. Columns and times of a part that
 * follows one that counts say nothing about what that one has to see; rows do,
 * because no part counts beyond a row. What follows a sink is not asked, as
 * cells went past it. */
static struct filter_need chain_need(const struct filter *f)
{
	struct filter_need all = { .row_is_head = false };
	bool counted = false;
	size_t i;

	for (i = 0; i < f->part_count; i++) {
		struct filter_need n = filter_need(f->parts[i]);

		if (n.row_head.size > all.row_head.size) {
			all.row_head = n.row_head;
			all.row_is_head = n.row_is_head;
		}
		if (!counted && n.has_family)
			need_family(&all, n.family);
		if (!counted && n.has_qualifier) {
			all.has_qualifier = true;
			all.qualifier = n.qualifier;
		}
		if (!counted && n.since_us > all.since_us)
			all.since_us = n.since_us;
		counted |= f->parts[i]->counts;
		if (f->parts[i]->has_sink)
			break;
	}
	return all;
}

/* What any of the parts needs: only what all of them need alike is left, and of
 * heads what they share. */
static struct filter_need interleave_need(const struct filter *f)
{
	struct filter_need all = filter_need(f->parts[0]);
	size_t i;

	for (i = 1; i < f->part_count; i++) {
		struct filter_need n = filter_need(f->parts[i]);

		all.row_is_head &=
			n.row_is_head && bytes_equal(all.row_head, n.row_head);
		all.row_head.size = bytes_shared(all.row_head, n.row_head);
		all.has_family &=
			n.has_family && bytes_equal(all.family, n.family);
		all.has_qualifier &= n.has_qualifier &&
				     bytes_equal(all.qualifier, n.qualifier);
		if (n.since_us < all.since_us)
			all.since_us = n.since_us;
	}
	return all;
}

/* Whether the range holds just what it starts with. */
static bool is_one(const struct filter_range *range)
{
	return range->has_start && range->has_end && !range->start_open &&
	       range->end_closed && bytes_equal(range->start, range->end);
}

/* Parts of which nothing is known here need all: a condition among them, whose
 * predicate may look at any cell of the row. */
struct filter_need filter_need(const struct filter *f)
{
	struct filter_need n = { .row_is_head = false };

	switch (f->kind) {
	case FILTER_ROW:
		n.row_head = regex_head(f->regex);
		n.row_is_head = regex_is_literal(f->regex);
		return n;
	case FILTER_FAMILY:
		if (regex_is_literal(f->regex))
			need_family(&n, regex_head(f->regex));
		return n;
	case FILTER_QUALIFIER:
		n.has_qualifier = regex_is_literal(f->regex);
		n.qualifier = regex_head(f->regex);
		return n;
	case FILTER_COLUMNS:
		need_family(&n, buf_bytes(&f->name));
		n.has_qualifier = is_one(&f->range);
		n.qualifier = f->range.start;
		return n;
	case FILTER_TIMESTAMPS:
		n.since_us = f->from_us;
		return n;
	case FILTER_CHAIN:
		return chain_need(f);
	case FILTER_INTERLEAVE:
	case FILTER_UNION:
		return interleave_need(f);
	default:
		return n;
	}
}
