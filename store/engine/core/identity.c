#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/identity.h"
#include "store/engine/core/state.h"

int engine_identify(struct engine *e)
{
	struct volume *v = e->volume;
	int err = v->ops->head_get(v, &e->head);

	if (err < 0 || e->options.read_only)
		return err;
	err = head_check_writable(v->path, &e->head);
	if (err < 0 || !store_id_is_none(&e->head.id))
		return err;
	e->head.format = HEAD_FORMAT;
	arc4random_buf(&e->head.id, sizeof(e->head.id));
	return v->ops->head_set(v, &e->head);
}

int engine_inherit(struct volume *from, struct volume *to, uint64_t sequence)
{
	struct head head = { .format = HEAD_FORMAT }, parent;
	int err = from->ops->head_get(from, &parent);

	if (err == -ENOMEM || err == -ERR_format_newer)
		return err;
	if (err < 0)
		return to->ops->head_set(to, &head);
	head.features = parent.features;
	/* What has no id was made of another, and not written to since. */
	if (store_id_is_none(&parent.id)) {
		head.parent = parent.parent;
		head.parent_sequence = parent.parent_sequence;
	} else {
		head.parent = parent.id;
		head.parent_sequence = sequence;
	}
	return to->ops->head_set(to, &head);
}

void engine_position(struct engine *e, struct position *out)
{
	*out = (struct position){
		.store = e->head.id,
		.epoch = e->manifest->epoch,
		.sequence = atomic_load(&e->visible_seq),
	};
}

/* Of a former epoch, what recovery found of it is here, and nothing else. */
int engine_check_position(struct engine *e, const struct position *p)
{
	char theirs[POSITION_TEXT_SIZE], ours[POSITION_TEXT_SIZE];
	struct position now;

	engine_position(e, &now);
	if (store_id_equal(&p->store, &now.store) && p->epoch <= now.epoch &&
	    p->sequence <=
		    (p->epoch < now.epoch ? e->opened_seq : now.sequence))
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
