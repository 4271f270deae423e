#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_posix.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_heat.h"
#include "store/base/volume/volume_posix_note.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/base/volume/volume_posix_reader.h"
#include "store/base/volume/volume_posix_spare.h"

/*
 * Segments and logs of a directory, and the volume itself. An object has a
 * descriptor and its path for messages; volume.h says which calls may run in
 * parallel, so there are no locks here: the kernel's do.
 */

/* Start writing back so often while a segment is streamed, so that its sync
 * does not stop everything else for long. */
#define WRITE_BACK_SIZE (1 << 20)

struct posix_writer {
	struct segment_writer writer; /* first, so that it can be cast */
	struct posix_volume *volume;  /* borrowed */
	char *path;                   /* of the finished file; owned */
	const char *name;             /* the end of path */
	int fd;                       /* of name.tmp */
	uint64_t written_back;        /* bytes whose writing was begun */
	bool from_spare;              /* there may be more behind its end */
};

struct posix_log {
	struct log log;              /* first, so that it can be cast */
	struct posix_volume *volume; /* borrowed */
	char *path;                  /* owned */
	int fd;                      /* its offset is where the log ends */
	uint64_t held;               /* bytes that need no new space */
	/* The kernel forgets what it could not write after it has told one
	 * caller, so there is one at a time, and none after one that failed. */
	pthread_mutex_t syncing;
	bool named;  /* the directory was synced; protected by syncing */
	bool broken; /* a sync has failed; as well */
};

/* Files that the engine must neither name nor see. */
static bool is_own(const char *name)
{
	return strcmp(name, POSIX_MARKER) == 0 ||
	       strcmp(name, POSIX_ROOT) == 0 || strcmp(name, POSIX_LOCK) == 0 ||
	       posix_is_tmp(name) || posix_is_spare(name);
}

/* Names as volume.h has them, and no other entry of the directory. A dot cannot
 * come first, so that there are no hidden files and no "..". */
static bool is_name(const char *name)
{
	size_t n = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz.-");

	return n > 0 && n <= VOLUME_NAME_MAX && !name[n] && name[0] != '.' &&
	       !is_own(name);
}

/* What the manifest names was read from disk, so this is no assertion. */
static int check_name(const struct posix_volume *v, const char *name)
{
	if (!is_name(name))
		return fail(EINVAL, "%s/%s: not a name for a file of a store",
			    v->path, name);
	return 0;
}

/* The same, of what is to be changed. */
static int check_change(const struct posix_volume *v, const char *name)
{
	int err = posix_guard(v);

	return err < 0 ? err : check_name(v, name);
}

/* A writer without its file; *out is NULL on failure. */
static int writer_new(struct posix_volume *v, const char *name,
		      struct posix_writer **out)
{
	struct posix_writer *w;
	int err = check_change(v, name);

	*out = NULL;
	if (err < 0)
		return err;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->path = posix_path(v, name);
	if (!w->path) {
		err = -ENOMEM;
		goto free_writer;
	}
	/* Told early; posix_publish would refuse it as well. */
	if (!faccessat(v->directory, name, F_OK, AT_SYMLINK_NOFOLLOW)) {
		err = fail(EEXIST, "%s: cannot create", w->path);
		goto free_writer;
	}
	w->volume = v;
	w->name = w->path + strlen(v->path) + 1;
	w->writer.ops = v->volume.ops;
	w->writer.path = w->path;
	*out = w;
	return 0;

free_writer:
	free(w->path);
	free(w);
	return err;
}

static void writer_free(struct posix_writer *w)
{
	free(w->path);
	free(w);
}

static int posix_segment_create(struct volume *volume, const char *name,
				struct segment_writer **out)
{
	struct posix_volume *v = posix(volume);
	char tmp[POSIX_TMP_NAME_SIZE];
	struct posix_writer *w;
	int err = writer_new(v, name, &w);

	*out = NULL;
	if (err < 0)
		return err;
	posix_tmp_name(name, tmp);
	w->fd = openat(v->directory, tmp,
		       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0) {
		err = fail(errno, "%s" POSIX_TMP ": cannot create", w->path);
		writer_free(w);
		return err;
	}
	*out = &w->writer;
	return 0;
}

static int posix_segment_from_spare(struct volume *volume, const char *name,
				    uint64_t size, struct segment_writer **out)
{
	struct posix_volume *v = posix(volume);
	char tmp[POSIX_TMP_NAME_SIZE];
	struct posix_writer *w;
	uint64_t room;
	int err = writer_new(v, name, &w);

	*out = NULL;
	if (err < 0)
		return err;
	posix_tmp_name(name, tmp);
	w->fd = posix_spare_take(v, tmp, size, true, w->path, &room);
	if (w->fd < 0) {
		err = w->fd;
		writer_free(w);
		return err;
	}
	w->from_spare = true;
	*out = &w->writer;
	return 0;
}

static int posix_segment_append(struct segment_writer *writer,
				struct bytes data)
{
	struct posix_writer *w = (struct posix_writer *)writer;
	uint64_t fresh;
	int err = posix_guard(w->volume);

	if (err == 0)
		err = posix_write_all(w->fd, data, w->path);
	if (err < 0)
		return err;
	writer->size += data.size;
	fresh = writer->size - w->written_back;
	if (fresh >= WRITE_BACK_SIZE) {
		/* A hint: what goes wrong here, the sync will tell. */
		sync_file_range(w->fd, (off_t)w->written_back, (off_t)fresh,
				SYNC_FILE_RANGE_WRITE);
		w->written_back = writer->size;
	}
	return 0;
}

/* What was not finished is held as a piece if one is missing. Whoever takes the
 * lease does that for who has it no more. */
static void drop_tmp(struct posix_writer *w)
{
	char tmp[POSIX_TMP_NAME_SIZE];

	if (atomic_load(&w->volume->released))
		return;
	posix_tmp_name(w->name, tmp);
	if (!posix_spare_give(w->volume, tmp))
		posix_remove_tmp(w->volume, w->name);
}

/* Cut, sync, close, rename, sync of the directory: in this order, so that a
 * name that is seen stands for all of the bytes and no more. */
static int posix_segment_finish(struct segment_writer *writer)
{
	struct posix_writer *w = (struct posix_writer *)writer;
	int err = posix_guard(w->volume);

	assert(writer->size <= INT64_MAX);
	if (!err && w->from_spare && ftruncate(w->fd, (off_t)writer->size) < 0)
		err = fail(errno, "%s: cannot cut", w->path);
	if (!err)
		err = posix_sync_file(w->fd, w->path);
	assert(w->written_back <= writer->size);
	if (close(w->fd) < 0 && !err && errno != EINTR)
		err = fail(errno, "%s: cannot close", w->path);
	if (!err)
		err = posix_publish(w->volume, w->name, false);
	if (err < 0)
		drop_tmp(w);
	writer_free(w);
	return err;
}

static void posix_segment_abandon(struct segment_writer *writer)
{
	struct posix_writer *w = (struct posix_writer *)writer;

	close(w->fd);
	drop_tmp(w);
	writer_free(w);
}

/* A log without its file; *out is NULL on failure. */
static int log_new(struct posix_volume *v, const char *name,
		   struct posix_log **out)
{
	struct posix_log *l;
	int err = check_change(v, name);

	*out = NULL;
	if (err < 0)
		return err;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->path = posix_path(v, name);
	if (!l->path) {
		free(l);
		return -ENOMEM;
	}
	pthread_mutex_init(&l->syncing, NULL);
	l->volume = v;
	l->log.ops = v->volume.ops;
	l->log.path = l->path;
	*out = l;
	return 0;
}

static void posix_log_close(struct log *log)
{
	struct posix_log *l = (struct posix_log *)log;

	if (l->fd >= 0)
		close(l->fd);
	pthread_mutex_destroy(&l->syncing);
	free(l->path);
	free(l);
}

static int posix_log_create(struct volume *volume, const char *name,
			    struct log **out)
{
	struct posix_volume *v = posix(volume);
	struct posix_log *l;
	int err = log_new(v, name, &l);

	*out = NULL;
	if (err < 0)
		return err;
	l->fd = openat(v->directory, name,
		       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (l->fd < 0) {
		err = fail(errno, "%s: cannot create", l->path);
		posix_log_close(&l->log);
		return err;
	}
	*out = &l->log;
	return 0;
}

static int posix_log_from_spare(struct volume *volume, const char *name,
				uint64_t size, struct log **out)
{
	struct posix_volume *v = posix(volume);
	char tmp[POSIX_TMP_NAME_SIZE];
	struct posix_log *l;
	int err = log_new(v, name, &l);

	*out = NULL;
	if (err < 0)
		return err;
	/* Under its own name it would look like a log with a wrong end. */
	posix_tmp_name(name, tmp);
	l->fd = posix_spare_take(v, tmp, size, false, l->path, &l->held);
	err = l->fd < 0 ? l->fd : posix_zero(l->fd, l->path);
	if (err == 0)
		err = posix_publish(v, name, false);
	if (err < 0) {
		if (l->fd >= 0)
			posix_remove_tmp(v, name);
		posix_log_close(&l->log);
		return err;
	}
	*out = &l->log;
	return 0;
}

static int posix_log_hold(struct log *log, uint64_t size)
{
	struct posix_log *l = (struct posix_log *)log;
	int err = posix_guard(l->volume);

	if (err == 0 && l->held < size)
		err = posix_allocate(l->fd, size, l->path);
	if (err == 0 && l->held < size)
		l->held = size;
	return err == -EDQUOT ? -ENOSPC : err;
}

/* A full disk may have taken the first part of data: that is cut off, so that
 * the log ends where it did and can go on when there is room. With room held,
 * it is held for all of data first, as a cut would give it back. */
static int posix_log_append(struct log *log, struct bytes data)
{
	struct posix_log *l = (struct posix_log *)log;
	int err = posix_guard(l->volume);

	if (err == 0 && l->held > 0 && log->size + data.size > l->held)
		err = posix_log_hold(log, log->size + data.size);
	if (err < 0)
		return err;
	err = posix_write_all(l->fd, data, l->path);
	if (!err)
		log->size += data.size;
	if (err != -ENOSPC && err != -EDQUOT)
		return err;
	assert(log->size <= INT64_MAX);
	if (ftruncate(l->fd, (off_t)log->size) < 0 ||
	    lseek(l->fd, (off_t)log->size, SEEK_SET) < 0)
		return fail(EIO, "%s: cannot cut off what a full disk left",
			    l->path);
	l->held = 0;
	return -ENOSPC;
}

/* For lack of space, too, the kernel drops what it had: that is no -ENOSPC,
 * which may be tried again. Needs syncing. */
static int sync_once(struct posix_log *l)
{
	int err;

	if (l->broken)
		return fail(EIO, "%s: an earlier sync failed", l->path);
	/* Times need not be durable; the size is, as it is needed to read. */
	do {
		err = fdatasync(l->fd);
	} while (err < 0 && errno == EINTR);
	if (err < 0)
		err = fail(errno == ENOSPC || errno == EDQUOT ? EIO : errno,
			   "%s: cannot sync: %s", l->path, strerror(errno));
	if (!err && !l->named) {
		err = posix_sync_directory(l->volume);
		l->named = !err;
	}
	l->broken = err < 0;
	return err == -ENOSPC ? -EIO : err;
}

static int posix_log_sync(struct log *log)
{
	struct posix_log *l = (struct posix_log *)log;
	int err = posix_guard(l->volume);

	if (err < 0)
		return err;
	pthread_mutex_lock(&l->syncing);
	err = sync_once(l);
	pthread_mutex_unlock(&l->syncing);
	return err;
}

/* fsync makes durable what any process wrote to the file, so a descriptor that
 * only reads will do. */
static int posix_log_keep(struct volume *volume, const char *name)
{
	struct posix_volume *v = posix(volume);
	int err = check_change(v, name), fd;
	char *path;

	if (err < 0)
		return err;
	path = posix_path(v, name);
	if (!path)
		return -ENOMEM;
	fd = openat(v->directory, name,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		err = fail(errno, "%s: cannot open", path);
	} else {
		err = posix_sync_file(fd, path);
		close(fd);
	}
	free(path);
	return err < 0 ? err : posix_sync_directory(v);
}

static int posix_open(struct volume *volume, const char *name,
		      struct reader **out)
{
	struct posix_volume *v = posix(volume);
	int err = check_name(v, name);

	*out = NULL;
	return err < 0 ? err : posix_reader_open(v, name, out);
}

static int posix_remove(struct volume *volume, const char *name)
{
	struct posix_volume *v = posix(volume);
	int err = check_change(v, name);

	if (err < 0)
		return err;
	if (!posix_spare_give(v, name) && unlinkat(v->directory, name, 0) < 0)
		return fail(errno, "%s/%s: cannot remove", v->path, name);
	return 0;
}

/* Hard links: both names are the file's, which never changes again, and it goes
 * with the last of them. Where one is not allowed, as for a file of another
 * user or with too many, it is as if it were another file system. */
static int posix_link(struct volume *volume, const char *name,
		      struct volume *to)
{
	struct posix_volume *v = posix(volume), *other = posix(to);
	int err;

	if (to->ops != volume->ops)
		return fail(EXDEV, "%s/%s: cannot link", v->path, name);
	err = posix_guard(other);
	if (err < 0)
		return err;
	if (linkat(v->directory, name, other->directory, name, 0) < 0)
		return fail(
			errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP
				? EXDEV
				: errno,
			"%s/%s: cannot link to %s", v->path, name, other->path);
	return posix_sync_directory(other);
}

/* What is no name of the engine's is passed over: the volume's own files, and
 * what users put into the directory. */
struct list_context {
	int (*each)(void *context, const char *name);
	void *context;
};

static int list_entry(void *context, const char *name)
{
	struct list_context *c = context;
	int err = is_name(name) ? c->each(c->context, name) : 0;

	return err < 0 ? err : 0;
}

static int posix_list(struct volume *volume,
		      int (*each)(void *context, const char *name),
		      void *context)
{
	struct list_context c = { each, context };

	return posix_each_entry(posix(volume), list_entry, &c);
}

static int posix_space(struct volume *volume, struct volume_space *out)
{
	struct posix_volume *v = posix(volume);
	struct statvfs st;

	if (fstatvfs(v->directory, &st) < 0)
		return fail(errno, "%s: cannot tell its space", v->path);
	out->total_size = (uint64_t)st.f_blocks * st.f_frsize;
	out->free_size = (uint64_t)st.f_bfree * st.f_frsize;
	out->available_size = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

static void posix_close(struct volume *volume)
{
	struct posix_volume *v = posix(volume);

	posix_lease_release(volume);
	posix_spares_end(v);
	posix_notes_end(v);
	if (v->directory >= 0)
		close(v->directory);
	free(v->path);
	free(v);
}

static const struct volume_ops posix_ops = {
	.segment_create = posix_segment_create,
	.segment_append = posix_segment_append,
	.segment_finish = posix_segment_finish,
	.segment_abandon = posix_segment_abandon,
	.log_create = posix_log_create,
	.log_append = posix_log_append,
	.log_sync = posix_log_sync,
	.log_close = posix_log_close,
	.log_keep = posix_log_keep,
	.log_hold = posix_log_hold,
	.spare_hold = posix_spare_hold,
	.segment_from_spare = posix_segment_from_spare,
	.log_from_spare = posix_log_from_spare,
	.spare_wipe = posix_spare_wipe,
	.open = posix_open,
	.pread = posix_pread,
	.reader_close = posix_reader_close,
	.remove = posix_remove,
	.link = posix_link,
	.list = posix_list,
	.root_get = posix_root_get,
	.root_swap = posix_root_swap,
	.lease_take = posix_lease_take,
	.lease_check = posix_lease_check,
	.lease_left = posix_lease_left,
	.lease_describe = posix_lease_describe,
	.lease_share = posix_lease_share,
	.lease_release = posix_lease_release,
	.note = posix_note,
	.heat_read = posix_heat_read,
	.heat_append = posix_heat_append,
	.heat_replace = posix_heat_replace,
	.scratch = posix_scratch,
	.space = posix_space,
	.close = posix_close,
};

int volume_posix_stat(struct volume *volume, struct stat *st)
{
	struct posix_volume *v = posix(volume);

	if (volume->ops != &posix_ops)
		return fail(ENOTDIR, "%s: is no directory", volume->path);
	return fstat(v->directory, st) < 0 ? fail(errno, "%s", v->path) : 0;
}

bool volume_posix_mark(struct volume *volume, const char *name,
		       struct file_mark *out)
{
	struct stat st;

	*out = (struct file_mark){ 0 };
	if (volume->ops != &posix_ops ||
	    fstatat(posix(volume)->directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	*out = (struct file_mark){ st.st_dev, st.st_ino,
				   (uint64_t)st.st_mtim.tv_sec * 1000000000 +
					   (uint64_t)st.st_mtim.tv_nsec };
	return true;
}

/* 1 if it made the directory. *out is what there is of the volume, or NULL,
 * also on failure: give_volume ends it. */
static int open_directory(const char *directory, bool create,
			  struct posix_volume **out)
{
	struct posix_volume *v = calloc(1, sizeof(*v));
	struct stat st;
	int made = 0, err;

	*out = v;
	if (!v)
		return -ENOMEM;
	v->directory = -1;
	v->lock = v->share = v->marked = -1;
	v->notes = -1;
	posix_spares_init(v);
	v->volume.ops = &posix_ops;
	v->volume.survives_kill = true;
	v->path = strdup(directory);
	if (!v->path)
		return -ENOMEM;
	v->volume.path = v->path;
	if (create)
		made = posix_make_directory(v);
	if (made < 0)
		return made;
	v->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = v->directory < 0 ? fail(errno, "%s: cannot open", directory)
			       : posix_check_owner(v);
	if (!err && fstat(v->directory, &st) == 0)
		v->volume.mark = (struct volume_mark){ st.st_dev, st.st_ino };
	return err < 0 ? err : made;
}

/* Gives v out, or ends it after an error. */
static int give_volume(struct posix_volume *v, int err, struct volume **out)
{
	*out = err < 0 ? NULL : &v->volume;
	if (err < 0 && v)
		posix_close(&v->volume);
	return err;
}

int volume_posix_open(const char *directory, bool create, struct volume **out)
{
	struct posix_volume *v;
	int made = open_directory(directory, create, &v), err = made;

	if (made >= 0)
		err = posix_check_marker(v, create);
	/* In a mount it would be a table. */
	if (err < 0 && made > 0)
		rmdir(directory);
	if (err == -EPERM && made > 0)
		err = fail(EPERM,
			   "%s: no file may be made there; name a directory "
			   "that is not in a mount",
			   directory);
	return give_volume(v, err, out);
}

int volume_posix_open_damaged(const char *directory, struct volume **out)
{
	struct posix_volume *v;
	int err = open_directory(directory, false, &v);

	if (err == 0) {
		err = posix_check_marker(v, false);
		if (err != 0 && err != -ENOMEM && err != -ERR_format_newer)
			err = 1;
	}
	return give_volume(v, err, out);
}
