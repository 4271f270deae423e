#ifndef TESTS_UNIT_METHOD_SEEDS_H
#define TESTS_UNIT_METHOD_SEEDS_H

#define SEED_INSTANCE "projects/p/instances/i"
#define SEED_TABLE SEED_INSTANCE "/tables/t"

/* What begins as requests do: a name, which most have as field 1, and much of
 * what else there is, as fields of their kinds. */
static const char *const method_seeds[] = {
	"\x0a\x1f" SEED_TABLE "\x12\x01r\x1a\x13\x0a\x11\x0a\x01"
	"f\x12\x01q\x18\xe8\x07\x22\x06value1",
	"\x0a\x1f" SEED_TABLE "\x12\x03\x0a\x01r\x1a\x04\x4a\x02.*",
	"\x0a\x1f" SEED_TABLE "\x12\x0a\x0a\x01r\x12\x05\x0a\x03\x0a\x01"
	"f",
	"\x0a\x1f" SEED_TABLE
	"\x12\x0d\x0a\x01g\x12\x08\x0a\x06\x12\x04\x08\x01\x10\x01",
	"\x0a\x16" SEED_INSTANCE "\x12\x02new\x1a\x0a\x1a\x08\x0a\x01"
	"f\x12\x03\x0a\x01\x08",
	"\x0a\x0aprojects/p\x12\x08instance\x1a\x06\x12\x04name"
	"\x22\x08\x0a\x02"
	"cl\x12\x02\x20\x01",
	"\x0a\x16" SEED_INSTANCE,
};

#endif
