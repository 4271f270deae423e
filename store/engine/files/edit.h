#ifndef STORE_ENGINE_FILES_EDIT_H
#define STORE_ENGINE_FILES_EDIT_H

#include "store/engine/files/manifest.h"

int edit_add_file(struct edit *e, uint32_t level, uint64_t id, uint64_t size);

/* The same, of a file whose entries all have this sequence, if it is not 0. */
int edit_add_loaded(struct edit *e, uint32_t level, uint64_t id, uint64_t size,
		    uint64_t seq);
int edit_remove_file(struct edit *e, uint32_t level, uint64_t id);
int edit_add_log(struct edit *e, uint64_t id, uint64_t final_size);
int edit_add_blob(struct edit *e, uint64_t id, uint64_t final_size);
int edit_drop_blob(struct edit *e, uint64_t id);
void edit_release(struct edit *e);
int edit_encode(const struct edit *e, struct buf *out);
int edit_decode(struct bytes in, struct edit *e);

#endif
