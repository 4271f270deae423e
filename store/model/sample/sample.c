#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/read/statistics.h"
#include "store/format/key.h"
#include "store/model/sample/sample.h"

int sample_begin(struct sampler *s, struct engine *engine,
		 struct volume *volume, const struct clock *clock,
		 bool read_only)
{
	struct heat_file *file;
	int err = heat_file_new(volume, !read_only, &file);

	s->engine = engine;
	return err < 0 ? err
		       : heat_new(clock, engine_memory(engine), file, &s->heat);
}

/* Tells the first error, and the next one after it has worked again. What
 * err_detail() said before stays, as this is nobody's request. */
static void tick(struct sampler *s, bool at_end)
{
	char detail[1024]; /* as err.c has it */
	int err;

	snprintf(detail, sizeof(detail), "%s", err_detail());
	err = heat_tick(s->heat, at_end);
	if (err < 0 && !s->failed)
		event_add(&s->engine->events, EVENTS_ERRORS, "heat_lost why=%s",
			  err_detail()[0] ? err_detail() : err_text(err));
	s->failed = err < 0;
	err_clear();
	if (detail[0])
		fail(EIO, "%s", detail);
}

void sample_tick(struct sampler *s)
{
	tick(s, false);
}

void sample_end(struct sampler *s)
{
	if (!s->heat)
		return;
	tick(s, true);
	heat_free(s->heat);
	s->heat = NULL;
}

void sample_changes(struct heat *h, const struct batch *batch)
{
	struct buf scratch = BUF_INIT;
	struct batch_record r;
	struct bytes row;
	size_t position = 0, end;

	while (batch_next(batch, &position, &r))
		if (heat_is_due(h) &&
		    key_part(r.key, KEY_TABLE_SIZE, &scratch, &row, &end) ==
			    0 &&
		    row.size > 0)
			heat_note(h, key_table(r.key), row, HEAT_WRITES,
				  r.key.size + r.value.size);
	buf_release(&scratch);
}
