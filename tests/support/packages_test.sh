#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# The rules by which tests/run and examples/run install packages, with an apt-get, a sudo and an id that only pretend.
set -u

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
export WORK=$work PATH=$work/bin:$PATH
unset CI

fake() {
  printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
# shellcheck disable=SC2016
fake apt-get 'echo "apt-get $*" >>"$WORK/log"; [ "$1" = update ] || [ -e "$WORK/breaks" ] || touch "$WORK/installed"; [ ! -e "$WORK/breaks" ]'
# shellcheck disable=SC2016
fake sudo 'echo "sudo $*" >>"$WORK/log"
if [ "$1" = -n ]; then shift; [ ! -e "$WORK/password" ] || exit 1; fi
exec "$@"'
# shellcheck disable=SC2016
fake id 'cat "$WORK/uid"'
fake dpkg-query 'exit 1'

passed=0
failed=0

# attempt UID MODE: runs install_missing in a process of its own, with meson and libcereal-dev missing, g++ there.
attempt() {
  echo "$1" >"$work/uid"
  rm -f "$work/log" "$work/installed"
  : >"$work/log"
  [ "${nothing_missing:-no}" = no ] || touch "$work/installed"
  (
    . "$here/packages.sh"
    probe() { case $1 in meson | libcereal-dev) [ -e "$work/installed" ] ;; *) true ;; esac; }
    if [ "${not_debian:-no}" = yes ]; then has_tool() { [ "$1" != apt-get ]; }; fi
    need build
    install_missing "$2"
  ) </dev/null >"$work/out" 2>&1
  status=$?
}

check() {  # check "WHAT" CONDITION...
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "wrong: $what (status $status)"
    sed 's/^/  out: /' "$work/out"
    sed 's/^/  log: /' "$work/log"
  fi
}
ended() { [ "$status" -eq "$1" ]; }
silent() { [ ! -s "$work/log" ]; }
logged() { grep -qx -- "$1" "$work/log"; }
said() { grep -q -- "$1" "$work/out"; }
install="apt-get install --yes --no-install-recommends meson libcereal-dev"

nothing_missing=yes attempt 1000 ask
check "nothing missing: success" ended 0
check "nothing missing: neither apt nor sudo" silent
attempt 0 no
check "--no-install: status 2" ended 2
check "--no-install: neither apt nor sudo" silent
check "--no-install: lists what is missing" said "Not installed: meson libcereal-dev"
not_debian=yes attempt 0 yes
check "not Debian: status 2" ended 2
check "not Debian: lists what is missing" said "Not installed: meson libcereal-dev"
check "not Debian: neither apt nor sudo" silent
printf 'NAME=Fedora\nID=fedora\nID_LIKE="rhel centos"\n' >"$work/release"
PLAIT_OS_RELEASE=$work/release attempt 0 yes
check "a system that says it is another: status 2" ended 2
check "a system that says it is another: neither apt nor sudo" silent
printf 'ID=mint\nID_LIKE="ubuntu debian"\n' >"$work/release"
PLAIT_OS_RELEASE=$work/release attempt 0 yes
check "a system of the family: installs" logged "$install"
attempt 0 ask
check "root: success" ended 0
check "root: installs just what is missing" logged "$install"
check "root: prints the command" said "$install"
check "root: no sudo" bash -c '! grep -q sudo "$WORK/log"'
attempt 1000 ask
check "a user whose sudo asks for nothing: success" ended 0
check "a user whose sudo asks for nothing: sudo -n" logged "sudo -n env DEBIAN_FRONTEND=noninteractive $install"
attempt 1000 yes
check "--yes: success" ended 0
CI=true attempt 1000 ask
check "CI: success" ended 0
touch "$work/password"
attempt 1000 ask
check "sudo wants a password: status 2" ended 2
check "sudo wants a password: no apt" bash -c '! grep -q ^apt-get "$WORK/log"'
check "sudo wants a password: prints the command" said "To install: sudo apt-get update && sudo $install"
rm "$work/password"
touch "$work/breaks"
attempt 0 ask
check "apt-get fails: status 1" ended 1

# The scripts themselves, up to the point where they would install.
scripts() { "$@" </dev/null >"$work/out" 2>&1; status=$?; }
root=$(cd -- "$here/../.." && pwd)
for option in --output --contact-sheet --ranks; do
  scripts bash "$root/examples/run" "$option"
  check "examples/run $option without a value: status 2" ended 2
  check "examples/run $option without a value: says so" said "$option needs a value"
done
: >"$work/file"
scripts bash -c 'plait_root=/checkout; . "$0"; require_writable "$1"' "$here/packages.sh" "$work/file/build/quick"
check "a directory that cannot be made: status 1" ended 1
check "a directory that cannot be made: says so" said "$work/file/build/quick cannot be written by"
scripts bash -c 'plait_root=/checkout; . "$0"; require_writable "$1"' "$here/packages.sh" "$work/new/build"
check "a directory that can be made: success" ended 0

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
