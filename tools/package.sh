#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes packages that install without a compiler, in build/packages:
#
#   tools/package.sh                Debian packages for this machine's release, and the static tool
#   tools/package.sh --deb          the Debian packages alone
#   tools/package.sh --static       the static tool alone, a tarball for every Linux of this architecture
#   tools/package.sh --test         both, checked by lintian and used in a clean system; needs root, takes minutes
#
# DEBFULLNAME and DEBEMAIL name the publisher of the Debian packages.
# STEPTAPE_TORCH=none omits libsteptape-torch-dev, which needs Debian's libtorch-dev.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

readonly package_folder=$root/build/packages
with_deb=1
with_static=1
with_test=0
case ${1:-} in
  '') ;;
  --deb) with_static=0 ;;
  --static) with_deb=0 ;;
  --test) with_test=1 ;;
  *) die "argument: got '$1'; expected --deb, --static or --test; usage: tools/package.sh [--deb | --static | --test]" ;;
esac

# Packages may depend only on packages of Debian's archive, so they need its LibTorch.
settings=$(STEPTAPE_TORCH=${STEPTAPE_TORCH:-debian} tools/setup.sh)
eval "$settings"

# Files have the date of the commit, so that the same commit gives the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# This tag requires the bug by which a package enters Debian's archive. These packages are not meant for the archive.
readonly suppressed_tags=initial-upload-closes-no-bugs

# Debian's own flags without debug information, which would end up in programs that link the static archives.
debian_flags() { DEB_CXXFLAGS_STRIP=-g dpkg-buildflags --get "$1"; }

build_deb() {
  local folder torch=-DTorch_DIR=$STEPTAPE_TORCH_DIR
  folder=$(build_folder deb)
  if [[ ${STEPTAPE_TORCH:-} == none ]]; then torch=-DSTEPTAPE_WITH_TORCH=OFF; fi
  say "configuring ${folder#"$root"/}"
  CXXFLAGS="$(debian_flags CXXFLAGS) $(debian_flags CPPFLAGS)" LDFLAGS=$(debian_flags LDFLAGS) \
    cmake --fresh --preset deb -B "$folder" "$torch" >&2
  build deb
  rm -f "$package_folder"/*.deb
  with_progress "packing" cpack --config "$folder/CPackConfig.cmake" -B "$package_folder"
  rm -r "$package_folder/_CPack_Packages"
}

build_static_tool() {
  local folder name stage
  folder=$(build_folder static-tool)
  cmake --fresh --preset static-tool -B "$folder" >&2
  build static-tool
  name=steptape-$(project_version)-linux-$(uname -m)
  stage=$(mktemp -d)
  cmake --install "$folder" --component steptape_Tools --strip --prefix "$stage/$name" >&2
  cp LICENSE "$stage/$name"
  tools/bill_of_materials.py --licenses "$stage/$name/LICENSES_OF_LIBRARIES"
  rm -f "$package_folder"/*.tar.gz
  tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -c "$name" | gzip -9n >"$package_folder/$name.tar.gz"
  rm -r "$stage"
}

mkdir -p "$package_folder"
if ((with_deb)); then build_deb; fi
if ((with_static)); then build_static_tool; fi
mapfile -t made < <(
  for pattern in '*.deb' '*.tar.gz'; do compgen -G "$package_folder/$pattern" || true; done
)
tools/bill_of_materials.py "$(project_version)" \
  "$package_folder/steptape-$(project_version)-linux-$(uname -m).cdx.json" "${made[@]}"
ls -l "$package_folder" >&2

if ((with_test)); then
  command -v lintian >/dev/null || install_packages lintian || die "lintian: not installed; install the package above"
  say "checking the packages (lintian)"
  lintian --allow-root --fail-on error,warning --suppress-tags "$suppressed_tags" "$package_folder"/*.deb >&2
  tests/packages/run_static_tool.sh "$package_folder"/steptape-*.tar.gz
  tests/packages/run_in_clean_system.sh "$package_folder"
fi
