#!/bin/sh
# small_stack.sh KIB PROGRAM [ARGUMENT...]: runs it with that much stack, for the main thread and for every other.
ulimit -s "$1"
shift
exec "$@"
