#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/text/value/utf8.h"
#include "tools/watch/top_draw.h"

/* Kinds of requests that are shown, those that took the longest first. */
#define OPERATIONS_MAX 64
#define LABEL_SIZE 80
#define LINE_SIZE 1024

/* What is being drawn. */
struct drawing {
	const struct sighting *then, *now;
	const struct top_style *style;
	double seconds; /* between them; 0: then is the start, of which nothing
			   is known but that all was 0 */
	struct buf *out;
	size_t lines; /* so far */
	int err;
};

enum look { LOOK_PLAIN, LOOK_HEAD, LOOK_WRONG };

size_t top_cut(const char *text, size_t width)
{
	struct bytes rest = bytes_string(text);
	uint32_t rune;
	size_t n;

	if (width == 0)
		return rest.size;
	for (; rest.size > 0 && width > 0; width--) {
		n = utf8_decode(rest, &rune);
		rest = bytes_after(rest, n > 0 ? n : 1);
	}
	return strlen(text) - rest.size;
}

/* A line, cut where the terminal ends. */
__attribute__((format(printf, 3, 4))) static void line(struct drawing *d,
						       enum look look,
						       const char *fmt, ...)
{
	static const char *const looks[] = { "", "\033[1m", "\033[1;31m" };
	bool coloured = d->style->is_coloured && look != LOOK_PLAIN;
	char text[LINE_SIZE];
	va_list args;

	if (d->err || (d->style->lines > 0 && d->lines == d->style->lines))
		return;
	d->lines++;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	d->err = buf_printf(d->out, "%s%.*s%s\n", coloured ? looks[look] : "",
			    (int)top_cut(text, d->style->width), text,
			    coloured ? "\033[0m" : "");
}

/* A number as it is, or short with a unit: 999, 1.2K, 12.3M; a dash of NAN. One
 * of 8 texts that are used in turn, so that a line may have several. */
static const char *number(const struct drawing *d, double value)
{
	static char texts[8][32];
	static unsigned int turn;
	static const char units[] = " KMGTPE";
	char *text = texts[turn++ % 8];
	unsigned int unit = 0;

	if (isnan(value))
		return "-";
	if (d->style->is_raw) {
		snprintf(text, sizeof(texts[0]), "%.*f",
			 value == floor(value) ? 0 : 3, value);
		return text;
	}
	for (; value >= 1000 && unit < 6; unit++)
		value /= 1000;
	if (unit == 0)
		snprintf(text, sizeof(texts[0]), "%.*f",
			 value == floor(value) || value >= 100 ? 0 : 1, value);
	else
		snprintf(text, sizeof(texts[0]), "%.1f%c", value, units[unit]);
	return text;
}

static double value(const struct drawing *d, const char *name)
{
	return sighting_value(d->now, name, "");
}

/* Of what grew so much; NAN if it is not known in which time. */
static double per_second(const struct drawing *d, double growth)
{
	return d->seconds > 0 ? growth / d->seconds : NAN;
}

static double growth(const struct drawing *d, const char *name,
		     const char *labels)
{
	return sighting_growth(d->then, d->now, name, labels);
}

static double rate(const struct drawing *d, const char *name,
		   const char *labels)
{
	return per_second(d, growth(d, name, labels));
}

static void draw_head(struct drawing *d, const char *place)
{
	char version[LABEL_SIZE] = "", seconds[32];
	size_t i;

	for (i = 0; i < d->now->count && !version[0]; i++)
		if (!strcmp(d->now->figures[i].name, "build_info"))
			figure_label(d->now->figures[i].labels, "version",
				     version, sizeof(version));
	snprintf(seconds, sizeof(seconds), "seconds %.1f", d->seconds);
	line(d, LOOK_HEAD, "top %s %s version %s%s", place,
	     d->seconds > 0 ? seconds : "since start", version,
	     value(d, "healthy") > 0 ? "" : " TROUBLE: see its LOG");
}

/* Who waits for what. */
static void draw_waits(struct drawing *d)
{
	static const char *const causes[] = { "memtables", "level0", "room" };
	char labels[LABEL_SIZE];
	size_t i;

	line(d, LOOK_HEAD, "%-8s %-12s %10s %12s %12s %12s", "WRITERS",
	     "WAIT_FOR", "STALLS", "SECONDS", "NOW", "ALL_STALLS");
	for (i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		double count, took, now;

		snprintf(labels, sizeof(labels), "for=\"%s\"", causes[i]);
		count = growth(d, "stalls_total", labels);
		took = growth(d, "stall_seconds_total", labels);
		now = sighting_value(d->now, "stalled_seconds", labels);
		line(d,
		     now > 0 || per_second(d, count) > 0 ? LOOK_WRONG
							 : LOOK_PLAIN,
		     "%-8s %-12s %10.0f %12.3f %12.3f %12.0f", "stall",
		     causes[i], count, took, now,
		     sighting_value(d->now, "stalls_total", labels));
	}
	line(d,
	     rate(d, "slowed_seconds_total", "") > 0 ? LOOK_WRONG : LOOK_PLAIN,
	     "%-8s %-12s %10s %12.3f", "slowed", "background", "-",
	     growth(d, "slowed_seconds_total", ""));
}

/* Of flushes or compactions. */
static void draw_work(struct drawing *d, const char *word, const char *count,
		      const char *bytes)
{
	char labels[LABEL_SIZE];

	snprintf(labels, sizeof(labels), "work=\"%s\"", word);
	line(d, LOOK_PLAIN, "%-8s %-12s %10s %12s %12.3f %12s", "work", word,
	     number(d, growth(d, count, "")), number(d, rate(d, bytes, "")),
	     sighting_value(d->now, "working_seconds", labels),
	     number(d, round(100 * rate(d, "work_seconds_total", labels))));
}

static void draw_background(struct drawing *d)
{
	double debt = value(d, "debt_ratio");

	line(d, LOOK_HEAD, "%-8s %-12s %10s %12s %12s %12s", "BEHIND", "WORK",
	     "TIMES", "BYTES_S", "NOW", "BUSY_PCT");
	draw_work(d, "flush", "flushes_total", "flushed_bytes_total");
	draw_work(d, "compaction", "compactions_total", "merged_bytes_total");
	line(d, debt >= 0.5 ? LOOK_WRONG : LOOK_PLAIN,
	     "%-8s debt_pct %.0f depth %.0f memtables %.0f log_bytes %s "
	     "write_amp %.2f space_amp %.2f",
	     "debt", 100 * debt, value(d, "level0_depth"),
	     value(d, "memtables"), number(d, value(d, "log_bytes")),
	     value(d, "write_amplification"), value(d, "space_amplification"));
}

/* A kind of request. */
struct operation {
	const char *word;   /* of its lines */
	const char *family; /* of its histogram */
	const char *label;
	char name[LABEL_SIZE];
	struct times times;
	double running;
};

/* The busiest first. */
static int by_time(const void *a, const void *b)
{
	const struct operation *x = a, *y = b;
	double m = x->times.count * x->times.mean_us;
	double n = y->times.count * y->times.mean_us;

	if (m != n)
		return m > n ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Appends kinds of one family that came, or are under way. */
static size_t collect(const struct drawing *d, const char *word,
		      const char *family, const char *running,
		      const char *label, struct operation *all, size_t count)
{
	size_t i;

	for (i = 0; i < d->now->count && count < OPERATIONS_MAX; i++) {
		const struct figure *f = &d->now->figures[i];
		struct operation *o = &all[count];

		if (strcmp(f->name, running) != 0 ||
		    !figure_label(f->labels, label, o->name, sizeof(o->name)))
			continue;
		o->word = word;
		o->running = f->value;
		o->times =
			sighting_times(d->then, d->now, family, label, o->name);
		count += o->times.count > 0 || o->running > 0;
	}
	return count;
}

static void draw_operations(struct drawing *d)
{
	struct operation all[OPERATIONS_MAX];
	size_t count = 0, i;

	count = collect(d, "request", "request_duration_seconds",
			"requests_running", "operation", all, count);
	count = collect(d, "call", "call_duration_seconds", "calls_running",
			"method", all, count);
	qsort(all, count, sizeof(*all), by_time);
	line(d, LOOK_HEAD, "%-8s %-24s %12s %12s %12s %8s", "REQUEST", "KIND",
	     "PER_S", "MEAN_US", "P99_US", "RUNNING");
	for (i = 0; i < count; i++)
		line(d, LOOK_PLAIN, "%-8s %-24s %12s %12.1f %12.0f %8.0f",
		     all[i].word, all[i].name,
		     number(d, per_second(d, all[i].times.count)),
		     all[i].times.mean_us, all[i].times.p99_us, all[i].running);
}

/* The hottest range of a table, "-" if nothing comes to it. */
static const struct hot_range *range_of(const struct drawing *d,
					const char *table)
{
	static const struct hot_range none = { "", "-", 0 };
	size_t i;

	for (i = 0; i < d->now->range_count; i++)
		if (!strcmp(d->now->ranges[i].table, table))
			return &d->now->ranges[i];
	return &none;
}

struct table_row {
	char name[LABEL_SIZE];
	double reads, writes, bytes; /* that came */
	double size;
};

static int by_growth(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;
	double m = x->reads + x->writes, n = y->reads + y->writes;

	if (m != n)
		return m > n ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void draw_tables(struct drawing *d)
{
	struct table_row *rows = calloc(d->now->count + 1, sizeof(*rows));
	size_t count = 0, i;

	if (!rows) {
		d->err = -ENOMEM;
		return;
	}
	for (i = 0; i < d->now->count; i++) {
		const struct figure *f = &d->now->figures[i];
		struct table_row *r = &rows[count];

		if (strcmp(f->name, "table_reads_total") != 0 ||
		    !figure_label(f->labels, "table", r->name, sizeof(r->name)))
			continue;
		r->reads = growth(d, "table_reads_total", f->labels);
		r->writes = growth(d, "table_writes_total", f->labels);
		r->bytes = growth(d, "table_bytes_total", f->labels);
		r->size = sighting_value(d->now, "table_file_bytes", f->labels);
		count++;
	}
	qsort(rows, count, sizeof(*rows), by_growth);
	line(d, LOOK_HEAD, "%-8s %-24s %12s %12s %12s %12s %8s %s", "TABLE",
	     "NAME", "READS_S", "WRITES_S", "BYTES_S", "FILE_BYTES", "HOT_PCT",
	     "HOT_RANGE");
	for (i = 0; i < count; i++) {
		const struct hot_range *hot = range_of(d, rows[i].name);

		/* On a terminal those that rest are left away. */
		if (!d->style->is_raw && rows[i].reads + rows[i].writes == 0)
			continue;
		line(d, LOOK_PLAIN, "%-8s %-24s %12s %12s %12s %12s %8.0f %s",
		     "table", rows[i].name,
		     number(d, per_second(d, rows[i].reads)),
		     number(d, per_second(d, rows[i].writes)),
		     number(d, per_second(d, rows[i].bytes)),
		     number(d, rows[i].size), 100 * hot->share, hot->range);
	}
	free(rows);
}

static void draw_store(struct drawing *d)
{
	double hits = growth(d, "cache_hits_total", "");
	double misses = growth(d, "cache_misses_total", "");

	line(d, LOOK_HEAD, "%-8s %s", "STORE", "FIGURES");
	line(d, LOOK_PLAIN, "%-8s commits_s %s bytes_s %s syncs_s %s", "writes",
	     number(d, rate(d, "writes_total", "")),
	     number(d, rate(d, "written_bytes_total", "")),
	     number(d, rate(d, "syncs_total", "")));
	line(d, LOOK_PLAIN, "%-8s rows_s %s bytes_s %s refused_s %s", "imports",
	     number(d, rate(d, "import_rows_total", "")),
	     number(d, rate(d, "import_bytes_total", "")),
	     number(d, rate(d, "import_refused_total", "")));
	line(d, LOOK_PLAIN, "%-8s hit_pct %.1f hits_s %s misses_s %s bytes %s",
	     "cache", hits + misses > 0 ? 100 * hits / (hits + misses) : 100,
	     number(d, per_second(d, hits)), number(d, per_second(d, misses)),
	     number(d, value(d, "cache_bytes")));
}

static void draw_levels(struct drawing *d)
{
	char labels[LABEL_SIZE];
	double files;
	unsigned int i;

	line(d, LOOK_HEAD, "%-8s %-12s %10s %12s", "LEVEL", "NUMBER", "SSTS",
	     "BYTES");
	for (i = 0; i < 7; i++) {
		snprintf(labels, sizeof(labels), "level=\"%u\"", i);
		files = sighting_value(d->now, "ssts", labels);
		if (d->style->is_raw || files > 0)
			line(d, LOOK_PLAIN, "%-8s %-12u %10.0f %12s", "level",
			     i, files,
			     number(d, sighting_value(d->now, "sst_bytes",
						      labels)));
	}
}

static void draw_memory(struct drawing *d)
{
	char account[LABEL_SIZE];
	size_t i;

	line(d, LOOK_HEAD, "%-8s %-12s %10s", "MEMORY", "HOLDER", "BYTES");
	for (i = 0; i < d->now->count; i++) {
		const struct figure *f = &d->now->figures[i];

		if (!strcmp(f->name, "memory_bytes") &&
		    figure_label(f->labels, "account", account,
				 sizeof(account)) &&
		    (d->style->is_raw || f->value > 0))
			line(d, LOOK_PLAIN, "%-8s %-12s %10s", "memory",
			     account, number(d, f->value));
	}
}

int top_draw(const struct sighting *then, const struct sighting *now,
	     const char *place, const struct top_style *style, struct buf *out)
{
	static const struct sighting start = { .count = 0 };
	struct drawing d = { .then = then ? then : &start,
			     .now = now,
			     .style = style,
			     .out = out };

	if (then && now->at_ns > then->at_ns)
		d.seconds = (double)(now->at_ns - then->at_ns) / 1e9;
	draw_head(&d, place);
	draw_waits(&d);
	draw_background(&d);
	draw_tables(&d);
	draw_operations(&d);
	draw_store(&d);
	draw_levels(&d);
	draw_memory(&d);
	return d.err;
}
