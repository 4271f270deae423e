#include "store/engine/purge/visit.h"
#include "store/format/sst/sst_iter.h"

static int visit_sst(struct sst *t, struct bytes start, struct bytes end,
		     int (*each)(void *context, struct bytes key,
				 struct bytes value),
		     void *context)
{
	struct iter *it;
	int at = sst_iter_new(t, false, &it), err = 0;

	if (at < 0)
		return at;
	for (at = iter_seek(it, start); at > 0; at = iter_next(it)) {
		if (bytes_compare(it->key, end) >= 0)
			break;
		err = each(context, it->key, it->value);
		if (err != 0)
			break;
	}
	iter_close(it);
	return at < 0 ? at : err;
}

int engine_visit(struct engine *e, struct bytes start, struct bytes end,
		 int (*each)(void *context, struct bytes key,
			     struct bytes value),
		 void *context)
{
	struct version *v = engine_version(e);
	unsigned int level;
	struct sst *sst;
	size_t i;
	int err = 0;

	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count && err == 0; i++)
			if (sst_file_overlaps(v->levels[level].files[i], start,
					      end))
				err = visit_sst(v->levels[level].files[i]->sst,
						start, end, each, context);
	for (i = 0; i < v->past_count && err == 0; i++) {
		if (!past_file_overlaps(v->pasts[i], start, end))
			continue;
		err = past_file_open(v->pasts[i], &sst);
		if (err == 0)
			err = visit_sst(sst, start, end, each, context);
	}
	version_put(v);
	return err;
}
