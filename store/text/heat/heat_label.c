#include <math.h>

#include "store/text/function/date.h"
#include "store/text/heat/heat_label.h"
#include "store/text/value/quote.h"
#include "store/text/value/utf8.h"

#define DECADES 3.0

static const char *const metrics[] = { "reads", "writes", "bytes" };
static const char *const formats[] = { "text", "tsv", "svg", "html" };
static_assert(sizeof(metrics) / sizeof(*metrics) == HEAT_METRICS &&
		      sizeof(formats) / sizeof(*formats) == HEAT_FORMATS,
	      "each has its word");

static int find(const char *const *words, int count, struct bytes word)
{
	int i;

	for (i = 0; i < count; i++)
		if (bytes_equal(word, bytes_string(words[i])))
			return i;
	return -1;
}

bool heat_metric_parse(struct bytes word, enum heat_metric *out)
{
	int i = find(metrics, HEAT_METRICS, word);

	*out = i < 0 ? HEAT_READS : (enum heat_metric)i;
	return i >= 0;
}

bool heat_format_parse(struct bytes word, enum heat_format *out)
{
	int i = find(formats, HEAT_FORMATS, word);

	*out = i < 0 ? HEAT_TEXT : (enum heat_format)i;
	return i >= 0;
}

const char *heat_metric_word(enum heat_metric metric)
{
	return metrics[metric];
}

int heat_level(const struct heat_picture *p, double value)
{
	double level;

	if (value <= 0 || p->peak <= 0)
		return 0;
	level = HEAT_LEVELS * (1 + log10(value / p->peak) / DECADES);
	return level < 1 ? 1 : level > HEAT_LEVELS ? HEAT_LEVELS : (int)level;
}

double heat_level_value(const struct heat_picture *p, int level)
{
	return p->peak * pow(10, ((double)level / HEAT_LEVELS - 1) * DECADES);
}

int heat_add_number(double n, struct buf *out)
{
	static const char units[] = " kMGTP";
	size_t i = 0;

	while (n >= 999.5 && units[i + 1]) {
		n /= 1000;
		i++;
	}
	if (i == 0)
		return buf_printf(out, "%.3g", n);
	return buf_printf(out, "%.*f%c",
			  n < 9.995   ? 2
			  : n < 99.95 ? 1
				      : 0,
			  n, units[i]);
}

const char *heat_unit(enum heat_metric metric)
{
	static const char *const units[] = { "reads/s", "writes/s", "bytes/s" };

	return units[metric];
}

int heat_add_time(uint64_t s, struct buf *out)
{
	struct date d;

	if (!date_is_known((int64_t)s * 1000000))
		return buf_printf(out, "%llu", (unsigned long long)s);
	date_of((int64_t)s * 1000000, &d);
	return buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", d.year,
			  d.month, d.day, d.hour, d.minute, d.second);
}

/* Where the first max characters of text end, which is UTF-8. */
static size_t cut_at(struct bytes text, size_t max)
{
	size_t i;

	for (i = 0; i < text.size; i++)
		if ((text.data[i] & 0xc0) != 0x80 && max-- == 0)
			break;
	return i;
}

int heat_add_key(struct bytes key, size_t max, struct buf *out)
{
	struct buf quoted = BUF_INIT;
	size_t size;
	int err;

	if (key.size == 0)
		return buf_add_byte(out, '-');
	err = quote_go_part(key, &quoted);
	size = max ? cut_at(buf_bytes(&quoted), max) : quoted.size;
	if (err == 0 && size == quoted.size) {
		err = buf_add_bytes(out, buf_bytes(&quoted));
	} else if (err == 0) {
		size = cut_at(buf_bytes(&quoted), max - 1);
		err = buf_add(out, quoted.data, size);
		if (err == 0)
			err = buf_add_string(out, "\xe2\x80\xa6");
	}
	buf_release(&quoted);
	return err;
}

int heat_add_title(const struct heat_picture *p, struct bytes table,
		   struct buf *out)
{
	int err = buf_add_string(out, "table ");

	if (err == 0)
		err = heat_add_key(table, 0, out);
	if (err == 0)
		err = buf_printf(out, ": %s from ", heat_unit(p->metric));
	if (err == 0)
		err = heat_add_time(p->from_s, out);
	if (err == 0)
		err = buf_add_string(out, " to ");
	return err < 0 ? err
		       : heat_add_time(p->from_s + p->columns * p->column_s,
				       out);
}

int heat_add_figures(const struct heat_picture *p, struct buf *out)
{
	const struct heat_row *r;
	int err;

	if (p->rows == 0)
		return buf_printf(out,
				  "no %s in this time; heat is kept for two "
				  "weeks",
				  heat_metric_word(p->metric));
	r = &p->row[p->hottest.row];
	err = buf_add_string(out, "peak ");
	if (err == 0)
		err = heat_add_number(p->peak, out);
	if (err == 0)
		err = buf_printf(out, " %s at ", heat_unit(p->metric));
	if (err == 0)
		err = heat_add_time(p->from_s + p->hottest.column * p->column_s,
				    out);
	if (err == 0)
		err = buf_add_string(out, " from key ");
	if (err == 0)
		err = heat_add_key(r->start, 40, out);
	if (err == 0)
		err = buf_add_string(out, "; average ");
	if (err == 0)
		err = heat_add_number(p->mean * (double)p->rows, out);
	return err < 0 ? err
		       : buf_printf(out, " %s in all; a column is %llu s",
				    heat_unit(p->metric),
				    (unsigned long long)p->column_s);
}

/* How much a row's first key shares with that of the row before. */
static size_t shared(const struct heat_picture *p, size_t row)
{
	if (row == 0)
		return 0;
	return bytes_shared(p->row[row - 1].start, p->row[row].start);
}

static bool is_free(const struct heat_picture *p, const bool *shown, size_t row,
		    size_t apart)
{
	size_t i = row < apart ? 0 : row - apart + 1;

	for (; i < p->rows && i < row + apart; i++)
		if (shown[i])
			return false;
	return true;
}

void heat_choose_labels(const struct heat_picture *p, size_t apart, bool *shown)
{
	size_t i, size;

	for (i = 0; i < p->rows; i++)
		shown[i] = false;
	for (size = 0; size <= STORE_ROW_KEY_MAX; size++)
		for (i = 0; i < p->rows; i++)
			if (shared(p, i) == size && p->row[i].part == 1 &&
			    is_free(p, shown, i, apart))
				shown[i] = true;
}

size_t heat_choose_times(const struct heat_picture *p, size_t count)
{
	size_t step = count ? p->columns / count : p->columns;

	return step ? step : 1;
}
