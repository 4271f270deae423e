# Bash completion for tabletfs: verbs, tables and families of the store that
# -store or TABLETFS_STORE names, and paths. Names that a mount does not list
# (.scan and its steps, .schema, ...) are completed for the commands that
# _tabletfs_paths is set for; put into ~/.bashrc, for example:
#
#   . /usr/share/bash-completion/completions/tabletfs
#   complete -o default -o nospace -F _tabletfs_paths cat ls head

_tabletfs_verbs() {
	tabletfs help 2>/dev/null | sed -n 's/^tabletfs \([a-z]*\) .*/\1/p'
}

# The store of the command line so far.
_tabletfs_store() {
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-store | --store)
			echo "${COMP_WORDS[i + 1]}"
			return ;;
		esac
	done
	echo "${TABLETFS_STORE:-}"
}

_tabletfs() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local i=1 verb store words=
	while [ "$i" -lt "$COMP_CWORD" ]; do
		case ${COMP_WORDS[i]} in
		-store | --store) i=$((i + 2)) ;;
		-*) i=$((i + 1)) ;;
		*) break ;;
		esac
	done
	COMPREPLY=()
	if [ "$i" -ge "$COMP_CWORD" ]; then
		case $before in -store | --store)
			compopt -o dirnames 2>/dev/null
			return ;;
		esac
		COMPREPLY=($(compgen -W "-store $(_tabletfs_verbs)" -- "$word"))
		return
	fi
	verb=${COMP_WORDS[i]}
	store=$(_tabletfs_store)
	case $verb:$((COMP_CWORD - i)) in
	help:1)
		words=$(_tabletfs_verbs) ;;
	mount:* | umount:*)
		if [ "$before" = -o ]; then
			words="allow_other commit= delimiter= export-max= gc= gid= log= memory=
				opendir quiet quota= ro serve= showctl stale= strictschema sync
				uid= umask= xattr"
			compopt -o nospace 2>/dev/null
		else
			compopt -o default 2>/dev/null
			words="-f -o"
		fi ;;
	import:2 | backup:1 | dump:1 | load:[12] | repair:1)
		compopt -o default 2>/dev/null ;;
	export:2)
		compopt -o default 2>/dev/null ;;
	export:[3-9]* | export:[12][0-9]*)
		words="format= layout=long layout=wide bytes=base64 columns= key=
			start= after= end= through= prefix= or regex= reversed=
			count= cells-per-column= keys-only= filter="
		compopt -o nospace 2>/dev/null ;;
	recipe:2)
		words="show set rm" ;;
	recipe:3)
		words=$(tabletfs -store "$store" recipe "${COMP_WORDS[i + 1]}" \
			2>/dev/null) ;;
	recipe:4)
		compopt -o default 2>/dev/null ;;
	import:[3-9]* | import:[12][0-9]* | key:*)
		compopt -o default 2>/dev/null
		words="recipe= key= zone="
		[ "$verb" = key ] || words="$words add= at= bytes=base64
			column-family= comment= delimiter= dry-run= duplicates=
			explode= format= header= on-error= quiet= quote= rejects= rest=
			resume= set= short= skip= timestamp="
		compopt -o nospace 2>/dev/null ;;
	serve:*)
		compopt -o dirnames 2>/dev/null
		if [ "$((COMP_CWORD - i))" != 1 ]; then
			words="inject= insecure=yes listen= sync=yes users=all"
			compopt -o nospace 2>/dev/null
		fi ;;
	inspect:*)
		compopt -o default 2>/dev/null
		if [ "$((COMP_CWORD - i))" != 1 ]; then
			words="entries=true count= kind="
			compopt -o nospace 2>/dev/null
		fi ;;
	keyviz:[2-9]*)
		compopt -o default 2>/dev/null
		words="metric=reads metric=writes metric=bytes from= to= key="
		compopt -o nospace 2>/dev/null ;;
	create:1)
		compopt -o dirnames 2>/dev/null ;;
	create:* | createtable:* | check:* | mounts:* | stats:* | sync:* | \
		version:*) ;;
	*:1)
		words=$(tabletfs -store "$store" ls 2>/dev/null) ;;
	createfamily:*) ;;
	read:* | lookup:* | count:*)
		words="key= filter="
		[ "$verb" = lookup ] ||
			words="$words start= after= end= through= prefix= or regex="
		[ "$verb" = count ] || words="$words columns= cells-per-column=
			keys-only=true include-stats=full"
		[ "$verb" != read ] || words="$words count= page=first
			reversed=true"
		compopt -o nospace 2>/dev/null ;;
	deletefamily:2 | setgcpolicy:2 | setvaluetype:2)
		words=$(tabletfs -store "$store" ls "${COMP_WORDS[i + 1]}" \
			2>/dev/null | awk 'NR > 2 { print $1 }') ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}

# Paths in a mount, with the names that listings of data leave out. What stands
# behind .scan/prefix is completed by the next segments of row keys.
_tabletfs_paths() {
	local word=${COMP_WORDS[COMP_CWORD]} dir base name head segments
	COMPREPLY=()
	case $word in
	*/*) dir=${word%/*}/ base=${word##*/} ;;
	*) dir=./ base=$word ;;
	esac
	[ "$(stat -f -c %T "$dir" 2>/dev/null)" = fuseblk ] ||
		[ "$(findmnt -n -o FSTYPE -T "$dir" 2>/dev/null)" = \
			fuse.tabletfs ] || return 0
	case $dir in
	*/.scan/prefix/ | */.scan/*/prefix/)
		# phone#4c: the segments after phone# that begin with 4c.
		head=${base%"${base##*#}"}
		segments=$dir$head
		[ -n "$head" ] || segments=${dir%prefix/}
		while IFS= read -r name; do
			case $head$name in "$base"*)
				COMPREPLY+=("$dir$head$name/") ;;
			esac
		done < <(ls "$segments/segments" 2>/dev/null)
		return ;;
	esac
	case $dir in
	*/.scan/ | */.scan/*/)
		# Not to be looked at: that makes them.
		for name in export.csv export.tsv export.jsonl; do
			case $name in "${base:- }"*)
				COMPREPLY+=("${word%"$base"}$name ") ;;
			esac
		done ;;
	esac
	for name in .tabletfs .schema .granularity .at .drop .import .mutate \
		.recipes .scan .stats .advice .keyviz .row.jsonl .versions; do
		case $name in "$base"*) ;; *) continue ;; esac
		[ -n "$base" ] || continue
		if [ -d "$dir$name" ]; then
			COMPREPLY+=("${word%"$base"}$name/")
		elif [ -e "$dir$name" ]; then
			COMPREPLY+=("${word%"$base"}$name ")
		fi
	done
}

complete -F _tabletfs tabletfs
