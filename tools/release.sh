#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completes a folder of files to publish: adds SHA256SUMS, and notes.md with the release's part of CHANGELOG.md.
#
#   tools/release.sh TAG FOLDER     TAG is v<version>, with the version of CMakeLists.txt
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

readonly usage="usage: tools/release.sh TAG FOLDER"
tag=${1:?$usage}
folder=${2:?$usage}
version=$(project_version)
[[ $tag == "v$version" ]] || die "the tag and CMakeLists.txt differ: got '$tag', expected 'v$version'"
[[ -n $(compgen -G "$folder/*") ]] || die "no files to publish in '$folder'"

# From the version's heading to the next heading.
notes=$(awk -v heading="## $version" '
  /^## / {inside = ($0 == heading || index($0, heading " ") == 1); next}
  inside
' CHANGELOG.md)
[[ -n ${notes//[[:space:]]/} ]] || die "CHANGELOG.md has nothing under '## $version'"
grep -q "^## $version (unreleased)" CHANGELOG.md &&
  die "CHANGELOG.md calls $version unreleased: put the date there"

cd "$folder"
rm -f SHA256SUMS notes.md
sha256sum -- * >"$root/build/SHA256SUMS.part"
mv "$root/build/SHA256SUMS.part" SHA256SUMS
printf '%s\n' "$notes" >notes.md
say "$(wc -l <SHA256SUMS) files of $tag are in $folder"
