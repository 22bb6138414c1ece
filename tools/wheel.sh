#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel of the Python package and tests it in an environment without a compiler, and its package for C++ with
# one. The last line on stdout is the wheel's path.
#
#   tools/wheel.sh [PYTHON]     default: python3; from 3.12 on, the wheel works with all later versions
#
# If auditwheel is installed, it determines on which systems the wheel runs and renames the wheel accordingly.
# If abi3audit is installed, it checks that the wheel uses only the stable ABI.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

(($# <= 1)) || die "arguments: got $#; expected at most one; usage: tools/wheel.sh [PYTHON]"
python=${1:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  die "$python: got $("$python" --version); expected Python 3.10 or later"
tools/setup.sh --wheel
readonly folder=$root/build/wheel
is_new=1
if [[ -d $folder ]]; then is_new=0; fi
rm -rf "$folder/built" "$folder/repaired" "$folder/environment"
mkdir -p "$folder"

"$python" -m venv "$folder/environment"
venv_python=$folder/environment/bin/python
with_progress "installing numpy and pandas for the test" \
  "$venv_python" -m pip install --no-input --upgrade pip numpy pandas
with_progress "building the wheel" \
  "$venv_python" -m pip wheel "$root" --no-deps --wheel-dir "$folder/built" -C "build-dir=$folder/{wheel_tag}"
wheel=$(echo "$folder"/built/steptape-*.whl)

if command -v auditwheel >/dev/null; then
  auditwheel show "$wheel" >&2
  auditwheel repair "$wheel" --wheel-dir "$folder/repaired" >&2
  wheel=$(echo "$folder"/repaired/steptape-*.whl)
fi
if command -v abi3audit >/dev/null && [[ $wheel == *-abi3-* ]]; then
  abi3audit --strict "$wheel" >&2
fi
"$venv_python" -B "$root/tests/python/wheel_test.py" "$wheel" >&2
# By default Open MPI rejects root and more ranks than cores. Other MPIs ignore these variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
"$venv_python" -B "$root/tests/python/wheel_cpp_test.py" "$wheel" >&2
STEPTAPE_PYTHON=$venv_python record_run tools/wheel.sh "$(echo "$folder"/cp*)" "built, installed, read" $((is_new ? SECONDS : 0))
echo "$wheel"
