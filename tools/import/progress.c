#include <assert.h>
#include <unistd.h>

#include "tools/import/progress.h"

/* Often enough to look alive, and free beside the import. */
#define REDRAW_MS 200

/* Since progress_begin, by a clock that nobody sets. */
static uint64_t elapsed_ms(const struct progress *p)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(now.tv_sec - p->begin.tv_sec) * 1000 +
	       (uint64_t)((now.tv_nsec - p->begin.tv_nsec) / 1000000);
}

void progress_begin(struct progress *p, FILE *out, uint64_t total)
{
	int fd = fileno(out);

	*p = (struct progress){ .out = out, .total = total };
	/* The daemon writes to memory, which has no descriptor. */
	p->shown = fd >= 0 && isatty(fd);
	clock_gettime(CLOCK_MONOTONIC, &p->begin);
}

void progress_update(struct progress *p, uint64_t bytes, uint64_t rows)
{
	uint64_t ms = elapsed_ms(p);
	double speed;

	if (!p->shown || ms < p->drawn_ms + REDRAW_MS)
		return;
	assert(ms > 0);
	p->drawn_ms = ms;
	/* ms is not 0: REDRAW_MS have passed. */
	speed = (double)bytes / 1e3 / (double)ms;
	fprintf(p->out, "\r%llu rows, %.1f MB/s", (unsigned long long)rows,
		speed);
	/* What is left is reckoned at the speed so far. */
	if (p->total > bytes && bytes > 0) {
		unsigned long long left =
			(unsigned long long)((double)(p->total - bytes) /
					     (double)bytes * (double)ms / 1e3);

		fprintf(p->out, ", %.0f %%, %llu:%02llu left",
			100.0 * (double)bytes / (double)p->total, left / 60,
			left % 60);
	}
	/* What the line before had more. */
	fputs("\033[K", p->out);
	fflush(p->out);
}

void progress_end(struct progress *p)
{
	if (p->shown && p->drawn_ms > 0)
		fputs("\r\033[K", p->out);
}
