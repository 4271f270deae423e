#include <inttypes.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/position.h"
#include "store/engine/core/state.h"

void engine_position(struct engine *e, struct position *out)
{
	/* Which stay as they are, but of a follower's. */
	if (e->follower)
		pthread_mutex_lock(&e->edits);
	*out = (struct position){
		.store = e->manifest->identity.id,
		.epoch = e->manifest->epoch,
		.sequence = atomic_load(&e->synced_seq),
	};
	if (e->follower)
		pthread_mutex_unlock(&e->edits);
}

/* What a former epoch has told is durable, and here. */
int engine_check_position(struct engine *e, const struct position *p)
{
	char theirs[POSITION_TEXT_SIZE], ours[POSITION_TEXT_SIZE];
	struct position now;

	engine_position(e, &now);
	/* The last sync of a life that was killed is not known to the next. */
	if (e->options.read_only)
		now.sequence = atomic_load(&e->visible_seq);
	if (!store_id_is_none(&p->store) &&
	    store_id_equal(&p->store, &now.store) && p->epoch <= now.epoch &&
	    p->sequence <= now.sequence)
		return 0;
	position_text(p, theirs);
	position_text(&now, ours);
	return fail(ERR_foreign_position,
		    "position %s is none of %s, which is at %s", theirs,
		    e->volume->path, ours);
}

void position_text(const struct position *p, char text[POSITION_TEXT_SIZE])
{
	char id[STORE_ID_TEXT_SIZE];

	store_id_text(&p->store, id);
	snprintf(text, POSITION_TEXT_SIZE, "%s:%" PRIu32 ":%" PRIu64, id,
		 p->epoch, p->sequence);
}

/* What is read is written again and compared: a position has one form. */
int position_parse(struct bytes text, struct position *p)
{
	char copy[POSITION_TEXT_SIZE], again[POSITION_TEXT_SIZE];
	char id[STORE_ID_TEXT_SIZE];

	*p = (struct position){ .epoch = 0 };
	if (text.size < sizeof(copy)) {
		memcpy(copy, text.data, text.size);
		copy[text.size] = 0;
		if (sscanf(copy, "%32[0-9a-f]:%" SCNu32 ":%" SCNu64, id,
			   &p->epoch, &p->sequence) == 3 &&
		    store_id_parse(bytes_string(id), &p->store)) {
			position_text(p, again);
			if (bytes_equal(text, bytes_string(again)))
				return 0;
		}
	}
	return fail(
		ERR_bad_argument,
		"\"%s\" is no position, which is a store's id, an epoch and "
		"a sequence with colons between them",
		err_name(text));
}
