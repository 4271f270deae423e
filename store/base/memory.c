#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "store/base/memory.h"

/*
 * Counters, which need no lock, and a lock for those who wait alone: one of
 * them notes that it waits and then tries once more, and who gives looks for
 * waiters after it gave, so that one of the two sees the other.
 */
struct memory {
	uint64_t limit; /* for what shares it */
	_Atomic uint64_t shared;
	_Atomic uint64_t used[MEMORY_ACCOUNTS];
	atomic_uint waiting;
	pthread_mutex_t lock;
	pthread_cond_t given; /* with lock */
};

/* Whether the account is bounded by the limit. */
static bool shares(enum memory_account account)
{
	return account > MEMORY_TOMBSTONES;
}

int memory_new(uint64_t limit, struct memory **out)
{
	struct memory *m = calloc(1, sizeof(*m));
	pthread_condattr_t monotonic;

	*out = m;
	if (!m)
		return -ENOMEM;
	m->limit = limit;
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&m->given, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return 0;
}

void memory_free(struct memory *m)
{
	int i;

	if (!m)
		return;
	for (i = 0; i < MEMORY_ACCOUNTS; i++)
		assert(memory_used(m, i) == 0);
	pthread_cond_destroy(&m->given);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* Adds size to *counter unless that is more than limit then. */
static bool add_within(_Atomic uint64_t *counter, uint64_t size, uint64_t limit)
{
	uint64_t now = atomic_load(counter);

	do {
		if (size > limit || now > limit - size)
			return false;
	} while (!atomic_compare_exchange_weak(counter, &now, now + size));
	return true;
}

static bool try_take(struct memory *m, enum memory_account account,
		     uint64_t size)
{
	if (!add_within(&m->used[account], size, m->limit / 2))
		return false;
	if (add_within(&m->shared, size, m->limit))
		return true;
	atomic_fetch_sub(&m->used[account], size);
	return false;
}

static struct timespec moment(unsigned int ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += (long)(ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

bool memory_take(struct memory *m, enum memory_account account, uint64_t size,
		 unsigned int wait_ms)
{
	struct timespec until;
	bool taken = try_take(m, account, size);

	assert(shares(account));
	if (taken || wait_ms == 0 || size > m->limit / 2)
		return taken;
	until = moment(wait_ms);
	pthread_mutex_lock(&m->lock);
	atomic_fetch_add(&m->waiting, 1);
	while (!(taken = try_take(m, account, size)))
		if (pthread_cond_timedwait(&m->given, &m->lock, &until) != 0)
			break;
	atomic_fetch_sub(&m->waiting, 1);
	pthread_mutex_unlock(&m->lock);
	return taken;
}

void memory_hold(struct memory *m, enum memory_account account, uint64_t size)
{
	atomic_fetch_add(&m->used[account], size);
	if (shares(account))
		atomic_fetch_add(&m->shared, size);
}

void memory_give(struct memory *m, enum memory_account account, uint64_t size)
{
	uint64_t before = atomic_fetch_sub(&m->used[account], size);

	assert(before >= size);
	(void)before;
	if (!shares(account))
		return;
	atomic_fetch_sub(&m->shared, size);
	if (atomic_load(&m->waiting) == 0)
		return;
	pthread_mutex_lock(&m->lock);
	pthread_cond_broadcast(&m->given);
	pthread_mutex_unlock(&m->lock);
}

uint64_t memory_used(const struct memory *m, enum memory_account account)
{
	assert(account < MEMORY_ACCOUNTS);
	return atomic_load(&m->used[account]);
}

uint64_t memory_limit(const struct memory *m)
{
	return m->limit;
}

const char *memory_name(enum memory_account account)
{
	static const char *const words[] = {
#define x(name, word) #word,
		MEMORY_ACCOUNT_LIST(x)
#undef x
	};

	assert(account < MEMORY_ACCOUNTS);
	return words[account];
}
