#ifndef FS_CONTROL_IMPORT_STEPS_H
#define FS_CONTROL_IMPORT_STEPS_H

#include "fs/cells/place.h"
#include "store/text/import/import.h"

/*
 * What a path under .import says of an import by its steps, each a directory
 * with a value below it:
 *
 *   family/F timestamp/T   of CSV and TSV without a recipe
 *   on-error/stop          the first wrong line ends it
 *   resume/NAME            batch alone is in it, which ends so, too
 *   recipe/NAME            a recipe that is stored with the table
 *
 * The last two stand alone.
 */
struct import_steps {
	struct bytes family, resume, recipe; /* empty: it is not there */
	bool value_timestamps, stop;
	bool is_blind; /* no step, but the file's: see struct ctl_file */
};

/* Whether the step called name may have this value: 0, or -ENOENT with the
 * reason. */
int import_steps_check(struct bytes name, struct bytes value);

/* Those above file, whose values they borrow. */
void import_steps_read(struct node *file, struct import_steps *steps);

/*
 * Makes an importer of what is written to a file of this name under the steps,
 * into the table of place. *recipe is to be freed behind *out; it is NULL
 * without one, as both are after an error. With a recipe: -ERR_no_recipe;
 * -ERR_no_family or -ERR_type_mismatch if the table is no longer as it needs
 * it; -ERR_bad_argument if it is for another format.
 */
int import_steps_open(struct fs *fs, const struct place *place,
		      struct bytes name, const struct import_steps *steps,
		      struct recipe **recipe, struct importer **out)
	NEEDS_SHARED(fs->tree);

#endif
