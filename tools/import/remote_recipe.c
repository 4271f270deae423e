#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fs/state/name.h"
#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"
#include "tools/import/import_report.h"
#include "tools/import/recipe_report.h"
#include "tools/import/remote_recipe.h"
#include "tools/import/remote_stream.h"

/* How often a name that is busy is tried again, ten times a second. */
#define BUSY_TRIES 100

/* 0, or what is wrong as an errno, which control files give as well. */
static int errno_of(int err)
{
	return err < 0 ? err_errno(err) : 0;
}

/* Reads a small control file at a path below the root, without the newline at
 * its end: 0, or the errno. */
static int read_control(int root, const char *path, struct buf *out)
{
	char text[4096];
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text));
	int err = size < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	while (size > 0 && text[size - 1] == '\n')
		size--;
	buf_reset(out);
	return err ? err : -buf_add(out, text, (size_t)(size > 0 ? size : 0));
}

/* Appends the family as the mount tells of it, unless it is there; one that is
 * unknown is left to the importer. 0, or an errno. */
static int add_family(int root, const char *table, struct bytes name,
		      struct table *t)
{
	struct family *f = &t->families[t->family_count];
	struct buf path = BUF_INIT, text = BUF_INIT;
	size_t size;
	int err;

	if (table_family(t, name))
		return 0;
	*f = (struct family){ .name = name };
	err = -buf_printf(&path, "%s/.schema/", table);
	if (!err)
		err = -name_encode(NAME_VALUE, name, &path);
	size = path.size;
	if (!err)
		err = -buf_printf(&path, "/type%c", 0);
	if (!err)
		err = read_control(root, (char *)path.data, &text);
	if (!err)
		err = errno_of(family_type_parse(buf_bytes(&text), &f->type));
	path.size = size;
	if (!err)
		err = -buf_printf(&path, "/gc%c", 0);
	if (!err)
		err = read_control(root, (char *)path.data, &text);
	if (!err)
		err = errno_of(gc_policy_parse(buf_bytes(&text), &f->gc));
	buf_release(&path);
	buf_release(&text);
	t->family_count += err == 0;
	return err == ENOENT ? 0 : err;
}

/* For qsort. */
static int compare_families(const void *a, const void *b)
{
	return bytes_compare(((const struct family *)a)->name,
			     ((const struct family *)b)->name);
}

static void target_release(struct table *t)
{
	size_t i;

	for (i = 0; i < t->family_count; i++)
		gc_policy_free(t->families[i].gc);
	free(t->families);
}

/* The table as far as the recipe needs it, by the control files of the mount.
 * Names are the recipe's. 0, or an errno; to be released in any case. */
static int target_of(int root, const struct recipe_import *r, struct table *t)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct bytes family;
	size_t count = 0, i;
	bool aggregate;
	int err;

	*t = (struct table){ .name = bytes_string(r->table) };
	while (recipe_family(r->recipe, count, &family, &aggregate))
		count++;
	t->families = calloc(count + 1, sizeof(*t->families));
	if (!t->families)
		return ENOMEM;
	err = -buf_printf(&path, "%s/.granularity%c", r->table, 0);
	if (!err)
		err = read_control(root, (char *)path.data, &text);
	t->millis = bytes_equal(buf_bytes(&text), BYTES_LITERAL("millis"));
	for (i = 0; !err && i < count; i++) {
		recipe_family(r->recipe, i, &family, &aggregate);
		err = add_family(root, r->table, family, t);
		/* table_family wants them in order. */
		qsort(t->families, t->family_count, sizeof(*t->families),
		      compare_families);
	}
	buf_release(&path);
	buf_release(&text);
	return err;
}

/* How far the files were read when so many rows had gone to the daemon. */
struct point {
	uint64_t rows, line;
};

/* Where rows are gathered and go to. */
struct stream {
	int out;
	int failed; /* errno of a write */
	struct buf rows;
	uint64_t row_count;
	const struct import_result
		*result;   /* of the importer that makes them */
	struct buf points; /* one for each time that rows went */
	/* With resume they go in frames, each up to a position. */
	bool is_framed;
	struct import_position begin; /* where the import stood */
	/* What the daemon told last of lines that are in, and when: seconds of
	 * CLOCK_MONOTONIC. */
	uint64_t told_line;
	time_t told_s;
};

/* The last line of which the daemon has all rows, if it committed so many. */
static uint64_t line_of(const struct stream *s, uint64_t rows)
{
	struct bytes rest = buf_bytes(&s->points);
	struct point point = { 0 }, next;

	while (rest.size > 0) {
		memcpy(&next, rest.data, sizeof(next));
		if (next.rows > rows)
			break;
		point = next;
		rest = bytes_after(rest, sizeof(next));
	}
	return point.line;
}

static void add_out(struct stream *s, struct bytes data)
{
	if (!s->failed)
		s->failed = remote_write(s->out, data);
}

/* The last line that the daemon has committed, by its report. */
static uint64_t line_told(const struct stream *s,
			  const struct remote_report *report)
{
	return s->is_framed ? report->position.line - 1
			    : line_of(s, report->committed_line);
}

/* Asks now and then how far it is, for when the daemon cannot be asked any
 * more. */
static void ask(struct stream *s)
{
	struct remote_report report;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (s->failed || now.tv_sec == s->told_s)
		return;
	s->told_s = now.tv_sec;
	if (remote_report_read(s->out, &report) == 0)
		s->told_line = line_told(s, &report);
	remote_report_release(&report);
}

/* For import_options.hand_on: rows go, and with resume how far they come. */
static int send_rows(void *context, const struct import_position *upto)
{
	struct stream *s = context;
	struct point point = { s->row_count, s->result->line_count };
	struct buf head = BUF_INIT, position = BUF_INIT;
	int err = buf_add(&s->points, &point, sizeof(point));

	if (!err && s->is_framed)
		err = import_position_print(upto, &position);
	if (!err && s->is_framed)
		err = buf_printf(&head, "rows %zu %zu\n", s->rows.size,
				 position.size);
	if (!err) {
		add_out(s, buf_bytes(&head));
		add_out(s, buf_bytes(&s->rows));
		add_out(s, buf_bytes(&position));
		buf_reset(&s->rows);
		ask(s);
	}
	buf_release(&head);
	buf_release(&position);
	return !err && s->failed ? fail(s->failed, "Importing") : err;
}

/* For import_options.emit. */
static int add_row(void *context, struct bytes line)
{
	struct stream *s = context;

	s->row_count++;
	return buf_add_bytes(&s->rows, line);
}

/* What this process refused, the daemon took, and why it ended. The exit
 * status. Closes s->out. */
static int tell(struct verb_call *c, struct recipe_import *r, struct stream *s,
		int err)
{
	struct recipe_outcome o = { 0 };
	struct remote_report report;
	int status, failed;

	o.result = s->result;
	failed = remote_report_read(s->out, &report);
	close(s->out);
	if (failed < 0) {
		remote_report_release(&report);
		o.err = failed;
		o.is_unsure = true;
		o.committed_line = s->told_line;
		return recipe_report(c, r, &o);
	}
	/* This process has looked at records, and at the table as it was. */
	o.is_changed =
		report.error.size > 0 && (err == -ENOENT || err == -EINVAL);
	if (o.is_changed)
		err = fail(ERR_bad_argument,
			   "table \"%s\" was dropped or changed while "
			   "the import ran: %s",
			   r->table, (char *)report.error.data);
	else if (report.error.size > 0)
		err = fail(s->failed ? s->failed : EIO, "%s",
			   (char *)report.error.data);
	o.rows = report.rows;
	o.committed_line = line_told(s, &report);
	o.has_before = s->is_framed && report.position.offset > 0;
	o.err = err;
	status = recipe_report(c, r, &o);
	remote_report_release(&report);
	return status;
}

/* Runs it with s->out open. The exit status. Closes s->out. */
static int run(struct verb_call *c, struct recipe_import *r,
	       const struct table *target, struct stream *s)
{
	struct import_options options = recipe_import_options(r);
	struct importer *im = NULL;
	int err, status, end;

	options.emit = add_row;
	options.hand_on = send_rows;
	options.context = s;
	options.position = s->is_framed ? &s->begin : NULL;
	options.target = target;
	err = importer_new(NULL, TEXT_CSV, &options, &im);
	if (err < 0) {
		verb_failed(c, "Importing", err);
		close(s->out);
		return NOT_FINISHED;
	}
	s->result = importer_result(im);
	err = recipe_import_feed(c, r, im);
	/* What the daemon has is committed before it is asked what that is. */
	end = remote_stream_end(s->out, !s->failed);
	if (!err && (s->failed || end))
		err = fail(s->failed ? s->failed : end, "Importing");
	status = tell(c, r, s, err);
	importer_free(im);
	return status;
}

/* The control file that takes the rows, as a path in the mount, to be freed;
 * NULL without memory. */
static char *control_path(const struct recipe_import *r)
{
	struct buf path = BUF_INIT;
	int err = buf_printf(&path, "%s/.import/", r->table);

	if (!err && r->resume) {
		err = buf_add_string(&path, "resume/");
		if (!err)
			err = name_encode(NAME_VALUE, bytes_string(r->resume),
					  &path);
	}
	/* A row that is refused is no fault of its record, which this process
	 * has looked at, so it ends the import. */
	if (!err)
		err = buf_add_string(&path, r->resume ? "/batch"
						      : "on-error/stop/jsonl");
	if (!err)
		err = buf_terminate(&path);
	if (err)
		buf_release(&path);
	return (char *)path.data;
}

/* Opens it. Of the same name there may be one that was killed, of which the
 * daemon has not heard yet. 0, or an errno. */
static int open_stream(const struct served *served, const char *path,
		       struct stream *s)
{
	static const struct timespec pause = { .tv_nsec = 100000000 };
	struct remote_report report;
	int tries, err = EBUSY;

	for (tries = 0; err == EBUSY && tries < BUSY_TRIES; tries++) {
		if (tries > 0)
			nanosleep(&pause, NULL);
		s->out = openat(served->root, path, O_RDWR | O_CLOEXEC);
		err = s->out < 0 ? errno : 0;
	}
	if (!err && s->is_framed) {
		err = errno_of(remote_report_read(s->out, &report));
		s->begin = report.position;
		s->told_line = s->begin.line - 1;
		remote_report_release(&report);
		if (err)
			close(s->out);
	}
	return err;
}

/* What kept it from being opened. */
static void tell_closed(struct verb_call *c, const struct served *served,
			const struct recipe_import *r, const char *path,
			int err)
{
	const char *place = (char *)served->place.data;
	struct buf why = BUF_INIT;

	if (err == EINVAL &&
	    remote_stream_refusal(served->root, path, &why) == 0)
		verb_wrong(c, "Importing: %s", (char *)why.data);
	else if (err == EBUSY)
		verb_wrong(c,
			   "Importing: resume=%s is under way by another "
			   "command",
			   r->resume);
	else if (r->resume && err != ENOTCONN && err != ECONNABORTED)
		verb_wrong(c,
			   "Importing: %s/%s: %s; %s/.tabletfs/errors "
			   "tells why",
			   place, path, strerror(err), place);
	else
		verb_wrong(c, "Importing: %s/%s: %s", place, path,
			   strerror(err));
	buf_release(&why);
}

/* With the arguments taken. The exit status. */
static int import(struct verb_call *c, const struct served *served,
		  struct recipe_import *r)
{
	struct stream s = { .out = -1, .is_framed = r->resume != NULL };
	struct table target;
	char *path = NULL;
	int err = target_of(served->root, r, &target), status = NOT_FINISHED;

	if (err) {
		verb_wrong(c, "Importing: %s/%s: %s",
			   (char *)served->place.data, r->table, strerror(err));
	} else if (r->dry) {
		status = recipe_import_dry(c, r, &target);
	} else {
		path = control_path(r);
		err = path ? open_stream(served, path, &s) : ENOMEM;
		if (err)
			tell_closed(c, served, r, path ? path : r->table, err);
		else
			status = run(c, r, &target, &s);
		free(path);
	}
	target_release(&target);
	buf_release(&s.rows);
	buf_release(&s.points);
	return status;
}

/* Before a recipe is looked for in it. */
static bool has_table(const struct served *served, const char *table)
{
	return store_check_table_name(bytes_string(table)) == 0 &&
	       (faccessat(served->root, table, F_OK, 0) == 0 ||
		errno != ENOENT);
}

int remote_recipe(struct verb_call *c, const struct served *served)
{
	struct recipe_import r;
	int status;

	if (c->argc > 1 && !has_table(served, c->argv[1])) {
		import_no_table(c, c->argv[1]);
		return NOT_FINISHED;
	}
	status = recipe_import_arguments(c, served->root, &r);
	if (status == 0)
		status = import(c, served, &r);
	recipe_import_release(&r);
	return status;
}
