#include <pthread.h>
#include <stdlib.h>

#include "tools/admin/partial.h"
#include "tools/past/rewrite.h"
#include "tools/past/undelete.h"
#include "tools/verb/time.h"

struct undeleting {
	struct verb_call *c;
	struct bytes name, as;
	struct partial partial;
	uint32_t id; /* of the table that is made, by which it is known */
	struct compare x;
	struct select rows[COMPARE_SIDES]; /* all of them */
	struct undeleting *next;           /* under way in this process */
};

/* All that are under way: what else this process has marked failed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct undeleting *all; /* protected by lock */

/* Whether schema, of a moment, has a table of this name that is not there now.
 */
static bool has_dropped(struct store *s, const struct schema *schema,
			struct bytes name)
{
	const struct table *t = schema_table(schema, name);
	struct schema *now = store_schema(s);
	bool has = t && !table_by_id(now, t->id);

	schema_put(now);
	return has;
}

static int none_dropped(struct undeleting *u)
{
	char lost[CLOCK_TEXT_SIZE];
	struct history h;

	store_history(u->c->store, &h);
	clock_print(h.lost_us, lost, sizeof(lost));
	return fail(ERR_no_table,
		    "history has no table \"%s\" that was dropped%s%s%s",
		    err_name(u->name), h.lost_us > 0 ? "; before " : "",
		    h.lost_us > 0 ? lost : "",
		    h.lost_us > 0 ? " it was given up for lack of room, and "
				    "what was then is in a backup or nowhere"
				  : "");
}

/* The last moment up to us that has it, from one to the one before. */
static int find_moment(struct undeleting *u, uint64_t us, struct snapshot **out)
{
	struct store *s = u->c->store;
	bool any = false;
	struct schema *schema;
	bool has = false;
	int err;

	do {
		err = store_last_moment(s, us, out);
		if (err < 0)
			break;
		any = true;
		schema = store_schema_at(s, *out);
		has = has_dropped(s, schema, u->name);
		schema_put(schema);
		if (!has) {
			us = store_moment_time(*out) - 1;
			store_snapshot_release(s, *out);
		}
	} while (!has);
	if (err != -ERR_no_moment || !any)
		return err;
	return none_dropped(u);
}

/* Notes that it is under way, unless another to the same name is. */
static int begin(struct undeleting *u)
{
	const struct undeleting *other;

	pthread_mutex_lock(&lock);
	for (other = all; other; other = other->next)
		if (other->c->store == u->c->store &&
		    bytes_equal(other->as, u->as))
			break;
	if (!other) {
		u->next = all;
		all = u;
	}
	pthread_mutex_unlock(&lock);
	return other ? fail(ERR_table_exists,
			    "another undelete is bringing table \"%s\" back; "
			    "wait for it, or say another name by as=",
			    err_name(u->as))
		     : 0;
}

static void end(struct undeleting *u)
{
	struct undeleting **at = &all;

	pthread_mutex_lock(&lock);
	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	pthread_mutex_unlock(&lock);
}

/* Whose the table of this id was last: one that was closed to others after the
 * moment is not opened to them by that. Where that is not noted it is that of
 * who mounts. */
static struct table_access last_access(struct store *s, uint32_t id)
{
	struct table_access last = { 0700, TABLE_ACCESS_UNSET,
				     TABLE_ACCESS_UNSET };
	struct schema *now = store_schema(s);

	schema_dropped_access(now, id, &last);
	schema_put(now);
	return last;
}

/* An empty table of what then was one. Its attributes come last: one of them
 * may be that nobody drops it. */
static int make_table(struct undeleting *u, const struct table *then)
{
	const struct table_access last = last_access(u->c->store, then->id);
	struct table_spec spec = { .name = bytes_string(u->partial.name),
				   .millis = then->millis,
				   .access = &last,
				   .family_count = then->family_count,
				   .attributes = &u->partial.mark,
				   .attribute_count = 1,
				   .id = &u->id };
	struct family_spec *families =
		calloc(then->family_count + 1, sizeof(*families));
	size_t i;
	int err;

	if (!families)
		return -ENOMEM;
	for (i = 0; i < then->family_count; i++)
		families[i] = (struct family_spec){
			.name = then->families[i].name,
			.gc = family_gc(&then->families[i]),
			.type = then->families[i].type
		};
	spec.families = families;
	err = store_make_table(u->c->store, &spec);
	free(families);
	return err;
}

static int bring_rows(struct undeleting *u, struct rewrite_counts *counts)
{
	struct bytes partial = bytes_string(u->partial.name);
	int err = compare_take(&u->x, COMPARE_NEW, u->c->store, NULL, partial);

	if (!err && u->x.sides[COMPARE_NEW].table->id != u->id)
		err = fail(ERR_no_table, "table \"%s\" was dropped meanwhile",
			   u->partial.name);
	if (!err)
		err = compare_begin(&u->x, &u->rows[COMPARE_OLD],
				    &u->rows[COMPARE_NEW]);
	return err < 0 ? err : rewrite_rows(&u->x, partial, counts);
}

/* It gets its name, and all attributes that it had. */
static int finish_table(struct undeleting *u, const struct attributes *had)
{
	struct attribute *changes = calloc(had->count + 1, sizeof(*changes));
	struct table_spec last = { .name = u->as,
				   .attributes = changes,
				   .attribute_count = had->count + 1 };
	int err;

	if (!changes)
		return -ENOMEM;
	if (had->count > 0)
		memcpy(changes, had->items, had->count * sizeof(*changes));
	changes[had->count] = partial_unmark();
	err = store_finish_table(u->c->store, u->id, &last);
	free(changes);
	return err;
}

/* Without its name it is of no use. */
static int name_table(struct undeleting *u, int err)
{
	char why[512];

	if (!err)
		err = finish_table(u,
				   &u->x.sides[COMPARE_OLD].table->attributes);
	if (!err)
		return 0;
	snprintf(why, sizeof(why), "%s", err_detail());
	store_discard_table(u->c->store, u->id);
	return err == -ENOMEM ? err : fail(-err, "%s", why);
}

static int bring_table(struct undeleting *u, struct rewrite_counts *counts,
		       uint64_t *us)
{
	struct snapshot *moment;
	int err = find_moment(u, *us, &moment);

	if (err < 0)
		return err;
	*us = store_moment_time(moment);
	err = compare_take(&u->x, COMPARE_OLD, u->c->store, moment, u->name);
	if (!err)
		err = partial_drop_left(u->c->store, &u->partial, true);
	if (!err)
		err = make_table(u, u->x.sides[COMPARE_OLD].table);
	if (err < 0)
		return err;
	return name_table(u, bring_rows(u, counts));
}

static int undelete(struct undeleting *u, struct rewrite_counts *counts,
		    uint64_t *us)
{
	int err = begin(u);

	if (err < 0)
		return err;
	err = bring_table(u, counts, us);
	compare_close(&u->x);
	select_release(&u->rows[COMPARE_OLD]);
	select_release(&u->rows[COMPARE_NEW]);
	end(u);
	return err;
}

/* Whether the name can be given to the table, and before that another: 0, or 1
 * after it said what is wrong. */
static int check_name(struct undeleting *u)
{
	struct schema *now = store_schema(u->c->store);
	bool taken = schema_table(now, u->as);
	char holder[HOLDER_TEXT_SIZE];
	struct holder self;

	holder_self(&self);
	holder_format(&self, holder);
	schema_put(now);
	if (taken)
		return verb_wrong(u->c,
				  "there is a table \"%s\"; as= brings one "
				  "that was dropped back under another "
				  "name, and restore rows of this one",
				  err_name(u->as));
	if (!partial_init(&u->partial, u->as, holder))
		return verb_wrong(
			u->c,
			"a table cannot come back as \"%s\": as= gives "
			"it a name of up to %zu letters, digits, _ - "
			"and .",
			err_name(u->as), PARTIAL_OF_MAX);
	return 0;
}

int verb_undelete(struct verb_call *c)
{
	enum { AS, AS_OF };
	static const char *const keys[] = { "as", "as-of", NULL };
	struct undeleting u = { .c = c, .rows = { SELECT_INIT, SELECT_INIT } };
	struct rewrite_counts counts = { 0 };
	char moment[CLOCK_TEXT_SIZE];
	const char *values[2] = { NULL, NULL };
	uint64_t us = UINT64_MAX;
	int err;

	if (c->argc < 2)
		return verb_usage(c);
	if (verb_arguments(c, 2, keys, values) || verb_once(c, 2) ||
	    verb_parse_moment(c, values[AS_OF], &us))
		return 1;
	u.name = bytes_string(c->argv[1]);
	u.as = values[AS] ? bytes_string(values[AS]) : u.name;
	if (check_name(&u))
		return 1;
	err = undelete(&u, &counts, &us);
	if (err < 0)
		return verb_failed(c, "Bringing the table back", err);
	clock_print(us, moment, sizeof(moment));
	fprintf(c->out, "%llu rows, as of %s\n",
		(unsigned long long)counts.rows, moment);
	/* rm -r drops a table only after its rows. */
	if (counts.rows == 0)
		fprintf(c->err,
			"It had no row when it was dropped; tabletfs restore "
			"%s as-of=TIME brings back those of a time before; of "
			"a time when it had another name, tabletfs undelete "
			"NAME as=OTHER as-of=TIME.\n",
			err_name(u.as));
	return 0;
}
