#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/heat/heat_walk.h"

/* Two records, which are swapped when the next becomes the fences. */
struct heat_records {
	struct heat_record *fences, *next;
	unsigned int number; /* of the fences */
	bool has_fences;
};

/* Takes what was read for the fences that hold from here on. */
static void change_fences(struct heat_records *r)
{
	struct heat_record *other = r->fences;

	r->fences = r->next;
	r->next = other;
	r->number++;
	r->has_fences = true;
}

/* Edits that do not fit leave no fences. */
static void edit_fences(struct heat_records *r)
{
	struct bytes edits = r->next->edits;

	if (!r->has_fences)
		return;
	if (heat_apply_edits(&r->fences->fences, edits, r->next) < 0)
		r->has_fences = false;
	else
		change_fences(r);
}

int heat_walk(const struct heat_source *source, uint32_t table,
	      int (*each)(void *context, const struct heat_fences *fences,
			  unsigned int number,
			  const struct heat_bucket *bucket),
	      void *context)
{
	struct heat_record *records = malloc(2 * sizeof(*records));
	struct heat_records r = { records, records + 1, 0, false };
	struct bytes rest = source->records;
	int err = 0;

	if (!records)
		return -ENOMEM;
	while (err == 0 && heat_take_record(&rest, r.next) == 1) {
		if (r.next->table != table)
			continue;
		if (r.next->kind == HEAT_RECORD_FENCES)
			change_fences(&r);
		else if (r.next->kind == HEAT_RECORD_EDITS)
			edit_fences(&r);
		else if (r.has_fences &&
			 r.next->bucket.start_s < source->until_s &&
			 heat_fits(&r.fences->fences, &r.next->bucket))
			err = each(context, &r.fences->fences, r.number,
				   &r.next->bucket);
	}
	if (err == 0)
		err_clear();
	free(records);
	return err;
}
