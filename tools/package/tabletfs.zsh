#compdef tabletfs
# Zsh completion for tabletfs, as _tabletfs: what tabletfs help -words says of a
# verb, tables, families and recipes of the store that -store or TABLETFS_STORE
# names, and paths.

# What may stand at the place <KIND> of a verb.
_tabletfs_place() {
	case $1 in
	*'<table>'*)
		[[ $verb == create* ]] ||
			compadd -- $(tabletfs -store "$store" ls 2>/dev/null) ;;
	*'<family>'*)
		[[ $verb == create* ]] || compadd -- $(tabletfs -store "$store" ls \
			"$table" 2>/dev/null | awk 'NR > 2 { print $1 }') ;;
	*'<command>'*) _tabletfs_verbs ;;
	*'<dir>'* | *'<store>'*) _files -/ ;;
	*'file>'* | *'<path>'*) _files ;;
	esac
}

_tabletfs_verbs() {
	local -a verbs
	verbs=(${(f)"$(tabletfs help 2>/dev/null |
		sed -n 's/^tabletfs \([a-z-]*\) *\t/\1:/p')"})
	_describe command verbs
}

_tabletfs() {
	local verb store=${TABLETFS_STORE-} table line place
	local before=$words[CURRENT-1]
	local -a places said
	integer i=2 n=1
	for (( ; i < CURRENT; i++)); do
		case $words[i] in
		-store | --store) i+=1; store=${(Q)words[i]} ;;
		-store=* | --store=*) store=${(Q)words[i]#*=} ;;
		-*) ;;
		*) break ;;
		esac
	done
	if ((i >= CURRENT)); then
		case $before in -store | --store)
			_files -/
			return ;;
		esac
		compadd -- -store
		_tabletfs_verbs
		return
	fi
	verb=$words[i]
	# Which place of the verb it is.
	for ((i++; i < CURRENT; i++)); do
		case $words[i] in
		-o) i+=1 ;;
		-?* | *=*) ;;
		*) n+=1; table=${table:-${(Q)words[i]}} ;;
		esac
	done
	for line in ${(f)"$(tabletfs help -words "$verb" 2>/dev/null)"}; do
		case $line in
		*'<'*) places+=("$line") ;;
		'-o '*) [[ $before != -o ]] || said+=("${line#-o }") ;;
		*) [[ $before == -o ]] || said+=("$line") ;;
		esac
	done
	case $verb:$n:$before in
	*:-o) compset -P '*,' ;;
	recipe:3:*)
		compadd -- $(tabletfs -store "$store" recipe "$table" 2>/dev/null)
		return ;;
	recipe:4:*)
		_files
		return ;;
	*)
		# Of several files the last place is the one of all.
		place=$places[n]
		[[ -n $place || $places[-1] != *file* ]] || place=$places[-1]
		[[ $n -gt 1 || $place != '<'* ]] || said=()
		_tabletfs_place "$place" ;;
	esac
	# What ends with = goes on; a file may follow.
	compadd -S '' -- ${(M)said:#*=}
	compadd -- ${said:#*=}
	case $words[CURRENT] in recipe=* | rejects=*)
		compset -P '*=' && _files ;;
	esac
}

_tabletfs "$@"
