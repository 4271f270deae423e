#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/watch/histogram.h"
#include "tools/watch/top_figures.h"

#define PREFIX "tabletfs_"
#define NAME_SIZE 160 /* of a histogram's family, with its suffix */

void sighting_release(struct sighting *m)
{
	free(m->figures);
	free(m->ranges);
	buf_release(&m->text);
	*m = (struct sighting){ .count = 0 };
}

/* A line "name{labels} value", which is changed: whether it is one. */
static bool parse_figure(char *line, struct figure *out)
{
	char *value = strrchr(line, ' '), *brace, *end;

	if (strncmp(line, PREFIX, strlen(PREFIX)) != 0 || !value)
		return false;
	*value++ = '\0';
	out->value = strtod(value, &end);
	if (end == value || *end)
		return false;
	out->name = line + strlen(PREFIX);
	brace = strchr(line, '{');
	out->labels = "";
	if (brace) {
		*brace = '\0';
		out->labels = brace + 1;
		end = strrchr(brace + 1, '}');
		if (!end)
			return false;
		*end = '\0';
	}
	return true;
}

/* A line "# hot table=T share=S start=... end=...": whether it is one. */
static bool parse_range(char *line, struct hot_range *out)
{
	static const char table[] = "# hot table=", share[] = " share=",
			  start[] = " start=";
	char *at, *rest;

	if (strncmp(line, table, strlen(table)) != 0)
		return false;
	out->table = line + strlen(table);
	at = strstr(line, share);
	rest = at ? strstr(at, start) : NULL;
	if (!rest)
		return false;
	*at = *rest = '\0';
	out->share = strtod(at + strlen(share), NULL);
	out->range = rest + 1;
	return true;
}

int sighting_parse(struct buf *text, struct sighting *out)
{
	size_t lines = 0, i;
	char *line, *next;
	int err = buf_terminate(text);

	*out = (struct sighting){ .text = *text };
	*text = (struct buf)BUF_INIT;
	if (err < 0)
		return err;
	for (i = 0; i < out->text.size; i++)
		lines += out->text.data[i] == '\n';
	out->figures = calloc(lines + 1, sizeof(*out->figures));
	out->ranges = calloc(lines + 1, sizeof(*out->ranges));
	if (!out->figures || !out->ranges)
		return -ENOMEM;
	for (line = (char *)out->text.data; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (parse_figure(line, &out->figures[out->count]))
			out->count++;
		else if (parse_range(line, &out->ranges[out->range_count]))
			out->range_count++;
	}
	assert(out->count <= lines + 1);
	return 0;
}

double sighting_value(const struct sighting *m, const char *name,
		      const char *labels)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (!strcmp(m->figures[i].name, name) &&
		    !strcmp(m->figures[i].labels, labels))
			return m->figures[i].value;
	return 0;
}

bool figure_label(const char *labels, const char *label, char *out, size_t size)
{
	size_t length = strlen(label);
	const char *at = strstr(labels, label);

	while (at && (strncmp(at + length, "=\"", 2) != 0 ||
		      (at > labels && at[-1] != ',')))
		at = strstr(at + 1, label);
	if (!at)
		return false;
	at += length + 2;
	snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
	return true;
}

double sighting_growth(const struct sighting *then, const struct sighting *now,
		       const char *name, const char *labels)
{
	double before = sighting_value(then, name, labels);
	double after = sighting_value(now, name, labels);

	return after >= before ? after - before : after;
}

/* The least bound of a bucket that share of all that was counted is within. */
static double quantile_us(const struct sighting *then,
			  const struct sighting *now, const char *name,
			  const char *label, const char *value, double wanted)
{
	char labels[NAME_SIZE];
	double bound = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		bound = (double)(UINT64_C(1) << i);
		snprintf(labels, sizeof(labels), "%s=\"%s\",le=\"%g\"", label,
			 value, bound / 1e6);
		if (sighting_growth(then, now, name, labels) >= wanted)
			break;
	}
	return bound;
}

struct times sighting_times(const struct sighting *then,
			    const struct sighting *now, const char *name,
			    const char *label, const char *value)
{
	char family[NAME_SIZE], labels[NAME_SIZE];
	struct times t = { 0 };

	snprintf(labels, sizeof(labels), "%s=\"%s\"", label, value);
	snprintf(family, sizeof(family), "%s_count", name);
	t.count = sighting_growth(then, now, family, labels);
	if (t.count <= 0)
		return t;
	snprintf(family, sizeof(family), "%s_sum", name);
	t.mean_us = sighting_growth(then, now, family, labels) / t.count * 1e6;
	snprintf(family, sizeof(family), "%s_bucket", name);
	t.p99_us = quantile_us(then, now, family, label, value, t.count * 0.99);
	return t;
}
