#include <stdarg.h>
#include <stdio.h>

#include "store/text/watch/figures.h"

/* Of the labels of a sample; those of a table are the longest. */
#define LABELS_SIZE 256

static void head(struct figures *f, const char *type, const char *name,
		 const char *help)
{
	f->name = name;
	if (!f->err)
		f->err = buf_printf(f->out,
				    "# HELP tabletfs_%s %s\n"
				    "# TYPE tabletfs_%s %s\n",
				    name, help, name, type);
}

void figures_counter(struct figures *f, const char *name, const char *help)
{
	head(f, "counter", name, help);
}

void figures_gauge(struct figures *f, const char *name, const char *help)
{
	head(f, "gauge", name, help);
}

void figures_histogram(struct figures *f, const char *name, const char *help)
{
	head(f, "histogram", name, help);
}

/* One line: the family's name, what follows that, and labels, which may be
 * empty. */
static void add_line(struct figures *f, const char *suffix, const char *labels,
		     double value)
{
	const char *common = f->common ? f->common : "";
	bool any = *common || *labels;

	/* Counts as what they are. */
	int digits = value < 1e15 && value == (double)(int64_t)value ? 15 : 9;

	if (!f->err)
		f->err = buf_printf(f->out, "tabletfs_%s%s%s%s%s%s%s %.*g\n",
				    f->name, suffix, any ? "{" : "", common,
				    *common && *labels ? "," : "", labels,
				    any ? "}" : "", digits, value);
}

void figures_add(struct figures *f, double value, const char *labels, ...)
{
	char text[LABELS_SIZE] = "";
	va_list args;

	if (labels) {
		va_start(args, labels);
		vsnprintf(text, sizeof(text), labels, args);
		va_end(args);
	}
	add_line(f, "", text, value);
}

void figures_count(struct figures *f, const char *name, uint64_t value,
		   const char *help)
{
	figures_counter(f, name, help);
	add_line(f, "", "", (double)value);
}

void figures_level(struct figures *f, const char *name, double value,
		   const char *help)
{
	figures_gauge(f, name, help);
	add_line(f, "", "", value);
}

/* Prometheus' buckets are cumulative: each counts what is in those before it as
 * well. */
void figures_times(struct figures *f, const char *label, const char *value,
		   const struct histogram *h)
{
	uint64_t count = h->count, below = 0;
	char own[LABELS_SIZE / 2] = "", text[LABELS_SIZE];
	unsigned int i;

	if (label)
		snprintf(own, sizeof(own), "%s=\"%s\"", label, value);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += h->buckets[i];
		snprintf(text, sizeof(text), "%s%sle=\"%g\"", own,
			 label ? "," : "", (double)(UINT64_C(1) << i) / 1e6);
		add_line(f, "_bucket", text, (double)below);
	}
	/* What was counted meanwhile must not make it fall. */
	if (count < below)
		count = below;
	snprintf(text, sizeof(text), "%s%sle=\"+Inf\"", own, label ? "," : "");
	add_line(f, "_bucket", text, (double)count);
	add_line(f, "_sum", own, (double)h->total_ns / 1e9);
	add_line(f, "_count", own, (double)count);
}

int figures_label(const char *label, struct bytes value, struct buf *out)
{
	int err = buf_printf(out, "%s=\"", label);
	size_t i;

	for (i = 0; i < value.size && !err; i++) {
		uint8_t c = value.data[i];

		if (c == '\n')
			err = buf_add_string(out, "\\n");
		else if (c == '\\' || c == '"')
			err = buf_printf(out, "\\%c", c);
		else
			err = buf_add_byte(out, c);
	}
	return err ? err : buf_add_byte(out, '"');
}
