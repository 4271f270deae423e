#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/rng.h"
#include "tests/sim/wire_calls.h"

/*
 * Clients of a server beside a mount, while both are killed and come back:
 *
 *	chaos ADDRESS MOUNT SECONDS CLIENTS SEED
 *
 * Each client has rows of its own and knows of each which version was
 * acknowledged last and which was asked for last: what is read is one of these
 * or between them, whole, and the same over the wire and by the path. What was
 * asked for and not acknowledged may be there or not, once and for all. Every
 * third client changes its rows by files. Prints what was done; the first thing
 * that is wrong ends it with 1.
 */
#define ROWS 40
#define PATTERN 64

struct row {
	unsigned int acked, asked; /* versions; of 0 there is nothing */
};

struct client {
	pthread_t thread;
	unsigned int id;
	struct rng rng;
	struct row rows[ROWS];
	bool connected, has_table, may_have_table;
	struct grpc_client grpc;
	unsigned int done, failed, reads, by_path;
};

static const char *address, *mount_point;
static time_t end_time;

__attribute__((format(printf, 1, 2))) static _Noreturn void wrong(
	const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

/* Every seventh version is a deletion. */
static bool is_gone(unsigned int version)
{
	return version % 7 == 0;
}

/* What a version has: its name, and as much more of it as it says. */
static void make_value(struct buf *b, unsigned int id, unsigned int row,
		       unsigned int version)
{
	size_t size = version % 50 == 1 ? 100000 : version * 37 % 3000;
	char head[PATTERN];

	buf_reset(b);
	snprintf(head, sizeof(head), "<%u %u %u>", id, row, version);
	do {
		if (buf_add_string(b, head))
			abort();
	} while (b->size < size);
}

static struct bytes row_key(char out[32], unsigned int id, unsigned int row)
{
	snprintf(out, 32, "c%03u-%03u", id, row);
	return bytes_string(out);
}

/* The row is like this, or there is none: it must be what it may be, which it
 * then is. */
static void check_row(struct client *c, unsigned int row, struct bytes value,
		      const char *how)
{
	struct row *r = &c->rows[row];
	struct buf want = BUF_INIT;
	unsigned int v = r->acked;

	for (; v <= r->asked; v++) {
		make_value(&want, c->id, row, v);
		if (is_gone(v) ? value.size == 0
			       : bytes_equal(value, buf_bytes(&want)))
			break;
	}
	buf_release(&want);
	if (v > r->asked)
		wrong("%s: row %u of client %u has %zu bytes, \"%.40s\", but "
		      "version %u was acknowledged and %u asked for",
		      how, row, c->id, value.size,
		      value.size ? (const char *)value.data : "", r->acked,
		      r->asked);
	r->acked = v;
	/* It was not done, and nobody is left who could do it. */
	r->asked = v;
	c->reads++;
}

static bool connect_wire(struct client *c)
{
	if (c->connected && !c->grpc.gone)
		return true;
	if (c->connected)
		grpc_close(&c->grpc);
	c->connected = grpc_try(&c->grpc, address);
	if (!c->connected)
		usleep(20000);
	return c->connected;
}

/* Whether a call was answered with OK: if not, the server has gone. */
static bool answered(struct client *c, const struct wire_call *w)
{
	int status = w->call.status;

	if (status == 0 && w->call.closed) {
		c->done++;
		return true;
	}
	c->failed++;
	/* 14 is said by a server that stops. */
	if (w->call.closed && status > 0 && status != 14)
		wrong("%s: status %d, %s", w->call.path, status, w->call.text);
	/* Nothing of it comes later: the server ends with the connection. */
	if (!c->grpc.gone && !w->call.closed)
		wrong("%s: not answered in two minutes", w->call.path);
	return false;
}

/* What changes a row into the version. */
struct change {
	struct proto_set_cell set;
	struct proto_mutation mutation;
	struct buf value;
	char key[32];
};

static void make_change(struct client *c, unsigned int row,
			unsigned int version, struct change *out)
{
	*out = (struct change){ .value = BUF_INIT };
	row_key(out->key, c->id, row);
	if (is_gone(version)) {
		out->mutation.mutation_case = nr_mutation_delete_from_row;
		out->mutation.delete_from_row = (void *)&out->set;
		return;
	}
	make_value(&out->value, c->id, row, version);
	/* The server's time, as files have it. */
	out->set =
		(struct proto_set_cell){ BYTES_LITERAL("f"), BYTES_LITERAL("q"),
					 -1, buf_bytes(&out->value), 0 };
	out->mutation.mutation_case = nr_mutation_set_cell;
	out->mutation.set_cell = &out->set;
}

static struct bytes table(char out[256])
{
	return wire_table_name(out, "t");
}

static void write_row(struct client *c, unsigned int row)
{
	struct row *r = &c->rows[row];
	char name[256];
	struct change change;
	struct proto_mutate_row q = { .table_name = table(name) };
	struct wire_call w;

	make_change(c, row, ++r->asked, &change);
	q.row_key = bytes_string(change.key);
	q.mutations.at = &change.mutation;
	q.mutations.count = 1;
	wire_do(&c->grpc, &w, WIRE_DATA "MutateRow", &proto_mutate_row_type,
		&q);
	if (answered(c, &w))
		r->acked = r->asked;
	wire_end(&w);
	buf_release(&change.value);
}

/* All rows at once: each entry that is acknowledged was done, in an answer that
 * is whole. */
static void write_rows(struct client *c)
{
	struct proto_mutate_entry entries[ROWS] = { 0 };
	struct change changes[ROWS];
	char name[256];
	struct proto_mutate_rows q = { .table_name = table(name),
				       .entries = { entries, ROWS } };
	struct wire_call w;
	unsigned int i;
	bool good;

	for (i = 0; i < ROWS; i++) {
		make_change(c, i, ++c->rows[i].asked, &changes[i]);
		entries[i].row_key = bytes_string(changes[i].key);
		entries[i].mutations.at = &changes[i].mutation;
		entries[i].mutations.count = 1;
	}
	wire_do(&c->grpc, &w, WIRE_DATA "MutateRows", &proto_mutate_rows_type,
		&q);
	good = answered(c, &w);
	for (i = 0; i < ROWS; i++) {
		if (good)
			c->rows[i].acked = c->rows[i].asked;
		buf_release(&changes[i].value);
	}
	wire_end(&w);
}

/* Is what it is changed, if it is what it is known to be: which it must. */
static void write_checked(struct client *c, unsigned int row)
{
	struct row *r = &c->rows[row];
	char name[256], pattern[PATTERN + 4];
	struct change change;
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_value_regex_filter,
	};
	struct proto_check_and_mutate_row q = { .table_name = table(name),
						.predicate_filter = &filter };
	struct wire_call w;
	bool known = r->acked == r->asked && !is_gone(r->acked);

	snprintf(pattern, sizeof(pattern), "<%u %u %u>\\C*", c->id, row,
		 r->acked);
	if (!known)
		return;
	filter.value_regex_filter = bytes_string(pattern);
	make_change(c, row, ++r->asked, &change);
	q.row_key = bytes_string(change.key);
	q.true_mutations.at = &change.mutation;
	q.true_mutations.count = 1;
	wire_do(&c->grpc, &w, WIRE_DATA "CheckAndMutateRow",
		&proto_check_and_mutate_row_type, &q);
	if (answered(c, &w)) {
		/* A prefix, and field 1, which is true. */
		if (w.call.body.size != 7 || w.call.body.data[6] != 1)
			wrong("row %u of client %u is not \"%s\" to a "
			      "condition",
			      row, c->id, pattern);
		r->acked = r->asked;
	}
	wire_end(&w);
	buf_release(&change.value);
}

/* The values that were read, by row. */
struct seen {
	struct client *c;
	struct bytes values[ROWS];
};

static bool take_chunk(void *context, struct bytes row,
		       const struct proto_cell_chunk *chunk)
{
	struct seen *s = context;
	unsigned int id, number;
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)row.size,
		 (const char *)row.data);
	if (sscanf(text, "c%u-%u", &id, &number) != 2 || id != s->c->id ||
	    number >= ROWS)
		wrong("client %u reads a row \"%s\"", s->c->id, text);
	s->values[number] = chunk->value;
	return true;
}

/* By a key, all, or what no row is. */
static void read_rows(struct client *c, bool one, unsigned int row,
		      bool selective)
{
	char name[256], key[32], first[32], end[32];
	struct bytes keys = row_key(key, c->id, row);
	struct proto_row_range range = {
		.start_key_case = nr_row_range_start_key_closed,
		.start_key_closed = row_key(first, c->id, 0),
		.end_key_case = nr_row_range_end_key_open,
		.end_key_open = row_key(end, c->id, ROWS),
	};
	struct proto_row_set set = { .row_keys = { &keys, one },
				     .row_ranges = { &range, !one } };
	struct proto_row_filter filter = {
		.filter_case = nr_row_filter_cells_per_column_limit_filter,
		.cells_per_column_limit_filter = 1,
	};
	struct proto_read_rows q = { .table_name = table(name),
				     .rows = selective ? NULL : &set,
				     .filter = &filter,
				     .reversed = !one && row % 2 };
	struct proto_arena arena = { .chunks = NULL };
	struct seen seen = { .c = c };
	struct wire_call w;
	unsigned int i;

	if (selective) {
		filter.filter_case = nr_row_filter_value_regex_filter;
		filter.value_regex_filter = BYTES_LITERAL("nothing is so");
	}
	wire_do(&c->grpc, &w, WIRE_DATA "ReadRows", &proto_read_rows_type, &q);
	if (answered(c, &w)) {
		if (wire_rows(&w, &arena, take_chunk, &seen) && selective)
			wrong("a filter passes what it should not");
		for (i = 0; i < ROWS && !selective; i++)
			if (!one || i == row)
				check_row(c, i, seen.values[i], "wire");
	}
	proto_arena_release(&arena);
	wire_end(&w);
}

/* Makes a table of the client's, or drops it. */
static void change_tables(struct client *c)
{
	char id[32], name[256];
	struct proto_delete_table drop = { .name = BYTES_NONE };
	struct wire_call w;
	int status;

	snprintf(id, sizeof(id), "own%u", c->id);
	if (!c->has_table) {
		status = wire_create(&c->grpc, id);
		if (status > 0 && status != 14 &&
		    !(status == 6 && c->may_have_table))
			wrong("CreateTable: status %d", status);
		c->may_have_table = true;
		c->has_table = status == 0 || status == 6;
		return;
	}
	drop.name = wire_table_name(name, id);
	status = wire_do(&c->grpc, &w, WIRE_TABLES "DeleteTable",
			 &proto_delete_table_type, &drop);
	if (status > 0 && status != 14)
		wrong("DeleteTable: status %d, %s", status, w.call.text);
	/* If nobody knows, it is made again, and may be there. */
	c->has_table = false;
	c->may_have_table = status != 0;
	wire_end(&w);
}

/* The device of the mount, or 0 while there is none. */
static dev_t served(void)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/.tabletfs", mount_point);
	return stat(path, &st) < 0 ? 0 : st.st_dev;
}

static void path_of(char out[4096], const struct client *c, unsigned int row,
		    const char *rest)
{
	snprintf(out, 4096, "%s/t/c%03u-%03u%s", mount_point, c->id, row, rest);
}

static void write_file(struct client *c, unsigned int row)
{
	struct row *r = &c->rows[row];
	struct buf value = BUF_INIT;
	char path[4096];
	bool good;
	int fd;

	path_of(path, c, row, "");
	(void)mkdir(path, 0755);
	path_of(path, c, row, "/f");
	(void)mkdir(path, 0755);
	path_of(path, c, row, "/f/q");
	r->asked++;
	if (is_gone(r->asked)) {
		/* Where there is nothing it is so already. */
		dev_t before = served();

		good = unlink(path) == 0 ||
		       (errno == ENOENT && before && served() == before);
	} else {
		make_value(&value, c->id, row, r->asked);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		good = fd >= 0 &&
		       write(fd, value.data, value.size) == (ssize_t)value.size;
		if (fd >= 0)
			good &= close(fd) == 0;
	}
	if (good)
		r->acked = r->asked;
	c->done += good;
	c->failed += !good;
	buf_release(&value);
}

/* While there is one and the same mount, what is not there is nothing. */
static void read_file(struct client *c, unsigned int row)
{
	dev_t before = served();
	struct buf value = BUF_INIT;
	char path[4096];
	ssize_t n = 0;
	int fd;

	path_of(path, c, row, "/f/q");
	fd = open(path, O_RDONLY);
	if (fd < 0 && (errno != ENOENT || !before || served() != before))
		return;
	while (fd >= 0) {
		if (buf_reserve(&value, 65536))
			abort();
		n = read(fd, value.data + value.size, 65536);
		if (n <= 0)
			break;
		value.size += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	if (n == 0) {
		check_row(c, row, buf_bytes(&value), "path");
		c->by_path++;
	}
	buf_release(&value);
}

static void step(struct client *c, unsigned int what, unsigned int row)
{
	bool by_files = c->id % 3 == 2;

	switch (what) {
	case 0:
		write_rows(c);
		break;
	case 1:
		read_rows(c, false, row, false);
		break;
	case 2:
		read_rows(c, false, row, true);
		break;
	case 3:
		change_tables(c);
		break;
	case 4:
	case 5:
		write_checked(c, row);
		break;
	case 6:
	case 7:
	case 8:
		read_rows(c, true, row, false);
		break;
	case 9:
	case 10:
		read_file(c, row);
		break;
	default:
		if (by_files)
			write_file(c, row);
		else
			write_row(c, row);
	}
}

static void *run(void *argument)
{
	struct client *c = argument;
	unsigned int row;

	while (time(NULL) < end_time) {
		row = rng_below(&c->rng, ROWS);
		if (connect_wire(c))
			step(c, rng_below(&c->rng, 20), row);
	}
	/* The last word. */
	while (!connect_wire(c))
		;
	for (row = 0; row < ROWS; row++)
		read_rows(c, true, row, false);
	for (row = 0; row < ROWS; row++)
		read_file(c, row);
	grpc_close(&c->grpc);
	return NULL;
}

int main(int argc, char **argv)
{
	struct client *clients;
	unsigned int count, i, done = 0, failed = 0, reads = 0, paths = 0;

	if (argc != 6)
		return 2;
	address = argv[1];
	mount_point = argv[2];
	end_time = time(NULL) + atoi(argv[3]);
	count = (unsigned int)atoi(argv[4]);
	clients = calloc(count, sizeof(*clients));
	for (i = 0; i < count; i++) {
		clients[i].id = i;
		clients[i].rng =
			(struct rng){ strtoull(argv[5], NULL, 10) * 1000 + i };
		if (pthread_create(&clients[i].thread, NULL, run, &clients[i]))
			return 2;
	}
	for (i = 0; i < count; i++) {
		pthread_join(clients[i].thread, NULL);
		done += clients[i].done;
		failed += clients[i].failed;
		reads += clients[i].reads;
		paths += clients[i].by_path;
	}
	free(clients);
	printf("%u done, %u cut off, %u rows were as they should be, %u of "
	       "these by path\n",
	       done, failed, reads, paths);
	return done > 0 && reads > 0 && paths > 0 ? 0 : 1;
}
