#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a clone of this repository, as a newcomer to a bare Debian system does: a user with sudo, and
# nothing installed but git.
#
#   tools/distro.sh trixie tools/quickstart.sh
#   tools/distro.sh bookworm tools/test.sh
#   tools/distro.sh forky tools/test.sh --quick
#   tools/distro.sh --in FOLDER trixie COMMAND ...    keeps the system in FOLDER, and continues with it the next time
#
# The clone holds what is committed. Everything ends with the command, whose exit code this script returns.
# Certificates of this machine (/usr/local/share/ca-certificates), its settings of pip and proxies, and how its apt fetches
# apply inside.
#
# Needs root, debootstrap and network access. STEPTAPE_DEBIAN_MIRROR overrides debootstrap's default mirror.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly newcomer=newcomer
readonly usage="tools/distro.sh [--in FOLDER] RELEASE COMMAND [ARGUMENT ...]"

system=
if [[ ${1:-} == --in ]]; then
  system=${2:?usage: $usage}
  shift 2
fi
[[ ${1:-} =~ ^[a-z][a-z0-9-]*$ && $# -ge 2 ]] ||
  die "arguments: got '$*'; expected a release of Debian, such as trixie, and a command; usage: $usage"
release=$1
shift

((EUID == 0)) || die "user: got $(id -un); expected root: sudo tools/distro.sh ..."
if [[ -z $system ]]; then
  system=$(mktemp -d)
  trap 'rm -rf --one-file-system "$system"' EXIT
fi

# add_newcomer: what somebody has who has just cloned the repository
# shellcheck disable=SC2317  # with_progress calls it.
add_newcomer() {
  mkdir -p "$system/usr/local/share/ca-certificates"
  cp /usr/local/share/ca-certificates/*.crt "$system/usr/local/share/ca-certificates" 2>/dev/null || true
  # shellcheck disable=SC2016  # The inner shell expands it.
  in_system "$system" bash -euc '
    apt-get -q update
    DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends ca-certificates git sudo
    id "$1" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$1"
    echo "$1 ALL=(ALL) NOPASSWD: ALL" >"/etc/sudoers.d/$1"' - "$newcomer"
}

# update_clone: the committed state of this checkout. Files that git ignores stay, for the second run in a folder.
update_clone() {
  local clone=$system/home/$newcomer/steptape
  # Both checkouts may belong to somebody else.
  printf '[safe]\n  directory = *\n' >"$system/git_settings"
  export GIT_CONFIG_GLOBAL=$system/git_settings
  [[ -d $clone ]] || git init -q "$clone"
  git -C "$clone" fetch -q --update-shallow "$root" HEAD
  git -C "$clone" checkout -q --force --detach FETCH_HEAD
  in_system "$system" chown -R "$newcomer:" "/home/$newcomer/steptape"
}

if [[ ! -f $system/made ]]; then
  make_system "$release" "$system"
  echo "$release" >"$system/made"
fi
if [[ ! -f $system/etc/sudoers.d/$newcomer ]]; then
  with_progress "adding a user, git and sudo" add_newcomer
fi
[[ $(<"$system/made") == "$release" ]] || die "$system: got a system of $(<"$system/made"); expected one of $release"
update_clone

say "running in $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$system/etc/os-release"): $*"
settings=$(settings_of_this_machine | paste -s -d ,)
status=0
in_system "$system" su - "$newcomer" ${settings:+-w "$settings"} -c "cd steptape && ${*@Q}" || status=$?
say "$release: $* ended with $status, after $SECONDS s"
exit "$status"
