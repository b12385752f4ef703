#!/bin/sh
# Reads a header as Doxygen 1.9 needs it: <name> in comments is no HTML tag, a template that inherits from itself with
# other arguments is no cycle, and what lies in cereal's namespace is not ours to describe.
exec sed -E \
  -e '/^ *\/\/\//s/(^|[^`\\[:alnum:]_:])<([a-z_./]+)>/\1\\<\2\\>/g' \
  -e 's/^struct (\w+) : \1<.*> \{\};/struct \1 {};/' \
  -e 's/^struct cereal::(\w+::)*/struct of_cereal_/' \
  "$1"
