#include <assert.h>
#include <errno.h>

#include "fs/cells/pin.h"
#include "fs/cells/place.h"
#include "fs/query/as_of.h"
#include "store/text/value/time.h"

/* Those that are listed. They are links, so that who walks through a tree meets
 * no table twice. */
static const char *const listed[] = { "1m", "5m", "15m", "1h", "3h",  "12h",
				      "1d", "2d", "4d",  "7d", "14d", "30d" };
#define LISTED_COUNT (sizeof(listed) / sizeof(*listed))
#define OLDEST BYTES_LITERAL("oldest")

/* How many digits an age may have: 9 do not overflow in weeks. */
#define DIGITS_MAX 9

/* A number and one of s, m, h, d, w: false if name is none of these. */
static bool parse_age(struct bytes name, uint64_t *seconds)
{
	static const char units[] = "smhdw";
	static const uint32_t sizes[] = { 1, 60, 3600, 86400, 604800 };
	const char *unit;
	uint64_t value = 0;
	size_t i;

	if (name.size < 2 || name.size > DIGITS_MAX + 1)
		return false;
	for (i = 0; i + 1 < name.size; i++) {
		if (name.data[i] < '0' || name.data[i] > '9')
			return false;
		value = value * 10 + (name.data[i] - '0');
	}
	unit = name.data[i] ? strchr(units, name.data[i]) : NULL;
	if (!unit)
		return false;
	*seconds = value * sizes[unit - units];
	return true;
}

/* The moment that an age or OLDEST means: 1 with its time, 0 if name is
 * neither, or -ERR_no_moment. */
static int find_link(struct fs *fs, struct bytes name, uint64_t *moment_us)
{
	uint64_t now = fs_now(fs), seconds;
	struct history history;
	int err;

	if (bytes_equal(name, OLDEST)) {
		store_history(fs->store, &history);
		err = store_find_moment(fs->store, history.oldest_us,
					moment_us);
	} else if (parse_age(name, &seconds)) {
		err = store_find_moment(
			fs->store,
			seconds < now / 1000000 ? now - seconds * 1000000 : 0,
			moment_us);
	} else {
		return 0;
	}
	return err ? err : 1;
}

/* Which table T/.as-of is of, at a moment: the one that T is, or, if that was
 * not there yet, the one that had its name. 0: none. */
static uint32_t table_then(struct fs *fs, struct node *directory,
			   const struct schema *then)
{
	const struct table *table;
	struct place place;
	uint32_t id;

	assert(directory->parent->kind == NODE_TABLE);
	id = directory->parent->table_id;
	if (id && table_by_id(then, id))
		return id;
	/* A dropped one has a name, too. */
	table = place_enter(fs, directory, &place) == -ENOMEM
			? NULL
			: schema_table(then, place.path.table);
	id = table ? table->id : 0;
	place_leave(fs, &place);
	return id;
}

/* The node of a time: 1 or an error. */
static int make_moment(struct fs *fs, struct node *directory,
		       struct at_moment *m, struct node **out)
{
	char text[CLOCK_TEXT_SIZE];
	struct schema *then;
	struct at_view view;
	int err = at_open_moment(fs, m->time_us, &view);

	if (err)
		return err;
	if (m->kind == NODE_AT_TIME) {
		then = store_schema_at(fs->store, view.snapshot);
		m->table_id = table_then(fs, directory, then);
		schema_put(then);
	}
	at_close(fs, &view);
	clock_print(m->time_us, text, sizeof(text));
	if (m->kind == NODE_AT_TIME && !m->table_id)
		return fail(ENOENT, "there was no such table at %s", text);
	err = at_enter(fs, directory, m, out);
	return err ? err : 1;
}

/* The node that name has, if what it stands for is still there: so that who is
 * in it and who comes are in the same one. */
static bool find_node(struct fs *fs, struct node *directory,
		      const struct at_moment *m, struct node **out)
{
	struct at_view view;

	*out = at_find(fs, directory, m->kind, m->name);
	if (!*out)
		return false;
	if (!at_open(fs, *out, &view)) {
		at_close(fs, &view);
		return true;
	}
	node_detach(&fs->nodes, *out);
	node_put(&fs->nodes, *out);
	return false;
}

/* In .as-of, a time. */
static int enter_time(struct fs *fs, struct node *directory, struct bytes name,
		      uint64_t us, struct node **out)
{
	struct at_moment m = {
		.kind = directory->parent->kind == NODE_TABLE
				? NODE_AT_TIME
				: NODE_AS_OF_STORE,
		.name = name,
	};
	int err;

	if (find_node(fs, directory, &m, out))
		return 1;
	err = store_find_moment(fs->store, us, &m.time_us);
	/* Moments are in the order of time also where the clock was set back.
	 */
	if (!err && us > fs_now(fs) && us != m.time_us)
		err = fail(ENOENT, "%.*s is a time to come", (int)name.size,
			   name.data);
	return err ? err : make_moment(fs, directory, &m, out);
}

/* In .as-of/<time> of all tables, one of them. */
static int enter_table(struct fs *fs, struct node *directory, struct bytes name,
		       struct node **out)
{
	struct at_moment m = { .kind = NODE_AT_TIME,
			       .name = name,
			       .time_us = directory->timestamp_us };
	const struct table *none, *table;
	struct schema *then;
	int err = at_schema(fs, directory, &then, &none);

	if (err)
		return err;
	table = schema_table(then, name);
	m.table_id = table ? table->id : 0;
	schema_put(then);
	if (!m.table_id)
		return 0;
	err = at_enter(fs, directory, &m, out);
	return err ? err : 1;
}

int as_of_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct node **out)
{
	uint64_t us;
	int err;

	if (directory->kind == NODE_AS_OF_STORE)
		return enter_table(fs, directory, name, out);
	assert(directory->kind == NODE_AS_OF);
	err = find_link(fs, name, &us);
	if (err == 1 &&
	    node_enter(&fs->nodes, directory, NODE_AS_OF_LINK, name, out))
		err = -ENOMEM;
	if (err)
		return err;
	/* Programs look for files with a dot wherever they are. */
	if (name.data[0] == '.')
		return 0;
	if (time_parse(name, &us))
		return fail(ENOENT, "%s; or how long ago, as 5m, 2h, 1d",
			    err_detail());
	return enter_time(fs, directory, name, us, out);
}

int as_of_target(struct fs *fs, const struct node *link, struct buf *out)
{
	char text[CLOCK_TEXT_SIZE];
	uint64_t us;
	int err = find_link(fs, node_name(link), &us);

	assert(err != 0);
	if (err < 0)
		return err;
	clock_print(us, text, sizeof(text));
	return buf_add_string(out, text);
}

int as_of_add_names(struct fs *fs, struct names *out)
{
	struct bytes name;
	uint64_t us;
	size_t i;
	int err = find_link(fs, OLDEST, &us) == 1 ? names_add(out, OLDEST) : 0;

	for (i = 0; i < LISTED_COUNT && !err; i++) {
		name = bytes_string(listed[i]);
		if (find_link(fs, name, &us) == 1)
			err = names_add(out, name);
	}
	/* What is not there is no error of the list. */
	err_clear();
	return err;
}
