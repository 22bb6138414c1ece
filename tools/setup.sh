#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the missing packages to build, run, test (--tests), lint (--lint) and build the documentation (--docs), and
# prints the settings to use them:
#
#   eval "$(tools/setup.sh [--tests] [--lint] [--docs])"
#
# sets STEPTAPE_TORCH_DIR (the folder of TorchConfig.cmake), STEPTAPE_PYTHON (a Python with TensorBoard) and PATH.
# `tools/setup.sh --wheel` installs only what `pip install .` needs, and prints nothing.
# Messages go to stderr. It is safe to run again: the second run installs nothing.
#
# STEPTAPE_NO_INSTALL=1   only prints what is missing and how to install it
# STEPTAPE_TORCH=2.15.0   installs this LibTorch release from PyPI and uses it. `debian`: Debian's libtorch-dev;
#                         `python`: the torch of tools/requirements/tests.txt; `none`: no LibTorch
# Torch_DIR, CMAKE_PREFIX_PATH   your own LibTorch
#
# Default: the torch of python3, whatever its build. If there is none, the script installs the LibTorch release of
# tools/requirements/libtorch.txt, without its Python dependencies.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly oldest_torch=1.13
readonly cmake_version=3.24
readonly venv=$root/.venv
readonly requirements=$root/tools/requirements
default_torch=$(sed -n 's/^torch==//p' "$requirements/libtorch.txt")
readonly default_torch

# Package, kind of probe, argument of the probe. Probing files instead of dpkg also finds programs of other systems
# and programs that were installed by hand.
readonly build_requirements=(
  'build-essential command g++'
  'ninja-build command ninja'
  'ccache command ccache'
  'pkg-config command pkg-config'
  'protobuf-compiler command protoc'
  'libprotobuf-dev header google/protobuf/message.h'
  'zlib1g-dev header zlib.h'
  'libcairo2-dev header cairo/cairo.h'
  'libnghttp2-dev header nghttp2/nghttp2.h'
  'libopenmpi-dev command mpicxx'
  'openmpi-bin command mpiexec'
  'libgloo-dev header gloo/algorithm.h'
  'libgtest-dev header gtest/gtest.h'
  'libgmock-dev header gmock/gmock.h'
  'nlohmann-json3-dev header nlohmann/json.hpp'
  'libpng-dev header png.h'
  'libjpeg-dev header jpeglib.h'
  'libcli11-dev header CLI/CLI.hpp'
  'libfmt-dev header fmt/core.h'
  'python3-venv venv -'
  "dataset-fashion-mnist file $fashion_mnist_dir/train-images-idx3-ubyte.gz"
)
readonly test_requirements=(
  'python3-dev python_headers -'
  'chromium command chromium'
  'curl command curl'
  'fonts-dejavu-core file /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'
  'gfortran command gfortran'
  'tmux command tmux'
)
readonly lint_requirements=(
  'clang command clang++'
  'shellcheck command shellcheck'
)
readonly wheel_requirements=(
  'g++ command g++'
  'zlib1g-dev header zlib.h'
  'nlohmann-json3-dev header nlohmann/json.hpp'
  'libcli11-dev header CLI/CLI.hpp'
  'libfmt-dev header fmt/core.h'
  'python3-dev python_headers -'
  'python3-venv venv -'
)
readonly debian_torch_requirements=(
  'libtorch-dev header torch/csrc/api/include/torch/torch.h'
  'libopenblas0-pthread file /usr/lib/*/openblas-pthread/libblas.so.3'
)

has_command() { command -v "$1" >/dev/null; }
has_file() { compgen -G "$1" >/dev/null; }
has_header() {
  local folder
  for folder in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
    if [[ -e $folder/$1 ]]; then return 0; fi
  done
  return 1
}

# Whether .venv works. Its Python is gone after an upgrade of the system, and it has no pip if its creation was interrupted.
venv_works() { "$venv/bin/python3" -c 'import pip' 2>/dev/null; }

# Debian's python3 needs another package to create a virtual environment.
has_venv() { venv_works || python3 -c 'import ensurepip, venv' 2>/dev/null; }

# Those of the package python3-dev, where python3 is the system's.
has_python_headers() {
  python3 -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}

# missing_packages <requirement> ...: one package per line
missing_packages() {
  local requirement package kind probe
  for requirement in "$@"; do
    read -r package kind probe <<<"$requirement"
    "has_$kind" "$probe" || echo "$package"
  done
}

# is_at_least <version> <oldest>
is_at_least() { [[ -n $1 && $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

has_new_cmake() { is_at_least "$(cmake --version 2>/dev/null | awk 'NR == 1 {print $3}')" "$cmake_version"; }

# missing_modules <file of requirements> ...: the lines that .venv does not satisfy
missing_modules() {
  if ! venv_works; then
    grep --no-filename -v '^#' "$@"
    return
  fi
  "$venv/bin/python3" -c '
import sys
from importlib.metadata import PackageNotFoundError, version
for line in "".join(open(name).read() for name in sys.argv[1:]).splitlines():
  if line.startswith("#"):
    continue
  name, _, expected = line.partition("==")
  try:
    found = version(name.partition("[")[0]).partition("+")[0]
  except PackageNotFoundError:
    found = None
  if found is None or expected not in ("", found):
    print(line)' "$@"
}

# unloadable <library>: its dependencies that the loader does not find, in one line
unloadable() { { ldd "$1" 2>/dev/null || true; } | awk '/not found/ {printf "%s%s", separator, $1; separator = " "}'; }

# usable_torch_dir <package torch>: prints the folder of its TorchConfig.cmake, or reports why it cannot be used
usable_torch_dir() {
  local version missing
  [[ -f $1/share/cmake/Torch/TorchConfig.cmake ]] || return 1
  version=$(sed -n "s/^__version__ = '\([0-9.]*\).*/\1/p" "$1/version.py")
  missing=$(unloadable "$1/lib/libtorch_cpu.so")
  if ! is_at_least "$version" "$oldest_torch"; then
    say "torch in $1: got version $version; expected $oldest_torch or later; not used"
  elif [[ -n $missing ]]; then
    say "torch in $1: libraries were not found: $missing; not used"
  else
    echo "$1/share/cmake/Torch"
    return
  fi
  return 1
}

# python_torch_dir <python>: that of the package torch which it would import
python_torch_dir() {
  local package
  [[ -x $(command -v "$1") ]] || return 1
  package=$("$1" -c '
import importlib.util, os
spec = importlib.util.find_spec("torch")
print(os.path.dirname(spec.origin) if spec and spec.origin else "")')
  [[ -n $package ]] && usable_torch_dir "$package"
}

# venv_torch_dir: that of the torch which the tests compare with, installed if it is not here yet
venv_torch_dir() {
  local missing
  mapfile -t missing < <(missing_modules <(grep -E '^(torch==|numpy|setuptools)' "$requirements/tests.txt"))
  if ((${#missing[@]})); then install_modules "${missing[@]}" || return 1; fi
  python_torch_dir "$venv/bin/python3"
}

# install_libtorch <version> <folder>: installs the wheel torch without its Python dependencies, and for a CUDA build
# also the two CUDA libraries that its libtorch_cpu.so needs.
install_libtorch() {
  local version=$1 folder=$2 runtime
  # Python never imports it, so it need not be compiled, nor match this Python. Before 2.2 there are none for 3.12.
  local python_version=3.12
  if [[ $version =~ ^(1|2\.[01])\. ]]; then python_version=3.11; fi
  local install=("$venv/bin/python3" -m pip install --no-input --python-version "$python_version" --only-binary :all:
    --no-compile --target "$folder.part")
  rm -rf "$folder" "$folder.part"
  with_progress "installing LibTorch $version into $folder" "${install[@]}" --no-deps "torch==$version" || return 1
  mapfile -t runtime < <(sed -nE \
    -e 's/^Requires-Dist: cuda-toolkit\[.*\](==[0-9.]+).*/cuda-toolkit[cudart,cupti]\1/p' \
    -e 's/^Requires-Dist: (nvidia-cuda-(runtime|cupti)[^; ]*)( \((==[0-9.]+)\))?.*/\1\4/p' "$folder.part"/torch-*.dist-info/METADATA)
  if ((${#runtime[@]})); then
    with_progress "installing the CUDA libraries that it needs: ${runtime[*]}" "${install[@]}" "${runtime[@]}" || return 1
  fi
  mv "$folder.part" "$folder"
}

# wheel_torch_dir <version>: the folder of our own LibTorch, which it installs if needed
wheel_torch_dir() {
  local folder=$root/.cache/libtorch-$1
  if [[ ! -d $folder ]]; then
    if [[ ${STEPTAPE_NO_INSTALL:-0} == 1 ]]; then return 1; fi
    make_venv && mkdir -p "$root/.cache" && install_libtorch "$1" "$folder" || return 1
  fi
  usable_torch_dir "$folder/torch"
}

debian_torch_dir() { compgen -G '/usr/lib/*/cmake/Torch' | head -n 1; }

# user_torch_dir: the folder of the LibTorch that the user named
user_torch_dir() {
  local prefix folder
  if [[ -n ${Torch_DIR:-} ]]; then
    echo "$Torch_DIR"
    return
  fi
  local prefixes=${CMAKE_PREFIX_PATH:-}
  for prefix in ${prefixes//[:;]/ }; do
    for folder in "$prefix" "$prefix/Torch" "$prefix/share/cmake/Torch" "$prefix/lib/cmake/Torch"; do
      if [[ -f $folder/TorchConfig.cmake ]]; then
        echo "$folder"
        return
      fi
    done
  done
  return 1
}

make_venv() { venv_works || with_progress "creating .venv" python3 -m venv --clear "$venv"; }

# install_modules <pip requirement> ...: into the project's own .venv
install_modules() {
  if [[ ${STEPTAPE_NO_INSTALL:-0} == 1 ]]; then
    say "missing: Python packages $* (install them: python3 -m venv .venv && .venv/bin/pip install $*)"
    return 1
  fi
  make_venv && with_progress "installing Python packages: $*" "$venv/bin/python3" -m pip install --no-input "$@"
}

# install_traceinsight: into .cache/traceinsight, where the tests find it before the module `hta` of .venv
install_traceinsight() {
  local package folder=$root/.cache/traceinsight
  package=$(grep '^traceinsight==' "$requirements/traceinsight.txt")
  if [[ -d $folder/${package/==/-}.dist-info ]]; then return; fi
  if [[ ${STEPTAPE_NO_INSTALL:-0} == 1 ]]; then
    say "missing: $package in $folder (install it: .venv/bin/pip install --no-deps --target $folder $package)"
    return 1
  fi
  rm -rf "$folder" "$folder.part"
  make_venv && mkdir -p "$root/.cache" && with_progress "installing $package into $folder" \
    "$venv/bin/python3" -m pip install --no-input --no-deps --target "$folder.part" "$package" && mv "$folder.part" "$folder"
}

with_tests=0
with_wheel=0
with_lint=0
with_docs=0
for argument in "$@"; do
  case $argument in
    --tests) with_tests=1 ;;
    --wheel) with_wheel=1 ;;
    --lint) with_lint=1 ;;
    --docs) with_docs=1 ;;
    *) die "argument: got '$argument'; expected --tests, --lint, --docs or --wheel; usage: tools/setup.sh [--tests] [--lint] [--docs] | --wheel" ;;
  esac
done

if ((with_wheel)); then
  mapfile -t packages < <(missing_packages "${wheel_requirements[@]}")
  ((${#packages[@]} == 0)) || install_packages "${packages[@]}" || die "packages are missing; install those listed above and run again"
  exit
fi

failed=0
system_requirements=("${build_requirements[@]}")
python_requirements=("$requirements/viewer.txt")
if ((with_tests)); then
  system_requirements+=("${test_requirements[@]}")
  python_requirements+=("$requirements/tests.txt")
fi
if ((with_lint)); then
  system_requirements+=("${lint_requirements[@]}")
  python_requirements+=("$requirements/lint.txt")
fi
if ((with_docs)); then python_requirements+=("$requirements/docs.txt"); fi

torch=${STEPTAPE_TORCH:-}
torch_dir=
if [[ -z $torch ]]; then
  torch_dir=$(user_torch_dir || python_torch_dir python3 || true)
  if [[ -z $torch_dir ]]; then torch=$default_torch; fi
fi
if [[ $torch == debian ]]; then system_requirements+=("${debian_torch_requirements[@]}"); fi

mapfile -t packages < <(missing_packages "${system_requirements[@]}")
if ! has_new_cmake; then packages+=(cmake); fi
if ((${#packages[@]})); then install_packages "${packages[@]}" || failed=1; fi

mapfile -t modules < <(missing_modules "${python_requirements[@]}")
# Older systems have an older CMake. pip has the current one.
if ! has_new_cmake && ! can_install; then
  failed=1
elif ! has_new_cmake && [[ ! -x $venv/bin/cmake ]]; then
  modules+=(cmake)
fi
if ((${#modules[@]})); then install_modules "${modules[@]}" || failed=1; fi
if ((with_tests)); then install_traceinsight || failed=1; fi

case $torch in
  '' | debian | none) ;;
  python) torch_dir=$(venv_torch_dir || true) ;;
  *) torch_dir=$(wheel_torch_dir "$torch" || true) ;;
esac
# No wheel matches this machine, or pip's settings exclude the release.
if [[ -z $torch_dir && -z ${STEPTAPE_TORCH:-} ]]; then
  say "LibTorch $torch could not be installed, see above; using the torch of tools/requirements/tests.txt"
  torch_dir=$(venv_torch_dir || true)
fi
if [[ -z $torch_dir && -z ${STEPTAPE_TORCH:-} ]]; then
  say "LibTorch could not be installed from Python packages, see above; using Debian's"
  torch=debian
fi
if [[ $torch == debian ]]; then
  mapfile -t packages < <(missing_packages "${debian_torch_requirements[@]}")
  if ((${#packages[@]} == 0)) || { can_install && install_packages "${packages[@]}"; }; then
    torch_dir=$(debian_torch_dir || true)
  fi
fi
if [[ -z $torch_dir && $torch != none ]]; then
  say "missing: LibTorch ${STEPTAPE_TORCH:-} (run tools/setup.sh where it may install, or set Torch_DIR to the folder share/cmake/Torch of a LibTorch)"
  failed=1
fi
if ((failed)); then die "packages are missing; install those listed above and run again"; fi

path=$PATH
if ! has_new_cmake; then path=$venv/bin:$PATH; fi
printf 'export STEPTAPE_TORCH_DIR=%q STEPTAPE_PYTHON=%q PATH=%q\n' "$torch_dir" "$venv/bin/python3" "$path"
