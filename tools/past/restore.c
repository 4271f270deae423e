#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"
#include "tools/data/select.h"
#include "tools/past/restore.h"
#include "tools/past/rewrite.h"
#include "tools/verb/time.h"

struct restoring {
	struct verb_call *c;
	struct bytes name;            /* of the table */
	struct select_words words[2]; /* owned; the same of each side */
	struct compare x;
};

static bool is_whole(const struct restoring *r)
{
	return !r->words[0].select.chosen;
}

/* Says what becomes of a family, whose policy then is named. */
static int tell(struct restoring *r, const struct family *then,
		const char *what)
{
	struct buf policy = BUF_INIT;
	int err = gc_policy_print_words(family_gc(then), &policy);

	if (!err)
		fprintf(r->c->out, "family \"%.*s\": %s %s %.*s\n",
			(int)then->name.size, then->name.data, what,
			family_type_word(then->type), (int)policy.size,
			policy.data);
	buf_release(&policy);
	return err;
}

static int make_again(struct restoring *r, const struct family *then)
{
	const struct family_spec spec = { .name = then->name,
					  .gc = family_gc(then),
					  .type = then->type };
	int err = store_create_family(r->c->store, r->name, &spec);

	return err < 0 ? err : tell(r, then, "made again,");
}

/* Whether all families that are there take the values that there were. */
static int check_types(const struct table *then, const struct table *now)
{
	size_t i;

	for (i = 0; i < then->family_count; i++) {
		const struct family *f = &then->families[i];
		const struct family *has = table_family(now, f->name);

		if (has && has->type != f->type &&
		    (family_is_aggregate(has) || family_is_aggregate(f)))
			return fail(ERR_type_mismatch,
				    "family \"%.*s\" had the type %s and has "
				    "%s now; after deletefamily it is made "
				    "again",
				    (int)f->name.size,
				    (const char *)f->name.data,
				    family_type_word(f->type),
				    family_type_word(has->type));
	}
	return 0;
}

/* A row has its family's policy, which may hide what comes back, unless all
 * rows are as they were. */
static int match_family(struct restoring *r, const struct family *then,
			const struct family *now)
{
	int err;

	if (gc_policy_equal(family_gc(now), family_gc(then)))
		return 0;
	if (!is_whole(r))
		return tell(r, then, "keeps its policy, which was");
	err = store_set_gc(r->c->store, r->name, then->name, family_gc(then));
	return err < 0 ? err : tell(r, then, "again");
}

/* What was made after the moment stays, with its policy, for who writes to it;
 * of all rows its cells go. */
static int tell_later(struct restoring *r, const struct table *now)
{
	const struct table *then = r->x.sides[COMPARE_OLD].table;
	size_t i;
	int err = 0;

	for (i = 0; i < now->family_count && is_whole(r) && !err; i++)
		if (!table_family(then, now->families[i].name))
			err = tell(r, &now->families[i],
				   "stays, made after that;");
	return err;
}

/* What the rows need of the schema; then and now are of the moments. */
static int match_schema(struct restoring *r, const struct table *now)
{
	const struct table *then = r->x.sides[COMPARE_OLD].table;
	size_t i;
	int err = check_types(then, now);

	if (!err && now->millis && !then->millis)
		err = store_set_granularity(r->c->store, r->name, false);
	for (i = 0; i < then->family_count && !err; i++) {
		const struct family *f = &then->families[i];
		const struct family *has = table_family(now, f->name);

		err = has ? match_family(r, f, has) : make_again(r, f);
	}
	return err < 0 ? err : tell_later(r, now);
}

/* The table as it is before anything is changed. */
static int bring_schema(struct restoring *r)
{
	struct schema *schema = store_schema(r->c->store);
	const struct table *now = schema_table(schema, r->name);
	int err = now ? match_schema(r, now)
		      : fail(ERR_no_table,
			     "table \"%s\" not found; undelete brings back one "
			     "that was dropped",
			     err_name(r->name));

	schema_put(schema);
	return err;
}

static int bring_rows(struct restoring *r, struct rewrite_counts *counts)
{
	int err = compare_take(&r->x, COMPARE_NEW, r->c->store, NULL, r->name);

	if (!err)
		err = compare_begin(&r->x, &r->words[COMPARE_OLD].select,
				    &r->words[COMPARE_NEW].select);
	return err < 0 ? err : rewrite_rows(&r->x, r->name, counts);
}

/* What there is by now is told also if that is not all. */
static int run(struct restoring *r, struct snapshot *moment)
{
	struct rewrite_counts counts = { 0 };
	char text[CLOCK_TEXT_SIZE];
	int err =
		compare_take(&r->x, COMPARE_OLD, r->c->store, moment, r->name);

	if (!err)
		err = bring_schema(r);
	if (!err)
		err = bring_rows(r, &counts);
	clock_print(store_moment_time(moment), text, sizeof(text));
	if (!err || counts.rows + counts.deleted > 0)
		fprintf(r->c->out,
			"As of %s: %llu rows restored, %llu deleted\n", text,
			(unsigned long long)counts.rows,
			(unsigned long long)counts.deleted);
	if (counts.parted > 0)
		fprintf(r->c->out, "%llu of them in parts\n",
			(unsigned long long)counts.parted);
	return err < 0 ? verb_failed(r->c, "Restoring", err) : 0;
}

int verb_restore(struct verb_call *c)
{
	struct restoring r = { .c = c };
	struct snapshot *moment;
	int wrong = 0, i;

	if (c->argc < 3)
		return verb_usage(c);
	r.name = bytes_string(c->argv[1]);
	for (i = 0; i < COMPARE_SIDES && !wrong; i++)
		wrong = select_parse(c, SELECT_ROWS, &r.words[i]);
	if (!wrong && !r.words[0].as_of)
		wrong = verb_usage(c);
	if (!wrong)
		wrong = verb_moment(c, r.words[0].as_of, &moment);
	if (!wrong)
		wrong = run(&r, moment);
	compare_close(&r.x);
	for (i = 0; i < COMPARE_SIDES; i++)
		select_words_release(&r.words[i]);
	return wrong;
}
