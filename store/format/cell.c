#include "store/cell.h"
#include "store/format/blob.h"

uint64_t cell_size(const struct cell *c)
{
	return c->blob.size > 0 ? blob_list_value_size(c->blob) : c->value.size;
}
