#ifndef TOOLS_MOUNT_MOUNT_HELP_H
#define TOOLS_MOUNT_MOUNT_HELP_H

/* What help says of mount, a line or more for each word of -o, as tools/table.c
 * has it of all verbs; what a word does is in fs/state/options.h. */
#define MOUNT_HELP                                                             \
	"  -f                Serve in the foreground\n"                        \
	"  -o follow         Only read, beside who writes the store, and\n"    \
	"                    show what that writes\n"                          \
	"  -o staleness=<t>  What is shown is no older; 20ms to 1h (2s)\n"     \
	"  -o reader-grace=<t>  Of who writes: files that leave the store\n"   \
	"                    stay so long for those who follow; up to 1d,\n"   \
	"                    0 is none (0)\n"                                  \
	"  -o stale=<s>      Kernels before 6.16: names may be old by (1)\n"   \
	"  -o commit=<s>     Durable at least so often, in seconds (1)\n"      \
	"  -o sync           Every close is durable\n"                         \
	"  -o gc=<policy>    Of families that mkdir makes (maxversions=10)\n"  \
	"  -o strictschema   mkdir makes no families\n"                        \
	"  -o quiet          Ignore chmod and chown\n"                         \
	"  -o showctl        List the control files\n"                         \
	"  -o xattr          Answer for user.tabletfs.* attributes\n"          \
	"  -o opendir        Be asked for each directory that is opened\n"     \
	"  -o quota=<bytes>  Refuse to grow beyond; 0 is no quota\n"           \
	"  -o memory=<bytes> For memtables and cache together (144M)\n"        \
	"  -o export-max=<bytes>  Of a file .scan/.../export.csv (4G)\n"       \
	"  -o log=<level>    What LOG tells: off, errors, events, all\n"       \
	"  -o log-to=stderr  With -f: what LOG tells goes there, too, as\n"    \
	"                    systemd's journal reads it\n"                     \
	"  -o slow=<time>    It tells what takes so long as slow (100ms); 0\n" \
	"                    tells nothing\n"                                  \
	"  -o metrics-file=<path>  Figures for Prometheus, each 10 s, as\n"    \
	"                    node_exporter's textfile directory has them:\n"   \
	"                    <name>.prom\n"                                    \
	"  -o delimiter=<c>  Of segments of row keys in .scan (#)\n"           \
	"  -o serve=<address>  Serve Bigtable's clients there, too, as\n"      \
	"                    listen= of serve says, for who mounts it;\n"      \
	"                    once, and on this machine\n"                      \
	"  -o allow_other    Not only for who mounts it\n"                     \
	"  -o uid=<user>     Who owns it instead of who mounts it, as a\n"     \
	"                    service with allow_other\n"                       \
	"  -o gid=<group>    Its group\n"                                      \
	"  -o umask=<mode>   What none of them may, instead of 022\n"          \
	"  -o ro             To be read: nothing of the store is changed,\n"   \
	"                    and others may read it, too\n"                    \
	"  -o noexec         As of other filesystems\n"                        \
	"  -o noatime        The same; exec, atime, rw, async undo these\n"    \
	"\n"                                                                   \
	"  The store directory is made if it is missing.\n"                    \
	"\n"                                                                   \
	"    Example: tabletfs mount /var/lib/mystore /mnt/tables\n"

#endif
