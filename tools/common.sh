# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Shared by the scripts in this folder. Source it: it defines functions and $root, the project's folder.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fashion_mnist_dir=/usr/share/datasets/fashion-mnist

# Messages go to stderr, because stdout is for a script's result.
say() { printf '[steptape] %s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# with_progress <what> <command> [argument ...]
# Runs a long command quietly and shows progress. Its output appears only if it fails; what it writes to file
# descriptor 3 appears at once.
with_progress() {
  local what=$1 start=$SECONDS log status=0 elapsed
  shift
  log=$(mktemp)
  say "$what ..."
  "$@" 3>&2 >"$log" 2>&1 &
  local pid=$!
  # A background job of a script ignores Ctrl-C, so the trap forwards it.
  trap 'kill "$pid" 2>/dev/null; rm -f "$log"; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    elapsed=$((SECONDS - start))
    if [[ -t 2 ]]; then
      printf '\r\033[K  %d s  %s' "$elapsed" "$(tail -n 1 "$log" | tr -d '\r' | cut -c 1-70)" >&2
    elif ((elapsed % 30 == 0)); then
      say "  ... $elapsed s"
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  wait "$pid" || status=$?
  trap - INT TERM
  if ((status != 0)); then
    tail -n 30 "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}

# can_install: whether packages can be installed, as root or through sudo
can_install() {
  [[ ${STEPTAPE_NO_INSTALL:-0} != 1 ]] && command -v apt-get >/dev/null &&
    { ((EUID == 0)) || command -v sudo >/dev/null; }
}

# as_root <command> ...: with English messages
as_root() {
  local sudo=()
  if ((EUID != 0)); then sudo=(sudo); fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# apt_get <argument> ...: for with_progress. It waits while another program has apt's lock, as on a machine that has just
# started and updates itself, and finishes an earlier installation that was interrupted.
apt_get() {
  local most_seconds=${STEPTAPE_APT_LOCK_SECONDS:-300} start=$SECONDS waits=0 output holder status=0
  local -A mended=()
  output=$(mktemp)
  while ! (set -o pipefail && as_root apt-get -q -o Acquire::Retries=3 "$@" 2>&1 | tee "$output"); do
    if grep -qE 'Could not get lock|Unable to (lock|acquire)' "$output" && ((SECONDS - start < most_seconds)); then
      holder=$(sed -nE 's/.*held by process ([0-9]+ \([^)]*\)).*/process \1/p' "$output" | head -n 1)
      if ((waits++ == 0)); then
        say "${holder:-another program} holds apt's lock; waiting for up to $most_seconds s" 2>&3
      fi
      sleep 2
    elif grep -q 'dpkg --configure -a' "$output" && [[ -z ${mended[dpkg]:-} ]]; then
      mended[dpkg]=1
      say "an earlier installation was interrupted; finishing it: dpkg --configure -a" 2>&3
      as_root dpkg --configure -a || true
    elif grep -q -e '--fix-broken install' "$output" && [[ -z ${mended[apt]:-} ]]; then
      mended[apt]=1
      say "an earlier installation is incomplete; completing it: apt-get --fix-broken install" 2>&3
      as_root apt-get -q -o Acquire::Retries=3 --fix-broken install -y || true
    else
      status=1
      break
    fi
  done
  rm -f "$output"
  return "$status"
}

# install_packages <package> ...
# Installs Debian packages, or prints how to install them.
install_packages() {
  if ! can_install; then
    say "missing packages; install them as root: apt-get install --no-install-recommends $*"
    return 1
  fi
  # Asks for the password now, before the progress line would overwrite the prompt.
  if ((EUID != 0)) && ! sudo -v; then
    say "sudo refused; install these as root and run again: apt-get install --no-install-recommends $*"
    return 1
  fi
  with_progress "updating the package lists" apt_get update ||
    say "could not update the package lists; using the existing ones"
  with_progress "installing $# packages: $*" apt_get install -y --no-install-recommends "$@"
}

# make_system <release> <folder>: a minimal Debian or Ubuntu system in the folder; needs root and debootstrap
make_system() {
  local release=$1 folder=$2 scripts=/usr/share/debootstrap/scripts options=(--variant=minbase) arguments=()
  ((EUID == 0)) || die "user: got $(id -un); expected root, because it mounts the bare system"
  command -v debootstrap >/dev/null || die "debootstrap: not installed; install it: apt-get install debootstrap"
  # debootstrap knows the releases before its own. Later ones of Debian are made as sid is.
  if [[ ! -e $scripts/$release ]]; then
    arguments=("${STEPTAPE_DEBIAN_MIRROR:-http://deb.debian.org/debian}" "$scripts/sid")
  elif [[ -n ${STEPTAPE_DEBIAN_MIRROR:-} ]]; then
    arguments=("$STEPTAPE_DEBIAN_MIRROR")
  fi
  if grep -q ubuntu "$scripts/$release" 2>/dev/null; then options+=("--components=main,universe"); fi
  with_progress "making a minimal system of $release" debootstrap "${options[@]}" "$release" "$folder" "${arguments[@]}" ||
    die "the system could not be made, see above"
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  # A proxy, or a mirror that is behind.
  apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::|Check-)[^ ]+ "' >"$folder/etc/apt/apt.conf.d/90host" || true
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" >"$folder/etc/hosts"
}

# settings_of_this_machine: the names of variables that also apply in other systems and for other users of this machine
settings_of_this_machine() { compgen -e | grep -E '^(PIP|SSL|REQUESTS)_|_proxy$|^(CC|CXX|STEPTAPE_TORCH|TERM)$' || true; }

# in_system <folder> <command> ...: runs it as root in the system of the folder, with nothing of this environment
# but the settings of pip and of proxies. All processes and mounts end with the command, and with this shell.
in_system() {
  local kept=() name
  while read -r name; do
    kept+=("$name=${!name}")
  done < <(settings_of_this_machine)
  # shellcheck disable=SC2016  # The inner shell expands it.
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -euc '
    folder=$1
    shift
    mount --bind "$folder" "$folder"
    cd "$folder"
    mkdir -p dev/shm dev/pts
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t tmpfs tmpfs dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    # Not chroot: in one, Linux creates no user namespaces, and no mount namespaces with mounts of their own.
    pivot_root . .
    umount -l .
    cd /
    # Not exec: this shell is process 1, and waits for orphans, as an init does.
    status=0
    /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@" || status=$?
    exit "$status"
  ' - "$1" "${kept[@]}" "${@:2}"
}

# project_version: the version in project(VERSION), the only place that states it
project_version() { sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' "$root/CMakeLists.txt"; }

# jobs: how many compilers to run at once; a translation unit with LibTorch takes about 2 GB
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemTotal:/ {print int($2 / 2000000)}' /proc/meminfo)
  if ((memory < 1)); then memory=1; fi
  echo $((cores < memory ? cores : memory))
}

# build_folder <preset>: each LibTorch that STEPTAPE_TORCH selects has its own folder, and so has `release` with each MPI
# of tools/mpi.sh
build_folder() {
  if [[ $1 == release && -n ${STEPTAPE_MPI:-} ]]; then
    echo "$root/build/mpi-$STEPTAPE_MPI"
  else
    echo "$root/build/$1${STEPTAPE_TORCH:+-torch-$STEPTAPE_TORCH}"
  fi
}

# configure <preset>
# Configures the preset's build folder, unless it is already configured for the same LibTorch, MPI, compiler, nanobind
# and presets. If a CMakeLists.txt changes, ninja runs CMake again.
configure() {
  local preset=$1 torch=${STEPTAPE_TORCH_DIR:-} mpi=${STEPTAPE_MPI_DIR:-} arguments=()
  local folder marker expected
  folder=$(build_folder "$preset")
  marker=$folder/configured_for
  expected="$torch${mpi:+ $mpi} $("${CXX:-c++}" --version | head -n 1) $(cksum <"$root/CMakePresets.json")"
  expected+=" $(compgen -G "$root/.venv/lib/python3*/site-packages/nanobind-*.dist-info" || true)"
  if [[ -f $folder/build.ninja && -f $marker && $(<"$marker") == "$expected" ]]; then
    return
  fi
  say "configuring ${folder#"$root"/}"
  arguments=(-DTorch_DIR="$torch")
  if [[ ${STEPTAPE_TORCH:-} == none ]]; then arguments=(-DSTEPTAPE_WITH_TORCH=OFF); fi
  if [[ -n $mpi ]]; then
    arguments+=(-DMPI_CXX_COMPILER="$mpi/bin/mpicxx" -DMPIEXEC_EXECUTABLE="$mpi/bin/mpiexec")
  fi
  # --fresh: results found with another LibTorch must not stay in the cache.
  (cd "$root" && cmake --fresh --preset "$preset" -B "$folder" "${arguments[@]}" >&2) || return 1
  echo "$expected" >"$marker"
}

# cached <preset> <name>: the value in the cache of the preset's build folder
cached() { sed -n "s/^$2:[^=]*=//p" "$(build_folder "$1")/CMakeCache.txt"; }

# record_run <command> <build folder> <result> <seconds>: for the table of docs/platforms.md; 0 seconds where the build was
# not a new one
record_run() { python3 "$root/tools/platforms.py" record "$@" || say "the run was not recorded for docs/platforms.md"; }

# build <preset> [target ...]
build() {
  local folder targets=()
  folder=$(build_folder "$1")
  shift
  if (($#)); then targets=(--target "$@"); fi
  say "building ${folder#"$root"/}"
  # ccache then does not preprocess what it has not in its cache: 2 s for each source on LibTorch.
  CCACHE_DEPEND=${CCACHE_DEPEND:-1} cmake --build "$folder" --parallel "$(jobs)" "${targets[@]}" >&2
}
