#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_note.h"

void posix_notes_end(struct posix_volume *v)
{
	if (v->notes >= 0)
		close(v->notes);
	v->notes = -1;
}

/* Opens LOG, or makes it. A pipe would wait for a reader, or steal from it. */
static int open_notes(struct posix_volume *v, struct stat *st)
{
	v->notes = openat(v->directory, VOLUME_NOTES,
			  O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
				  O_NONBLOCK | O_NOCTTY,
			  0600);
	if (v->notes < 0 || fstat(v->notes, st) < 0)
		return fail(errno,
			    "%s/" VOLUME_NOTES ": cannot open, so events are "
			    "not logged",
			    v->path);
	if (!S_ISREG(st->st_mode))
		return fail(EIO,
			    "%s/" VOLUME_NOTES ": not a regular file, so "
			    "events are not logged; move it away",
			    v->path);
	return 0;
}

/* Goes on with an empty LOG. Where the present one cannot be renamed, as what
 * is there as LOG.1 is a directory, it goes. */
static int begin_notes(struct posix_volume *v, struct stat *st)
{
	posix_notes_end(v);
	if (renameat2(v->directory, VOLUME_NOTES, v->directory,
		      VOLUME_NOTES_OLD, 0) < 0 &&
	    unlinkat(v->directory, VOLUME_NOTES, 0) < 0)
		return fail(errno, "%s/" VOLUME_NOTES ": cannot rename",
			    v->path);
	return open_notes(v, st);
}

/* Makes v->notes a file that takes size bytes more, and tells its size. One
 * that was removed makes way for a new one; one that has another name as well,
 * such as in a copy that was made by links, is not written to. */
static int prepare(struct posix_volume *v, size_t size, uint64_t size_max,
		   struct stat *st)
{
	int err = 0;

	if (v->notes >= 0 && (fstat(v->notes, st) < 0 || st->st_nlink == 0))
		posix_notes_end(v);
	if (v->notes < 0)
		err = open_notes(v, st);
	if (!err &&
	    (st->st_nlink != 1 ||
	     (st->st_size > 0 && (uint64_t)st->st_size + size > size_max)))
		err = begin_notes(v, st);
	return err;
}

/* Ends a line that a power cut or a failure has cut. */
static int end_line(struct posix_volume *v, off_t size)
{
	char last = '\n';

	if (size > 0 && pread(v->notes, &last, 1, size - 1) < 0)
		return fail(errno, "%s/" VOLUME_NOTES ": cannot read", v->path);
	return last == '\n' ? 0
			    : posix_write_all(v->notes, BYTES_LITERAL("\n"),
					      v->path);
}

int posix_note(struct volume *volume, struct bytes lines, uint64_t size_max)
{
	struct posix_volume *v = posix(volume);
	bool opened = v->notes >= 0;
	struct stat st = { 0 };
	int err = posix_guard(v);

	if (err < 0)
		return err;
	if (v->lock < 0)
		return fail(EINVAL, "%s: lease is not held", v->path);
	err = prepare(v, lines.size, size_max, &st);
	if (err < 0)
		goto end;
	if (!opened)
		err = end_line(v, st.st_size);
	if (!err)
		err = posix_write_all(v->notes, lines, v->path);
	/* What a full disk took of them. */
	if (err < 0 && ftruncate(v->notes, st.st_size) < 0)
		err = -EIO;
end:
	/* The next call looks at what is there then. */
	if (err < 0)
		posix_notes_end(v);
	return err;
}
