#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/soak/soak.h"

/* The table of tests/soak/bounds: a form, a workload or *, and a number for
 * each figure; "-" is what the line of * says. */
#define LINES_MAX 100

struct line {
	char form[16], workload[16];
	char bounds[SOAK_FIGURES][16];
};

static struct line lines[LINES_MAX];
static size_t line_count;

bool soak_bounds_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char text[300];
	struct line *l;

	if (!f)
		return false;
	while (fgets(text, sizeof(text), f) && line_count < LINES_MAX) {
		l = &lines[line_count];
		if (sscanf(text,
			   "%15s %15s %15s %15s %15s %15s %15s %15s %15s %15s",
			   l->form, l->workload, l->bounds[0], l->bounds[1],
			   l->bounds[2], l->bounds[3], l->bounds[4],
			   l->bounds[5], l->bounds[6],
			   l->bounds[7]) == 2 + SOAK_FIGURES &&
		    l->form[0] != '#')
			line_count++;
	}
	fclose(f);
	return line_count > 0;
}

static const char *find(const char *form, const char *workload,
			enum soak_figure figure)
{
	size_t i;

	for (i = 0; i < line_count; i++)
		if (strcmp(lines[i].form, form) == 0 &&
		    strcmp(lines[i].workload, workload) == 0)
			return lines[i].bounds[figure];
	return "-";
}

uint64_t soak_bound(const char *form, const char *workload,
		    enum soak_figure figure)
{
	const char *text = find(form, workload, figure);

	if (strcmp(text, "-") == 0)
		text = find(form, "*", figure);
	return strtoull(text, NULL, 10);
}
