#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>
#include <stdlib.h>

#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/model/filter/regex_rewrite.h"
#include "store/regex.h"

/*
 * PCRE2's DFA is at several places of the pattern at once, and for each byte it
 * compares them with each other. So a byte costs at most the square of their
 * number, which its workspace bounds, and the subject is given to it in pieces
 * that cost at most PIECE_WORK, or of one byte: between two of them a
 * match can pause, as the workspace says where it is. A match begins with room
 * for few places; if that is not enough, it begins anew with room for more and
 * in smaller pieces. To go on with places costs as much as a byte, so that
 * pieces have some.
 */
#define PIECE_WORK (UINT64_C(1) << 24)
#define PLACES_MIN 32
#define PLACES_MAX 8192
#define PLACES_GROWTH 4
/* Two lists of places, of three numbers each, and what PCRE2 notes there. */
#define WORKSPACE(places) ((places)*2 * 3 + 2)
/* What a match costs besides that, in bytes. */
#define MATCH_BYTES 16

struct regex {
	pcre2_code *code;
	pcre2_match_data *match;
	uint8_t *tables; /* of bytes in upper and lower case; code's */
	int *workspace;
	size_t places;  /* that the workspace has room for */
	size_t reached; /* of the subject whose match is under way */
	bool paused;    /* it is, and was left */
	struct buf head;
	bool is_literal; /* the head is all that matches */
};

/*
 * PCRE2's tables begin with the lower case of each byte and then its other
 * case, of ASCII. RE2 takes bytes for Latin-1 there.
 */
static int tables_new(uint8_t **out)
{
	uint8_t *tables = (uint8_t *)pcre2_maketables(NULL);
	unsigned int c;

	*out = tables;
	if (!tables)
		return -ENOMEM;
	for (c = 0xc0; c <= 0xde; c++) {
		if (c == 0xd7)
			continue;
		tables[c] = (uint8_t)(c + 0x20);
		tables[256 + c] = (uint8_t)(c + 0x20);
		tables[256 + c + 0x20] = (uint8_t)c;
	}
	return 0;
}

static int compile(struct regex *re, struct bytes pattern)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	unsigned char text[128];
	PCRE2_SIZE offset;
	int code = context ? tables_new(&re->tables) : -ENOMEM;

	if (code < 0) {
		pcre2_compile_context_free(context);
		return code;
	}
	pcre2_set_character_tables(context, re->tables);
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	pcre2_set_parens_nest_limit(context, REGEX_NESTED_MAX + 1);
	re->code = pcre2_compile(
		pattern.data ? pattern.data : (const uint8_t *)"", pattern.size,
		PCRE2_ANCHORED | PCRE2_ALT_CIRCUMFLEX, &code, &offset, context);
	pcre2_compile_context_free(context);
	if (re->code)
		return 0;
	if (code == PCRE2_ERROR_HEAP_FAILED)
		return -ENOMEM;
	pcre2_get_error_message(code, text, sizeof(text));
	return fail(ERR_bad_argument, "error parsing regexp: %s", text);
}

static int set_places(struct regex *r, size_t places)
{
	int *workspace = malloc(WORKSPACE(places) * sizeof(int));

	if (!workspace)
		return -ENOMEM;
	free(r->workspace);
	r->workspace = workspace;
	r->places = places;
	return 0;
}

int regex_new(struct bytes pattern, struct regex **out)
{
	struct regex_rewritten made = { .is_literal = false };
	struct regex *re = calloc(1, sizeof(*re));
	int err = re ? regex_rewrite(pattern, &made) : -ENOMEM;

	*out = NULL;
	if (!err)
		err = compile(re, buf_bytes(&made.pattern));
	if (!err)
		err = set_places(re, PLACES_MIN);
	if (!err) {
		re->match = pcre2_match_data_create(1, NULL);
		if (!re->match)
			err = -ENOMEM;
	}
	buf_release(&made.pattern);
	if (err < 0) {
		buf_release(&made.head);
		regex_free(re);
		return err;
	}
	re->head = made.head;
	re->is_literal = made.is_literal;
	*out = re;
	return 0;
}

void regex_free(struct regex *r)
{
	if (!r)
		return;
	pcre2_code_free(r->code);
	free(r->tables);
	pcre2_match_data_free(r->match);
	free(r->workspace);
	buf_release(&r->head);
	free(r);
}

int regex_stopped(const struct regex_watch *w)
{
	return w && w->stop && w->stop() ? -EINTR : 0;
}

int regex_watched(struct regex_watch *w, uint64_t work)
{
	if (!w)
		return 0;
	w->work += work;
	if (w->work < REGEX_WATCH_WORK)
		return 0;
	w->work = 0;
	if (regex_stopped(w) < 0)
		return -EINTR;
	return w->pause && w->pause() ? -EAGAIN : 0;
}

/* The same for work of a match, whose time is limited. */
static int watched(struct regex_watch *w, uint64_t work)
{
	bool limited = w && w->limit_ns > 0;

	if (limited && w->begun_ns == 0)
		w->begun_ns = clock_processor_ns();
	if (limited && w->work + work >= REGEX_WATCH_WORK &&
	    clock_processor_ns() - w->begun_ns > w->limit_ns)
		return fail(ERR_bad_argument,
			    "regexps take longer to match than the %u ms in "
			    "which others may wait for this: ask about less or "
			    "smaller cells, or with simpler regexps",
			    (unsigned int)(w->limit_ns / 1000000));
	return regex_watched(w, work);
}

void regex_forget(struct regex *r)
{
	r->reached = 0;
	r->paused = false;
}

/* The work that so many bytes are. */
static uint64_t work_of(const struct regex *r, size_t size)
{
	return (size + MATCH_BYTES) * r->places * r->places;
}

/* As regex_match, or -ENOBUFS if the workspace has not places enough. Whoever
 * goes on is not asked before the first piece, and so comes further. */
static int match_pieces(struct regex *r, struct bytes subject,
			struct regex_watch *w)
{
	const uint8_t *data = subject.data ? subject.data : (const uint8_t *)"";
	size_t piece = PIECE_WORK / (r->places * r->places);
	size_t start, end;
	uint32_t options;
	int found, err;

	if (piece == 0)
		piece = 1;
	do {
		start = r->reached;
		assert(start <= subject.size);
		end = subject.size - start > piece ? start + piece
						   : subject.size;
		err = r->paused ? 0 : watched(w, work_of(r, end - start));
		r->paused = err == -EAGAIN;
		if (err < 0)
			return err;
		options = start > 0 ? PCRE2_DFA_RESTART : 0;
		if (end < subject.size)
			options |= PCRE2_PARTIAL_HARD;
		found = pcre2_dfa_match(r->code, data, end, start, options,
					r->match, NULL, r->workspace,
					WORKSPACE(r->places));
		r->reached = end;
	} while (found == PCRE2_ERROR_PARTIAL);
	/* The longest match comes first: is it the whole? */
	if (found >= 0)
		return end == subject.size &&
		       pcre2_get_ovector_pointer(r->match)[1] == subject.size;
	if (found == PCRE2_ERROR_NOMATCH)
		return 0;
	if (found == PCRE2_ERROR_DFA_WSSIZE)
		return -ENOBUFS;
	if (found == PCRE2_ERROR_NOMEMORY)
		return -ENOMEM;
	return fail(ERR_bad_argument, "regexp cannot be matched (%d)", found);
}

int regex_match(struct regex *r, struct bytes subject, struct regex_watch *w)
{
	int result, err;

	if (r->is_literal)
		return bytes_equal(subject, buf_bytes(&r->head));
	for (;;) {
		result = match_pieces(r, subject, w);
		if (result != -EAGAIN)
			regex_forget(r);
		if (result != -ENOBUFS)
			return result;
		if (r->places == PLACES_MAX)
			return fail(ERR_bad_argument,
				    "regexp cannot be matched: more than %d "
				    "places of it fit at once",
				    PLACES_MAX);
		err = set_places(r, r->places * PLACES_GROWTH);
		if (err < 0)
			return err;
	}
}

struct bytes regex_head(const struct regex *r)
{
	return buf_bytes(&r->head);
}

bool regex_is_literal(const struct regex *r)
{
	return r->is_literal;
}
