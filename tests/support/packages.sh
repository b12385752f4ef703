# SPDX-License-Identifier: BSL-1.0
# shellcheck shell=bash disable=SC2154  # plait_root is set by who sources it
# Sourced by tests/run and examples/run: finds out which of the needed packages are missing, and installs them.
#
#   need GROUP...                 adds what these groups need; they are listed in need() below
#   install_missing MODE          MODE: ask, yes (--yes) or no (--no-install). Returns if nothing is missing any more,
#                                 else ends the script: 2 if packages are missing and may not be installed here.
#
# A package counts as there if its tool or header is found (built by hand, another distribution), or dpkg has it.

plait_needed=()
plait_missing=()

has_tool() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null 2>&1 && return 0
  done
  return 1
}

has_header() {
  local directory
  local IFS=:
  for directory in /usr/include /usr/local/include ${CPATH:-} ${CPLUS_INCLUDE_PATH:-}; do
    [ -e "$directory/$1" ] && return 0
  done
  return 1
}

has_module() {
  local name
  for name in "$@"; do
    pkg-config --exists "$name" 2>/dev/null && return 0
  done
  return 1
}

# The Python that has the module: Debian's, if another one comes first in PATH and lacks it.
python_with() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c "import $1" 2>/dev/null && echo "$python" && return
  done
  return 1
}

# What shows that the package is there, other than dpkg.
probe() {
  case $1 in
    g++) has_tool g++ ;;
    meson) has_tool meson ;;
    ninja-build) has_tool ninja ninja-build samu ;;
    pkg-config) has_tool pkg-config pkgconf ;;
    python3) has_tool python3 ;;
    cmake | make | doxygen) has_tool "$1" ;;
    libcereal-dev) has_header cereal/cereal.hpp ;;
    doctest-dev) has_header doctest/doctest.h ;;
    libeigen3-dev) has_module eigen3 ;;
    libtbb-dev) has_module tbb ;;
    libopenmpi-dev) has_module ompi-cxx ompi ;;
    openmpi-bin) has_tool mpirun.openmpi mpiexec.openmpi || mpirun --version 2>/dev/null | grep -q 'Open MPI' ;;
    libmpich-dev) has_module mpich ;;
    mpich) has_tool mpiexec.mpich mpiexec.hydra || mpiexec --version 2>/dev/null | grep -qi hydra ;;
    libhdf5-openmpi-dev) has_module hdf5-openmpi ;;
    libhdf5-mpich-dev) has_module hdf5-mpich ;;
    hdf5-tools) has_tool h5diff ;;
    libjpeg-dev) has_module libjpeg ;;
    mate-backgrounds) [ -d /usr/share/backgrounds/mate ] ;;
    clang-19) has_tool clang++-19 ;;
    clang-format-14) has_tool clang-format-14 ;;
    python3-matplotlib) python_with matplotlib >/dev/null ;;
    *) return 1 ;;
  esac
}

is_installed() {
  has_tool dpkg-query && [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

need() {
  local group
  for group in "$@"; do
    case $group in
      build) plait_needed+=(g++ meson ninja-build pkg-config python3 libcereal-dev) ;;
      tests) plait_needed+=(doctest-dev cmake make libeigen3-dev) ;;
      openmpi) plait_needed+=(libopenmpi-dev openmpi-bin) ;;
      mpich) plait_needed+=(libmpich-dev mpich) ;;
      pipeline-openmpi) plait_needed+=(libhdf5-openmpi-dev libjpeg-dev hdf5-tools mate-backgrounds) ;;
      pipeline-mpich) plait_needed+=(libhdf5-mpich-dev libjpeg-dev hdf5-tools mate-backgrounds) ;;
      clang) plait_needed+=(clang-19 libclang-rt-19-dev) ;;
      format) plait_needed+=(clang-format-14) ;;
      bench) plait_needed+=(libtbb-dev) ;;
      plots) plait_needed+=(python3-matplotlib) ;;
      docs) plait_needed+=(doxygen) ;;
      *) echo "packages.sh: there is no group $group" >&2; exit 1 ;;
    esac
  done
}

find_missing() {
  local package
  plait_missing=()
  for package in "${plait_needed[@]}"; do
    case " ${plait_missing[*]-} " in *" $package "*) continue ;; esac
    probe "$package" || is_installed "$package" || plait_missing+=("$package")
  done
}

# Debian or one of its family: it has apt, and says so itself where it says anything. PLAIT_OS_RELEASE: for the tests.
is_debian() {
  local release=${PLAIT_OS_RELEASE:-/etc/os-release}
  has_tool apt-get && has_tool dpkg-query || return 1
  if ! [ -r "$release" ]; then
    [ -e /etc/debian_version ]
    return
  fi
  grep -qE '^ID(_LIKE)?=.*\b(debian|ubuntu)\b' "$release"
}

install_missing() {
  local mode=$1 asked answer
  find_missing
  [ ${#plait_missing[@]} -eq 0 ] && return

  echo "Not installed: ${plait_missing[*]}"
  if ! is_debian; then
    echo "These are the names in Debian; this system is not of its family: please install what corresponds to them." >&2
    exit 2
  fi
  local install=(apt-get install --yes --no-install-recommends "${plait_missing[@]}")
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  echo "To install: ${sudo[*]+${sudo[*]} }apt-get update && ${sudo[*]+${sudo[*]} }${install[*]}"
  [ "$mode" = no ] && exit 2

  if [ ${#sudo[@]} -gt 0 ]; then
    asked=no
    if [ "$mode" = ask ] && [ -z "${CI:-}" ] && [ -t 0 ]; then
      read -r -p "Install them now? [Y/n] " answer || answer=n
      case $answer in '' | [yYjJ]*) asked=yes ;; *) exit 2 ;; esac
    fi
    if ! has_tool sudo; then
      echo "There is no sudo here: please run the command above as root." >&2
      exit 2
    fi
    # Only a person at a terminal can be asked for a password.
    if [ "$asked" = no ] && ! { [ -t 0 ] && [ "$mode" = yes ]; }; then
      sudo=(sudo -n)
      if ! sudo -n true 2>/dev/null; then
        echo "sudo wants a password, and nobody can be asked here: please run the command above." >&2
        exit 2
      fi
    elif ! sudo true; then
      echo "sudo was refused: please have the command above run as root." >&2
      exit 2
    fi
  fi

  local quiet=(env DEBIAN_FRONTEND=noninteractive)
  "${sudo[@]}" "${quiet[@]}" apt-get update </dev/null || echo "apt-get update failed; trying with the lists that are here" >&2
  if ! "${sudo[@]}" "${quiet[@]}" "${install[@]}" </dev/null; then
    echo "The packages could not be installed." >&2
    exit 1
  fi
  hash -r
  find_missing
  if [ ${#plait_missing[@]} -gt 0 ]; then
    echo "Still not found after installing: ${plait_missing[*]}" >&2
    exit 1
  fi
}

# Ends the script where DIRECTORY, or what it is to be made in, cannot be written, as in a checkout of somebody else.
require_writable() {
  local there=$1
  while ! [ -e "$there" ]; do there=$(dirname -- "$there"); done
  [ -d "$there" ] && [ -w "$there" ] && return
  echo "$1 cannot be written by $(id -un): please use a checkout of your own (git clone '$plait_root')." >&2
  exit 1
}

# How many compilers may run at once: the cores that this process may use, 1.5 GiB of free memory each.
parallel_jobs() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 1)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo "$cores")
  [ "${memory:-$cores}" -lt "$cores" ] && cores=$memory
  [ "$cores" -lt 1 ] && cores=1
  echo "$cores"
}

# setup_build DIRECTORY [MESON OPTION...]: configures it; again if the options or the set of source files changed.
setup_build() {
  local directory=$1 stamp
  shift
  stamp=$(
    printf '%s\n' "$plait_root" "${CXX:-}" "$@"
    cd "$plait_root" && find tests examples bench -name '*.cpp' -o -name 'meson.build' | LC_ALL=C sort
  )
  if [ -f "$directory/build.ninja" ] && [ "$stamp" = "$(cat "$directory/.stamp" 2>/dev/null)" ]; then
    return
  fi
  if [ -f "$directory/build.ninja" ] && [ "$(head -n 2 "$directory/.stamp" 2>/dev/null)" = "$(head -n 2 <<<"$stamp")" ] &&
    meson setup --reconfigure "$directory" "$plait_root" "$@" >"$directory/setup.log" 2>&1; then
    printf '%s\n' "$stamp" >"$directory/.stamp"
    return
  fi
  rm -rf "$directory" && mkdir -p "$directory" || return 1
  if ! meson setup "$directory" "$plait_root" "$@" >"$directory/setup.log" 2>&1; then
    tail -n 30 "$directory/setup.log"
    return 1
  fi
  printf '%s\n' "$stamp" >"$directory/.stamp"
}
