#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests/gpu on a machine with a GPU.
#
#   tools/gpu.sh pack FOLDER           gathers what such a machine may lack, on a machine that tools/setup.sh has set up
#   tools/gpu.sh run FOLDER [TORCH]    builds and runs the tests on the machine with the GPU; needs no network
#
# FOLDER then holds the sources of Protocol Buffers and Google Test, the headers of nlohmann-json, and zlib. `run` also
# needs a C++ compiler, CMake 3.24, ninja, and a CUDA build of PyTorch: that of python3, or TORCH, the folder of the
# package torch. Without MPI: `python3 -m torch.distributed.run` starts ranks.
#
# STEPTAPE_PYTHON=python3      the Python that has torch
# STEPTAPE_GPU_BUILD=FOLDER    where to build. Default: build/gpu
# STEPTAPE_WITH_CUDA=AUTO      builds although CUDA's libraries are missing; the tests then fail. Default: ON
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly usage='usage: tools/gpu.sh pack FOLDER | tools/gpu.sh run FOLDER [TORCH]'
readonly most_mib=60
readonly python=${STEPTAPE_PYTHON:-python3}

# copy_here <what> <file or folder> <to>: copies it, or reports how to get it
copy_here() {
  [[ -e $2 ]] || die "$1: got no $2; expected what tools/setup.sh --tests installs"
  mkdir -p "$3" && cp -rL "$2" "$3"
}

# unpack_protobuf <folder>: the sources that also the wheel of the Python package is built from
unpack_protobuf() {
  local package archive
  package=$(sed -n 's/^ *set(package \(grpcio-tools==[0-9.]*\))$/\1/p' "$root/cmake/SteptapeBuildProtobuf.cmake")
  archive=$(mktemp -d)
  # pip runs the package's setup.py to learn its name, which needs an older setuptools.
  echo 'setuptools<81' >"$archive/constraints.txt"
  with_progress "fetching the source of Protocol Buffers: $package" \
    env PIP_CONSTRAINT="$archive/constraints.txt" PIP_BUILD_CONSTRAINT="$archive/constraints.txt" \
    "$root/.venv/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$archive" "$package"
  mkdir -p "$1"
  tar -xzf "$archive"/grpcio*tools-*.tar.gz -C "$1" --strip-components=4 --wildcards '*/third_party/protobuf/src/google/*'
  rm -rf "$archive"
}

pack() {
  local folder=$1 libraries mib
  [[ ! -e $folder ]] || die "FOLDER: got $folder, which exists; expected a new folder"
  libraries=$(dirname "$(compgen -G '/usr/lib/*/libz.a' | head -n 1)")
  copy_here zlib /usr/include/zlib.h "$folder/include"
  # Debian has one of the two in the folder of the architecture.
  copy_here zlib "$(compgen -G '/usr/include/zconf.h' || compgen -G '/usr/include/*/zconf.h')" "$folder/include"
  copy_here zlib "$libraries/libz.a" "$folder/lib"
  copy_here nlohmann-json /usr/include/nlohmann "$folder/include"
  copy_here nlohmann-json /usr/share/cmake/nlohmann_json "$folder/share/cmake"
  copy_here 'Google Test' /usr/src/googletest "$folder"
  unpack_protobuf "$folder/protobuf"
  mib=$(du -sm "$folder" | cut -f 1)
  ((mib <= most_mib)) || die "$folder: got $mib MiB; expected at most $most_mib MiB"
  say "$folder holds $mib MiB. On the machine with the GPU: tools/gpu.sh run $folder"
}

configure_gpu() {
  local folder=$1 torch=$2 build=$3
  cmake -Wno-dev -Wno-deprecated -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 \
    -DCMAKE_PREFIX_PATH="$folder" -DTorch_DIR="$torch" \
    -DFETCHCONTENT_SOURCE_DIR_GOOGLETEST="$folder/googletest" -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON \
    -DSTEPTAPE_PROTOBUF_SOURCE="$folder/protobuf" \
    -DSTEPTAPE_GPU_TESTS=ON -DSTEPTAPE_GPU_PYTHON="$(command -v "$python")" \
    -DSTEPTAPE_WITH_CUDA="${STEPTAPE_WITH_CUDA:-ON}" -DSTEPTAPE_WITH_TORCH=ON \
    -DSTEPTAPE_WITH_MPI=OFF -DSTEPTAPE_WITH_GLOO=OFF -DSTEPTAPE_WITH_FIGURE=OFF -DSTEPTAPE_WITH_IMAGES=OFF \
    -DSTEPTAPE_WITH_SERVER=OFF \
    -DSTEPTAPE_BUILD_TOOLS=OFF -DSTEPTAPE_INSTALL=OFF
}

# timed <name> <command> ...: runs it, and adds its time and whether it succeeded to the summary
summary=()
failed=0
timed() {
  local name=$1 start=$SECONDS outcome=passed
  shift
  say "$name"
  "$@" || { outcome=FAILED; failed=1; }
  summary+=("$(printf '%-28s %-7s %4d s' "$name" "$outcome" $((SECONDS - start)))")
  [[ $outcome == passed ]]
}

run() {
  local folder torch=${2:-} build
  folder=$(cd "$1" && pwd) || die "FOLDER: got $1; expected the folder of tools/gpu.sh pack"
  build=${STEPTAPE_GPU_BUILD:-$root/build/gpu}
  if [[ -z $torch ]]; then
    torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))') ||
      die "torch: got none in $python; expected a CUDA build of PyTorch, or its folder as TORCH"
  fi
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || say "nvidia-smi found no GPU"
  if timed configure configure_gpu "$folder" "$torch" "$build" &&
    timed build cmake --build "$build" --parallel "$(jobs)" \
      --target gpu_test gpu_gradients device_step_benchmark fashion_mnist cifar10; then
    timed 'ctest -L gpu' ctest --test-dir "$build" -L gpu --no-tests=error --output-on-failure --timeout 240 || true
    timed 'cifar10, synthetic' "$build/bin/cifar10" --synthetic --max-steps 100 --log-dir "$build/runs/cifar10" || true
    timed 'step time' "$build/bin/device_step_benchmark" || true
  fi
  printf '\n'
  printf '%s\n' "${summary[@]}"
  return "$failed"
}

case ${1:-} in
  pack) (($# == 2)) || die "$usage"; pack "$2" ;;
  run) (($# == 2 || $# == 3)) || die "$usage"; run "$2" "${3:-}" ;;
  *) die "argument: got '${1:-}'; expected pack or run; $usage" ;;
esac
