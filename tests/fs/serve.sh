# Functions for scripts about tabletfs serve. Source it behind lib.sh; server is
# its process, address where it listens, wire a client of our own.
wire=$(dirname "$TABLETFS")/tests/fs/wire
[ -x "$wire" ] || skip_all "$wire is not built"
server= address=

# serve [WORD...]: returns when it takes connections; what it says is left in
# out and err.
serve() {
	local i
	: >out
	"$TABLETFS" serve "$store" listen=127.0.0.1:0 "$@" >out 2>err &
	server=$!
	for i in $(seq $((300 * ${SLOW:-1}))); do
		grep -q export out && break
		kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	address=$(sed -n 's/^export BIGTABLE_EMULATOR_HOST=//p' out)
}

# stop: its status is that of the server.
stop() {
	local status
	kill "$server"
	wait "$server"
	status=$?
	server=
	return $status
}
