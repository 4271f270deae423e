#include <assert.h>
#include <unistd.h>

#include "tools/import/progress.h"

/* Often enough to look alive, and free beside the import. */
#define REDRAW_MS 200
/* Seldom enough not to fill a file. */
#define LINE_MS 10000

#define BAR_SIZE 20

void progress_begin(struct progress *p, FILE *out, uint64_t total)
{
	int fd = out ? fileno(out) : -1;

	*p = (struct progress){ .out = out, .total = total };
	p->is_terminal = fd >= 0 && isatty(fd);
	clock_gettime(CLOCK_MONOTONIC, &p->begin);
}

/* The bar, and what is left at the speed so far. */
static void tell_share(const struct progress *p, uint64_t bytes, uint64_t ms)
{
	double share = (double)bytes / (double)p->total;
	unsigned long long left;
	int i;

	if (p->is_terminal) {
		putc('[', p->out);
		for (i = 0; i < BAR_SIZE; i++)
			putc(i < (int)(share * BAR_SIZE) ? '#' : '-', p->out);
		fputs("] ", p->out);
	}
	left = (unsigned long long)((1 - share) / share * (double)ms / 1e3);
	fprintf(p->out, "%d %%, %llu:%02llu left, ", (int)(share * 100),
		left / 60, left % 60);
}

void progress_update_at(struct progress *p, const struct progress_now *now,
			uint64_t ms)
{
	if (!p->out || ms < p->told_ms + (p->is_terminal ? REDRAW_MS : LINE_MS))
		return;
	assert(ms > 0);
	p->told_ms = ms;
	if (p->is_terminal)
		putc('\r', p->out);
	/* Of a file that has grown nothing is known. */
	if (p->total >= now->bytes && now->bytes > 0)
		tell_share(p, now->bytes, ms);
	fprintf(p->out, "%.1f MB, %.1f MB/s", (double)now->bytes / 1e6,
		(double)now->bytes / 1e3 / (double)ms);
	if (now->has_rows)
		fprintf(p->out, ", %llu rows, %.0f rows/s, %llu refused",
			(unsigned long long)now->rows,
			(double)now->rows * 1e3 / (double)ms,
			(unsigned long long)now->refused);
	/* What the bar before had more. */
	fputs(p->is_terminal ? "\033[K" : "\n", p->out);
	p->is_drawn = p->is_terminal;
	fflush(p->out);
}

/* By a clock that nobody sets. */
void progress_update(struct progress *p, const struct progress_now *now)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	progress_update_at(
		p, now,
		(uint64_t)(t.tv_sec - p->begin.tv_sec) * 1000 +
			(uint64_t)((t.tv_nsec - p->begin.tv_nsec) / 1000000));
}

void progress_end(struct progress *p)
{
	if (p->is_drawn)
		fputs("\r\033[K", p->out);
	p->is_drawn = false;
}
