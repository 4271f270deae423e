#ifndef STORE_HEAT_HEAT_FILE_H
#define STORE_HEAT_HEAT_FILE_H

#include "store/base/volume/volume.h"
#include "store/heat/heat_record.h"

/*
 * The history of heat in its file, which others may cut or remove at any time:
 * records are appended each minute, and now and then it is written anew without
 * what is out of date, where minutes of more than an hour ago become quarters
 * of an hour and what is older than two weeks goes. What a crash or damage has
 * left behind the last whole record is cut with the first write. It is bounded
 * by a 256th of the disk, from HEAT_FILE_MIN to HEAT_FILE_MAX bytes: then the
 * oldest goes first. Nothing is made durable. One call at a time.
 */
#define HEAT_FILE_MIN (64 << 10)
#define HEAT_FILE_MAX (8 << 20)
#define HEAT_MINUTES_S 3600
#define HEAT_QUARTER_S 900
#define HEAT_QUARTERS_S (14 * 24 * 3600)

struct heat_file;

/* writes: the volume's lease to write is held. volume is borrowed. 0 or
 * -ENOMEM. */
int heat_file_new(struct volume *volume, bool writes, struct heat_file **out);
void heat_file_free(struct heat_file *f);
bool heat_file_writes(const struct heat_file *f);

/* Appends records. *anew is set if fences that were written before are not
 * there any more, so that the next records need theirs: then, and on an error,
 * it is not known which of records are there. */
int heat_file_append(struct heat_file *f, struct bytes records, uint64_t now_s,
		     bool *anew);

/* Appends records and leaves nothing in the file that is of the table: its
 * fences are row keys. */
int heat_file_erase(struct heat_file *f, struct bytes records, uint32_t table);

/* Appends the records of the file, without its header, as far as they are
 * whole, to out. 0 also if there is none, or nothing in it is whole. */
int heat_file_read(struct heat_file *f, struct buf *out);

#endif
