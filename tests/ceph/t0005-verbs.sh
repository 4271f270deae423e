#!/bin/bash
# Commands that take a place for a store take one in a pool: create, backup and
# restore from there, repair, dump and load, serve; what cannot says so.
. "$(dirname "$0")/../fs/lib.sh"
. "$fs_tests/serve.sh"
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	stop_mount 2>/dev/null
}
on() {
	local store=$1
	shift
	"$TABLETFS" -store "$store" "$@"
}
status 0 "create" "$TABLETFS" create "$store"
check "a table" on "$store" createtable t families=f
for i in 1 2 3; do
	on "$store" set t "r$i" "f:q=$i"
done
on "$store" set t big f:q="$(head -c 90000 /dev/urandom | base64 -w 0)"
rows=$(on "$store" read t | sha1sum)

# From here to there, and back.
on "$work/local" createtable t families=f
on "$work/local" set t r1 f:q=local
status 0 "backup into the pool" on "$work/local" backup "$store.copy"
same "it has the rows" "$(on "$work/local" read t | sha1sum)" \
	"$(on "$store.copy" read t | sha1sum)"
status 1 "once" on "$work/local" backup "$store.copy"
status 0 "backup of one in the pool" on "$store" backup backups
same "has its rows" "$rows" "$(on backups/latest read t | sha1sum)"
status 0 "repair of one in the pool" on "$store" repair "$work/repaired"
same "has them, too" "$rows" "$(on "$work/repaired" read t | sha1sum)"
on "$store" dump >text
for verb in "load text" "restore-from backups/latest"; do
	status 1 "$verb makes a directory" "$TABLETFS" $verb "$store.made"
	told "$store.made: this makes a store in a directory"
done
check "each is whole" sh -c "'$TABLETFS' -store '$store' check &&
	'$TABLETFS' -store '$store.copy' check" >/dev/null

# Over the network, which has no socket for commands there.
t=projects/p/instances/i/tables/t
data=/google.bigtable.v2.Bigtable
serve
check "a write over the wire" "$wire" "$address" $data/MutateRow 1=$t 2=w \
	3{ 1{ 1=f 2=q 3:1000 4=wired } } >/dev/null
status 1 "a command beside it" on "$store" read t
told "in use by tabletfs serve"
kill -KILL "$server"
wait "$server" 2>/dev/null
serve
same "is there after a kill" wired \
	"$("$wire" "$address" $data/ReadRows 1=$t 2{ 1=w } | grep -o wired)"
check "it ends with 0" stop
same "its row stays" wired "$(on "$store" lookup t w | grep -o wired)"
