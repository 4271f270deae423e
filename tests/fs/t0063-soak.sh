#!/bin/bash
# A moment of each workload that goes on; make check-soak has minutes of them.
exec "$(dirname "$0")/../soak/mount.sh" 0.5
