#ifndef STORE_CRC32C_H
#define STORE_CRC32C_H

#include <isa-l/crc.h>

#include "store/base/bytes.h"

/*
 * CRC-32C (Castagnoli, as in iSCSI), computed by ISA-L with the fastest form
 * that the processor has. crc is 0 to start, or the result so far to go on.
 */
static inline uint32_t crc32c(uint32_t crc, struct bytes b)
{
	while (b.size > 0) {
		int n = b.size > 1 << 30 ? 1 << 30 : (int)b.size;

		crc = ~crc32_iscsi((unsigned char *)(uintptr_t)b.data, n, ~crc);
		b = bytes_after(b, (size_t)n);
	}
	return crc;
}

#endif
