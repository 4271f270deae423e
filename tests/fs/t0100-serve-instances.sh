#!/bin/bash
# tabletfs serve: instances with tables of their own, clusters, app profiles,
# splits and protection are kept, over a restart and in a dump, and go with their
# instance; a mount shows the tables.
. "$(dirname "$0")/lib.sh"
. "$fs_tests/serve.sh"
at_end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	stop_mount 2>/dev/null
}

# at STATUS PATH WORD...: a call, with its answer in the file answer.
at() {
	local wanted=$1
	shift
	"$wire" "$address" "$@" >answer 2>&1
	[ $? = "$wanted" ] || {
		cat answer
		return 1
	}
}

data=/google.bigtable.v2.Bigtable
tables=/google.bigtable.admin.v2.BigtableTableAdmin
instances=/google.bigtable.admin.v2.BigtableInstanceAdmin
mine=projects/p/instances/mine
other=projects/p/instances/other

# write TABLE VALUE: of row r; rows TABLE: what it has.
write() {
	at 0 $data/MutateRow "1=$1" 2=r 3{ 1{ 1=f 2=q 3:1000 "4=$2" } }
}
rows() {
	"$wire" "$address" $data/ReadRows "1=$1" | grep -o 'v-[a-z]*'
}

serve
check "an instance" at 0 $instances/CreateInstance 1=projects/p 2=mine \
	3{ 2=Shown 4:2 5{ 1=key 2=label } } 4{ 1=near 2{ 2=here 4:3 } }
check "is told as done" grep -q 'bigtable.admin.v2.Instance' answer
operation=$(grep -o 'operations/[^.]*/CreateInstance' answer)
check "by an operation" at 0 /google.longrunning.Operations/GetOperation \
	"1=$operation"
check "that is done" grep -q 'CreateInstanceMetadata.*Instance.*Shown' \
	<(tr '\n' ' ' <answer)
check "and not listed" at 0 /google.longrunning.Operations/ListOperations \
	4=operations/projects/p
check "another is not there" at 5 /google.longrunning.Operations/GetOperation \
	"1=${operation}d"
check "nor one of what is not" at 5 \
	/google.longrunning.Operations/GetOperation \
	1=operations/$mine/clusters/none/CreateCluster
check "exists" at 6 $instances/CreateInstance 1=projects/p 2=mine 3{ 2=x }
check "as the one of the files does" at 6 $instances/CreateInstance \
	1=projects/p 2=tabletfs 3{ 2=x }
check "not with this name" at 3 $instances/CreateInstance 1=projects/p 2=a~b \
	3{ 2=x }
check "it is there" at 0 $instances/GetInstance 1=$mine
check "with its words" grep -q "Shown.*key.*label" answer
check "another is not" at 5 $instances/GetInstance 1=$other
check "that of the files is" at 0 $instances/GetInstance \
	1=projects/p/instances/tabletfs
check "in the list" at 0 $instances/ListInstances 1=projects/p
check "with the other" grep -q "instances/tabletfs.*instances/mine" answer
check "new words" at 0 $instances/PartialUpdateInstance \
	1{ 1=$mine 2=Later } 2{ 1=display_name }
at 0 $instances/GetInstance 1=$mine
check "are kept, beside the old" grep -q "Later.*key.*label" answer
stays() {
	at 9 "$instances/$1" "${@:2}" &&
		grep -q '"tabletfs" is that of every store' answer
}
every=projects/p/instances/tabletfs
check "that of the files is not deleted" stays DeleteInstance 1=$every
check "nor changed" stays UpdateInstance 1=$every 2=x
check "nor in part" stays PartialUpdateInstance 1{ 1=$every 2=x } \
	2{ 1=display_name }
check "none of an instance that is not" at 5 \
	$instances/PartialUpdateInstance 1{ 1=$other 2=x } 2{ 1=display_name }

at 0 $instances/ListClusters 1=$mine
check "its cluster" grep -q "clusters/near" answer
check "and no other" [ "$(grep -c "clusters/cluster" answer)" = 0 ]
check "a policy that is set is told" at 0 $instances/SetIamPolicy 1=$mine \
	2{ 3=tag }
check "as it came" grep -q tag answer
check "another cluster" at 0 $instances/CreateCluster 1=$mine 2=far \
	3{ 2=there 4:1 }
check "exists" at 6 $instances/CreateCluster 1=$mine 2=far 3{ 2=there }
check "is changed" at 0 $instances/UpdateCluster 1=$mine/clusters/far 4:9
check "one with a policy for its nodes" at 0 $instances/CreateCluster \
	1=$mine 2=auto 3{ 2=there 7{ 1{ 1{ 1:65 2:66 } } } }
at 0 $instances/GetCluster 1=$mine/clusters/auto
check "has the least of them" grep -q " A" answer
check "of which a part is changed" at 0 $instances/PartialUpdateCluster \
	1{ 1=$mine/clusters/auto 7{ 1{ 1{ 1:67 } } } } \
	2{ 1=cluster_config.cluster_autoscaling_config.autoscaling_limits.min_serve_nodes }
at 0 $instances/GetCluster 1=$mine/clusters/auto
check "and the other stays" grep -q " C.*C.B" answer
check "none is left" at 0 $instances/PartialUpdateCluster \
	1{ 1=$mine/clusters/auto 4:68 } 2{ 1=cluster_config 1=serve_nodes }
at 0 $instances/GetCluster 1=$mine/clusters/auto
check "but a number" grep -q " D" answer
same "for good" 0 "$(grep -c "C.B" answer)"
check "goes" at 0 $instances/DeleteCluster 1=$mine/clusters/auto
check "a table" at 0 $tables/CreateTable 1=$mine 2=replicated
at 0 $tables/GetTable 1=$mine/tables/replicated 2:3
same "has a state in each of them" "far near" \
	"$(grep -oE 'far|near|cluster$' answer | xargs)"
check "goes" at 0 $tables/DeleteTable 1=$mine/tables/replicated
check "and goes" at 0 $instances/DeleteCluster 1=$mine/clusters/far
check "for good" at 5 $instances/GetCluster 1=$mine/clusters/far
check "that of every instance stays" at 9 $instances/DeleteCluster \
	1=$other/clusters/cluster

check "an app profile" at 0 $instances/CreateAppProfile 1=$mine 2=batch \
	3{ 3=slowly 5{ } }
check "needs a route" at 3 $instances/CreateAppProfile 1=$mine 2=none 3{ 3=x }
check "is changed" at 0 $instances/UpdateAppProfile \
	1{ 1=$mine/appProfiles/batch 3=quickly } 2{ 1=description }
at 0 $instances/ListAppProfiles 1=$mine
check "is kept" grep -q "appProfiles/default.*appProfiles/batch.*quickly" \
	<(tr '\n' ' ' <answer)

# Tables of one name in two instances.
check "a table" at 0 $tables/CreateTable 1=$mine 2=t \
	3{ 3{ 1=f 2{ } } 9:1 } 4{ 1=m } 4{ 1=c } 4{ 1=m }
check "of the same name elsewhere" at 0 $tables/CreateTable 1=$other 2=t \
	3{ 3{ 1=f 2{ } } }
check "so this instance exists" at 6 $instances/CreateInstance 1=projects/p \
	2=other 3{ 2=x }
check "and why is told" grep -q 'table "t" was made in it' answer
check "a name that would be another's" at 3 $tables/CreateTable 1=$other \
	2=mine~t 3{ }
check "nor is it found" at 5 $data/ReadRows 1=$other/tables/mine~t
check "each is written" write $mine/tables/t v-mine
check "for itself" write $other/tables/t v-other
same "one" v-mine "$(rows $mine/tables/t)"
same "the other" v-other "$(rows $other/tables/t)"
at 0 $tables/ListTables 1=$mine
same "and listed by its name" 1 "$(grep -c 'mine/tables/t' answer)"
check "once" [ "$(grep -c '~' answer)" = 0 ]
at 0 $data/SampleRowKeys 1=$mine/tables/t
same "splits are kept, in order" "c m " \
	"$(sed -n 's/^\.\.\([a-z]\).*/\1/p' answer | sed '/r/d' | tr '\n' ' ')"

# Protection.
check "a protected table stays" at 9 $tables/DeleteTable 1=$mine/tables/t
check "its families stay" at 9 $tables/ModifyColumnFamilies 1=$mine/tables/t \
	2{ 1=f 4:1 }
check "and its instance" at 9 $instances/DeleteInstance 1=$mine
check "and its rows, together" at 9 $tables/DropRowRange 1=$mine/tables/t 3:1
same "with its data" v-mine "$(rows $mine/tables/t)"
check "nothing else of it is updated" at 12 $tables/UpdateTable \
	1{ 1=$mine/tables/t } 2{ 1=change_stream_config }

# A restart, a dump.
stop
check "a dump" T dump dumped
check "makes another store" "$TABLETFS" load dumped "$work/second"
store=$work/second
serve
at 0 $instances/ListInstances 1=projects/p
check "the instance is there" grep -q "mine.*Later" answer
same "its table, too" v-mine "$(rows $mine/tables/t)"
check "and protected" at 9 $tables/DeleteTable 1=$mine/tables/t
stop

check "a mount" start_mount
same "shows both" "mine~t t" "$(ls "$m" | xargs)"
same "by this path" v-mine "$(cat "$m/mine~t/r/f/q")"
check "can write there" eval 'echo v-path >"$m/mine~t/r/f/q"'
refuse "but make no such table" mkdir "$m/mine~new"
rm -r "$m/mine~t/r"
errno EPERM rmdir "$m/mine~t"
errno EPERM rmdir "$m/mine~t/.schema/f"
check "nor does a command drop it" eval '! T deletetable mine~t 2>said'
check "which says what to do" grep -q 'tabletfs protect mine~t off' said
refuse "nor a family" T deletefamily mine~t f
same "it is told" yes "$(T protect mine~t)"
same "by ls, behind the families" "Protected against deletion" \
	"$(T ls mine~t | tail -n 1)"
check "a table of the mount" mkdir "$m/own"
check "is protected by a command" T protect own on
errno EPERM rmdir "$m/own"
errno EPERM mv "$m/own" "$m/other"
mkdir -p "$m/own/r1/f" "$m/own/r2/f"
echo 1 >"$m/own/r1/f/q" && echo 2 >"$m/own/r2/f/q"
errno EPERM T deleteallrows own
check "a range of rows goes" T deleterows own prefix=r1
same "and the rest stays" 2 "$(cat "$m/own/r2/f/q")"
check "until that ends" T protect own off
check "and all rows go" T deleteallrows own
refuse "which ls shows" grep -i protected <(T ls own)
check "and goes" rmdir "$m/own"
refuse "none that is not there" T protect own
refuse "neither yes nor no" T protect mine~t maybe
mkdir -p "$m/mine~t/r/f" && echo v-path >"$m/mine~t/r/f/q"
stop_mount

serve
same "what it wrote" "v-path" "$(rows $mine/tables/t | head -n 1)"
check "the protection ends" at 0 $tables/UpdateTable 1{ 1=$mine/tables/t } \
	2{ 1=deletion_protection }
check "which is an operation" at 0 /google.longrunning.Operations/GetOperation \
	"1=$(grep -o 'operations/[^.]*/UpdateTable' answer)"
check "the instance goes" at 0 $instances/DeleteInstance 1=$mine
check "with its clusters" at 5 $instances/GetCluster 1=$mine/clusters/near
check "and tables: its name is one of others" at 0 $data/ReadRows \
	1=$mine/tables/t
same "which have theirs" v-other "$(rows $mine/tables/t)"

# Google's own client, all of its commands for these.
if command -v cbt >/dev/null; then
	export BIGTABLE_EMULATOR_HOST=$address
	cbt() {
		command cbt -creds /dev/null -project p -instance google "$@"
	}
	check "cbt createinstance" cbt createinstance google Name one zone-a 3 SSD
	check "cbt listinstances" grep -q "google.*Name" <(cbt listinstances)
	check "cbt createcluster" cbt createcluster two zone-b 2 SSD
	check "cbt updatecluster" cbt updatecluster two num-nodes=5
	check "cbt listclusters" grep -q "two.*zone-b.*5 serve" <(cbt listclusters)
	check "cbt createappprofile" cbt createappprofile google prof words \
		route-any >/dev/null
	check "cbt updateappprofile" cbt updateappprofile google prof others \
		route-to=two
	check "cbt getappprofile" grep -q others <(cbt getappprofile google prof)
	check "cbt listappprofile" grep -q others <(cbt listappprofile google)
	check "cbt deleteappprofile" cbt deleteappprofile google prof
	same "it goes" 0 "$(cbt listappprofile google | grep -c others)"
	check "cbt createtable" cbt createtable inside families=f splits=b,a
	same "cbt ls" inside "$(cbt ls)"
	check "cbt deletecluster" cbt deletecluster two
	check "cbt deleteinstance" cbt deleteinstance google
	same "no table is left" "" "$(cbt ls | grep inside)"
else
	echo "cbt is not installed"
fi
check "it ends" stop
