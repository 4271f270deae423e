#ifndef STORE_BASE_VOLUME_VOLUME_H
#define STORE_BASE_VOLUME_VOLUME_H

#include "store/base/buf.h"

/*
 * Volume: everything the engine persists goes through here, so that the same
 * engine runs on a local directory (volume_posix), on a crashable volume in
 * memory (tests/sim), and later on an object store. Nothing
 * that is visible is overwritten or renamed. It holds five kinds of things:
 *
 *   segment   an immutable object, streamed once and visible only when
 *             finished; finished means durable, its name included
 *   log       an object that grows by appends; what log_sync covered is
 *             durable, its name included; readable while it grows
 *   root      one small object, changed only by compare and swap
 *   lease     the right of one holder to write, or of any number to read
 *   spare     room that is held in pieces: blocks that no other user of the
 *             disk can take, for a segment or a log that must be written when
 *             it is full
 *
 * and notes: lines for people, which are no object, have no name for the engine
 * and are never read by it; and the history of heat, which is none either.
 *
 * Names are [0-9a-z.-]+, at most VOLUME_NAME_MAX bytes, chosen by the engine
 * and never used twice in the life of a volume.
 *
 * Every call returns 0 (or a count) or a negative error with err_detail() set,
 * naming the file; -ENOMEM may come without. On failure *out is NULL. Calls on
 * different objects may run in parallel; of one writer or log only reads may
 * run beside another call, but log_sync, which any number of threads may call
 * beside one that appends; of the lease one call at a time, but lease_check.
 */
#define VOLUME_NAME_MAX 63
#define VOLUME_SPARES_MAX 96
#define VOLUME_NOTES "LOG"
#define VOLUME_NOTES_OLD "LOG.1"
#define VOLUME_HEAT "HEAT"
#define VOLUME_HEAT_MAX (UINT64_C(64) << 20) /* bytes that are read of it */

struct volume;
struct segment_writer;
struct log;
struct reader;

/* Of the file system or pool that the volume is on, in bytes. */
struct volume_space {
	uint64_t total_size;
	uint64_t free_size;
	uint64_t available_size; /* to an unprivileged user */
};

/*
 * What a volume can do; every volume has all of these.
 *
 * Who has, or had, the lease to write is a holder. When lease_take has returned
 * 0, every former holder is deposed: whatever it calls from then on that would
 * change something (segment_create, segment_append, segment_finish, log_create,
 * log_append, log_sync, log_keep, the calls with spare or hold in their names,
 * remove, link into it, root_swap, note, heat_append, heat_replace,
 * lease_describe) fails with -ERR_store_lost and changes nothing, and what
 * open, pread, list and root_get then tell to the new holder is final but for
 * what that changes itself. What ends an object, segment_abandon and log_close,
 * only frees memory then. Whoever has released the lease is a former holder at
 * once, until it takes it again. A volume that never took it is none, and is
 * not kept from writing: its user sees to it that nobody else writes.
 */
struct volume_ops {
	/* A segment to be written, which nobody sees yet. -EEXIST if the name
	 * is taken. */
	int (*segment_create)(struct volume *v, const char *name,
			      struct segment_writer **out);
	/* All of data, in order. After an error only abandon is allowed. */
	int (*segment_append)(struct segment_writer *w, struct bytes data);
	/* Ends w in every case. On failure the name does not exist. */
	int (*segment_finish)(struct segment_writer *w);
	/* Ends w; nothing of it remains. */
	void (*segment_abandon)(struct segment_writer *w);

	/* An empty log, open for appending; it may be gone after a power cut
	 * until it is synced. -EEXIST if the name is taken. */
	int (*log_create)(struct volume *v, const char *name, struct log **out);
	/* All of data behind what was appended before, or an error; it may be
	 * on its way when this returns. After -ENOSPC, which stands for a quota
	 * too, and -ERR_store_lost nothing of it is there, and after -ENOSPC it
	 * may be tried again; after any other error the end is undefined. */
	int (*log_append)(struct log *l, struct bytes data);
	/* When it returns 0, all that was appended before the call is durable,
	 * and the name. After -ENOSPC nothing is lost, and it may be tried
	 * again. After another error it is not known what is durable, and it
	 * may not be tried again: no call that is under way then, or comes
	 * later, returns 0 for what that one was to make durable. */
	int (*log_sync)(struct log *l);
	/* Ends l without syncing; the object stays. */
	void (*log_close)(struct log *l);
	/* Makes durable what a log of an earlier life holds, its name
	 * included. -ENOENT. */
	int (*log_keep)(struct volume *v, const char *name);

	/* Holds room for a log of size bytes: until it is larger, no append
	 * fails for lack of space. -ENOSPC: as before. The log may read as if
	 * zeros followed what was appended. */
	int (*log_hold)(struct log *l, uint64_t size);

	/* Holds count pieces, of at least these bytes, as far as there is
	 * space, the largest first; what is held beyond them is given back,
	 * but not with keep.
	 * Until the next call a file that is removed becomes a piece while they
	 * are not all there. 0, or -ENOSPC if some are missing. At most
	 * VOLUME_SPARES_MAX. Pieces outlive the process; they are known once
	 * the lease was taken. */
	int (*spare_hold)(struct volume *v, const uint64_t *sizes, size_t count,
			  bool keep);
	/* As segment_create, in the place of a piece: the smallest of at least
	 * size bytes, or else the largest. What fits it is written without new
	 * space. An abandoned one is a piece again. -ENOSPC: there is none. */
	int (*segment_from_spare)(struct volume *v, const char *name,
				  uint64_t size, struct segment_writer **out);
	/* As log_create, in the place of the smallest piece of at least size
	 * bytes, which are held; none so large is -ENOSPC. The log may read as
	 * if zeros followed what was appended. */
	int (*log_from_spare)(struct volume *v, const char *name, uint64_t size,
			      struct log **out);
	/* Zeros, durably, in the place of what pieces have of files that were
	 * removed; and what was removed before the call is not back after a
	 * power cut either. */
	int (*spare_wipe)(struct volume *v);

	/* A finished segment, or a log as long as it is now; -ENOENT. */
	int (*open)(struct volume *v, const char *name, struct reader **out);
	/* Exactly size bytes, or an error: past the end is -EIO. Of a log,
	 * what was appended since it was opened can be read, too. */
	int (*pread)(struct reader *r, uint64_t offset, void *data,
		     size_t size);
	void (*reader_close)(struct reader *r);

	/* Removes a segment or a log; not durably, so after a power cut it may
	 * be back. -ENOENT if there is none. Open readers go on reading. */
	int (*remove)(struct volume *v, const char *name);
	/* Gives another volume a file under the same name, without copying its
	 * bytes: a segment, or a log that grows no more. Its new name is
	 * durable; its bytes are as durable as they were. -EXDEV if that cannot
	 * be done between the two; -EEXIST. */
	int (*link)(struct volume *v, const char *name, struct volume *to);
	/* Calls each with every segment and log, in no order; a negative
	 * result of each ends the listing and is returned. */
	int (*list)(struct volume *v,
		    int (*each)(void *context, const char *name),
		    void *context);

	/* Calls each with every object that belongs to no file and stays for
	 * ever, such as what a deposed holder sent late: it does no harm, and
	 * whoever looks after the place may remove it. NULL where there is
	 * none. As list in all else. */
	int (*strays)(struct volume *v,
		      int (*each)(void *context, const char *object),
		      void *context);

	/* Replaces out by the root's content, and tells its version, from 1.
	 * -ENOENT before the first swap, -ERR_manifest_damaged. */
	int (*root_get)(struct volume *v, uint64_t *version, struct buf *out);
	/* Replaces the root if its version is expected (0: there is none);
	 * it then has version expected + 1, durably. Else
	 * -ERR_volume_conflict. After that and after -ENOSPC nothing has
	 * changed; after any other error it may have, or not. */
	int (*root_swap)(struct volume *v, uint64_t expected,
			 struct bytes content);

	/*
	 * Takes the right to write, until lease_release or the end of the
	 * process, deposes every former holder, and removes what unfinished
	 * segments left. A holder that is known to be dead, or past its time,
	 * gives way (holder.h has what is known); any other one does not:
	 * -ERR_store_in_use, with its line in err_detail(), be it of this
	 * process or of another. holder is such a line, for people.
	 *
	 * lost, if it is not NULL, is called with context when it is seen that
	 * another holder has deposed this one: once, by whichever thread saw
	 * it, maybe within a call of the volume, and never after lease_release
	 * has returned. It may not call the volume, nor wait for who does. It
	 * is not called while the holder cannot know.
	 */
	int (*lease_take)(struct volume *v, const char *holder,
			  void (*lost)(void *context), void *context);
	/* Whether what was read by now was read while the lease, to write or a
	 * share, was this volume's: 0; -EAGAIN while that cannot be known, as
	 * of a volume elsewhere that does not answer; -ERR_store_lost once
	 * another has it, or it was released. 0 if it never was taken. From any
	 * thread, beside all else, and fast: it is asked for every answer. */
	int (*lease_check)(struct volume *v);
	/* Milliseconds from now in which nobody else can get it: UINT64_MAX
	 * where a holder that lives is not deposed, 0 where nothing is known.
	 * As lease_check from any thread, and as fast. */
	uint64_t (*lease_left)(struct volume *v);
	/* A new line, such as one that names the mount point. -EINVAL if the
	 * lease was never held. */
	int (*lease_describe)(struct volume *v, const char *holder);
	/* Takes the right to read with nobody writing, which any number of
	 * volumes may have at once, until lease_release or the end of the
	 * process; meanwhile lease_take is refused. Changes nothing, so that a
	 * volume that cannot be written to is read. -ERR_store_in_use, with the
	 * line of who may write in err_detail(). */
	int (*lease_share)(struct volume *v);
	/* Nothing if the lease is neither held nor shared. */
	void (*lease_release)(struct volume *v);

	/* Appends lines to the notes, VOLUME_NOTES, by who has the lease to
	 * write. Before they would be larger than size_max they become
	 * VOLUME_NOTES_OLD, in the place of former ones, and new ones begin.
	 * Nothing of it is made durable. After -ENOSPC nothing of lines is
	 * there, after any other error some may be; others may be tried, and
	 * begin a line. One call at a time, beside calls of other kinds. */
	int (*note)(struct volume *v, struct bytes lines, uint64_t size_max);

	/* The history of heat, VOLUME_HEAT, which is no object and may go at
	 * any time; nothing of it is made durable. One call at a time, beside
	 * calls of other kinds. Appends all of it to out; nothing if there is
	 * none, or it has more than VOLUME_HEAT_MAX bytes. */
	int (*heat_read)(struct volume *v, struct buf *out);
	/* Appends data, by who has the lease to write, to what has size bytes:
	 * -ESTALE if it has not, or has another name as well. After that and
	 * after -ENOSPC nothing of data is there. */
	int (*heat_append)(struct volume *v, uint64_t size, struct bytes data);
	/* Puts content in its place; after an error it is as it was. */
	int (*heat_replace)(struct volume *v, struct bytes content);

	/* A descriptor of a new file, to read and write, which has no name and
	 * ends when the caller closes it, or dies: for what memory has no room
	 * for. Nothing of it is an object. */
	int (*scratch)(struct volume *v);

	int (*space)(struct volume *v, struct volume_space *out);
	/* Ends v, and the lease. Writers, logs and readers must have ended. */
	void (*close)(struct volume *v);
};

/* Tells a place from others, and if it is no directory, who has its lease to
 * write from all who had it. */
struct volume_mark {
	uint64_t place, holder;
};

/* Embed as the first member of the real volume. */
struct volume {
	const struct volume_ops *ops;
	const char *path; /* for messages; owned by the volume */
	/* What log_append took is there after the process was killed. Without
	 * it only what log_sync covered is: whoever says that something is done
	 * waits for that. */
	bool survives_kill;
	struct volume_mark mark; /* the holder's: from lease_take on */
};

/* Embed as the first member of the real reader. */
struct reader {
	const struct volume_ops *ops;
	uint64_t size;    /* bytes when it was opened */
	const char *path; /* for messages; owned by the reader */
};

/* Embed as the first member of the real log. */
struct log {
	const struct volume_ops *ops;
	uint64_t size;    /* bytes appended so far, without what failed */
	const char *path; /* for messages; owned by the log */
};

/* Embed as the first member of the real segment writer. */
struct segment_writer {
	const struct volume_ops *ops;
	uint64_t size;    /* bytes appended so far */
	const char *path; /* for messages; owned by the writer */
};

#endif
