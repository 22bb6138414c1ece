# SPDX-License-Identifier: Apache-2.0
"""The life of a run that a program writes."""

from __future__ import annotations

import atexit
import collections
import os
import sys
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Optional, Sequence, Union

from . import _arrays, _core, _ranks

Path = Union[str, "os.PathLike[str]"]


class WriterWarning(UserWarning):
    """TensorBoard will not show a logged value, or the operating system did not accept it."""


def _warn(message: str) -> None:
    """Warns at the line of the program that called this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("steptape."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, WriterWarning, stacklevel=level)


class OpenRun(_core.Writer):
    """What SummaryWriter is made of, besides its calls: opening, flushing, closing, and what a device copies."""

    def __init__(self, log_dir: Optional[Path] = None, comment: str = "", purge_step: Optional[int] = None,
                 max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "", *,
                 enabled: bool = True, ranks: str = "root", shared: bool = False, reduce: Any = None) -> None:
        if ranks not in ("root", "each", "all"):
            raise ValueError(f"SummaryWriter: ranks: got {ranks!r}; expected 'root', 'each' or 'all'")
        if not flush_secs > 0:
            raise ValueError(f"SummaryWriter: flush_secs: got {flush_secs!r}; expected a number above 0")
        directory = os.fspath(log_dir) if log_dir else ""
        if "://" in directory:
            raise ValueError(f"SummaryWriter: log_dir: got {directory!r}; expected a directory: mount the store, or "
                             "copy the run, to which files are only appended")
        # Set before the run exists, so that _end() works after any failure.
        self._pid = 0
        self._in_flight: collections.deque[tuple[str, list[Any], Callable[..., None]]] = collections.deque()
        self._lock = threading.RLock()
        if reduce is None:
            self._open_own(directory, comment, purge_step, flush_secs, filename_suffix, enabled, ranks, shared)
        elif ranks == "all" or shared or not directory:
            raise ValueError("SummaryWriter: reduce: got ranks='all', shared=True or no log_dir with it; expected "
                             "the directory of the job, and ranks='root' or 'each'")
        else:
            super().__init__(os.fsencode(directory), _ranks.ranks_of(reduce), ranks == "each", purge_step,
                             min(1.0, flush_secs), filename_suffix, enabled)
        self._pid = os.getpid()
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        _open.add(self)

    def _open_own(self, directory: str, comment: str, purge_step: Optional[int], flush_secs: float,
                  filename_suffix: str, enabled: bool, ranks: str, shared: bool) -> None:
        rank, size = (0, 1) if ranks == "all" else _core.launch()
        if ranks == "each" and size > 1:
            if not directory:
                raise ValueError("SummaryWriter: log_dir: got None with ranks='each'; expected the directory "
                                 "of the job, the same on all ranks")
            directory = os.path.join(directory, _core.rank_run_name(rank))
        super().__init__(os.fsencode(directory), comment, purge_step, min(1.0, flush_secs), filename_suffix,
                         enabled and (ranks != "root" or rank == 0), shared)

    @property
    def log_dir(self) -> str:
        """The directory of the run."""
        return os.fsdecode(self._directory)

    def get_logdir(self) -> str:
        """Returns the directory of the run."""
        return self.log_dir


    def add_reduced(self, tag: str, scalar_value: Any, global_step: Optional[int] = None,
                    walltime: Optional[float] = None, *, weight: float = 1, min: bool = False, max: bool = False,
                    std: bool = False, sum: bool = False, argmax_rank: bool = False,
                    percentiles: Sequence[float] = (), histogram: bool = False, band: bool = False) -> None:
        """Queues this rank's value for reduce(global_step), which averages it over the ranks of the job.

            writer = steptape.SummaryWriter("runs/exp", reduce=MPI.COMM_WORLD)
            writer.add_reduced("loss", loss, step, weight=batch_size, max=True)
            writer.reduce(step)

        weight: the weight of this value in the mean; 0: this rank has no value.
        min, max, std, sum: also write <tag>/min, <tag>/max, <tag>/std, <tag>/sum.
        argmax_rank: also writes the rank with the maximum, as <tag>/argmax_rank.
        percentiles: also writes these percentiles of the ranks' values; 90 as <tag>/p90.
        histogram: also writes the distribution of the ranks' values, as <tag>/ranks.
        band: also writes minimum and maximum, and a chart of the mean between them.

        All ranks must pass the same arguments, except value and weight.
        """
        self._add_reduced(tag, _arrays.scalar(scalar_value, "add_reduced: scalar_value"),
                          self._step_of(global_step), walltime, float(weight), min, max, std, sum, argmax_rank,
                          [float(p) for p in percentiles], histogram, band)

    def reduce(self, global_step: Optional[int] = None) -> None:
        """Averages the values that all ranks have queued for a step; rank 0 writes the means.

        One collective: every rank calls it, in the same order. Raises RuntimeError on all ranks if they
        disagree on tags or step, naming rank, host, tag and step; TimeoutError if a rank does not arrive.
        """
        self._reduce(self._step_of(global_step))

    def resume(self, global_step: int) -> None:
        """Resumes the run at a step, such as from a checkpoint: TensorBoard discards points at or after it."""
        self._arrived(wait=True)
        self._resume(self._step_of(global_step))

    def flush(self) -> None:
        """Waits until the operating system has accepted the data of all earlier calls.

        Raises OSError if data could not be written; it is kept and retried.
        """
        if self._is_ours():
            self._arrived(wait=True)
            self._flush()

    def close(self) -> None:
        """Flushes as flush() does, and closes the files. A later call opens a new file of the same run.

        Raises OSError if data could not be written; it is then discarded.
        """
        if self._is_ours():
            self._arrived(wait=True)
            self._close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace) -> None:
        if kind is None:
            self.close()
        else:
            self._end()  # The exception of the program is the one to see.

    def __del__(self) -> None:
        self._end()

    def __reduce_ex__(self, protocol):
        raise TypeError("SummaryWriter: got a request to copy or pickle it; expected each process to open a "
                        "writer of its own, such as with ranks='each' or another log_dir")

    def _is_ours(self) -> bool:
        """Whether this process opened the run; else it was made by fork() since, and logs nothing."""
        return getattr(self, "_pid", 0) == os.getpid()

    def _end(self) -> None:
        """Closes the run where nobody can catch an exception."""
        try:
            self.close()
        except Exception as error:  # pylint: disable=broad-except
            _warn(str(error))

    def _report(self, messages: list[str], is_forked: bool) -> None:
        """Called by the core, in the thread of a call."""
        for message in messages:
            _warn(message)
        if is_forked:
            _warn(f"{self.log_dir}: got a call in a process made by fork(), which logs nothing; expected it to open "
                  "a writer of its own")

    def _step(self, step: Any) -> int:
        """Called by the core for a step that is no int."""
        try:
            return step.__index__()
        except (AttributeError, TypeError):
            pass
        if not float(step).is_integer():
            raise ValueError(f"global_step: got {step!r}; expected an integer")
        return int(step)

    def _log(self, tag: str, write: Callable[..., None], walltime: Optional[float],
             *given: tuple[Any, str]) -> None:
        """Calls write(walltime, arrays …), now or once all arrays have arrived from their devices."""
        arrays = [_arrays.arrive(value, what) for value, what in given]
        if not self._in_flight and not any(isinstance(array, _arrays.Arrival) for array in arrays):
            write(walltime, *arrays)
            return
        self._arrived()
        with self._lock:
            # The values of a tag stay in order: a reader may discard one that comes after a later step.
            if any(tag == waiting[0] for waiting in self._in_flight) or any(
                    isinstance(array, _arrays.Arrival) and not array.is_here() for array in arrays):
                kept = [array if isinstance(array, _arrays.Arrival) else _arrays.copied(array)
                        for array in arrays]
                at = time.time() if walltime is None else walltime
                self._in_flight.append((tag, kept, lambda *values: write(at, *values)))
                self._is_ordered = True
                return
        write(walltime, *(_arrays.here(array) for array in arrays))

    def _arrived(self, wait: bool = False) -> None:
        """Writes what has arrived from devices; waits for all of it if asked to."""
        with self._lock:
            while self._in_flight:
                _, arrays, write = self._in_flight[0]
                for array in arrays:
                    if isinstance(array, _arrays.Arrival) and not array.is_here():
                        if not wait:
                            return
                        array.wait()
                self._in_flight.popleft()
                try:
                    write(*(_arrays.here(array) for array in arrays))
                except (TypeError, ValueError) as error:
                    # The call that gave the value has returned.
                    _warn(str(error))
            self._is_ordered = False

    def _add_other_scalar(self, tag: str, value: Any, step: Any, walltime: Optional[float], new_style: Any,
                          double_precision: Any, name: Optional[str], description: Optional[str]) -> None:
        """Called by the core for what add_scalar() of the core does not do itself."""
        what = "add_scalar: scalar_value"
        if value is None or isinstance(value, (str, bytes)):
            raise TypeError(f"{what}: got {value!r}; expected a number")
        at_step = self._step_of(step)

        def write(at: Optional[float], array: Any) -> None:
            number = _arrays.number(array, what)
            if new_style or double_precision:
                self._add_tensor_scalar(tag, number, at_step, at, bool(double_precision))
            else:
                self._add_named_scalar(tag, number, at_step, at, name or "", description or "")

        self._log(tag, write, walltime, (value, what))


_open: weakref.WeakSet[OpenRun] = weakref.WeakSet()


def _close_all() -> None:
    for run in list(_open):
        run._end()


atexit.register(_close_all)
