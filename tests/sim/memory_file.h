#ifndef TESTS_SIM_MEMORY_FILE_H
#define TESTS_SIM_MEMORY_FILE_H

#include "store/base/volume/volume.h"

/*
 * One segment of a volume as bytes in memory, for tests that look at a file's
 * content or damage it. content must outlive reader and writer.
 */
int memory_file_writer(struct buf *content, struct segment_writer **out);
int memory_file_reader(const struct buf *content, struct reader **out);

#endif
