# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job, by the library with which the program lets them communicate."""

from __future__ import annotations

import sys
from typing import Any


class MpiRanks:
    """Ranks of a communicator of mpi4py. Collective."""

    def __init__(self, comm: Any) -> None:
        self._mpi = sys.modules["mpi4py.MPI"]
        # The core has operations in three orders, and MPI one for each communicator.
        self._lanes = [comm.Dup() for _ in range(3)]
        self.rank = comm.Get_rank()
        self.size = comm.Get_size()

    def is_usable(self) -> bool:
        return self._mpi.Is_initialized() and not self._mpi.Is_finalized()

    def start_gather(self, lane: int, gathered: memoryview, count: int) -> Any:
        """Gathers `count` bytes of each rank into `gathered`, where those of this rank are already."""
        mpi = self._mpi
        return self._lanes[lane].Iallgather(mpi.IN_PLACE, [gathered, count, mpi.BYTE])

    def has_ended(self, operation: Any) -> bool:
        return operation.Test()


class TorchRanks:
    """Ranks of a process group of torch.distributed. Collective."""

    def __init__(self, group: Any) -> None:
        self._torch = sys.modules["torch"]
        dist = self._torch.distributed
        members = dist.get_process_group_ranks(group if group is not None else dist.group.WORLD)
        # gloo's, whatever the program's own backend is: the bytes are in main memory.
        self._lanes = [dist.new_group(members, backend="gloo", use_local_synchronization=True)
                       for _ in range(3)]
        self.rank = members.index(dist.get_rank())
        self.size = len(members)

    def is_usable(self) -> bool:
        return self._torch.distributed.is_initialized()

    def start_gather(self, lane: int, gathered: memoryview, count: int) -> Any:
        """As MpiRanks.start_gather()."""
        parts = list(self._torch.frombuffer(gathered, dtype=self._torch.uint8).split(count))
        mine = parts[self.rank].clone()
        return self._torch.distributed.all_gather(parts, mine, self._lanes[lane], async_op=True)

    def has_ended(self, operation: Any) -> bool:
        if not operation.is_completed():
            return False
        operation.wait()  # Raises the exception of an operation that has failed.
        return True


def ranks_of(reduce: Any) -> Any:
    """The ranks that the argument `reduce` of SummaryWriter means."""
    torch = sys.modules.get("torch")
    dist = getattr(torch, "distributed", None)
    is_torch = dist is not None and dist.is_available()
    mpi = sys.modules.get("mpi4py.MPI")
    if is_torch and dist.is_initialized() and (reduce is True or reduce is dist):
        return TorchRanks(None)
    if is_torch and dist.is_initialized() and isinstance(reduce, dist.ProcessGroup):
        return TorchRanks(reduce)
    if mpi is not None and (reduce is True or reduce is mpi):
        return MpiRanks(mpi.COMM_WORLD)
    if mpi is not None and isinstance(reduce, mpi.Comm):
        return MpiRanks(reduce)
    if reduce is True or reduce is dist:
        raise RuntimeError("SummaryWriter: reduce: got a program without ranks; expected mpi4py.MPI imported, or "
                           "torch.distributed.init_process_group() called before")
    raise TypeError(f"SummaryWriter: reduce: got {type(reduce).__name__}; expected True, a communicator of mpi4py "
                    "or a process group of torch.distributed")
