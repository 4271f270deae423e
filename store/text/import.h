#ifndef STORE_TEXT_IMPORT_H
#define STORE_TEXT_IMPORT_H

#include "store/text.h"

int importer_new(struct store *s, enum text_format format,
		 const struct import_options *options, struct importer **out);

/* 0, or an error that ends the import (a bad header, a full disk, a read-only
 * store); lines committed stay, and the result says how far. */
int importer_feed(struct importer *im, struct bytes data);

/* Commits what is whole and pending, unless it goes by bulk load, as a long
 * import does: that is committed by the next flush or finish. */
int importer_settle(struct importer *im);

/* Commits what is whole and pending; with sync, durably. */
int importer_flush(struct importer *im, bool sync);

/* The end of input: takes a last line without newline, then flushes. A refused
 * line is no error here; look at the result. */
int importer_finish(struct importer *im, bool sync);

/* Valid until the next call. */
const struct import_result *importer_result(const struct importer *im);
void importer_free(struct importer *im);

#endif
