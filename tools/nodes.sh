#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command as if on the first node of a cluster. mpiexec in it starts ranks on all nodes;
# "$STEPTAPE_NODE_SHELL" node1 COMMAND runs a command on another node.
#
#   tools/nodes.sh 2 mpiexec -n 4 build/release/bin/fashion_mnist --max-steps 100
#   tools/nodes.sh 4 build/release/bin/scaling_study --ranks 1,4,16
#
# A node is a set of namespaces: its own network, host name, shared memory and /dev/shm. The nodes share the
# file system, as on a cluster, and reach each other only by TCP over a virtual switch. Ranks go to the nodes in
# turn. Everything ends with the command, whose exit code this script returns.
#
# It works with the mpiexec of Open MPI 4 and 5, and of MPICH, and needs Linux with ip, nsenter and unshare, and root or
# user namespaces; without them it exits with code 77. The nodes share the cores of this machine: they show how a
# program behaves on several nodes, not how fast it is.
set -euo pipefail

readonly exit_unavailable=77
readonly slots=64  # ranks of a node; more than a test needs

die() {
  printf 'nodes.sh: %s\n' "$2" >&2
  exit "$1"
}

# Runs this script again inside namespaces that end with it.
enter_namespaces() {
  local namespaces=(--net --mount --pid --fork --kill-child --mount-proc)
  ((EUID == 0)) || namespaces+=(--user --map-root-user)
  unshare "${namespaces[@]}" ip link add probe type bridge 2>/dev/null ||
    die "$exit_unavailable" "cannot create a network namespace with a bridge; expected root, or user namespaces, and ip"
  STEPTAPE_NODES_INSIDE=1 exec unshare "${namespaces[@]}" "${BASH_SOURCE[0]}" "$@"
}

# Node <i> is the namespaces of a process that holds them open; its id is in $state/node<i>.
start_node() {
  local name=node$1 address=10.0.0.$(($1 + 1)) ready
  # shellcheck disable=SC2016  # The inner shell expands it.
  exec {ready}< <(exec unshare --net --uts --ipc --mount bash -ec '
    hostname "$1"
    mount -t tmpfs tmpfs /dev/shm
    mount --bind "$2/hosts" /etc/hosts
    echo ready
    exec sleep infinity >/dev/null' - "$name" "$state")
  echo $! >"$state/$name"
  read -r <&"$ready" || die 1 "cannot start $name"
  ip link add "$name" type veth peer name eth0 netns "$(<"$state/$name")"
  ip link set "$name" master switch up
  on_node "$name" ip link set lo up
  on_node "$name" ip address add "$address/24" dev eth0
  on_node "$name" ip link set eth0 up
}

# on_node <name> <command> ...
on_node() {
  local name=$1
  shift
  nsenter --target "$(<"$state/$name")" --net --uts --ipc --mount env --chdir="$PWD" "$@"
}

# mpiexec calls this program in place of ssh: agent [option ...] <host> <command ...>
write_agent() {
  cat >"$state/agent" <<AGENT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
exec nsenter --target "\$(cat "$state/\$host")" --net --uts --ipc --mount sh -c "\$*"
AGENT
  chmod +x "$state/agent"
}

[[ ${1:-} =~ ^[1-9][0-9]?$ && $# -ge 2 ]] || die 2 "got '$*'; expected: tools/nodes.sh NODES COMMAND [ARGUMENT ...]"
[[ -n ${STEPTAPE_NODES_INSIDE:-} ]] || enter_namespaces "$@"
unset STEPTAPE_NODES_INSIDE
readonly nodes=$1
shift

state=$(mktemp -d)
trap 'rm -r "$state"' EXIT
trap 'exit 1' INT TERM
ip link add switch type bridge
ip link set switch up
{
  echo 127.0.0.1 localhost
  for ((i = 0; i < nodes; ++i)); do echo "10.0.0.$((i + 1)) node$i"; done
} >"$state/hosts"
for ((i = 0; i < nodes; ++i)); do
  start_node "$i"
  echo "node$i slots=$slots" >>"$state/open_mpi_hosts"
  echo "node$i" >>"$state/mpich_hosts"
done
write_agent

export OMPI_MCA_plm_rsh_agent=$state/agent OMPI_MCA_orte_default_hostfile=$state/open_mpi_hosts
export OMPI_MCA_rmaps_base_mapping_policy=node
export PRTE_MCA_plm_ssh_agent=$state/agent PRTE_MCA_prte_default_hostfile=$state/open_mpi_hosts
export PRTE_MCA_rmaps_default_mapping_policy=node:oversubscribe
export STEPTAPE_NODE_SHELL=$state/agent
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$state/agent HYDRA_HOST_FILE=$state/mpich_hosts
on_node node0 "$@"
