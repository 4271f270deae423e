#include <assert.h>

#include "fs/state/ino.h"
#include "fs/tree/access.h"
#include "store/base/hash.h"

/* The classes of users in a mode, each by its shift. */
#define OTHERS 0
#define GROUP 3
#define OWNER 6

/* To make and remove names in a directory takes both. */
#define MAY_MAKE 3

/* What a class of users may do by this mode: rwx. */
static mode_t bits(mode_t mode, int class)
{
	return mode >> class & 7;
}

static mode_t table_mode(const struct table_access *access)
{
	return access->mode == TABLE_ACCESS_UNSET ? ACCESS_DIRECTORY_MODE
						  : access->mode;
}

void access_apply(const struct table_access *access, struct stat *st)
{
	mode_t able = bits(st->st_mode, OWNER), mode;

	if (access->uid != TABLE_ACCESS_UNSET)
		st->st_uid = access->uid;
	if (access->gid != TABLE_ACCESS_UNSET)
		st->st_gid = access->gid;
	if (access->mode == TABLE_ACCESS_UNSET)
		return;
	/* Set-group-ID and the like are the directory's, not of its files. */
	mode = S_ISDIR(st->st_mode) ? access->mode & 07000 : 0;
	mode |= access->mode & (able << OWNER | able << GROUP | able);
	assert((mode & S_IFMT) == 0);
	st->st_mode = (st->st_mode & S_IFMT) | mode;
}

struct table_access access_of(struct fs *fs, const struct table_access *set)
{
	struct table_access access = { ACCESS_DIRECTORY_MODE, fs->uid,
				       fs->gid };

	access_lay_over(&access, &fs->options->access);
	access_lay_over(&access, set);
	return access;
}

/* An owner of one may be of the other's group or of neither, and so on. */
void access_narrow(struct table_access *access, const struct table_access *by)
{
	bool same_uid = access->uid == by->uid,
	     same_gid = access->gid == by->gid;
	mode_t owner = bits(by->mode, OWNER), group = bits(by->mode, GROUP),
	       others = bits(by->mode, OTHERS), either = group & others,
	       not_owner = same_uid ? 7 : owner;

	access->mode &= (by->mode & 07000) |
			(same_uid ? owner : either) << OWNER |
			((same_gid ? group : either) & not_owner) << GROUP |
			((same_gid ? others : either) & not_owner) << OTHERS;
}

mode_t access_mode(const struct table_access *access, mode_t type)
{
	struct stat st = { .st_mode = type };

	st.st_mode |=
		type == S_IFDIR ? ACCESS_DIRECTORY_MODE : ACCESS_CELL_MODE;
	access_apply(access, &st);
	return st.st_mode & 07777;
}

/* What all can do who, without owning the table, can make names in it: rwx; 0:
 * there are none. */
static mode_t shared_bits(const struct table_access *access)
{
	mode_t mode = table_mode(access), all = 7;
	bool group = (bits(mode, GROUP) & MAY_MAKE) == MAY_MAKE;
	bool others = (bits(mode, OTHERS) & MAY_MAKE) == MAY_MAKE;

	if (group)
		all &= bits(mode, GROUP);
	if (others)
		all &= bits(mode, OTHERS);
	return group || others ? all : 0;
}

/* Of a life and of what is set in its table: another one has another, so that
 * what was made under it holds no longer. */
static uint32_t stamp_of(uint32_t life, const struct table_access *access)
{
	uint32_t words[] = { life, access->mode, access->uid, access->gid };

	return (uint32_t)hash64(bytes_of(words, sizeof(words)));
}

/* Of what is in the place's row. */
static uint32_t life_of(struct fs *fs, const struct place *place)
{
	uint32_t id = place->table->id;
	uint32_t words[] = { id,
			     store_removals(fs->store, id, place->path.row) };

	return (uint32_t)hash64(bytes_of(words, sizeof(words)));
}

uint64_t access_maker(uint32_t life, const struct table_access *access,
		      uid_t uid)
{
	if (uid == 0 || uid == access->uid || !shared_bits(access))
		return 0;
	return (uint64_t)stamp_of(life, access) << 32 | uid;
}

void access_apply_maker(uint32_t life, const struct table_access *access,
			uint64_t maker, struct stat *st)
{
	uid_t uid = (uid_t)maker;
	mode_t able = shared_bits(access);

	if (!able || maker >> 32 != stamp_of(life, access) || uid == 0 ||
	    uid == st->st_uid)
		return;
	st->st_uid = uid;
	/* The owner's bits, and no others, become fewer. */
	st->st_mode &= ~((7 & ~able) << OWNER);
}

bool access_takes_mode(const struct table_access *access, mode_t usual,
		       mode_t asked)
{
	mode_t table = table_mode(access), w;
	int class;

	for (class = OTHERS; class <= OWNER; class += GROUP) {
		/* Who does not come so far is given nothing. */
		if (class != OWNER && !(bits(table, class) & 1))
			continue;
		w = class == OWNER ? 0 : bits(usual, class) & 2;
		if ((bits(asked, class) | w) != bits(usual, class))
			return false;
	}
	return !(asked & 07000 & ~usual);
}

/* Whether a class that may write may read, too. */
static bool writers_read(mode_t mode, int class)
{
	return !(bits(mode, class) & 2) || bits(mode, class) & 4;
}

bool access_reads(const struct table_access *access, uid_t uid)
{
	if (uid == 0)
		return true;
	if (uid == access->uid)
		return writers_read(access->mode, OWNER);
	return writers_read(access->mode, GROUP) &&
	       writers_read(access->mode, OTHERS);
}

void access_note_maker(struct fs *fs, const struct place *place,
		       enum node_kind kind, uid_t uid)
{
	/* In a table that is not shared nothing is shown. */
	if (place->table && shared_bits(&place->rules.access))
		makers_set(&fs->makers, path_ino(&place->path, kind),
			   access_maker(life_of(fs, place),
					&place->rules.access, uid));
}

uint64_t access_maker_at(struct fs *fs, const struct place *place,
			 enum node_kind kind)
{
	if (!place->table || kind < NODE_ROW ||
	    !shared_bits(&place->rules.access))
		return 0;
	return makers_get(&fs->makers, path_ino(&place->path, kind));
}

uid_t access_made_by(struct fs *fs, const struct place *place,
		     enum node_kind kind)
{
	uint64_t maker = access_maker_at(fs, place, kind);

	return maker && maker >> 32 == stamp_of(life_of(fs, place),
						&place->rules.access)
		       ? (uid_t)maker
		       : 0;
}

void access_show_made(struct fs *fs, const struct place *place, uint64_t maker,
		      struct stat *st)
{
	access_apply(&place->rules.access, st);
	if (maker && place->table)
		access_apply_maker(life_of(fs, place), &place->rules.access,
				   maker, st);
}

void access_show(struct fs *fs, const struct place *place, enum node_kind kind,
		 struct stat *st)
{
	access_show_made(fs, place, access_maker_at(fs, place, kind), st);
}
