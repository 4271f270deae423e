#include <string.h>

#include "store/engine/core/state.h"
#include "store/model/model.h"
#include "tests/sim/named.h"

int named_get(struct store *s, struct named *n)
{
	struct engine *e = store_engine(s);
	int err;

	*n = (struct named){ .edits_id = 0 };
	pthread_mutex_lock(&e->edits);
	err = manifest_state(e->manifest, &n->state);
	n->edits_id = e->manifest->edits_id;
	pthread_mutex_unlock(&e->edits);
	return err;
}

static bool has_log(const struct manifest_log *logs, size_t count, uint64_t id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (logs[i].id == id)
			return true;
	return false;
}

bool named_has(const struct named *n, const char *file)
{
	const char *suffix;
	uint64_t id;
	size_t i;

	if (strcmp(file, "root") == 0 || strcmp(file, "lock") == 0 ||
	    strcmp(file, "tabletfs") == 0 || strncmp(file, "LOG", 3) == 0 ||
	    strncmp(file, VOLUME_HEAT, strlen(VOLUME_HEAT)) == 0 ||
	    strstr(file, ".spare"))
		return true;
	if (!manifest_parse_name(file, &id, &suffix))
		return false;
	if (id == n->edits_id ||
	    has_log(n->state.logs, n->state.log_count, id) ||
	    has_log(n->state.blobs, n->state.blob_count, id))
		return true;
	for (i = 0; i < n->state.added_count; i++)
		if (n->state.added[i].id == id)
			return true;
	for (i = 0; i < n->state.past_count; i++)
		if (n->state.pasts[i]->id == id)
			return true;
	return false;
}

void named_release(struct named *n)
{
	edit_release(&n->state);
}
