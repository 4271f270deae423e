#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_spare.h"

/* st_blocks counts these. */
#define BLOCK_UNIT 512
/* A file that has less is not worth keeping as a piece. */
#define PIECE_MIN (UINT64_C(64) << 10)
/* A piece may be larger than is wanted by so much. */
#define SURPLUS_MAX (UINT64_C(1) << 20)

#define PIECE_NAME_SIZE 32

static void piece_name(uint64_t number, char *name)
{
	snprintf(name, PIECE_NAME_SIZE, "%" PRIu64 POSIX_SPARE, number);
}

void posix_spares_init(struct posix_volume *v)
{
	pthread_mutex_init(&v->spares.lock, NULL);
}

void posix_spares_end(struct posix_volume *v)
{
	pthread_mutex_destroy(&v->spares.lock);
}

/* Makes a file as long as size by zeros; after a failure it is as long as it
 * was. */
static int add_zeros(int fd, uint64_t size, const char *path)
{
	static const uint8_t zeros[64 << 10];
	struct stat st;
	uint64_t at;
	int err = 0;

	if (fstat(fd, &st) < 0)
		return fail(errno, "%s: cannot tell its size", path);
	for (at = (uint64_t)st.st_size; at < size && err == 0;) {
		size_t left = size - at < sizeof(zeros) ? (size_t)(size - at)
							: sizeof(zeros);
		ssize_t n = pwrite(fd, zeros, left, (off_t)at);

		if (n < 0 && errno != EINTR)
			err = fail(errno, "%s: cannot hold room", path);
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (err < 0 && ftruncate(fd, st.st_size) < 0)
		return fail(EIO, "%s: cannot cut off zeros", path);
	return err;
}

int posix_allocate(int fd, uint64_t size, const char *path)
{
	int err;

	assert(size <= INT64_MAX);
	do {
		err = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
	} while (err < 0 && errno == EINTR);
	if (err < 0 && errno == EOPNOTSUPP)
		return add_zeros(fd, size, path);
	return err < 0 ? fail(errno, "%s: cannot hold room", path) : 0;
}

/* Where it belongs in the order. There is room. Needs lock. */
static void add_piece(struct posix_spares *s, uint64_t number, uint64_t size)
{
	size_t i = s->count++;

	assert(s->count <= VOLUME_SPARES_MAX);
	for (; i > 0 && s->items[i - 1].size < size; i--)
		s->items[i] = s->items[i - 1];
	s->items[i] = (struct posix_piece){ number, size };
}

/* Needs lock. */
static struct posix_piece remove_piece(struct posix_spares *s, size_t i)
{
	struct posix_piece piece = s->items[i];

	assert(i < s->count);
	s->count--;
	memmove(&s->items[i], &s->items[i + 1],
		(s->count - i) * sizeof(s->items[0]));
	return piece;
}

/* Bytes of the blocks of fd; 0 if that cannot be told. */
static uint64_t blocks_size(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * BLOCK_UNIT;
}

/* Brings a piece that is in no order, or a new one, to size bytes, and notes
 * what it has then. Twice the same length, since cutting a file to the length
 * that it has gives back the blocks behind. Needs lock. */
static int resize(struct posix_volume *v, struct posix_piece piece,
		  uint64_t size)
{
	char name[PIECE_NAME_SIZE];
	int fd, err = 0;

	piece_name(piece.number, name);
	fd = openat(v->directory, name,
		    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		    0600);
	if (fd < 0)
		return fail(errno, "%s/%s: cannot open", v->path, name);
	if (piece.size > size)
		err = ftruncate(fd, (off_t)size) < 0 ||
				      ftruncate(fd, (off_t)size) < 0
			      ? fail(errno, "%s/%s: cannot cut", v->path, name)
			      : 0;
	else
		err = posix_allocate(fd, size, name);
	piece.size = err == 0 ? size : blocks_size(fd);
	close(fd);
	if (piece.size >= PIECE_MIN || err == 0)
		add_piece(&v->spares, piece.number, piece.size);
	else
		unlinkat(v->directory, name, 0);
	return err;
}

/* Needs lock. */
static void unlink_last(struct posix_volume *v)
{
	char name[PIECE_NAME_SIZE];

	piece_name(remove_piece(&v->spares, v->spares.count - 1).number, name);
	unlinkat(v->directory, name, 0);
}

/* qsort's. */
static int larger_first(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? 1 : left > right ? -1 : 0;
}

/* Brings the i-th piece to what the i-th is to have. Needs lock. */
static int fit(struct posix_volume *v, size_t i)
{
	struct posix_spares *s = &v->spares;
	struct posix_piece piece;

	if (i == s->count) {
		piece = (struct posix_piece){ s->next_number++, 0 };
	} else if (s->items[i].size >= s->wanted[i] &&
		   s->items[i].size <= s->wanted[i] + SURPLUS_MAX) {
		return 0;
	} else {
		piece = remove_piece(s, i);
	}
	return resize(v, piece, s->wanted[i]);
}

/* Wants what there is, too, where that is more. Needs lock. */
static void want_all(struct posix_spares *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (i == s->wanted_count)
			s->wanted[s->wanted_count++] = 0;
		if (s->wanted[i] < s->items[i].size)
			s->wanted[i] = s->items[i].size;
	}
}

int posix_spare_hold(struct volume *volume, const uint64_t *sizes, size_t count,
		     bool keep)
{
	struct posix_volume *v = posix(volume);
	struct posix_spares *s = &v->spares;
	int err = posix_guard(v);
	size_t i;

	if (err < 0)
		return err;
	assert(count <= VOLUME_SPARES_MAX);
	pthread_mutex_lock(&s->lock);
	if (count > 0)
		memcpy(s->wanted, sizes, count * sizeof(*sizes));
	qsort(s->wanted, count, sizeof(*sizes), larger_first);
	s->wanted_count = count;
	if (keep)
		want_all(s);
	while (s->count > s->wanted_count)
		unlink_last(v);
	for (i = 0; i < s->wanted_count && err == 0; i++)
		err = fit(v, i);
	pthread_mutex_unlock(&s->lock);
	return err == -EDQUOT ? -ENOSPC : err;
}

/* Whether a piece of size bytes would do what none does. Needs lock. */
static bool is_missing(const struct posix_spares *s, uint64_t size)
{
	size_t i;

	if (s->count == VOLUME_SPARES_MAX || size < PIECE_MIN)
		return false;
	for (i = 0; i < s->wanted_count; i++)
		if (i >= s->count || s->items[i].size < s->wanted[i])
			return true;
	return false;
}

/* Needs lock. */
static int wipe_piece(struct posix_volume *v, uint64_t number)
{
	char name[PIECE_NAME_SIZE];
	int fd, err;

	piece_name(number, name);
	fd = openat(v->directory, name,
		    O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* Who has no lock may have deleted it. */
	if (fd < 0)
		return errno == ENOENT ? 0
				       : fail(errno, "%s/%s: cannot open",
					      v->path, name);
	err = posix_zero(fd, name);
	if (err == 0)
		err = posix_sync_file(fd, name);
	close(fd);
	return err;
}

int posix_spare_wipe(struct volume *volume)
{
	struct posix_volume *v = posix(volume);
	int err = posix_guard(v);
	size_t i;

	pthread_mutex_lock(&v->spares.lock);
	for (i = 0; i < v->spares.count && err == 0; i++)
		err = wipe_piece(v, v->spares.items[i].number);
	pthread_mutex_unlock(&v->spares.lock);
	return err < 0 ? err : posix_sync_directory(v);
}

bool posix_has_one_name(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
}

/* Whether overwriting fd harms nobody. A lease to write is given only to him
 * who has the file open alone. */
static bool is_alone(int fd)
{
	if (!posix_has_one_name(fd) || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return false;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

/* Renames name to a piece; who has it open or links it meanwhile would see it
 * overwritten, so that is asked for when nobody finds it by its name any more.
 * Needs lock. */
static bool make_piece(struct posix_volume *v, const char *name, int fd)
{
	char piece[PIECE_NAME_SIZE];
	uint64_t number = v->spares.next_number++;

	piece_name(number, piece);
	if (renameat2(v->directory, name, v->directory, piece,
		      RENAME_NOREPLACE) < 0)
		return false;
	if (is_alone(fd))
		add_piece(&v->spares, number, blocks_size(fd));
	else
		unlinkat(v->directory, piece, 0);
	return true;
}

bool posix_spare_give(struct posix_volume *v, const char *name)
{
	int fd = openat(v->directory, name,
			O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool given = false;

	if (fd < 0)
		return false;
	pthread_mutex_lock(&v->spares.lock);
	if (is_missing(&v->spares, blocks_size(fd)))
		given = make_piece(v, name, fd);
	pthread_mutex_unlock(&v->spares.lock);
	close(fd);
	return given;
}

/* The number of a piece by its name; false if it is none. */
static bool parse_piece(const char *name, uint64_t *number)
{
	char again[PIECE_NAME_SIZE];

	if (!isdigit((unsigned char)name[0]))
		return false;
	*number = strtoull(name, NULL, 10);
	piece_name(*number, again);
	return *number < UINT64_MAX && strcmp(name, again) == 0;
}

bool posix_spare_found(struct posix_volume *v, const char *name)
{
	struct posix_spares *s = &v->spares;
	int fd = openat(v->directory, name,
			O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t number, size = fd < 0 ? 0 : blocks_size(fd);
	bool named = parse_piece(name, &number), keep = false;

	pthread_mutex_lock(&s->lock);
	/* Also if it stays, as a directory does. */
	if (named && number >= s->next_number)
		s->next_number = number + 1;
	if (s->count < VOLUME_SPARES_MAX && size >= PIECE_MIN) {
		if (!named) {
			keep = make_piece(v, name, fd);
		} else if (posix_has_one_name(fd)) {
			add_piece(s, number, size);
			keep = true;
		}
	}
	pthread_mutex_unlock(&s->lock);
	if (fd >= 0)
		close(fd);
	return keep;
}

int posix_spare_take(struct posix_volume *v, const char *name, uint64_t size,
		     bool largest, const char *path, uint64_t *room)
{
	struct posix_spares *s = &v->spares;
	struct posix_piece piece;
	char from[PIECE_NAME_SIZE];
	size_t i;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	i = s->count;
	while (i > 0 && s->items[i - 1].size < size)
		i--;
	if (i == 0 && !(largest && s->count > 0)) {
		err = fail(ENOSPC, "%s: no room is held for it", path);
		goto unlock;
	}
	i -= i > 0;
	piece_name(s->items[i].number, from);
	if (renameat2(v->directory, from, v->directory, name,
		      RENAME_NOREPLACE) < 0) {
		err = fail(errno, "%s/%s: cannot rename to %s", v->path, from,
			   name);
		goto unlock;
	}
	piece = remove_piece(s, i);
	*room = piece.size;
	err = openat(v->directory, name,
		     O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (err < 0)
		err = fail(errno, "%s: cannot open", path);
unlock:
	pthread_mutex_unlock(&s->lock);
	return err;
}
