#!/bin/bash
# What the program says of itself is all there, and one: pages that help shows,
# words that help, manual and completion name.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
top=$(cd "$here/../.." && pwd)
PATH=$(dirname "$TABLETFS"):$PATH
verbs=$(tabletfs help | sed -n 's/^tabletfs \([a-z-]*\)[[:blank:]].*/\1/p')
topics=$(tabletfs help | sed -n 's/^  \([a-z][a-z]*\) *	.*/\1/p')

# Pages.
check "the last verb is there" grep -qx waitforreplication <<<"$verbs"
same "each verb is there once" "$(uniq <<<"$verbs")" "$verbs"

same "each page is a topic" "$(cd "$top/tools/doc" && ls ./*.md | sort |
	sed 's,\./\(.*\)\.md,\1,' | xargs)" "$(sort <<<"$topics" | xargs)"
for topic in $topics; do
	check "help $topic" cmp -s <(tabletfs help "$topic") \
		"$top/tools/doc/$topic.md"
done
status 1 "an unknown one" tabletfs help nonsense
told 'Don'"'"'t know command or topic "nonsense"; tabletfs help lists'
told "topics are start cookbook operations"
same "in one line" 1 "$(wc -l <err)"
status 1 "an option of none" tabletfs help -nonsense
check "away from the tree, without a pager or a terminal" env -i -C / \
	"$TABLETFS" help start >/dev/null </dev/null
# What a page sends its reader to is there: commands, and other pages.
for page in "$top"/tools/doc/*.md; do
	for word in $(grep -oE '`tabletfs help [a-z]+' "$page" |
		sed 's/.* //' | sort -u); do
		check "$page: tabletfs help $word" tabletfs help "$word" >/dev/null
	done
done

# Words: each that the code takes is one that help has, of some verb.
words=$(for verb in $verbs; do tabletfs help -words "$verb"; done)
for word in $(sed -n '/const char \*const keys\[\] = {/,/}/p' \
	"$top"/tools/*/*.c "$top"/tools/*/*/*.c | grep -oE '"[a-z-]+"' |
	tr -d '"' | sort -u); do
	check "help has $word=" grep -qE "^$word=" <<<"$words"
done
# Options of a mount: those that help names, and all that there are.
for word in $(sed -n 's/^	{ "\([a-z_-]*\)", offsetof.*/\1/p
	s/.*strcmp(word, "\([a-z-]*\)").*/\1/p' "$top/fs/state/options.c"); do
	case $word in user | comment) continue ;; esac
	check "help tells of -o $word" grep -qw -e "$word" \
		<(tabletfs help mount)
done
options=$(tabletfs help -words mount | sed -n 's/^-o //p')
for word in $options; do
	# The one wants -f, the other a store; t0126 has it.
	case $word in *= | log-to=stderr | follow) continue ;; esac
	check "-o $word is one" "$TABLETFS" mount -o "$word" "$store" "$m"
	fusermount3 -u "$m"
done

# The manual has all of it.
tools() { "$top/tools/package/man" "$TABLETFS" 1.0 /usr; }
tools <"$top/tools/package/tabletfs.1" >tabletfs.1
same "nothing is left to be put in" "" "$(grep '@[A-Z]*@' tabletfs.1)"
plain() { sed 's/\\(aq/'"'"'/g; s/\\e/\\/g; s/\\\([-&.]\)/\1/g
	s/\\(ha/^/g; s/\\(ti/~/g; s/\\(ga/`/g; s/^&//'; }
plain <tabletfs.1 >plain
for verb in $verbs; do
	check "the manual has $verb" grep -qx "\.SS $verb" tabletfs.1
	while IFS= read -r line; do
		grep -qxF -e "$line" plain || fail "$verb: not in the manual: $line"
	done < <(tabletfs help "$verb")
done
for topic in $topics; do
	check "the manual has the topic $topic" grep -qx "\.B $topic" tabletfs.1
done
for word in $options; do
	check "the manual has the option $word" grep -qE \
		"^\.(BI?|BR) .*\b${word%=}" <(plain <"$top/tools/package/tabletfs.1" |
		sed -n '/^\.SH MOUNT/,/^\.SH EXIT/p')
done
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
	same "it has no fault" "" "$(man --warnings -l tabletfs.1 2>&1 >/dev/null)"
	same "nor a line too long" "" "$(MANWIDTH=80 man -l tabletfs.1 2>/dev/null |
		col -b | awk 'length > 80')"
fi

# Completion offers each verb, and behind it each of its words; bash and zsh.
bash_offers() {
	bash -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_tabletfs 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
		"$top/tools/package/tabletfs.bash" "$@" | LC_ALL=C sort -u
}
zsh_offers() {
	zsh -f -c 'compadd() {
			[[ $1 != -S ]] || shift 2
			shift
			print -rl -- ${(M)@:#$PREFIX*}
		}
		_describe() { compadd -- ${${(P)2}%%:*}; }
		_files() { print files; }
		compset() { [[ $PREFIX != ${~2}* ]] || PREFIX=${PREFIX#${~2}}; }
		file=$1; shift; words=("$@"); CURRENT=$#
		PREFIX=$words[CURRENT]; set --; source $file' \
		- "$top/tools/package/tabletfs.zsh" "$@" | sed '/^$/d' |
		LC_ALL=C sort -u
}
shells=bash
if command -v zsh >/dev/null; then
	shells="bash zsh"
else
	skip "there is no zsh"
fi
# wanted VERB: what may stand behind its places, sorted.
wanted() {
	tabletfs help -words "$1" | grep -v '<\|^-o ' | LC_ALL=C sort -u
}
start_mount || exit 1
mkdir -p "$m/t/r/f" "$m/u" && echo x >"$m/t/r/f/q"
T recipe t set daily /dev/stdin <<<$'key {a}\nset f:q {a}'
for shell in $shells; do
	offers=${shell}_offers
	same "$shell: the verbs" "$(printf '%s\n' -store $verbs |
		LC_ALL=C sort | xargs)" "$($offers tabletfs "" | xargs)"
	for verb in $verbs; do
		# Behind as many words as it has places.
		places=$(tabletfs help -words "$verb" | grep -c '<')
		set -- $(yes x | head -n "$places")
		[ "$verb" != recipe ] || set -- x
		same "$shell: $verb" "$(wanted "$verb" | xargs)" \
			"$($offers tabletfs -store /none "$verb" "$@" "" |
				grep -v '^files$' | xargs)"
	done
	same "$shell: mount -o" "$(LC_ALL=C sort -u <<<"$options" | xargs)" \
		"$($offers tabletfs mount -o "" | xargs)"
	same "$shell: a table" "t u" \
		"$($offers tabletfs -store "$store" read "" | xargs)"
	same "$shell: a family" f \
		"$($offers tabletfs -store="$store" deletefamily t "" | xargs)"
	same "$shell: a recipe" daily \
		"$($offers tabletfs -store "$store" recipe t show "" | xargs)"
	same "$shell: a topic" operations "$($offers tabletfs help opera | xargs)"
	same "$shell: values" "metric=reads" \
		"$($offers tabletfs -store "$store" keyviz t metric=r |
			grep -v '^files$')"
	same "$shell: a word behind others" "reversed=false reversed=true" \
		"$($offers tabletfs -store "$store" read t prefix=a rev | xargs)"
done
same "bash: the second option" "ro,commit=" \
	"$(bash_offers tabletfs mount -o ro,com | xargs)"
# As readline gives them: parted at = and :.
same "bash: a value" "reads" "$(bash_offers tabletfs -store "$store" keyviz t \
	metric = r | xargs)"
same "bash: all values" "bytes reads writes" "$(bash_offers tabletfs -store \
	"$store" keyviz t metric = | xargs)"
same "bash: behind a colon" "count=" "$(bash_offers tabletfs -store "$store" \
	read t columns = f : q cou | xargs)"
stop_mount

# The shells themselves, as one types.
if command -v tmux >/dev/null; then
	# A server for each, as one that is about to end still takes clients.
	server=0
	t() { tmux -L "help-$$-$server" "$@"; }
	# typed SHELL-COMMAND SETUP TEXT WANTED: the line is completed to that.
	typed() {
		local i screen=
		server=$((server + 1))
		t -f /dev/null new-session -d -x 100 -y 20 "$1" || return 1
		t send-keys "$2" Enter
		for i in $(seq $((100 * ${SLOW:-1}))); do
			t capture-pane -p | grep -q '^ready' && break
			sleep 0.1
		done
		t send-keys -l "$3"
		t send-keys Tab
		for i in $(seq $((100 * ${SLOW:-1}))); do
			screen=$(t capture-pane -p)
			grep -qF -e "$4" <<<"$screen" && break
			sleep 0.1
		done
		t kill-server
		check "$1: $3" grep -qF -e "$4" <<<"$screen"
	}
	typed "bash --norc --noprofile" \
		". $top/tools/package/tabletfs.bash; clear; echo ready" \
		"tabletfs keyviz x metric=wri" "metric=writes"
	mkdir functions
	cp "$top/tools/package/tabletfs.zsh" functions/_tabletfs
	[ "$shells" = bash ] || typed "zsh -f" \
		"fpath+=($PWD/functions); autoload -U compinit; compinit -u -D; clear; echo ready" \
		"tabletfs keyviz x metric=wri" "metric=writes"
fi
