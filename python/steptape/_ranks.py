# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job, by the library with which the program lets them communicate."""

from __future__ import annotations

import sys
import time
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
        if isinstance(operation, tuple):
            operation = operation[0]
        return operation.Test()

    can_send = True  # A rank that waits names the ranks that it misses.

    def start_send(self, rank: int, message: bytes) -> Any:
        # With the message, which must live until it has been received.
        return self._lanes[2].Isend([message, self._mpi.BYTE], rank), message

    def receive(self, message: memoryview) -> int:
        """Receives a message that has arrived; returns its sender, or -1."""
        status = self._mpi.Status()
        if not self._lanes[2].Iprobe(status=status):
            return -1
        self._lanes[2].Recv([message, self._mpi.BYTE], status.Get_source())
        return status.Get_source()


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
        # gloo cannot ask whether a message has arrived, so messages go through the store.
        self._store = dist.distributed_c10d._get_default_store()
        self._sent = [0] * self.size
        self._received = [0] * self.size
        self._next_look = 0.0

    def _key(self, sender: int, receiver: int, number: int) -> str:
        return f"steptape/{self._lanes[0].group_name}/{sender}/{receiver}/{number}"

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

    can_send = True

    def start_send(self, rank: int, message: bytes) -> Any:
        self._store.set(self._key(self.rank, rank, self._sent[rank]), message.hex())
        self._sent[rank] += 1
        return _Ended()

    def receive(self, message: memoryview) -> int:
        """As MpiRanks.receive(); asks the store now and then."""
        if time.monotonic() < self._next_look:
            return -1
        for sender in range(self.size):
            key = self._key(sender, self.rank, self._received[sender])
            if sender != self.rank and self._store.check([key]):
                message[:] = bytes.fromhex(self._store.get(key).decode())
                self._store.delete_key(key)
                self._received[sender] += 1
                return sender
        self._next_look = time.monotonic() + 0.5
        return -1


class _Ended:
    """An operation that ends at once."""

    def is_completed(self) -> bool:
        return True

    def wait(self) -> None:
        pass


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
