#ifndef STORE_ENGINE_HISTORY_FILE_OWNER_H
#define STORE_ENGINE_HISTORY_FILE_OWNER_H

#include <stdint.h>

/* Told of an obsolete file that nobody uses any more; the file is closed. Any
 * thread that puts a version may call it, so it only notes the id for later,
 * under the engine's lock `lock`: no version or file is put with that held. */
struct file_owner {
	void (*unused)(struct file_owner *owner, uint64_t id, uint64_t size);
	void (*unused_blob)(struct file_owner *owner, uint64_t id,
			    uint64_t size);
	/* Bytes of files that are obsolete. Who removes one takes its off. */
	_Atomic uint64_t obsolete_size;
};

#endif
