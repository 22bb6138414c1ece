#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command on a real Slurm of two nodes, on this machine. srun, sbatch and the others work in it.
#
#   tools/slurm.sh srun -n 4 -N 2 hostname
#   tools/slurm.sh srun --mpi=pmix -n 4 build/release/bin/metric_averaging
#
# The nodes are this host and `second`: a set of namespaces with a host name and a /dev/shm of its own. They share the
# file system and the network. Everything ends with the command, whose exit code this script returns.
#
# Needs root, and Debian's Slurm 22.05 or newer with munge: apt-get install slurmctld slurmd slurm-client
# slurm-wlm-basic-plugins munge libpmix2. Where the control groups of version 1 can be changed, they limit the memory of
# tasks to what was asked for, and $SLURM_LIMITS_MEMORY is 1.
set -euo pipefail

die() {
  printf 'slurm.sh: %s\n' "$2" >&2
  exit "$1"
}

(($#)) || die 2 "got no command; expected: tools/slurm.sh COMMAND [ARGUMENT ...]"
((EUID == 0)) || die 1 "user: got $(id -un); expected root"
for program in slurmctld slurmd srun munged unshare; do
  [[ -n $(PATH=$PATH:/usr/sbin type -P "$program") ]] || die 1 "got no $program; expected Slurm and munge: \
apt-get install slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libpmix2"
done
# Inside, so that all processes end with this script, and /etc/hosts can be another one.
if [[ -z ${STEPTAPE_SLURM_INSIDE:-} ]]; then
  STEPTAPE_SLURM_INSIDE=1 exec unshare --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" "$@"
fi
unset STEPTAPE_SLURM_INSIDE
export PATH=$PATH:/usr/sbin

host=$(hostname -s)
state=$(mktemp -d)
# shellcheck disable=SC2317  # The trap calls it.
end() {
  local started
  mapfile -t started < <(jobs -p)
  disown -a  # the shell does not tell that they were killed
  kill -KILL "${started[@]}" 2>/dev/null || true
  while kill -0 "${started[@]}" 2>/dev/null; do sleep 0.05; done
  rm -rf --one-file-system "$state"
}
trap end EXIT
mkdir -p "$state"/{controller,spool,log,pmix}
chmod 755 "$state"
{ cat /etc/hosts; echo "127.0.0.1 $host second"; } >"$state/hosts"
mount --make-rprivate /
mount --bind "$state/hosts" /etc/hosts

head -c 1024 /dev/urandom >"$state/munge.key"
chmod 400 "$state/munge.key"
munged --force --key-file="$state/munge.key" --socket="$state/munge.socket" --pid-file="$state/munge.pid" \
  --log-file="$state/log/munge" --seed-file="$state/munge.seed" >&2

task_plugin=task/none
SLURM_LIMITS_MEMORY=0
if [[ -w /sys/fs/cgroup/memory && -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]]; then
  task_plugin=task/cgroup
  SLURM_LIMITS_MEMORY=1
  printf '%s\n' CgroupPlugin=cgroup/v1 CgroupMountpoint=/sys/fs/cgroup ConstrainRAMSpace=yes >"$state/cgroup.conf"
fi
export SLURM_LIMITS_MEMORY

cat >"$state/slurm.conf" <<CONF
ClusterName=steptape
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=27017
AuthType=auth/munge
AuthInfo=socket=$state/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/spool/%n
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.%n.pid
SlurmctldLogFile=$state/log/slurmctld
SlurmdLogFile=$state/log/slurmd.%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=$task_plugin
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/none
DefMemPerCPU=2000
KillWait=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName=$host NodeHostname=$host NodeAddr=127.0.0.1 Port=27018 CPUs=32 RealMemory=64000
NodeName=second NodeHostname=second NodeAddr=127.0.0.1 Port=27019 CPUs=32 RealMemory=64000
PartitionName=main Nodes=$host,second Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
CONF
echo "PMIxCliTmpDirBase=$state/pmix" >"$state/mpi.conf"
: >"$state/plugstack.conf"
export SLURM_CONF=$state/slurm.conf

slurmctld -D >"$state/log/controller" 2>&1 &
slurmd -D -N "$host" >"$state/log/first" 2>&1 &
# shellcheck disable=SC2016  # The inner shell expands it.
unshare --uts --mount --ipc bash -euc '
  mount -t tmpfs tmpfs /dev/shm
  mount -t tmpfs tmpfs "$1/pmix"
  hostname second
  exec slurmd -D -N second' - "$state" >"$state/log/second" 2>&1 &
readonly most_seconds=60
until [[ $(sinfo -h -N -o %T 2>/dev/null | grep -c idle) == 2 ]]; do
  if ((SECONDS > most_seconds)); then
    tail -n 20 "$state"/log/* >&2
    die 1 "the nodes are not ready after $most_seconds s"
  fi
  sleep 0.5
done

status=0
"$@" || status=$?
exit "$status"
