#include <stdlib.h>

#include "store/base/err.h"
#include "store/regex.h"
#include "tools/serve/data/chunks.h"
#include "tools/serve/data/read_rows.h"
#include "tools/serve/data/row_set.h"
#include "tools/serve/data/wire_filter.h"
#include "tools/serve/method/resource.h"

/* Rows are sent when they come to this, or when the run ends. A run that holds
 * up others gives up a row that is larger. */
#define SEND_SIZE ((size_t)64 << 10)

/* After so many runs that gave nothing the client is told how far they came:
 * some 100 ms. */
#define SILENT_RUNS 50

/* Of a chunk, what is neither name nor value, and what commits its row. */
#define CHUNK_EXTRA 128

#define STATS_FULL 2 /* of RequestStatsView */

/* One call, from run to run. */
struct reading {
	struct service *service;
	struct proto_arena arena;
	const struct proto_read_rows *request;
	struct bytes table;
	uint32_t table_id; /* once a scan was opened; else 0 */
	struct row_set rows;
	struct filter *filter;
	struct scan *scan; /* NULL: to be opened behind the last whole row */
	bool has_cell;     /* cell is the scan's and to be added */
	struct cell cell;
	struct chunks chunks;
	size_t counted; /* of chunks, as the call's */
	size_t room;    /* for a large value in the scan, as the call's */
	/* Of this run: room was asked for, there was none, and the scan has
	 * come to another row than that for which it was asked. */
	bool asked_room, lacks_room, left_room;
	struct buf last_row; /* all rows up to it are done; empty: none yet */
	struct buf reached;  /* where the scan paused last: all rows before it
				are done; empty: not behind last_row */
	unsigned int silent; /* runs since a message was sent */
	size_t unlooked;     /* bytes of values since the time was looked at */
	bool leaving;        /* the scan paused on its way to another row */
	bool told;           /* the stats are in the message */
	int64_t row_count, cell_count;
	int64_t begun_cells; /* of the row that is begun */
};

/* The call that this thread works for: scans ask without saying whose they
 * are. */
static _Thread_local struct call *asked;

static bool stop(void)
{
	return call_cancelled(asked);
}

static bool pause_now(void)
{
	return call_out_of_time(asked);
}

/* Where others wait for their frames, large values are not for this thread. */
static bool has_room(uint64_t size)
{
	struct reading *r = call_state(asked);

	if (call_is_inline(asked) && size > SEND_SIZE)
		return false;
	r->asked_room = true;
	if (size <= r->room)
		return true;
	r->lacks_room = !call_take(asked, size - r->room);
	if (!r->lacks_room)
		r->room = size;
	return !r->lacks_room;
}

void read_rows_release(void *state)
{
	struct reading *r = state;

	scan_close(r->scan);
	filter_free(r->filter);
	chunks_release(&r->chunks);
	buf_release(&r->last_row);
	buf_release(&r->reached);
	proto_arena_release(&r->arena);
	free(r);
}

/* The snapshot that the scan holds keeps files from being removed. */
static void close_scan(struct reading *r)
{
	chunks_drop(&r->chunks);
	scan_close(r->scan);
	r->scan = NULL;
	r->has_cell = r->leaving = false;
	r->begun_cells = 0;
	buf_reset(&r->reached);
}

/* Gives back what the scan has no value for. Within a row it is to be kept: the
 * next value needs it, and a row that had to begin anew for it might never
 * end. */
static void trim_room(struct call *c, struct reading *r)
{
	size_t now = r->scan ? scan_value_memory(r->scan) : 0;

	if (r->chunks.in_row || now >= r->room)
		return;
	call_give(c, r->room - now);
	r->room = now;
}

/* Counts the memory of the rows that are not sent: whether there is as much. */
static bool count_rows(struct call *c, struct reading *r)
{
	size_t now = r->chunks.message.capacity;

	if (now > r->counted && !call_take(c, now - r->counted))
		return false;
	if (now < r->counted)
		call_give(c, r->counted - now);
	r->counted = now;
	return true;
}

/* Gives back what others may need: the snapshot, and the memory of a row that
 * is not whole. */
static int give_back(struct call *c, struct reading *r)
{
	struct buf whole = BUF_INIT;
	int err;

	close_scan(r);
	trim_room(c, r);
	err = buf_set(&whole, buf_bytes(&r->chunks.message));
	if (err < 0)
		return err;
	buf_release(&r->chunks.message);
	r->chunks.message = whole;
	/* It is less, but for some bytes that buf adds: these do not matter. */
	(void)count_rows(c, r);
	return 0;
}

void read_rows_rest(struct call *c, void *context)
{
	(void)context;
	(void)give_back(c, call_state(c));
}

static int send_rows(struct call *c, struct reading *r)
{
	int err = call_send(c, &r->chunks.message);

	(void)count_rows(c, r);
	r->silent = 0;
	return err;
}

/* Takes the request apart. */
static int begin(struct reading *r)
{
	const struct proto_read_rows *q = r->request;
	int err;

	if (q->authorized_view_name.size > 0 ||
	    q->materialized_view_name.size > 0)
		return fail(EOPNOTSUPP, "views are not implemented");
	err = resource_table(r->service->store, &r->arena, "table_name",
			     q->table_name, &r->table);
	if (!err && q->rows_limit < 0)
		err = fail(ERR_bad_argument, "Error in field 'rows_limit' : "
					     "must not be negative");
	if (!err)
		err = row_set_init(&r->rows, q->rows, &r->arena);
	return err < 0 ? err : wire_filter(q->filter, &r->filter);
}

/* Who goes on does so in the table that it began with: 0 or -ERR_no_table. To
 * be asked after the scan was opened, which keeps what it found. */
static int same_table(struct reading *r)
{
	struct schema *schema = store_schema(r->service->store);
	const struct table *t = schema_table(schema, r->table);
	uint32_t id = t ? t->id : 0;

	schema_put(schema);
	if (id == 0 || (r->table_id > 0 && r->table_id != id))
		return fail(ERR_no_table,
			    "table \"%s\" was dropped while it was read",
			    err_name(r->table));
	r->table_id = id;
	return 0;
}

/* Behind the last row that is done, if there is one. 0 with no scan: there is
 * nothing left to be read. */
static int open_scan(struct reading *r)
{
	struct buf start = BUF_INIT;
	struct scan_range range = {
		.table = r->table,
		.start = r->rows.spans[0].start,
		.end = r->rows.spans[r->rows.count - 1].end,
		.reverse = r->request->reversed,
		.filter = r->filter,
		.keep_large = true,
		.stop = stop,
		.pause = pause_now,
		.room = has_room,
	};
	int err = 0;

	if (r->rows.one_row)
		range.row = range.start;
	if (r->last_row.size > 0 && range.reverse) {
		range.end = buf_bytes(&r->last_row);
	} else if (r->last_row.size > 0) {
		err = buf_set(&start, buf_bytes(&r->last_row));
		if (!err)
			err = buf_add_byte(&start, 0);
		range.start = buf_bytes(&start);
	}
	if (!err &&
	    (range.end.size == 0 || bytes_compare(range.start, range.end) < 0))
		err = scan_open(r->service->store, NULL, &range, &r->scan);
	if (!err)
		err = same_table(r);
	buf_release(&start);
	return err;
}

/* From a row that is in no span to one that is: as scan_next. */
static int to_span(struct reading *r)
{
	int more = 1;

	while (more == 1) {
		struct bytes row = r->cell.row, end;
		size_t i = row_set_find(&r->rows, row);

		if (i < r->rows.count &&
		    bytes_compare(r->rows.spans[i].start, row) <= 0)
			return 1;
		if (!r->request->reversed) {
			if (i == r->rows.count)
				return 0;
			more = scan_seek(r->scan, r->rows.spans[i].start,
					 &r->cell);
			continue;
		}
		if (i == 0)
			return 0;
		/* The row before its end. */
		end = r->rows.spans[i - 1].end;
		more = bytes_equal(row, end)
			       ? scan_next(r->scan, CURSOR_ROW, &r->cell)
			       : scan_seek(r->scan, end, &r->cell);
	}
	return more;
}

/* The scan's next cell, of whichever row: a reverse scan ends with each. */
static int next_of_scan(struct reading *r)
{
	int more = scan_next(r->scan, r->leaving ? CURSOR_ROW : CURSOR_VERSION,
			     &r->cell);

	if (more == 0 && r->request->reversed && !r->leaving) {
		r->leaving = true;
		more = scan_next(r->scan, CURSOR_ROW, &r->cell);
	}
	if (more != -EAGAIN)
		r->leaving = false;
	return more;
}

/* The next cell of the rows that are asked for: as scan_next. */
static int next_cell(struct reading *r)
{
	int more;

	if (!r->scan) {
		more = open_scan(r);
		if (more < 0 || !r->scan)
			return more;
	}
	more = next_of_scan(r);
	if (more == 1 && r->rows.count > 1 &&
	    !chunks_same_row(&r->chunks, r->cell.row))
		more = to_span(r);
	return more;
}

/* What there is to tell at the end. What was seen is what the filter let pass:
 * what it did not, nobody counts. */
static int add_stats(struct reading *r)
{
	struct proto_read_iteration_stats stats = {
		.rows_seen_count = r->row_count,
		.rows_returned_count = r->row_count,
		.cells_seen_count = r->cell_count,
		.cells_returned_count = r->cell_count,
	};
	struct proto_duration none = { .seconds = 0 };
	struct proto_request_latency_stats latency = {
		.frontend_server_latency = &none,
	};
	struct proto_full_read_stats_view view = {
		.read_iteration_stats = &stats,
		.request_latency_stats = &latency,
	};
	struct proto_request_stats all = {
		.stats_view_case = nr_request_stats_full_read_stats_view,
		.full_read_stats_view = &view,
	};
	struct proto_read_rows_answer answer = { .request_stats = &all };

	if (r->told || r->request->request_stats_view != STATS_FULL)
		return 0;
	r->told = true;
	return proto_encode(&proto_read_rows_answer_type, &answer,
			    &r->chunks.message);
}

static int end_row(struct reading *r)
{
	int err = chunks_commit(&r->chunks);

	r->row_count++;
	r->cell_count += r->begun_cells;
	r->begun_cells = 0;
	buf_reset(&r->reached);
	return err < 0 ? err
		       : buf_set(&r->last_row, bytes_of(r->chunks.names.data,
							r->chunks.row_size));
}

/* How it goes on after a cell, a row, or a run. */
enum { GO_ON = 0, ENDED, BLOCKED, AGAIN, SHORT };

/* Takes memory for the message: first what the scan has for a value that the
 * filter has seen, as that is not there any more and is read once more, into
 * the message. */
static bool take_for_message(struct call *c, struct reading *r, size_t size)
{
	size_t has = scan_value_memory(r->scan);
	size_t spare = r->room > has ? r->room - has : 0;

	if (spare > size)
		spare = size;
	if (!call_take(c, size - spare))
		return false;
	r->room -= spare;
	r->counted += size;
	return true;
}

/* Memory for a large value in the message, before it is there, and no more than
 * that: 1, 0 if there is none, or -ENOMEM. */
static int fit_value(struct call *c, struct reading *r)
{
	const struct cell *cell = &r->cell;
	size_t size = r->chunks.message.size + cell->row.size +
		      cell->family.size + cell->qualifier.size +
		      cell->value.size + CHUNK_EXTRA;
	int err;

	if (cell->value.size < SEND_SIZE || size <= r->counted)
		return 1;
	if (!take_for_message(c, r, size - r->counted))
		return 0;
	err = buf_fit(&r->chunks.message, size);
	return err < 0 ? err : 1;
}

/* Reads the value of the last chunk, which the scan has left where it is, to
 * its place, where there is room for it. */
static int read_value(struct reading *r)
{
	struct cell large = r->cell;

	r->chunks.message.size -= large.value.size;
	large.value = BYTES_NONE;
	return scan_load(r->scan, &large, &r->chunks.message);
}

/* The row, as -EMSGSIZE tells of it. */
static int too_large(const struct reading *r)
{
	struct buf row = BUF_INIT;
	int err = -ENOMEM;

	if (!buf_add_visible(&row, r->cell.row) && !buf_terminate(&row))
		err = fail(EMSGSIZE,
			   "row %.200s is larger than the 256 MiB that can be "
			   "read at once; a filter makes it less",
			   (char *)row.data);
	buf_release(&row);
	return err;
}

/* Adds the cell to its row, which may become too large: GO_ON, or SHORT if
 * there is no memory for it. */
static int add_to_row(struct call *c, struct reading *r)
{
	bool is_large = r->cell.value.size == 0 && r->cell.blob.size > 0;
	size_t row =
		r->chunks.in_row && chunks_same_row(&r->chunks, r->cell.row)
			? r->chunks.message.size - r->chunks.row_start
			: 0;
	int err;

	if (is_large)
		r->cell.value = bytes_of(NULL, (size_t)cell_size(&r->cell));
	if (row + r->cell.value.size > CALL_MESSAGE_MAX - SEND_SIZE)
		return too_large(r);
	err = fit_value(c, r);
	if (err <= 0)
		return err < 0 ? err : SHORT;
	err = chunks_add(&r->chunks, &r->cell, scan_label(r->scan));
	if (!err && is_large)
		err = read_value(r);
	return err;
}

/* Adds the cell, unless its row becomes too large. Where others wait for their
 * frames no large value is read. */
static int add_cell(struct call *c, struct reading *r)
{
	int err;

	if (call_is_inline(c) && r->cell.blob.size > 0) {
		close_scan(r);
		return AGAIN;
	}
	err = add_to_row(c, r);
	if (err == GO_ON) {
		r->begun_cells++;
		r->has_cell = false;
		if (count_rows(c, r))
			return GO_ON;
	}
	if (err >= 0)
		err = give_back(c, r);
	return err < 0 ? err : SHORT;
}

/* Whether the run's time is up inside a row: large values take long. */
static bool row_is_late(const struct call *c, struct reading *r)
{
	r->unlooked += r->cell.value.size;
	if (r->unlooked < SEND_SIZE)
		return false;
	r->unlooked = 0;
	return call_out_of_time(c);
}

static bool at_limit(const struct reading *r)
{
	return r->request->rows_limit > 0 &&
	       r->row_count == r->request->rows_limit;
}

/* Between two rows, or at the end: sends what is due. A run comes further by a
 * cell at least, whatever the time is. */
static int between_rows(struct call *c, struct reading *r, bool further)
{
	bool ended = !r->has_cell || at_limit(r);
	bool late = !ended && further && call_out_of_time(c);
	int err = ended ? add_stats(r) : 0;

	if (!err && r->chunks.message.size > 0 &&
	    (ended || late || r->chunks.message.size >= SEND_SIZE)) {
		err = send_rows(c, r);
	}
	if (err == -EAGAIN)
		return BLOCKED;
	if (err < 0)
		return err;
	if (ended)
		return ENDED;
	r->left_room |= late;
	return late ? AGAIN : GO_ON;
}

/* The scan has paused at a row: those before it are done. */
static int reach(struct reading *r, struct bytes row)
{
	int err = 0;

	if (row.size == 0 || bytes_equal(row, buf_bytes(&r->reached)))
		return 0;
	r->left_room = !r->asked_room;
	if (r->reached.size > 0)
		err = buf_set(&r->last_row, buf_bytes(&r->reached));
	return err < 0 ? err : buf_set(&r->reached, row);
}

/* Tells the client how far the scan came, so that a read that fails need not be
 * begun anew. Whoever takes no messages needs none of these. */
static int send_place(struct call *c, struct reading *r)
{
	struct proto_read_rows_answer answer = {
		.last_scanned_row_key = buf_bytes(&r->last_row)
	};
	struct buf message = BUF_INIT;
	int err;

	if (r->last_row.size == 0 || ++r->silent < SILENT_RUNS)
		return 0;
	r->silent = 0;
	err = proto_encode(&proto_read_rows_answer_type, &answer, &message);
	if (!err)
		err = call_send(c, &message);
	buf_release(&message);
	return err == -EAGAIN ? 0 : err;
}

/* The scan has no room for a value. It stays where it is, as the filter may
 * have taken long to come there; but a row that is begun is memory that others
 * may wait for. */
static int lack_room(struct call *c, struct reading *r)
{
	int err = r->chunks.in_row ? give_back(c, r) : 0;

	trim_room(c, r);
	return err < 0 ? err : SHORT;
}

/* The scan has paused, since the run's time is up, or there is no room. What
 * there is of whole rows is sent: the next may be long in coming. */
static int pause_reading(struct call *c, struct reading *r)
{
	struct bytes row;
	int err = scan_position(r->scan, &row);

	if (!err && r->chunks.in_row && row.size > 0 &&
	    !chunks_same_row(&r->chunks, row))
		err = end_row(r);
	if (err < 0)
		return err;
	if (r->chunks.in_row)
		return r->lacks_room ? lack_room(c, r) : AGAIN;
	if (at_limit(r))
		return between_rows(c, r, true);
	err = reach(r, row);
	if (!err)
		err = r->chunks.message.size > 0 ? send_rows(c, r)
						 : send_place(c, r);
	if (err == -EAGAIN)
		return BLOCKED;
	if (err < 0)
		return err;
	return r->lacks_room ? lack_room(c, r) : AGAIN;
}

/* Reads until there is nothing more or something to wait for. */
static int go_on(struct call *c, struct reading *r)
{
	bool further = false;
	int err;

	for (;;) {
		if (!r->has_cell) {
			err = next_cell(r);
			if (err == -EAGAIN)
				return pause_reading(c, r);
			if (err < 0)
				return err;
			r->has_cell = err == 1;
		}
		if (r->chunks.in_row &&
		    !(r->has_cell &&
		      chunks_same_row(&r->chunks, r->cell.row))) {
			err = end_row(r);
			if (err < 0)
				return err;
		}
		if (!r->chunks.in_row) {
			err = between_rows(c, r, further);
			if (err != GO_ON)
				return err;
		}
		err = add_cell(c, r);
		if (err != GO_ON)
			return err;
		further = true;
		/* Of one row nothing was sent: it begins anew. */
		if (call_is_inline(c) && r->chunks.message.size > SEND_SIZE) {
			close_scan(r);
			return AGAIN;
		}
		if (row_is_late(c, r))
			return AGAIN;
	}
}

/* The first run: *out is the state, and NULL if the call has ended. */
static int start(struct call *c, void *context, struct reading **out)
{
	struct reading *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	call_set_state(c, r);
	r->service = context;
	r->request = method_request(c, &proto_read_rows_type, &r->arena);
	if (!r->request) {
		*out = NULL;
		return 0;
	}
	return begin(r);
}

/* Only one row can be read while others wait. */
enum call_result read_rows(struct call *c, void *context)
{
	struct reading *r = call_state(c);
	int err = 0;

	err_clear();
	if (!r) {
		err = start(c, context, &r);
		if (!r && !err)
			return CALL_DONE;
	}
	if (!err && call_is_inline(c) && !r->rows.one_row)
		return CALL_AGAIN;
	asked = c;
	r->asked_room = r->lacks_room = r->left_room = false;
	if (!err)
		err = go_on(c, r);
	asked = NULL;
	if (err == BLOCKED || (err >= 0 && r->left_room))
		trim_room(c, r);
	if (err < 0)
		return method_failed(c, err);
	if (err == BLOCKED)
		return CALL_BLOCKED;
	if (err == AGAIN)
		return CALL_AGAIN;
	if (err == SHORT)
		return CALL_SHORT;
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}
