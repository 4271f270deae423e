#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/conformance/target.h"
#include "tests/sim/volume_mem.h"

/*
 * Runs the cases of the directories given on a store in memory and compares
 * results with what a Bigtable emulator gave, or with the documents where that
 * deviates. Each case runs twice: with all data in the memtable, and with it
 * flushed to a file after each operation.
 *
 *	conformance [-wire] DIRECTORY...
 *
 * With -wire each runs once, by requests to a server of the store.
 */
#define ARENA_MAX ((size_t)256 << 20)

enum outcome {
	PASSED,
	FAILED,
	SKIPPED,
};

static uint64_t run_now(void *context)
{
	return ((struct run *)context)->now_us;
}

static int run_begin(struct run *r, const struct target *target)
{
	struct store_options options;
	struct volume *volume;
	int err;

	memset(r, 0, sizeof(*r));
	r->target = target;
	r->arena.limit = ARENA_MAX;
	r->base_us = clock_now(&clock_real) / 1000 * 1000;
	r->now_us = r->base_us + 1000000;
	r->clock = (struct clock){ run_now, r };
	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.clock = &r->clock;
	err = volume_mem_new(&volume);
	if (!err)
		err = store_open_volume(volume, &options, &r->store);
	return err < 0 ? err : target->begin(r);
}

static int run_end(struct run *r)
{
	size_t i;

	for (i = 0; i < r->texts.count; i++)
		free(r->texts.items[i]);
	free(r->texts.items);
	r->target->end(r);
	proto_arena_release(&r->arena);
	buf_release(&r->out);
	return r->store ? store_close(r->store) : 0;
}

/* Failed is failed where the emulator has no code of Bigtable's. */
static bool code_agrees(const char *want, const char *got)
{
	static const char *const none[] = { "UNKNOWN", "INTERNAL", "CLIENT" };
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (!strcmp(want, none[i]))
			return true;
	return !strncmp(want, got, strlen(want));
}

static bool line_agrees(const char *want, const char *got)
{
	if (!strncmp(want, "err ", 4))
		return !strncmp(got, "err ", 4) &&
		       code_agrees(want + 4, got + 4);
	if (!strncmp(want, "e ", 2)) {
		const char *code = strchr(want + 2, ' ');
		size_t size = code ? (size_t)(code - want) + 1 : 0;

		return size > 0 && !strncmp(want, got, size) &&
		       !strcmp(code, " OK") == !strcmp(got + size, "OK");
	}
	return !strcmp(want, got);
}

/* "all N OK" is short for the lines "e 0 OK" to "e N-1 OK". Makes got the last
 * of these; NULL if they are not there. */
static char *take_entries(const char *want, char *got)
{
	unsigned int count, i;
	char line[32];

	if (sscanf(want, "all %u OK", &count) != 1)
		return NULL;
	for (i = 0; i < count; i++) {
		size_t size =
			(size_t)snprintf(line, sizeof(line), "e %u OK", i);

		if (strncmp(got, line, size) != 0 ||
		    (got[size] && got[size] != '\n'))
			return NULL;
		if (i + 1 == count)
			return got;
		got += size + (got[size] == '\n');
	}
	return NULL;
}

/* Splits got in place into lines and compares; false with a message. */
static bool agrees(const char *name, const struct operation *o, struct buf *out)
{
	const struct list *want = operation_expected(o);
	char *got = (char *)out->data, *end;
	size_t i;

	for (i = 0; i < want->count || *got; i++, got = end) {
		char *last = i < want->count ? take_entries(want->items[i], got)
					     : NULL;

		end = strchrnul(last ? last : got, '\n');
		if (*end)
			*end++ = 0;
		if (last || (i < want->count && *got &&
			     line_agrees(want->items[i], got)))
			continue;
		printf("%s:%u: %s: result line %zu: expected %s, got %s\n",
		       name, o->line, o->words.items[0], i + 1,
		       i < want->count ? want->items[i] : "nothing more",
		       *got ? got : "nothing more");
		return false;
	}
	return true;
}

static enum outcome run_operation(struct run *r, const char *name,
				  const struct operation *o)
{
	operation_run *run = operation_find(o->words.items[0]);
	int err;

	buf_reset(&r->out);
	proto_arena_reset(&r->arena);
	if (!run) {
		r->skip = "operation not known";
		return SKIPPED;
	}
	err_clear();
	err = run(r, o);
	if (err == RUN_SKIP)
		return SKIPPED;
	if (err == RUN_AGREES)
		return PASSED;
	if (err == RUN_MALFORMED) {
		printf("%s:%u: malformed operation\n", name, o->line);
		return FAILED;
	}
	if (err < 0) {
		buf_reset(&r->out);
		err = buf_printf(&r->out, "err %s %s: %s\n",
				 target_status_name(target_status(r, err)),
				 err_text(err), err_detail());
	}
	if (!err)
		err = buf_terminate(&r->out);
	if (err < 0)
		return FAILED;
	return agrees(name, o, &r->out) ? PASSED : FAILED;
}

static enum outcome run_case(const struct test_case *c, const char *name,
			     const struct target *target, bool flush)
{
	enum outcome outcome = PASSED;
	struct run r;
	size_t i;
	int err = run_begin(&r, target);

	for (i = 0; err >= 0 && outcome == PASSED && i < c->count; i++) {
		outcome = run_operation(&r, name, &c->operations[i]);
		r.now_us += 1000;
		if (flush)
			err = engine_flush(store_engine(r.store));
	}
	if (outcome == SKIPPED)
		printf("%s:%u: skipped: %s\n", name, c->operations[i - 1].line,
		       r.skip);
	if (outcome == FAILED && flush)
		printf("%s: this was with flushes\n", name);
	if (err < 0)
		run_end(&r);
	else
		err = run_end(&r);
	if (err < 0) {
		printf("%s: %s: %s\n", name, err_text(err), err_detail());
		outcome = FAILED;
	}
	return outcome;
}

static int is_case(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".case");
}

static enum outcome run_file(const char *directory, const char *name,
			     const struct target *target)
{
	enum outcome outcome = FAILED;
	struct test_case c;
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return FAILED;
	if (case_load(path, &c) < 0)
		printf("%s: cannot be read\n", path);
	else
		outcome = run_case(&c, name, target, false);
	if (outcome == PASSED && target == &target_store)
		outcome = run_case(&c, name, target, true);
	case_release(&c);
	free(path);
	return outcome;
}

int main(int argc, char **argv)
{
	bool wire = argc > 1 && !strcmp(argv[1], "-wire");
	unsigned int counts[3] = { 0, 0, 0 };
	int i, j;

	for (i = 1 + wire; i < argc; i++) {
		struct dirent **entries;
		int count = scandir(argv[i], &entries, is_case, alphasort);

		if (count < 0) {
			perror(argv[i]);
			return EXIT_FAILURE;
		}
		for (j = 0; j < count; j++) {
			counts[run_file(argv[i], entries[j]->d_name,
					wire ? &target_wire : &target_store)]++;
			free(entries[j]);
		}
		free(entries);
	}
	printf("%u passed, %u failed, %u skipped\n", counts[PASSED],
	       counts[FAILED], counts[SKIPPED]);
	return counts[FAILED] > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
