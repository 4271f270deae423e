#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/buf.h"
#include "tests/fuzz/target.h"

/*
 * Runs a fuzz target without a fuzzer: on every file of its corpus, then on
 * COUNT inputs made of them by seeded damage, so that make check needs no clang
 * and finds the same thing twice. make fuzz links the same target with
 * libFuzzer.
 *
 *   fuzz_x [CORPUS-DIRECTORY [COUNT]]
 */
#define INPUTS_MAX 256
#define COUNT 20000

static struct buf inputs[INPUTS_MAX];
static size_t input_count;
static uint64_t random_state = 88172645463325252u;

static size_t below(size_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return n ? (size_t)(random_state % n) : 0;
}

static void load(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t chunk[4096];
	size_t n;

	if (!file || input_count == INPUTS_MAX) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		if (buf_add(&inputs[input_count], chunk, n) < 0)
			exit(1);
	fclose(file);
	input_count++;
}

static void load_corpus(const char *directory)
{
	struct dirent *entry;
	DIR *dir = opendir(directory);
	char path[2048];

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		load(path);
	}
	if (dir)
		closedir(dir);
}

/* Flips, cuts, doubles or splices something of b. */
static void damage(struct buf *b)
{
	const struct buf *other = &inputs[below(input_count)];
	size_t at = below(b->size), n = below(b->size - at) % 64;

	switch (below(5)) {
	case 0:
		if (b->size > 0)
			b->data[at] ^= (uint8_t)(1 << below(8));
		break;
	case 1:
		if (b->size > 0)
			b->data[at] = (uint8_t)below(256);
		break;
	case 2:
		b->size = at;
		break;
	case 3:
		if (buf_reserve(b, n) == 0) {
			memmove(b->data + at + n, b->data + at, b->size - at);
			b->size += n;
		}
		break;
	case 4:
		at = below(other->size);
		if (buf_add(b, other->data + at, below(other->size - at)) < 0)
			exit(1);
		break;
	}
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : COUNT;
	struct buf input = BUF_INIT;
	char directory[1024];
	size_t i, j;

	snprintf(directory, sizeof(directory), "tests/fuzz/corpus/%s", name);
	load_corpus(argc > 1 ? argv[1] : directory);
	if (input_count == 0) {
		fprintf(stderr, "%s: there is no corpus\n", directory);
		return 1;
	}
	for (i = 0; i < input_count; i++)
		LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
	for (i = 0; i < count; i++) {
		if (buf_set(&input, buf_bytes(&inputs[below(input_count)])) < 0)
			return 1;
		for (j = 0; j <= below(4); j++)
			damage(&input);
		LLVMFuzzerTestOneInput(input.data, input.size);
	}
	printf("%zu inputs of the corpus, %zu made of them\n", input_count,
	       count);
	buf_release(&input);
	for (i = 0; i < input_count; i++)
		buf_release(&inputs[i]);
	return 0;
}
