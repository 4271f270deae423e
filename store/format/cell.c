#include "store/cell.h"
#include "store/format/blob.h"

/* Here and not in the model, because a blob is a format. */
uint64_t cell_size(const struct cell *c)
{
	return c->blob.size > 0 ? blob_list_value_size(c->blob) : c->value.size;
}
