#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_look.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/base/volume/volume_posix_reader.h"

static int look_open(struct volume *volume, const char *name,
		     struct reader **out)
{
	return posix_reader_open(posix(volume), name, out);
}

static int look_list(struct volume *volume,
		     int (*each)(void *context, const char *name),
		     void *context)
{
	return posix_each_entry(posix(volume), each, context);
}

static void look_close(struct volume *volume)
{
	struct posix_volume *v = posix(volume);

	close(v->directory);
	free(v->path);
	free(v);
}

static const struct volume_ops look_ops = {
	.open = look_open,
	.pread = posix_pread,
	.reader_close = posix_reader_close,
	.list = look_list,
	.root_get = posix_root_get,
	.close = look_close,
};

/* directory passes to the volume, also on failure. */
static int look_at(char *directory, struct volume **out)
{
	struct posix_volume *v = calloc(1, sizeof(*v));
	int err = -ENOMEM;

	if (!v)
		goto free_directory;
	v->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (v->directory < 0) {
		err = fail(errno, "%s: cannot open", directory);
		goto free_directory;
	}
	v->lock = v->share = v->marked = -1;
	v->path = directory;
	v->volume = (struct volume){ .ops = &look_ops, .path = directory };
	*out = &v->volume;
	return 0;

free_directory:
	free(directory);
	free(v);
	return err;
}

int volume_posix_look(const char *path, struct volume **out, char **name)
{
	struct stat st;
	char *real, *slash;
	int err;

	*out = NULL;
	*name = NULL;
	if (stat(path, &st) < 0)
		return fail(errno, "%s: cannot look", path);
	if (S_ISDIR(st.st_mode)) {
		real = strdup(path);
		return real ? look_at(real, out) : -ENOMEM;
	}
	/* So that there is a directory in front, and that of the file. */
	real = realpath(path, NULL);
	if (!real)
		return fail(errno, "%s: cannot look", path);
	slash = strrchr(real, '/');
	*name = strdup(slash + 1);
	/* The root keeps its slash. */
	slash[slash == real] = 0;
	err = look_at(real, out);
	if (err == 0 && !*name) {
		look_close(*out);
		err = -ENOMEM;
	}
	if (err < 0) {
		*out = NULL;
		free(*name);
		*name = NULL;
	}
	return err;
}
