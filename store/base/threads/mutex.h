#ifndef STORE_BASE_THREADS_MUTEX_H
#define STORE_BASE_THREADS_MUTEX_H

#include <pthread.h>

/*
 * Locks a mutex that others hold for some microseconds: tries again for a while
 * before it sleeps, because to wake a thread on another processor takes many
 * times longer than what the mutex is held for: sixty microseconds, where a
 * commit holds it for two. One that is held over I/O is locked as any other.
 */
static inline void mutex_lock_spinning(pthread_mutex_t *m)
{
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		if (pthread_mutex_trylock(m) == 0)
			return;
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
	pthread_mutex_lock(m);
}

#endif
