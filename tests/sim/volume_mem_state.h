#ifndef TESTS_SIM_VOLUME_MEM_STATE_H
#define TESTS_SIM_VOLUME_MEM_STATE_H

#include "store/base/lease/holder.h"
#include "tests/sim/volume_mem.h"

/* The insides of a volume in memory, for volume_mem.c and what clones it. */
enum file_state {
	FILE_LIVE,
	FILE_REMOVED, /* but may be back after a power cut */
};

/* The content of a file, shared by the volume and its readers. */
struct content {
	struct buf data;
	unsigned int references;
};

struct mem_file {
	char name[VOLUME_NAME_MAX + 1];
	struct content *content;
	size_t synced; /* bytes of it that are durable */
	bool name_synced;
	bool grows;    /* a log */
	uint64_t room; /* bytes that are held for it; 0 */
	enum file_state state;
	struct mem_file *next;
};

/* One of those who use a volume, each of whom may be another process. */
struct mem_handle {
	struct volume volume; /* first, so that it can be cast */
	struct mem_volume *pool;
	/* Of the pool when it took the lease; 0: it never did. */
	_Atomic uint64_t fence;
	_Atomic bool shares;
	_Atomic bool left; /* it had the lease, or a share */
	bool lost_told;    /* lost was called, or is not to be */
	void (*lost)(void *context);
	void *lost_context;
	struct mem_handle *next; /* in the pool's list of others */
};

struct mem_volume {
	struct mem_handle own; /* first, so that it can be cast */
	struct mem_handle *others;
	struct mem_file *files;
	struct buf root;
	struct buf notes, old_notes, heat;
	uint64_t root_version;
	uint64_t spares[VOLUME_SPARES_MAX]; /* bytes; largest first */
	size_t spare_count;
	uint64_t wanted[VOLUME_SPARES_MAX];
	size_t wanted_count;
	bool no_room;       /* holds none */
	uint64_t available; /* bytes that space tells while it is not full */
	struct mem_handle *_Atomic leased; /* who has the lease; NULL: nobody */
	_Atomic uint64_t fence;            /* raised by each taking */
	struct holder who;                 /* has the lease */
	bool expired;                      /* its time has passed */
	uint64_t lease_ms;         /* as volume_mem_lease_of; 0: for ever */
	_Atomic bool silent;       /* nobody can know who has it */
	struct mem_handle *shared; /* whoever reads, the last of them */
	char holder[200];
	size_t open_count;
	unsigned int kept;

	uint64_t calls;
	uint64_t fail_at; /* of calls; 0: never */
	int fail_error;
	bool fail_forever;
	const char *full_suffix; /* of files that have no space; or NULL */
	bool fail_space_only;    /* only what takes space fails, and counts */
	bool failed;
	struct rng rng;
	void (*hook)(void *context, struct volume *v);
	void *hook_context;
};

static inline struct mem_handle *mem_handle(struct volume *v)
{
	return (struct mem_handle *)v;
}

static inline struct mem_volume *mem(struct volume *v)
{
	return mem_handle(v)->pool;
}

/* 0, or -ERR_store_lost if h was deposed or has released the lease. */
int mem_guard(struct mem_handle *h);

struct content *mem_content_new(void);
struct content *mem_content_get(struct content *c);
void mem_content_put(struct content *c);
/* Takes the reference to content; NULL when there is no memory. */
struct mem_file *mem_add_file(struct mem_volume *v, const char *name,
			      struct content *content);

/* A file that is there, or NULL. */
struct mem_file *mem_find(struct mem_volume *v, const char *name);

/* Counts a call that can fail; 0 or the error that was asked for. */
int mem_count_call(struct mem_volume *v, const char *what, const char *name);

/* Whether the disk is full: no more room can be held. */
bool mem_is_full(const struct mem_volume *v);
/* Makes a piece of what is given up, if one is missing. */
void mem_give_spare(struct mem_volume *v, uint64_t size);
/* The smallest piece of at least size bytes, or with largest the largest;
 * -ENOSPC. *room is its bytes. */
int mem_take_spare(struct mem_volume *v, const char *name, uint64_t size,
		   bool largest, uint64_t *room);
int mem_space(struct volume *volume, struct volume_space *out);
int mem_spare_hold(struct volume *volume, const uint64_t *sizes, size_t count,
		   bool keep);
int mem_spare_wipe(struct volume *volume);

/* These are operations of the volume, see volume.h. */
int mem_note(struct volume *volume, struct bytes lines, uint64_t size_max);
int mem_heat_read(struct volume *volume, struct buf *out);
int mem_heat_append(struct volume *volume, uint64_t size, struct bytes data);
int mem_heat_replace(struct volume *volume, struct bytes content);
int mem_lease_take(struct volume *volume, const char *holder,
		   void (*lost)(void *context), void *context);
int mem_lease_check(struct volume *volume);
uint64_t mem_lease_left(struct volume *volume);
int mem_lease_describe(struct volume *volume, const char *holder);
int mem_lease_share(struct volume *volume);
void mem_lease_release(struct volume *volume);

#endif
