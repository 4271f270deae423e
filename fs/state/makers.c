#include <assert.h>
#include <stdlib.h>

#include "fs/state/makers.h"

/*
 * Two generations of hash tables, half full at most: what is set goes to the
 * young one, and when that is full it becomes the old one, which is thrown
 * away. Inode numbers are hashes already.
 */
#define SLOTS ((size_t)2 * MAKERS_MAX)

static_assert((SLOTS & (SLOTS - 1)) == 0, "a mask finds the slot");

void makers_init(struct makers *m)
{
	*m = (struct makers){ .young = NULL };
	pthread_mutex_init(&m->lock, NULL);
}

void makers_release(struct makers *m)
{
	free(m->young);
	free(m->old);
	pthread_mutex_destroy(&m->lock);
}

/* The entry of ino, or the free one where it would be. */
static struct maker_entry *slot(struct maker_entry *table, uint64_t ino)
{
	size_t i = ino & (SLOTS - 1);

	while (table[i].ino && table[i].ino != ino)
		i = (i + 1) & (SLOTS - 1);
	return &table[i];
}

/* An empty young generation; without memory there is none. */
static void turn(struct makers *m)
{
	free(m->old);
	m->old = m->young;
	m->young = calloc(SLOTS, sizeof(*m->young));
	m->count = 0;
}

static void set(struct makers *m, uint64_t ino, uint64_t maker)
{
	struct maker_entry *e;

	if (!m->young || m->count == MAKERS_MAX)
		turn(m);
	/* The old one would be believed. */
	if (!m->young) {
		free(m->old);
		m->old = NULL;
		return;
	}
	e = slot(m->young, ino);
	m->count += !e->ino;
	*e = (struct maker_entry){ ino, maker };
}

static uint64_t get(struct makers *m, uint64_t ino)
{
	struct maker_entry *e = m->young ? slot(m->young, ino) : NULL;

	if (e && e->ino)
		return e->maker;
	e = m->old ? slot(m->old, ino) : NULL;
	if (!e || !e->ino)
		return 0;
	if (e->maker)
		set(m, ino, e->maker);
	return e->maker;
}

void makers_set(struct makers *m, uint64_t ino, uint64_t maker)
{
	assert(ino != 0);
	pthread_mutex_lock(&m->lock);
	/* Nothing is stored of what nobody made. */
	if (maker || get(m, ino))
		set(m, ino, maker);
	pthread_mutex_unlock(&m->lock);
}

uint64_t makers_get(struct makers *m, uint64_t ino)
{
	uint64_t maker;

	pthread_mutex_lock(&m->lock);
	maker = get(m, ino);
	pthread_mutex_unlock(&m->lock);
	return maker;
}

void makers_move(struct makers *m, uint64_t from, uint64_t to, bool exchange)
{
	uint64_t maker, other;

	pthread_mutex_lock(&m->lock);
	maker = get(m, from);
	other = get(m, to);
	if (maker || other) {
		set(m, to, maker);
		set(m, from, exchange ? other : 0);
	}
	pthread_mutex_unlock(&m->lock);
}
