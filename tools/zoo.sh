#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets other writers of event files write new ones, and compares what each command of the tool says of them with what
# TensorBoard's loaders read.
#
#   tools/zoo.sh [SCRIPT ...]     scripts of tests/zoo/writers (default: all, which takes 10 GB and a quarter of an hour)
#
# The writers' environments and files are in build/zoo.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

settings=$(tools/setup.sh --tests)
eval "$settings"
configure release
build release steptape steptape_python steptape_python_stub
python3 tests/zoo/make_zoo.py build/zoo "$@" || die "tests/zoo/make_zoo.py: a writer failed; see above"
STEPTAPE_ZOO=$root/build/zoo/files ctest --test-dir "$(build_folder release)" --output-on-failure -R '^zoo'
