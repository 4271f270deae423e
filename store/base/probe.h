#ifndef STORE_BASE_PROBE_H
#define STORE_BASE_PROBE_H

/*
 * Static probes: places in the program where perf, bpftrace and the like can
 * look on while it runs; tools/HACKING.md shows how. Until one does, each is a
 * nop. They are compiled in where sys/sdt.h is installed. Each has two numbers:
 *
 *   commit_begin      changes of the batch, its bytes; commit is held
 *   commit_end        changes, 0 or the error
 *   sync_begin        the sequence that is to be durable, 0
 *   sync_end          the same, 0 or the error
 *   flush_begin       bytes of the memtable, id of its log
 *   flush_end         the same, 0 or the error
 *   compaction_begin  level, output level
 *   compaction_end    level, 0 or the error
 *   stall_begin       memtables that wait for a flush, ssts of level 0
 *   stall_end         the same, when it ends
 *   block_read        id of an sst, offset: a block that was not in the cache
 *   filter            id of an sst, what its filter says: 0 absent, 1 perhaps
 *   request_begin     opcode of a request of the kernel, its number
 *   request_end       the same
 *
 * Errors are negative.
 */
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PROBE(name, a, b) DTRACE_PROBE2(tabletfs, name, a, b)
#else
#define PROBE(name, a, b) ((void)(a), (void)(b))
#endif

#endif
