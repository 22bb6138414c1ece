#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the Conan recipe with its test_package. Needs `conan` (pip install "conan>=2") and no remote: the profile
# declares this system's own packages as the requirements.
#
#   tests/packages/conan.sh [-o 'steptape/*:shared=True' ...]     options are passed to `conan create`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/common.sh
source "$here/../../tools/common.sh"

command -v conan >/dev/null || die 'conan: not installed; install it: pip install "conan>=2"'
CONAN_HOME=$(mktemp -d)
export CONAN_HOME
trap 'rm -rf "$CONAN_HOME"' EXIT

conan profile detect >&2
profile=$CONAN_HOME/profiles/default
sed -i 's/^compiler.cppstd=.*/compiler.cppstd=17/' "$profile"
cat >>"$profile" <<'PROFILE'
[platform_requires]
protobuf/3.21.12
zlib/1.2.13
nlohmann_json/3.11.2
cairo/1.16.0
openmpi/4.1.4
cli11/2.1.2
fmt/9.1.0
[platform_tool_requires]
protobuf/3.21.12
[conf]
tools.cmake.cmake_layout:test_folder=$TMP
tools.cmake.cmaketoolchain:user_presets=
tools.cmake.cmaketoolchain:extra_variables={"CMAKE_UNITY_BUILD": "ON", "CMAKE_UNITY_BUILD_BATCH_SIZE": "0"}
PROFILE
conan create "$root/packaging/conan" --no-remote "$@"
