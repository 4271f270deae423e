#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What each target defines, in libFuzzer's terms. It returns 0, and aborts if
 * the parser broke a promise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion that holds whatever NDEBUG says. */
#define MUST(condition)           \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#endif
