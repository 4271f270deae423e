#include "store/base/watch/cost.h"

_Thread_local struct cost thread_cost;

struct cost cost_since(const struct cost *before)
{
	return (struct cost){
		.cells = thread_cost.cells - before->cells,
		.files = thread_cost.files - before->files,
		.excluded = thread_cost.excluded - before->excluded,
		.blocks = thread_cost.blocks - before->blocks,
		.blocks_read = thread_cost.blocks_read - before->blocks_read,
		.bytes_read = thread_cost.bytes_read - before->bytes_read,
	};
}

void cost_add(struct cost *sum, const struct cost *more)
{
	sum->cells += more->cells;
	sum->files += more->files;
	sum->excluded += more->excluded;
	sum->blocks += more->blocks;
	sum->blocks_read += more->blocks_read;
	sum->bytes_read += more->bytes_read;
}
