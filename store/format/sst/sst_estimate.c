#include "store/format/sst/sst_estimate.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_iter.h"

/* Where in the data blocks the first key >= key lies, to a block. */
static int offset_of(struct sst *t, struct block_iter *index, struct bytes key,
		     uint64_t *offset)
{
	struct sst_index_entry entry;
	int err = block_iter_seek(index, key);

	*offset = t->footer.data_size;
	if (err == 1) {
		err = sst_index_decode(index->value, &entry);
		*offset = entry.block.offset;
	}
	return err;
}

/* A range that covers the whole file is told without a look at the index. Of a
 * file without data from and to are both 0. */
int sst_estimate_share(struct sst *t, struct bytes start, struct bytes end,
		       double *share)
{
	const struct sst_properties *p = &t->properties;
	uint64_t from = 0, to = t->footer.data_size;
	struct sst_iter it;
	int err;

	*share = 1;
	if (bytes_compare(start, p->smallest) <= 0 &&
	    (end.size == 0 || bytes_compare(p->largest, end) < 0 ||
	     (p->largest_exclusive && bytes_equal(p->largest, end))))
		return 0;
	err = sst_iter_init(&it, t, NULL);
	if (err < 0)
		return err;
	err = offset_of(t, &it.index, start, &from);
	if (err == 0 && end.size > 0)
		err = offset_of(t, &it.index, end, &to);
	sst_iter_release(&it);
	if (err < 0)
		return sst_fail(t, 0, err);
	*share = to > from ? (double)(to - from) / (double)t->footer.data_size
			   : 0;
	return 0;
}
