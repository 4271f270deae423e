#include <assert.h>
#include <stdlib.h>

#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/format/block.h"
#include "store/format/sst/sst_read.h"
#include "store/format/sst/sst_tombstones.h"

/*
 * Opening reads and checks all of the block, and notes of each piece where it
 * lies and a checksum of its own: later it is read alone. Tombstones of equal
 * bounds are in one piece, as a lookup looks at all of them.
 */

/* Bytes from which on a piece ends; and so many are kept whole. A piece is a
 * small part of the cache. */
#define PIECE_SIZE 8192
#define PIECE_PART 1024

/* A piece in the cache: its bytes, and as side this, whose items follow it. */
struct decoded {
	struct tombstone_list list; /* owns nothing */
	struct tombstone items[];
};

static size_t piece_size(const struct sst *t)
{
	size_t size = t->cache ? cache_capacity(t->cache) / PIECE_PART : 0;

	return t->cache && size < PIECE_SIZE ? size : PIECE_SIZE;
}

static struct bytes piece_start(const struct sst *t, size_t i)
{
	const struct tombstone_piece *p = &t->tombstones.pieces[i];

	assert(i < t->tombstones.piece_count);
	return bytes_of(t->tombstones.starts.data + p->start_place,
			p->start_size);
}

/* Begins a piece at offset, with the tombstone that starts so. */
static int begin_piece(struct sst_tombstones *s, size_t offset,
		       struct bytes start)
{
	struct tombstone_piece *grown, *p;
	size_t n = s->piece_count;

	/* Whenever it is full, with no capacity to be kept. */
	if ((n & (n - 1)) == 0) {
		grown = realloc(s->pieces, (n ? 2 * n : 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->pieces = grown;
	}
	p = &s->pieces[s->piece_count++];
	*p = (struct tombstone_piece){
		.offset = (uint32_t)offset,
		.start_place = (uint32_t)s->starts.size,
		.start_size = (uint32_t)start.size,
	};
	return buf_add_bytes(&s->starts, start);
}

static void end_piece(struct sst_tombstones *s, struct bytes block,
		      size_t offset)
{
	struct tombstone_piece *p = &s->pieces[s->piece_count - 1];

	p->size = (uint32_t)offset - p->offset;
	p->crc = crc32c(0, bytes_of(block.data + p->offset, p->size));
}

/* Checks all of the block and finds its pieces. */
static int find_pieces(struct sst_tombstones *s, struct bytes block,
		       size_t size)
{
	struct tombstone before = { 0 }, t;
	struct bytes in = block;
	size_t offset, began = 0;
	int err = 0;

	while (in.size > 0 && err == 0) {
		offset = block.size - in.size;
		if (!tombstone_take(&in, &t) ||
		    (s->count > 0 && !tombstone_in_order(&before, &t)))
			return fail(ERR_block_malformed, "bad tombstone %llu",
				    (unsigned long long)s->count);
		if (s->count == 0 || (offset - began >= size &&
				      !bytes_equal(before.start, t.start))) {
			if (s->count > 0)
				end_piece(s, block, offset);
			began = offset;
			err = begin_piece(s, offset, t.start);
		}
		before = t;
		s->count++;
	}
	if (err == 0 && s->count > 0)
		end_piece(s, block, block.size);
	return err;
}

/* Takes what stays in memory from the cache's capacity. */
static void hold(struct sst *t)
{
	struct sst_tombstones *s = &t->tombstones;

	s->held = s->whole.count * sizeof(*s->whole.items) +
		  s->whole.memory.capacity +
		  s->piece_count * sizeof(*s->pieces) + s->starts.capacity;
	if (t->cache)
		cache_hold(t->cache, s->held);
}

int sst_load_tombstones(struct sst *t)
{
	struct sst_handle handle = sst_footer_part(&t->footer, SST_TOMBSTONES);
	struct sst_tombstones *s = &t->tombstones;
	struct cache_block *block;
	int err;

	if (handle.size > 0) {
		err = sst_read_block(t, handle, SST_READ_VOLUME, &block);
		if (err < 0)
			return err;
		/* What is compressed has another size. */
		if (block->bytes.size <= piece_size(t) ||
		    block->bytes.size + BLOCK_TRAILER_SIZE != handle.size)
			err = tombstone_decode(block->bytes, &s->whole);
		else
			err = find_pieces(s, block->bytes, piece_size(t));
		cache_put(t->cache, block);
		if (err < 0)
			return sst_fail(t, handle.offset, err);
		s->count += s->whole.count;
		hold(t);
	}
	if (s->count != t->properties.tombstone_count)
		return fail(ERR_sst_malformed, "%s: %llu tombstones, not %llu",
			    t->reader->path, (unsigned long long)s->count,
			    (unsigned long long)t->properties.tombstone_count);
	return 0;
}

void sst_release_tombstones(struct sst *t)
{
	struct sst_tombstones *s = &t->tombstones;

	if (t->cache && s->held > 0)
		cache_unhold(t->cache, s->held);
	tombstone_list_release(&s->whole);
	buf_release(&s->starts);
	free(s->pieces);
}

/* Decodes the block's bytes, which are a piece's, to its side. */
static int decode(struct cache_block *block)
{
	struct bytes in = block->bytes;
	struct tombstone t;
	struct decoded *d;
	size_t count = 0;

	for (; in.size > 0; count++)
		if (!tombstone_take(&in, &t))
			return fail(ERR_block_malformed, "bad tombstone");
	d = malloc(sizeof(*d) + count * sizeof(*d->items));
	if (!d)
		return -ENOMEM;
	d->list = (struct tombstone_list){ .items = d->items };
	for (in = block->bytes; in.size > 0; d->list.count++)
		(void)!tombstone_take(&in, &d->items[d->list.count]);
	block->side = d;
	block->side_size = sizeof(*d) + count * sizeof(*d->items);
	return 0;
}

/* A piece of the volume, checked and decoded. */
static int read_piece(const struct sst *t, const struct tombstone_piece *p,
		      struct cache_block **out)
{
	struct sst_handle handle = sst_footer_part(&t->footer, SST_TOMBSTONES);
	struct cache_block *block;
	int err;

	handle.offset += p->offset;
	handle.size = p->size;
	err = sst_read_stored(t, handle, &block);
	if (err < 0)
		return err;
	err = crc32c(0, block->bytes) == p->crc
		      ? decode(block)
		      : fail(ERR_block_checksum,
			     "tombstones are not as they were at opening");
	if (err < 0) {
		cache_put(t->cache, block);
		return sst_fail(t, handle.offset, err);
	}
	if (t->cache)
		cache_insert(t->cache, t->file_id, handle.offset, block);
	*out = block;
	return 0;
}

static void leave(struct tombstone_reader *r)
{
	if (r->block)
		cache_put(r->sst->cache, r->block);
	r->block = NULL;
	r->list = NULL;
}

/* Brings the reader into piece i, before its first. */
static int enter(struct tombstone_reader *r, size_t i)
{
	const struct sst_tombstones *s = &r->sst->tombstones;
	uint64_t part = sst_footer_part(&r->sst->footer, SST_TOMBSTONES).offset;
	int err = 0;

	r->next = 0;
	if (r->list && r->piece == i)
		return 0;
	leave(r);
	r->piece = i;
	if (s->piece_count == 0) {
		r->list = &s->whole;
		return 0;
	}
	if (r->sst->cache)
		r->block = cache_get(r->sst->cache, r->sst->file_id,
				     part + s->pieces[i].offset);
	if (!r->block)
		err = read_piece(r->sst, &s->pieces[i], &r->block);
	if (err == 0)
		r->list = &((struct decoded *)r->block->side)->list;
	return err;
}

void tombstone_reader_init(struct tombstone_reader *r, struct sst *t)
{
	*r = (struct tombstone_reader){ .sst = t };
}

void tombstone_reader_release(struct tombstone_reader *r)
{
	leave(r);
}

int tombstone_reader_cover(struct tombstone_reader *r, struct bytes key,
			   uint64_t visible_seq, struct tombstone *span)
{
	size_t low = 0, high = r->sst->tombstones.piece_count;
	int err;

	/* The last piece that does not start after key, or the first. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (bytes_compare(piece_start(r->sst, middle), key) <= 0)
			low = middle;
		else
			high = middle;
	}
	err = enter(r, low);
	if (err < 0)
		return err;
	tombstone_cover(r->list, key, visible_seq, span);
	/* What follows is in the next piece. */
	if (span->end.size == 0 && low + 1 < r->sst->tombstones.piece_count)
		span->end = piece_start(r->sst, low + 1);
	return 0;
}

int tombstone_reader_next(struct tombstone_reader *r,
			  const struct tombstone **out)
{
	int err = r->list ? 0 : enter(r, 0);

	if (err == 0 && r->next == r->list->count) {
		if (r->piece + 1 >= r->sst->tombstones.piece_count)
			return 0;
		err = enter(r, r->piece + 1);
	}
	if (err < 0)
		return err;
	assert(r->next < r->list->count); /* no piece is empty */
	*out = &r->list->items[r->next++];
	return 1;
}

struct bytes tombstone_reader_ahead(const struct tombstone_reader *r,
				    size_t pieces)
{
	size_t at = (r->list ? r->piece : 0) + pieces;

	return at < r->sst->tombstones.piece_count ? piece_start(r->sst, at)
						   : BYTES_NONE;
}
