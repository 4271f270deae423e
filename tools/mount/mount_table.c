#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "tools/mount/mount_table.h"

/*
 * A line of /proc/self/mountinfo, see proc(5); words are parted by one blank:
 *
 *   38 25 0:52 / /mnt rw,nosuid shared:1 - fuse.tabletfs /srv/s rw,...
 *         device place          optional   type          store  options
 *
 * Of optional words there may be any number, none too; a dash ends them. In
 * place and store a blank, tab, newline or backslash is \ooo, in octal; in
 * store also #, with which a line of fstab would begin a comment.
 */
#define TABLE "/proc/self/mountinfo"

/* Undoes the table's escapes in place. Every backslash in it begins one. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned int byte;

		if (sscanf(text, "\\%3o", &byte) == 1) {
			*to++ = (char)byte;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* Takes a line apart, whose memory m borrows; false if it is not as proc(5)
 * has it. */
static bool parse(char *line, struct mount_entry *m)
{
	enum { DEVICE = 2, PLACE = 4, FIXED_COUNT = 6 };
	char *words[FIXED_COUNT], *rest = line, *word;
	const char *ids;
	size_t i;

	for (i = 0; i < FIXED_COUNT; i++)
		words[i] = strsep(&rest, " ");
	do {
		word = strsep(&rest, " ");
	} while (word && strcmp(word, "-"));
	word = strsep(&rest, " ");
	if (!word)
		return false;
	*m = (struct mount_entry){ .line = line,
				   .device = words[DEVICE],
				   .place = words[PLACE] };
	unescape(m->place);
	if (strcmp(word, "fuse.tabletfs"))
		return true;
	m->store = strsep(&rest, " ");
	ids = rest ? strstr(rest, "user_id=") : NULL;
	if (!ids || sscanf(ids, "user_id=%u,group_id=%u", &m->uid, &m->gid) < 2)
		return false;
	unescape(m->store);
	return true;
}

int mount_list_read(struct mount_list *list)
{
	return mount_list_read_from(TABLE, list);
}

int mount_list_read_from(const char *path, struct mount_list *list)
{
	FILE *table = fopen(path, "re");
	struct mount_entry m, *grown;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	*list = (struct mount_list){ NULL, 0 };
	if (!table)
		return fail(errno, "%s", path);
	/* At its end getline leaves errno alone, which an error sets. */
	while (errno = 0, getline(&line, &size, table) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!parse(line, &m))
			continue;
		grown = reallocarray(list->entries, list->count + 1,
				     sizeof(*grown));
		if (!grown)
			break;
		list->entries = grown;
		list->entries[list->count++] = m;
		/* The line is m's now: the next one gets memory of its own. */
		line = NULL;
		size = 0;
	}
	if (errno)
		err = fail(errno, "%s", path);
	free(line);
	fclose(table);
	return err;
}

void mount_list_release(struct mount_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->entries[i].line);
	free(list->entries);
}

const struct mount_entry *mount_list_at(const struct mount_list *list,
					const char *place)
{
	size_t i = list->count;

	while (i > 0)
		if (!strcmp(list->entries[--i].place, place))
			return &list->entries[i];
	return NULL;
}

char *mount_store_at(const char *path, char **device)
{
	char *full = realpath(path, NULL), *store = NULL;
	const struct mount_entry *m = NULL;
	struct mount_list list;

	/* A path that cannot be resolved may be in the table as it stands. */
	if (mount_list_read(&list) == 0)
		m = mount_list_at(&list, full ? full : path);
	if (m && m->store)
		store = strdup(m->store);
	if (device)
		*device = store ? strdup(m->device) : NULL;
	mount_list_release(&list);
	free(full);
	return store;
}
