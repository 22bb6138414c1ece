#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build, run, test (--tests) and lint (--lint), and prints the settings to use it:
#
#   eval "$(tools/setup.sh [--tests] [--lint])"
#
# sets STEPTAPE_TORCH_DIR (the folder of TorchConfig.cmake), STEPTAPE_PYTHON (a Python that has
# TensorBoard) and PATH. Messages go to stderr. Safe to run again: then it installs nothing.
#
# STEPTAPE_NO_INSTALL=1   only says what is missing and how to get it
# STEPTAPE_TORCH=debian   takes Debian's libtorch-dev instead of looking for another LibTorch
# Torch_DIR, CMAKE_PREFIX_PATH   your own LibTorch
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly torch_version=2.13.0
# The tests know these viewers by what they show, which is documented nowhere.
readonly xprof_version=2.24.2
readonly hta_version=0.5.0
# Another version of these finds something else to say.
readonly clang_format_version=14.0.6
readonly codespell_version=2.4.1
readonly cmake_version=3.24
readonly venv=$root/.venv

# Package, kind of probe, what is probed. Probing files instead of dpkg lets other systems and
# programs installed by hand count.
readonly build_requirements=(
  'build-essential command g++'
  'ninja-build command ninja'
  'ccache command ccache'
  'pkg-config command pkg-config'
  'protobuf-compiler command protoc'
  'libprotobuf-dev header google/protobuf/message.h'
  'zlib1g-dev header zlib.h'
  'libcairo2-dev header cairo/cairo.h'
  'libopenmpi-dev command mpicxx'
  'openmpi-bin command mpiexec'
  'libgtest-dev header gtest/gtest.h'
  'libgmock-dev header gmock/gmock.h'
  'nlohmann-json3-dev header nlohmann/json.hpp'
  'libpng-dev header png.h'
  'libjpeg-dev header jpeglib.h'
  'libcli11-dev header CLI/CLI.hpp'
  'libfmt-dev header fmt/core.h'
  'python3-venv venv .venv'
  "dataset-fashion-mnist file $fashion_mnist_dir/train-images-idx3-ubyte.gz"
)
readonly test_requirements=(
  'chromium command chromium'
  'fonts-liberation file /usr/share/fonts/*/*'
  'tmux command tmux'
)
# clang-tidy of the clang++ beside it: it reads the headers that its compiler ships.
readonly lint_requirements=(
  'clang command clang++'
  'clang-tidy command clang-tidy'
  'shellcheck command shellcheck'
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

# Debian's python3 cannot make a virtual environment without a further package.
has_venv() { [[ -x $root/$1/bin/pip ]] || python3 -c 'import ensurepip, venv' 2>/dev/null; }

# missing_packages <requirement> ...: one package a line
missing_packages() {
  local requirement package kind probe
  for requirement in "$@"; do
    read -r package kind probe <<<"$requirement"
    "has_$kind" "$probe" || echo "$package"
  done
}

has_new_cmake() {
  local found
  found=$(cmake --version 2>/dev/null | awk 'NR == 1 {print $3}')
  [[ -n $found && $(printf '%s\n' "$cmake_version" "$found" | sort -V | head -n 1) == "$cmake_version" ]]
}

# missing_modules <python> <module> ...: one module a line; without importing them, which takes seconds
missing_modules() {
  local python=$1
  shift
  if [[ ! -x $(command -v "$python") ]]; then
    printf '%s\n' "$@"
    return
  fi
  "$python" -c '
import importlib.util, sys
print("\n".join(m for m in sys.argv[1:] if importlib.util.find_spec(m) is None))' "$@"
}

# has_module_version <package> <version>: whether .venv holds exactly this one
has_module_version() { has_file "$venv/lib*/python3*/site-packages/${1//-/_}-$2.dist-info"; }

# has_cuda_toolkit: a whole one. LibTorch's CMake files want cuBLAS too, which a compiler alone lacks.
has_cuda_toolkit() {
  local nvcc folder
  nvcc=$(command -v nvcc || true)
  for folder in ${nvcc:+"$(dirname "$(readlink -f "$nvcc")")/.."} /usr/local/cuda; do
    if [[ -x $folder/bin/nvcc ]] && has_file "$folder/lib*/libcublas.so*"; then return 0; fi
  done
  [[ -n $nvcc ]] && ldconfig -p 2>/dev/null | grep -q 'libcublas\.so'
}

# torch_dir_of <python>: prints the folder of its torch's TorchConfig.cmake. Fails where there is
# none, and where it is a CUDA build which needs a toolkit to compile against that is not here.
torch_dir_of() {
  local python=$1 package
  [[ -x $(command -v "$python") ]] || return 1
  package=$("$python" -c '
import importlib.util, os
spec = importlib.util.find_spec("torch")
print(os.path.dirname(spec.origin) if spec and spec.origin else "")')
  [[ -n $package && -f $package/share/cmake/Torch/TorchConfig.cmake ]] || return 1
  if grep -q "^cuda.*= '" "$package/version.py" && ! has_cuda_toolkit; then
    say "the torch in $package is a CUDA build and there is no CUDA toolkit: not used"
    return 1
  fi
  echo "$package/share/cmake/Torch"
}

debian_torch_dir() { compgen -G '/usr/lib/*/cmake/Torch' | head -n 1; }

# user_torch_dir: the LibTorch that the user named
user_torch_dir() {
  local prefix folder
  if [[ -n ${Torch_DIR:-} ]]; then
    [[ -f $Torch_DIR/TorchConfig.cmake ]] || die "Torch_DIR=$Torch_DIR holds no TorchConfig.cmake"
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

# install_modules <pip requirement> ...: into the project's own .venv
install_modules() {
  if [[ ${STEPTAPE_NO_INSTALL:-0} == 1 ]]; then
    say "missing: Python packages $* (get them: python3 -m venv .venv && .venv/bin/pip install $*)"
    return 1
  fi
  if [[ ! -x $venv/bin/pip ]]; then
    with_progress "creating .venv" python3 -m venv "$venv" || return 1
  fi
  with_progress "installing Python packages: $*" "$venv/bin/pip" install --no-input "$@"
}

with_tests=0
with_lint=0
for argument in "$@"; do
  case $argument in
    --tests) with_tests=1 ;;
    --lint) with_lint=1 ;;
    *) die "unknown argument '$argument'; usage: tools/setup.sh [--tests] [--lint]" ;;
  esac
done

failed=0
requirements=("${build_requirements[@]}")
modules=(tensorboard)
if ((with_tests)); then
  requirements+=("${test_requirements[@]}")
  modules+=(tensorboardX PIL hta numpy pandas setuptools tbparse tensorboard_reducer torch xprof)
  modules+=(nanobind scikit_build_core duckdb polars pyarrow)
fi
if ((with_lint)); then requirements+=("${lint_requirements[@]}"); fi

torch_dir=
if [[ ${STEPTAPE_TORCH:-} == debian ]]; then
  requirements+=("${debian_torch_requirements[@]}")
else
  torch_dir=$(user_torch_dir || torch_dir_of python3 || torch_dir_of "$venv/bin/python3" || true)
fi

mapfile -t packages < <(missing_packages "${requirements[@]}")
if ! has_new_cmake; then packages+=(cmake); fi
if ((${#packages[@]})); then install_packages "${packages[@]}" || failed=1; fi

if [[ ${STEPTAPE_TORCH:-} != debian && -z $torch_dir ]]; then
  modules+=(torch numpy setuptools)
fi
# An older release of the system ships an older CMake; pip has the current one.
if ! has_new_cmake && ! can_install; then
  failed=1
elif ! has_new_cmake; then
  modules+=(cmake)
fi
mapfile -t modules < <(missing_modules "$venv/bin/python3" "${modules[@]}" | sort -u)
pip_requirements=()
for module in "${modules[@]}"; do
  case $module in
    '') ;;
    PIL) pip_requirements+=(pillow) ;;
    scikit_build_core) pip_requirements+=(scikit-build-core) ;;
    hta) pip_requirements+=("HolisticTraceAnalysis==$hta_version") ;;
    tensorboard_reducer) pip_requirements+=(tensorboard-reducer) ;;
    torch) pip_requirements+=("torch==$torch_version") ;;
    xprof) pip_requirements+=("xprof==$xprof_version") ;;
    *) pip_requirements+=("$module") ;;
  esac
done
if ((with_lint)); then
  if ! has_module_version clang-format "$clang_format_version"; then
    pip_requirements+=("clang-format==$clang_format_version")
  fi
  if ! has_module_version codespell "$codespell_version"; then
    pip_requirements+=("codespell==$codespell_version")
  fi
fi
if ((${#pip_requirements[@]})); then install_modules "${pip_requirements[@]}" || failed=1; fi

if [[ -z $torch_dir && ${STEPTAPE_TORCH:-} != debian ]]; then
  torch_dir=$(torch_dir_of "$venv/bin/python3" || true)
fi
# Asked for, or no wheel fits this machine.
if [[ -z $torch_dir ]] && can_install; then
  mapfile -t packages < <(missing_packages "${debian_torch_requirements[@]}")
  if ((${#packages[@]})); then install_packages "${packages[@]}" || failed=1; fi
fi
torch_dir=${torch_dir:-$(debian_torch_dir || true)}
if [[ -z $torch_dir ]]; then
  say "missing: LibTorch (get it: run tools/setup.sh where it may install, or set Torch_DIR to the share/cmake/Torch of one)"
  failed=1
fi
if ((failed)); then die "something is missing, see above"; fi

path=$PATH
if ! has_new_cmake; then path=$venv/bin:$PATH; fi
printf 'export STEPTAPE_TORCH_DIR=%q STEPTAPE_PYTHON=%q PATH=%q\n' "$torch_dir" "$venv/bin/python3" "$path"
