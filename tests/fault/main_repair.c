#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "tests/sim/ruin.h"

/*
 * The sweep of repairs: every n-th bit of every file of a small store is
 * flipped, each file is cut in half and taken away, the root and the edit log
 * too; then the store is repaired. The new store has to be whole. What it lacks
 * or has too much has to have been told; no cell may have a value that it never
 * had; and one bit may not cost more than a block, or one value of which it was
 * a part.
 *
 *   main_repair [every-n-th-bit [first]]
 */
struct sweep {
	struct volume *volume;
	unsigned int passed, failed;
	unsigned int told;     /* by the repair under way */
	unsigned int unharmed; /* repairs that lost nothing */
	unsigned int most_missing;
};

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	printf("%s: %s: %s\n", what, err_detail(), err_text(err));
	exit(EXIT_FAILURE);
}

static void tell(void *context, const char *text)
{
	struct sweep *w = context;

	w->told++;
	if (getenv("VERBOSE"))
		printf("    %s\n", text);
}

static const char *repair(struct sweep *w, unsigned int *missing)
{
	struct repair_result result;
	struct volume *from, *to;
	const char *problem;
	unsigned int back;
	int err;

	must(volume_mem_kill_clone(w->volume, &from), "clone");
	must(volume_mem_new(&to), "volume");
	volume_mem_keep(to);
	w->told = 0;
	err = store_repair_volume(from, to, tell, w, &result);
	from->ops->close(from);
	if (err < 0) {
		to->ops->close(to);
		/* That may be said of a file that names a later version. */
		return err == -ERR_format_newer ? NULL
						: "it cannot be repaired";
	}
	problem = ruin_look_at(to, missing, &back);
	if (!problem && (*missing || back) && w->told == 0)
		problem = "a loss was not told";
	if (!problem && *missing == 0 && back == 0)
		w->unharmed++;
	return problem;
}

static void judge(struct sweep *w, const char *file, const char *what,
		  size_t where, unsigned int most)
{
	unsigned int missing = 0;
	const char *problem = repair(w, &missing);

	if (!problem && missing > most)
		problem = "too much is lost";
	if (missing > w->most_missing)
		w->most_missing = missing;
	if (problem) {
		printf("%s: %s %zu: %s: %u cells are missing: %s\n", file, what,
		       where, problem, missing, err_detail());
		w->failed++;
	} else {
		w->passed++;
	}
}

struct names {
	char names[100][VOLUME_NAME_MAX + 1];
	size_t count;
};

static int add_name(void *context, const char *name)
{
	struct names *n = context;

	if (n->count < 100)
		snprintf(n->names[n->count++], VOLUME_NAME_MAX + 1, "%s", name);
	return 0;
}

static void damage(struct sweep *w, const char *name, size_t every,
		   size_t first)
{
	struct bytes content = volume_mem_file(w->volume, name);
	struct volume *whole = w->volume, *other;
	size_t bit;

	for (bit = first; bit < content.size * 8; bit += every) {
		uint8_t *byte = (uint8_t *)(uintptr_t)content.data + bit / 8;

		*byte ^= (uint8_t)(1 << bit % 8);
		judge(w, name, "bit", bit, 140);
		*byte ^= (uint8_t)(1 << bit % 8);
	}
	if (strcmp(name, "root") == 0)
		return;
	w->volume = ruin_build(); /* a clone would share the bytes */
	volume_mem_truncate(w->volume, name, content.size / 2);
	judge(w, name, "cut to", content.size / 2, RUIN_CELLS);
	/* The store's own handle has given its lease back. */
	must(volume_mem_other(w->volume, &other), "another");
	must(other->ops->remove(other, name), "remove");
	other->ops->close(other);
	judge(w, name, "removed, of", content.size, RUIN_CELLS);
	w->volume->ops->close(w->volume);
	w->volume = whole;
}

int main(int argc, char **argv)
{
	size_t every = argc > 1 ? strtoull(argv[1], NULL, 0) : 211;
	size_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 3, i;
	struct sweep w = { .volume = ruin_build() };
	struct names names = { .count = 0 };

	judge(&w, "all", "whole", 0, 0);
	if (w.told > 0 || w.unharmed != 1)
		w.failed++;
	must(w.volume->ops->list(w.volume, add_name, &names), "list");
	add_name(&names, "root");
	for (i = 0; i < names.count; i++)
		damage(&w, names.names[i], every ? every : 1, first);
	w.volume->ops->close(w.volume);
	printf("%zu files, %u repairs lost nothing, most cells lost: %u\n",
	       names.count, w.unharmed, w.most_missing);
	printf("%u passed, %u failed, 0 skipped\n", w.passed, w.failed);
	return w.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
