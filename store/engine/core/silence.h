#ifndef STORE_ENGINE_CORE_SILENCE_H
#define STORE_ENGINE_CORE_SILENCE_H

#include "store/store.h"

/* A thread that looks whether a volume answers, for store_on_silence. */
struct silence;

/* call as store_on_silence has it, after wait_ms. 0 or an error. */
int silence_begin(struct volume *v, unsigned int wait_ms,
		  void (*call)(void *context), void *context,
		  struct silence **out);
/* NULL is allowed. */
void silence_end(struct silence *s);

#endif
