#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages in /test, uses each one for its purpose, and removes them. It prints one line per
# successful check and stops at the first failure. run_in_clean_system.sh runs it in a chroot.
set -euo pipefail
cd /test
export DEBIAN_FRONTEND=noninteractive
# By default Open MPI rejects root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

shown=0
# shows <what> <command> [argument ...]
shows() {
  local what=$1 log=/test/log
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "packages: FAILED: $what"
    exit 1
  fi
  shown=$((shown + 1))
  echo "packages: $what"
}

install() { apt-get -q install -y --no-install-recommends "$@"; }
# our_packages: our packages that are installed, or whose configuration files are
our_packages() { dpkg-query -W -f '${Package}\n' '*steptape*' 2>/dev/null || true; }
our_files() { find / -xdev -path /test -prune -o -iname '*steptape*' -print; }
# reads <text> <command> ...: checks that the command's output contains the text
reads() {
  local text=$1
  shift
  "$@" | tee /dev/stderr | grep -F "$text" >/dev/null
}
# fails <text> <command> ...: checks that the command fails and prints the text, wherever its lines break
fails() {
  local text=$1 output
  shift
  if output=$("$@" 2>&1); then return 1; fi
  echo "$output"
  tr -s ' \n' ' ' <<<"$output" | grep -F "$text" >/dev/null
}

# builds <project>: builds tests/install/<project> with CMake
builds() {
  cmake -S "install/$1" -B "build/$1" && cmake --build "build/$1"
}
configures_refused() {
  cmake --fresh -S install/refused -B build/refused -DREFUSED_COMPONENT="$1"
}
by_pkg_config() { mkdir -p "made/$1" && make -C "made/$1" -f "$PWD/install/pkgconfig/Makefile" "$1"; }

tool_is_complete() {
  test -f /usr/share/man/man1/steptape.1.gz
  test -f /usr/share/man/man1/steptape-inspect.1.gz
  test -f /usr/share/man/man1/steptape-data-server.1.gz
  test -f /usr/share/bash-completion/completions/steptape
  test -f /usr/share/zsh/site-functions/_steptape
  test -f /usr/share/fish/vendor_completions.d/steptape.fish
}

# serves: TensorBoard starts the data server so, and ends it by its stdin
serves() {
  local file=/test/port server
  rm -f "$file" /test/stdin
  mkfifo /test/stdin
  steptape-data-server --logdir="$PWD/golden" --port=0 --port-file="$file" --die-after-stdin </test/stdin &
  server=$!
  exec 3>/test/stdin
  until test -s "$file"; do
    kill -0 "$server" || return 1
    sleep 0.1
  done
  exec 3>&-
  wait "$server"
}
all_are_here() {
  test "$(our_packages | wc -l)" = "$(compgen -G '*.deb' | wc -l)"
  test "$(our_files | wc -l)" -gt 10
}
nothing_is_left() {
  test -z "$(our_packages)"
  test -z "$(our_files)"
}

version=$(dpkg-deb -f steptape_*.deb Version)

shows "the package lists" apt-get -q update
shows "the tool installs by itself" install ./steptape_*.deb
shows "the tool tells its version" reads "${version%-*}" steptape --version
shows "the tool inspects a run of PyTorch's" reads scalar steptape inspect golden/torch.tfevents
shows "the data server serves a run of PyTorch's" serves
shows "the tool has its man pages and completions" tool_is_complete

shows "core installs" install ./libsteptape-dev_*.deb g++ make cmake
shows "a CMake project builds on core" builds core
shows "it writes a run" build/core/consumer runs/core
shows "the tool inspects that run" reads loss/train steptape inspect runs/core
shows "pkg-config installs" install pkg-config
shows "a Makefile builds on core by pkg-config, and runs" by_pkg_config core
shows "a component of another package is said to be missing" \
  fails "component 'mpi' is not in this installation, which has: core testing" configures_refused mpi

shows "c installs" install ./libsteptape-c1_*.deb ./libsteptape-c-dev_*.deb gcc gfortran
shows "a CMake project in C builds on c" builds c
shows "it writes a run" build/c/consumer runs/c
shows "a CMake project in Fortran builds on fortran" builds fortran
shows "it writes a run" build/fortran/consumer runs/fortran
shows "a Makefile builds on c by pkg-config, and runs" by_pkg_config c
shows "a Makefile builds on Fortran by pkg-config, and runs" by_pkg_config fortran

shows "figure installs" install ./libsteptape-figure-dev_*.deb
shows "a CMake project builds on figure" builds figure
shows "it draws and logs a figure" build/figure/consumer runs/figure
shows "a Makefile builds on figure by pkg-config, and runs" by_pkg_config figure

shows "images installs" install ./libsteptape-images-dev_*.deb
shows "a CMake project builds on images" builds images
shows "it reads an image folder" build/images/consumer runs/images

shows "mpi installs" install ./libsteptape-mpi-dev_*.deb openmpi-bin
shows "a CMake project builds on mpi" builds mpi
shows "it runs on two ranks" mpiexec --map-by :oversubscribe -n 2 build/mpi/consumer runs/mpi
shows "a Makefile builds on mpi by pkg-config, and runs" by_pkg_config mpi

if compgen -G 'libsteptape-torch-dev_*.deb' >/dev/null; then
  # LibTorch leaves the choice of a BLAS to the administrator.
  shows "torch installs" install ./libsteptape-torch-dev_*.deb libopenblas0-pthread
  shows "a CMake project builds on torch" builds torch
  shows "it logs tensors and profiles" build/torch/consumer runs/torch
  shows "a CMake project builds on trainer" builds trainer
  shows "it trains" build/trainer/consumer runs/trainer
fi

shows "all packages are installed" all_are_here
mapfile -t installed < <(our_packages)
shows "${#installed[@]} packages are removed" apt-get -q purge -y "${installed[@]}"
shows "they leave nothing" nothing_is_left
echo "packages: $shown passed, 0 failed"
