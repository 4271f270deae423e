#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/text/spill/mapped.h"

/* The handler takes the lock, too. It runs where a map is read, which nobody
 * does while he has it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapped *first;
static _Thread_local volatile sig_atomic_t failed;
static struct sigaction before;

/* Whether address is in a map; then zeros are there now. */
static bool patch(uintptr_t address)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const struct mapped *m;

	pthread_mutex_lock(&lock);
	for (m = first; m && address - (uintptr_t)m->map >= m->size;)
		m = m->next;
	pthread_mutex_unlock(&lock);
	return m && mmap((void *)(address / page * page), page,
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) != MAP_FAILED;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int kept = errno;

	(void)context;
	if (info->si_code == BUS_ADRERR && patch((uintptr_t)info->si_addr)) {
		failed = 1;
		errno = kept;
		return;
	}
	/* As if this were not here: what failed is done again, or sent. */
	sigaction(number, &before, NULL);
	if (info->si_code <= 0)
		raise(number);
}

static void install(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus,
				    .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

int mapped_begin(struct mapped *m, int fd, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	m->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		return fail(errno, "file without a name: cannot map");
	}
	m->size = size;
	pthread_mutex_lock(&lock);
	m->next = first;
	first = m;
	pthread_mutex_unlock(&lock);
	return 0;
}

void mapped_end(struct mapped *m)
{
	struct mapped **at = &first;

	if (!m->map)
		return;
	pthread_mutex_lock(&lock);
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	pthread_mutex_unlock(&lock);
	munmap(m->map, m->size);
	m->map = NULL;
}

int mapped_error(void)
{
	if (!failed)
		return 0;
	failed = 0;
	return fail(EIO, "file without a name: the disk did not give what was "
			 "written there");
}
