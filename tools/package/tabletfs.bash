# Bash completion for tabletfs: what tabletfs help -words says of a verb, tables,
# families and recipes of the store that -store or TABLETFS_STORE names, and
# paths. Names that a mount does not list (.scan and its steps, .schema, ...) are
# completed for the commands that _tabletfs_paths is set for; put into ~/.bashrc,
# for example:
#
#   . /usr/share/bash-completion/completions/tabletfs
#   complete -o default -o nospace -F _tabletfs_paths cat ls head

_tabletfs_verbs() {
	tabletfs help 2>/dev/null | sed -n 's/^tabletfs \([a-z-]*\)[[:blank:]].*/\1/p'
}

# Sets words to those of the command line up to the cursor, whole: bash parts
# them at = and :, too.
_tabletfs_split() {
	local i part glue=
	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		part=${COMP_WORDS[i]}
		case $part in [=:]*) glue=1 ;; esac
		if [ -n "$glue" ] && [ ${#words[@]} -gt 1 ]; then
			words[-1]+=$part
		else
			words+=("$part")
		fi
		case $part in *[=:]) glue=1 ;; *) glue= ;; esac
	done
}

# Sets offered to what may stand at the place <KIND> of a verb.
_tabletfs_place() {
	case $1 in
	*'<table>'*)
		[[ $verb == create* ]] || offered=($(tabletfs -store "$store" ls \
			2>/dev/null)) ;;
	*'<family>'*)
		[[ $verb == create* ]] || offered=($(tabletfs -store "$store" ls \
			"$table" 2>/dev/null | awk 'NR > 2 { print $1 }')) ;;
	*'<command>'*)
		offered=($(_tabletfs_verbs)) ;;
	*'<dir>'* | *'<store>'*)
		compopt -o dirnames 2>/dev/null ;;
	*'file>'* | *'<path>'*)
		compopt -o default 2>/dev/null ;;
	esac
}

_tabletfs() {
	local words i=1 n=1 verb store=${TABLETFS_STORE:-} table= line place=
	local word before places=() said=() offered=() behind=
	_tabletfs_split
	word=${words[-1]} before=${words[-2]}
	COMPREPLY=()
	for (( ; i < ${#words[@]} - 1; i++)); do
		case ${words[i]} in
		-store | --store) i=$((i + 1)) store=${words[i]} ;;
		-store=* | --store=*) store=${words[i]#*=} ;;
		-*) ;;
		*) break ;;
		esac
	done
	verb=${words[i]}
	if [ "$i" -ge $((${#words[@]} - 1)) ]; then
		case $before in -store | --store)
			compopt -o dirnames 2>/dev/null
			return ;;
		esac
		offered=(-store $(_tabletfs_verbs))
	else
		# Which place of the verb it is.
		for ((i++; i < ${#words[@]} - 1; i++)); do
			case ${words[i]} in
			-o) i=$((i + 1)) ;;
			-?* | *=*) ;;
			*) n=$((n + 1)) table=${table:-${words[i]}} ;;
			esac
		done
		while IFS= read -r line; do
			case $line in
			*'<'*) places+=("$line") ;;
			'-o '*) [ "$before" != -o ] || said+=("${line#-o }") ;;
			*) [ "$before" = -o ] || said+=("$line") ;;
			esac
		done < <(tabletfs help -words "$verb" 2>/dev/null)
		case $verb:$n:$before in
		*:-o)
			# Options are parted by commas.
			case $word in *,*) behind=${word%,*}, ;; esac ;;
		recipe:3:*)
			said=()
			offered=($(tabletfs -store "$store" recipe "$table" \
				2>/dev/null)) ;;
		recipe:4:*)
			said=()
			compopt -o default 2>/dev/null ;;
		*)
			# Of several files the last place is the one of all.
			place=${places[n - 1]-}
			[ -n "$place" ] || [ ${#places[@]} = 0 ] ||
				[[ ${places[-1]} != *file* ]] ||
				place=${places[-1]}
			_tabletfs_place "$place"
			[ "$n" -gt 1 ] || [[ $place != '<'* ]] || said=() ;;
		esac
		offered+=("${said[@]}")
	fi
	# Only what stands behind the last = or : is replaced, where bash has
	# parted the word.
	before=
	[ "$word" = "${COMP_WORDS[COMP_CWORD]}" ] ||
		before=${word%"${word##*[=:]}"}
	for line in "${offered[@]}"; do
		line=$behind$line
		case $line in
		"$word"*=) compopt -o nospace 2>/dev/null ;;
		"$word"*) ;;
		*) continue ;;
		esac
		COMPREPLY+=("${line#"$before"}")
	done
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
	for name in .tabletfs .schema .granularity .as-of .at .drop .import .mutate \
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
