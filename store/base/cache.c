#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "store/base/cache.h"

/*
 * S3-FIFO. Newcomers enter the small queue; what leaves it without having been
 * asked for twice becomes a ghost, a mere name, and enters the main queue at
 * once should it come back. The main queue gives what was asked for since its
 * last turn another round.
 *
 * Ghosts are kept in a direct-mapped table of fingerprints, each with the count
 * of ghosts when it was made; one that is older than the table's share is
 * forgotten. Two that collide lose one ghost, which costs a little precision.
 */
enum {
	SHARDS_MAX = 16, /* a power of two, of which the hash's top bits tell */
	SHARD_SIZE = 4 << 20, /* at least, so that a large filter still fits */
	LINE = 64,            /* bytes that the processor fetches at once */
	FREQUENCY_MAX = 3,    /* hits that count: what was popular once goes
				 after so many rounds */
	TO_MAIN = 2, /* hits in the small queue that lead to the main one */
	BUCKETS_MIN = 64,
	GHOST_BLOCK = 4096, /* one ghost for so many bytes of capacity */
};

struct entry {
	struct cache_block block;    /* first: callers hold a pointer to it */
	uint64_t file, offset;       /* its name; set by cache_insert */
	struct entry *chain;         /* the next in its bucket; shard's lock */
	_Atomic uint32_t references; /* the cache's own is one */
	uint8_t frequency;           /* hits, to FREQUENCY_MAX; shard's lock */
	bool in_main;                /* which queue it is in; shard's lock */
	/* So far one cache line: all that a hit touches. */
	void *memory; /* from malloc; the entry lies in it, on a line */
	size_t size;  /* bytes that count: head, block, side */
	struct entry *newer, *older; /* in its queue; shard's lock */
};

static_assert(offsetof(struct entry, memory) <= LINE,
	      "a hit touches one cache line of an entry");

/* Entries by age, not by use: a hit moves nothing. */
struct queue {
	struct entry *newest, *oldest; /* NULL: empty */
	size_t size;                   /* bytes that count */
};

struct ghost {
	uint32_t fingerprint; /* of the name's hash; 0: none is here */
	uint32_t age;         /* ghost_count when it was made */
};

struct shard {
	pthread_mutex_t lock;   /* guards all below */
	struct entry **buckets; /* heads of chains, by the hash's low bits */
	size_t bucket_count, entry_count; /* bucket_count: a power of two */
	struct queue small, main;         /* every entry is in one of them */
	struct ghost *ghosts;
	size_t ghost_capacity; /* a power of two */
	uint32_t ghost_count;  /* ever made; wraps around */
	uint64_t hit_count, miss_count;
};

struct cache {
	size_t shard_capacity;   /* bytes, what is reserved of it included */
	_Atomic size_t reserved; /* bytes, of all shards together */
	_Atomic size_t held;     /* bytes, by cache_hold */
	size_t shard_count;      /* a power of two */
	struct shard shards[SHARDS_MAX];
};

/* A bijection of 64 bits that mixes well (Steele and others' SplitMix64), so
 * that any bits of it can choose a shard, a bucket or a ghost's place. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t name_hash(uint64_t file, uint64_t offset)
{
	return mix(mix(file) + offset);
}

static struct shard *shard_of(struct cache *c, uint64_t hash)
{
	return &c->shards[(hash >> 60) & (c->shard_count - 1)];
}

/* Gives one reference up. Release, so that what was read of the block is read
 * before it is freed, by whichever thread is the last. */
static void release(struct entry *e)
{
	if (atomic_fetch_sub_explicit(&e->references, 1,
				      memory_order_acq_rel) == 1) {
		free(e->block.side);
		free(e->memory);
	}
}

/* Adds e as its newest entry. The functions on queues and shards need the
 * shard's lock. */
static void enqueue(struct queue *q, struct entry *e)
{
	e->newer = NULL;
	e->older = q->newest;
	if (q->newest)
		q->newest->newer = e;
	else
		q->oldest = e;
	q->newest = e;
	q->size += e->size;
}

static void dequeue(struct queue *q, struct entry *e)
{
	if (e->newer)
		e->newer->older = e->older;
	else
		q->newest = e->older;
	if (e->older)
		e->older->newer = e->newer;
	else
		q->oldest = e->newer;
	q->size -= e->size;
}

/* Where the pointer to the entry of this name is, in its bucket or a chain;
 * that is NULL where the name would have to be put if there is none. */
static struct entry **find(struct shard *s, uint64_t hash, uint64_t file,
			   uint64_t offset)
{
	struct entry **place = &s->buckets[hash & (s->bucket_count - 1)];

	while (*place && ((*place)->file != file || (*place)->offset != offset))
		place = &(*place)->chain;
	return place;
}

/* Takes e out of its bucket and its queue and gives up the cache's reference;
 * those who hold e go on reading it. */
static void unlink_entry(struct shard *s, struct entry *e)
{
	struct entry **place =
		find(s, name_hash(e->file, e->offset), e->file, e->offset);

	assert(*place == e && s->entry_count > 0);
	*place = e->chain;
	s->entry_count--;
	dequeue(e->in_main ? &s->main : &s->small, e);
	release(e);
}

/* Doubles the buckets. Longer chains are slow, not wrong, so no memory is no
 * error. */
static void grow(struct shard *s)
{
	size_t count = s->bucket_count * 2, i;
	struct entry **buckets = calloc(count, sizeof(struct entry *));

	if (!buckets)
		return;
	for (i = 0; i < s->bucket_count; i++) {
		struct entry *e = s->buckets[i], *next;

		for (; e; e = next) {
			uint64_t hash = name_hash(e->file, e->offset);

			next = e->chain;
			e->chain = buckets[hash & (count - 1)];
			buckets[hash & (count - 1)] = e;
		}
	}
	free(s->buckets);
	s->buckets = buckets;
	s->bucket_count = count;
}

/* By bits from the eighth on, as the lowest choose the bucket. */
static struct ghost *ghost_place(struct shard *s, uint64_t hash)
{
	return &s->ghosts[(hash >> 8) & (s->ghost_capacity - 1)];
}

static uint32_t ghost_fingerprint(uint64_t hash)
{
	return (uint32_t)(hash >> 28) | 1; /* 0 is an empty place */
}

/* Whoever had the place before is forgotten. */
static void ghost_add(struct shard *s, uint64_t hash)
{
	*ghost_place(s, hash) =
		(struct ghost){ ghost_fingerprint(hash), ++s->ghost_count };
}

/* Whether the name left the small queue lately; it is no ghost any more then.
 * Lately: no more ghosts were made since than the table has places for at half
 * load, about one for each GHOST_BLOCK of the shard. */
static bool ghost_take(struct shard *s, uint64_t hash)
{
	struct ghost *g = ghost_place(s, hash);

	if (g->fingerprint != ghost_fingerprint(hash))
		return false;
	g->fingerprint = 0;
	return s->ghost_count - g->age <= s->ghost_capacity / 2;
}

/* Lets one entry of the small queue go, or go over to the main queue. */
static void evict_small(struct shard *s)
{
	struct entry *e = s->small.oldest;

	if (e->frequency >= TO_MAIN) {
		dequeue(&s->small, e);
		e->frequency = 0;
		e->in_main = true;
		enqueue(&s->main, e);
	} else {
		ghost_add(s, name_hash(e->file, e->offset));
		unlink_entry(s, e);
	}
}

/* Lets one entry of the main queue go, or gives it another round, of which it
 * has as many as it had hits. */
static void evict_main(struct shard *s)
{
	struct entry *e = s->main.oldest;

	if (e->frequency > 0) {
		e->frequency--;
		dequeue(&s->main, e);
		enqueue(&s->main, e);
	} else {
		unlink_entry(s, e);
	}
}

/*
 * Evicts until size more bytes fit. size is at most capacity. The small queue
 * has a tenth of it, as in the paper, and is where eviction begins when it has
 * more. Ends, because each turn removes an entry, or lowers a frequency, or
 * empties the small queue by one.
 */
static void make_room(struct shard *s, size_t capacity, size_t size)
{
	assert(size <= capacity);
	while (s->small.size + s->main.size > capacity - size) {
		if (s->small.oldest &&
		    (s->small.size >= capacity / 10 || !s->main.oldest))
			evict_small(s);
		else
			evict_main(s);
	}
}

static size_t power_of_two(size_t at_least)
{
	size_t n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

/* s is zeroed; on failure its memory is the caller's to free, and there is no
 * lock. */
static int shard_init(struct shard *s, size_t capacity)
{
	s->bucket_count = BUCKETS_MIN;
	s->ghost_capacity = power_of_two(2 * (capacity / GHOST_BLOCK + 8));
	s->buckets = calloc(s->bucket_count, sizeof(struct entry *));
	s->ghosts = calloc(s->ghost_capacity, sizeof(*s->ghosts));
	if (!s->buckets || !s->ghosts)
		return -ENOMEM;
	return -pthread_mutex_init(&s->lock, NULL);
}

int cache_new(size_t capacity, struct cache **out)
{
	struct cache *c = calloc(1, sizeof(*c));
	size_t wanted = capacity / SHARD_SIZE;
	size_t i;
	int err;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->shard_count = 1;
	while (c->shard_count * 2 <= wanted && c->shard_count < SHARDS_MAX)
		c->shard_count *= 2;
	c->shard_capacity = capacity / c->shard_count;
	for (i = 0; i < c->shard_count; i++) {
		err = shard_init(&c->shards[i], c->shard_capacity);
		if (err < 0)
			goto free_shards;
	}
	*out = c;
	return 0;

free_shards:
	/* Shard i has no lock that cache_free could destroy. */
	free(c->shards[i].buckets);
	free(c->shards[i].ghosts);
	c->shard_count = i;
	cache_free(c);
	return err;
}

size_t cache_capacity(const struct cache *c)
{
	return c->shard_capacity * c->shard_count;
}

void cache_free(struct cache *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->shard_count; i++) {
		struct shard *s = &c->shards[i];

		while (s->small.oldest)
			unlink_entry(s, s->small.oldest);
		while (s->main.oldest)
			unlink_entry(s, s->main.oldest);
		free(s->buckets);
		free(s->ghosts);
		pthread_mutex_destroy(&s->lock);
	}
	free(c);
}

struct cache_block *cache_get(struct cache *c, uint64_t file, uint64_t offset)
{
	uint64_t hash = name_hash(file, offset);
	struct shard *s = shard_of(c, hash);
	struct entry *e;

	pthread_mutex_lock(&s->lock);
	e = *find(s, hash, file, offset);
	if (e) {
		/* Whoever asks will search the side first. */
		__builtin_prefetch(e->block.side);
		__builtin_prefetch((const char *)e->block.side + LINE);
		s->hit_count++;
		if (e->frequency < FREQUENCY_MAX)
			e->frequency++;
		/* Under the lock the cache's own reference keeps it. */
		atomic_fetch_add_explicit(&e->references, 1,
					  memory_order_relaxed);
	} else {
		s->miss_count++;
	}
	pthread_mutex_unlock(&s->lock);
	return e ? &e->block : NULL;
}

struct cache_block *cache_new_block(struct cache *c, size_t size)
{
	size_t header = (sizeof(struct entry) + LINE - 1) / LINE * LINE;
	struct entry *e;
	void *memory;

	/* Memory is not the cache's before it is inserted. */
	(void)c;
	if (size > SIZE_MAX / 2)
		return NULL;
	/* Not aligned_alloc: what it gives back is too small for it to use
	 * again. */
	memory = malloc(header + size + LINE);
	if (!memory)
		return NULL;
	e = (struct entry *)(((uintptr_t)memory + LINE - 1) / LINE * LINE);
	memset(e, 0, sizeof(*e));
	e->memory = memory;
	e->block.bytes = bytes_of((uint8_t *)e + header, size);
	e->size = header + size;
	atomic_init(&e->references, 1);
	return &e->block;
}

void cache_insert(struct cache *c, uint64_t file, uint64_t offset,
		  struct cache_block *block)
{
	uint64_t hash = name_hash(file, offset);
	struct shard *s = shard_of(c, hash);
	struct entry *e = (struct entry *)block;
	struct entry **place;
	size_t capacity, taken;

	/* It is not known to others yet, so this needs no lock. */
	assert(atomic_load(&e->references) == 1);
	e->size += block->side_size;
	taken = (atomic_load_explicit(&c->reserved, memory_order_relaxed) +
		 atomic_load_explicit(&c->held, memory_order_relaxed)) /
		c->shard_count;
	capacity = taken < c->shard_capacity ? c->shard_capacity - taken : 0;
	if (e->size > capacity)
		return;
	e->file = file;
	e->offset = offset;
	pthread_mutex_lock(&s->lock);
	if (!*find(s, hash, file, offset)) {
		/* Both may change the bucket, so it is looked up again. */
		make_room(s, capacity, e->size);
		if (s->entry_count * 2 >= s->bucket_count)
			grow(s);
		e->in_main = ghost_take(s, hash);
		place = find(s, hash, file, offset);
		e->chain = NULL;
		*place = e;
		s->entry_count++;
		enqueue(e->in_main ? &s->main : &s->small, e);
		atomic_fetch_add_explicit(&e->references, 1,
					  memory_order_relaxed);
	}
	pthread_mutex_unlock(&s->lock);
}

void cache_put(struct cache *c, struct cache_block *block)
{
	/* No lock: the last to put an evicted block is whoever frees it. */
	(void)c;
	release((struct entry *)block);
}

void cache_forget(struct cache *c, uint64_t file)
{
	size_t i, j;

	for (i = 0; i < c->shard_count; i++) {
		struct shard *s = &c->shards[i];

		pthread_mutex_lock(&s->lock);
		for (j = 0; j < s->bucket_count; j++) {
			struct entry *e = s->buckets[j], *next;

			for (; e; e = next) {
				next = e->chain;
				if (e->file == file)
					unlink_entry(s, e);
			}
		}
		pthread_mutex_unlock(&s->lock);
	}
}

/* A loop of its own for all shards together, without their locks: the shards
 * learn of it at their next insertion. */
bool cache_reserve(struct cache *c, size_t size, unsigned int eighths)
{
	size_t limit = c->shard_capacity * c->shard_count / 8 * eighths;
	size_t reserved = atomic_load(&c->reserved);

	assert(eighths <= 4);
	do {
		if (size > limit || reserved > limit - size)
			return false;
	} while (!atomic_compare_exchange_weak(&c->reserved, &reserved,
					       reserved + size));
	return true;
}

void cache_unreserve(struct cache *c, size_t size)
{
	assert(atomic_load(&c->reserved) >= size);
	atomic_fetch_sub(&c->reserved, size);
}

void cache_hold(struct cache *c, size_t size)
{
	atomic_fetch_add(&c->held, size);
}

void cache_unhold(struct cache *c, size_t size)
{
	assert(atomic_load(&c->held) >= size);
	atomic_fetch_sub(&c->held, size);
}

struct cache_stats cache_stats(struct cache *c)
{
	struct cache_stats stats = { 0 };
	size_t i;

	stats.reserved_size = atomic_load(&c->reserved);
	stats.used_size = stats.reserved_size;
	stats.held_size = atomic_load(&c->held);
	for (i = 0; i < c->shard_count; i++) {
		struct shard *s = &c->shards[i];

		pthread_mutex_lock(&s->lock);
		stats.hit_count += s->hit_count;
		stats.miss_count += s->miss_count;
		stats.used_size += s->small.size + s->main.size;
		pthread_mutex_unlock(&s->lock);
	}
	return stats;
}
