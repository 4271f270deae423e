#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/base/bg.h"
#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/text/spill/spill.h"

/*
 * The file is written by calls, read through the map, and may be changed there
 * in place; that is as large as the text may ever be, so that it never moves,
 * and nobody looks past the end. Space is allocated before anything is written,
 * so no page can be missing but by an error of the disk (mapped.h).
 */

/* From which size on a text is in a file, though there is memory. */
#define MEMORY_MAX ((size_t)1 << 20)
/* What an empty one keeps, for the next text. */
#define KEPT_MAX 4096
/* Space is asked for in steps, of as much as there is, from a first one. */
#define ROOM_FIRST ((size_t)64 << 10)
#define ROOM_STEP ((size_t)4 << 20)
/* How often what was read of a file leaves the process; at some 5 GB/s, it has
 * grown by five megabytes then. */
#define SWEEP_MS 1

void spill_init(struct spill *p, struct store *s, enum memory_account account,
		size_t max)
{
	*p = (struct spill){
		.store = s, .account = account, .max = max, .fd = -1
	};
}

/* Counts buf as it is now. */
static void count(struct spill *p)
{
	struct memory *m;

	if (p->buf.capacity == p->counted)
		return;
	m = store_memory(p->store);
	if (p->buf.capacity > p->counted)
		memory_hold(m, p->account, p->buf.capacity - p->counted);
	else
		memory_give(m, p->account, p->counted - p->buf.capacity);
	p->counted = p->buf.capacity;
}

static void end_file(struct spill *p)
{
	bg_stop(p->sweeper);
	p->sweeper = NULL;
	mapped_end(&p->map);
	if (p->fd >= 0)
		store_scratch_end(p->store, p->fd);
	p->fd = -1;
	p->room = 0;
}

void spill_release(struct spill *p)
{
	end_file(p);
	buf_release(&p->buf);
	count(p);
	p->size = 0;
}

/* Pages of a shared map are read again from where they are, so that this may
 * happen beside who reads. */
static void sweep(void *context)
{
	struct spill *p = context;

	madvise(p->map.map, p->max, MADV_DONTNEED);
}

static int no_step(void *context)
{
	(void)context;
	return 0;
}

static int begin_file(struct spill *p)
{
	int err;

	p->fd = store_scratch(p->store);
	if (p->fd < 0) {
		err = p->fd;
		p->fd = -1;
		return err;
	}
	err = mapped_begin(&p->map, p->fd, p->max);
	if (err)
		end_file(p);
	return err;
}

/* Space for size bytes of the file. */
static int make_room(struct spill *p, size_t size)
{
	size_t step = p->room < ROOM_FIRST ? ROOM_FIRST : p->room, more;
	int err;

	if (size <= p->room)
		return 0;
	step = step < ROOM_STEP ? step : ROOM_STEP;
	more = (size - p->room + step - 1) / step * step;
	err = store_scratch_admit(p->store, more);
	if (err)
		return err;
	err = posix_fallocate(p->fd, (off_t)p->room, (off_t)more);
	if (err)
		return fail(err, "file without a name: no space");
	p->room += more;
	return 0;
}

/* Puts data at the end of the file; on an error a part may lie behind it. */
static int append(struct spill *p, struct bytes data)
{
	int err = make_room(p, p->size + data.size);

	return err ? err
		   : posix_write_at(p->fd, data, p->size,
				    "file without a name");
}

/* On an error it is where it was. */
int spill_start(struct spill *p)
{
	size_t size = p->size;
	int err = p->fd >= 0 ? 0 : begin_file(p);

	if (err || p->buf.capacity == 0)
		return err;
	p->size = 0;
	err = append(p, buf_bytes(&p->buf));
	p->size = size;
	if (err) {
		end_file(p);
		return err;
	}
	buf_release(&p->buf);
	count(p);
	return 0;
}

/* Whether a text of size bytes may be in memory. */
static bool fits(struct spill *p, size_t size)
{
	uint64_t need = size + size / 2 + 128;

	if (size > MEMORY_MAX)
		return false;
	if (size <= p->buf.capacity)
		return true;
	if (!memory_take(store_memory(p->store), p->account, need - p->counted,
			 0))
		return false;
	p->counted = need;
	return true;
}

/* Where no file can be made, as none may be written, it stays in memory; but
 * not what is too much of one user. */
int spill_add(struct spill *p, struct bytes data)
{
	int err = 0;

	assert(data.size <= p->max - p->size);
	if (p->fd < 0 && !fits(p, p->size + data.size))
		err = spill_start(p);
	if (err == -ENOSPC || err == -ERR_scratch_full)
		return err;
	if (p->fd >= 0)
		err = append(p, data);
	else
		err = buf_add_bytes(&p->buf, data);
	count(p);
	if (!err)
		p->size += data.size;
	return err;
}

struct bytes spill_bytes(const struct spill *p)
{
	return p->fd >= 0 ? bytes_of(p->map.map, p->size) : buf_bytes(&p->buf);
}

void spill_sweep(struct spill *p, bool on)
{
	if (on && p->fd >= 0 && !p->sweeper)
		(void)!bg_start(no_step, sweep, SWEEP_MS, p, &p->sweeper);
	if (on || !p->sweeper)
		return;
	bg_stop(p->sweeper);
	p->sweeper = NULL;
	sweep(p);
}

void spill_cut(struct spill *p, size_t size)
{
	assert(size <= p->size);
	spill_sweep(p, false);
	if (size == 0 && (p->fd >= 0 || p->buf.capacity > KEPT_MAX))
		spill_release(p);
	p->size = size;
	if (p->fd < 0)
		p->buf.size = size;
}
