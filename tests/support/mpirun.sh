#!/bin/sh
# mpirun.sh FLAVOUR RANKS PROGRAM [ARGUMENT...]: runs the program on this host with the launcher of that MPI
# (openmpi, mpich, compiler: whatever mpiexec is). More ranks than cores, and root, are fine. RANKS 0: no launcher.
set -eu
flavour=$1
ranks=$2
shift 2

first_of() {
  for name in "$@"; do
    if command -v "$name" >/dev/null 2>&1; then
      echo "$name"
      return
    fi
  done
  echo "mpirun.sh: none of these launchers found: $*" >&2
  exit 127
}

# Open MPI, 4 and 5. Single copy between processes fails with a message on stderr where a sandbox forbids ptrace.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
PRTE_ALLOW_RUN_AS_ROOT=1
PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM PRTE_ALLOW_RUN_AS_ROOT PRTE_ALLOW_RUN_AS_ROOT_CONFIRM
if ! grep -q '^Seccomp:[[:space:]]*0' /proc/self/status 2>/dev/null; then
  export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism:-none}"
fi

if [ "$ranks" = 0 ] || [ "$flavour" = none ]; then
  exec "$@"
fi

if [ "$flavour" = compiler ]; then
  launcher=$(first_of mpiexec mpirun)
  if "$launcher" --version 2>&1 | grep -qiE 'open[ -]?mpi|openrte|prte'; then flavour=openmpi; else flavour=mpich; fi
elif [ "$flavour" = openmpi ]; then
  launcher=$(first_of mpirun.openmpi mpiexec.openmpi mpirun mpiexec)
else
  launcher=$(first_of mpiexec.mpich mpirun.mpich mpiexec.hydra mpiexec mpirun)
fi

if [ "$flavour" = openmpi ]; then
  exec "$launcher" --oversubscribe --bind-to none -n "$ranks" "$@"
fi
exec "$launcher" -n "$ranks" "$@"
