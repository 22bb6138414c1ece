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
from typing import Any, Callable, Iterable, Optional, TypeVar

from . import _arguments, _arrays, _core, _ranks
from ._arguments import Number, Path, Step


_Self = TypeVar("_Self", bound="OpenRun")


_LONGEST = 10.0**9  # seconds: what the core's durations hold


class WriterWarning(UserWarning):
    """TensorBoard will not show a logged value, or the operating system or a bucket did not accept it."""


def _warn(message: str) -> None:
    """Warns at the line of the program that called this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("steptape."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, WriterWarning, stacklevel=level)


def _is_failure(error: Any) -> bool:
    """Whether an exception that leaves the `with` of a run is a failure of the program."""
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    return not isinstance(error, GeneratorExit)  # the end of a generator that nobody asks for more


class OpenRun(_core.Writer):
    """What SummaryWriter is made of, besides its calls: opening, flushing, closing, and what a device copies."""

    _pid = 0  # as long as there is no run, so that _end() works after any failure
    _has_failed = False  # the program, of which an exception ends the run

    def __init__(self, log_dir: Optional[Path] = None, comment: str = "", purge_step: Step = None,
                 max_queue: int = 10, flush_secs: Number = 120, filename_suffix: str = "", *,
                 enabled: bool = True, ranks: str = "root", shared: bool = False, reduce: Any = None,
                 mirror: Optional[str] = None, mirror_secs: Number = 30, mirror_timeout: Number = 20) -> None:
        if not isinstance(ranks, str) or ranks not in ("root", "each", "all"):
            raise _arguments.wrong("SummaryWriter: ranks", ranks, "'root', 'each' or 'all'",
                                   ValueError if isinstance(ranks, str) else TypeError)
        period = min(1.0, _arguments.positive(flush_secs, "SummaryWriter: flush_secs"))
        resumed = None if purge_step is None else _arguments.integer(purge_step, "SummaryWriter: purge_step")
        suffix = _arguments.optional_text(filename_suffix, "SummaryWriter: filename_suffix")
        if "/" in suffix or "\0" in suffix:
            raise _arguments.wrong("SummaryWriter: filename_suffix", suffix, "the end of a file's name", ValueError)
        note = _arguments.optional_text(comment, "SummaryWriter: comment")
        is_enabled = _arguments.flag(enabled, "SummaryWriter: enabled")
        is_shared = _arguments.flag(shared, "SummaryWriter: shared")
        url = _arguments.optional_text(mirror, "SummaryWriter: mirror")
        mirrored = (url, *(min(_arguments.positive(seconds, f"SummaryWriter: {name}"), _LONGEST) for name, seconds in (
            ("mirror_secs", mirror_secs), ("mirror_timeout", mirror_timeout))))
        directory = "" if log_dir is None else _arguments.path(log_dir, "SummaryWriter: log_dir")
        if "://" in directory:
            raise ValueError(f"SummaryWriter: log_dir: got {directory!r}; expected a directory: mirror='s3://…' keeps "
                             "a bucket beside it, and other stores can be mounted")
        if self._pid:
            raise RuntimeError("SummaryWriter: got a second call of __init__() for one writer; expected one")
        self._in_flight: collections.deque[tuple[str, list[Any], Callable[..., None]]] = collections.deque()
        self._lock = threading.RLock()
        # A later os.chdir() must not move the run.
        self._base = "" if os.path.isabs(directory) else os.path.join(os.getcwd(), "")
        directory = directory and self._base + directory
        if reduce is None or reduce is False:
            self._open_own(directory, note, resumed, period, suffix, is_enabled, mirrored, ranks, is_shared)
        elif ranks == "all" or shared or not directory:
            raise ValueError("SummaryWriter: reduce: got ranks='all', shared=True or no log_dir with it; expected "
                             "the directory of the job, and ranks='root' or 'each'")
        else:
            super().__init__(os.fsencode(directory), _ranks.ranks_of(reduce), ranks == "each", resumed,
                             period, suffix, is_enabled, mirrored)
        self._pid = os.getpid()
        self._is_late = False
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        _open.add(self)

    def _open_own(self, directory: str, comment: str, purge_step: Step, period: float, suffix: str,
                  enabled: bool, mirror: tuple[str, float, float], ranks: str, shared: bool) -> None:
        rank, size = (0, 1) if ranks == "all" else _core.launch()
        if ranks == "each" and size > 1:
            if not directory:
                raise ValueError("SummaryWriter: log_dir: got None with ranks='each'; expected the directory "
                                 "of the job, the same on all ranks")
            name = _core.rank_run_name(rank)
            directory = os.path.join(directory, name)
            mirror = (mirror[0] and f"{mirror[0].rstrip('/')}/{name}", *mirror[1:])
        super().__init__(os.fsencode(self._base), os.fsencode(directory), comment, purge_step, period, suffix,
                         enabled and (ranks != "root" or rank == 0), mirror, shared)

    @property
    def log_dir(self) -> str:
        """The directory of the run, as it was given."""
        self._begin("log_dir")
        return self._absolute()[len(self._base):]

    def get_logdir(self) -> str:
        """Returns the directory of the run."""
        return self.log_dir

    def _absolute(self) -> str:
        """The directory of the run, wherever the program is now."""
        return os.fsdecode(self._directory)

    def add_reduced(self, tag: str, scalar_value: Any, global_step: Step = None,
                    walltime: Optional[Number] = None, *, weight: Number = 1, min: bool = False, max: bool = False,
                    std: bool = False, sum: bool = False, argmax_rank: bool = False,
                    percentiles: Iterable[Any] = (), histogram: bool = False, band: bool = False) -> None:
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
        flags = {name: _arguments.flag(value, f"add_reduced: {name}") for name, value in {
            "min": min, "max": max, "std": std, "sum": sum, "argmax_rank": argmax_rank, "histogram": histogram,
            "band": band}.items()}
        step = self._begin("add_reduced", global_step)
        self._add_reduced(_arguments.text(tag, "add_reduced: tag"),
                          _arrays.scalar(scalar_value, "add_reduced: scalar_value"), step,
                          _arguments.wall_time(walltime, "add_reduced"),
                          _arguments.number(weight, "add_reduced: weight"), flags["min"], flags["max"],
                          flags["std"], flags["sum"], flags["argmax_rank"],
                          _arguments.numbers(percentiles, "add_reduced: percentiles"), flags["histogram"],
                          flags["band"])

    def reduce(self, global_step: Step = None) -> None:
        """Averages the values that all ranks have queued for a step; rank 0 writes the means.

        One collective: every rank calls it, in the same order. Raises RuntimeError on all ranks if they
        disagree on tags or step, naming rank, host, tag and step; TimeoutError if a rank does not arrive.
        """
        self._reduce(self._begin("reduce", global_step))

    def resume(self, global_step: Number) -> None:
        """Resumes the run at a step, such as from a checkpoint: TensorBoard discards points at or after it."""
        if global_step is None:
            raise _arguments.wrong("resume: global_step", None, "an integer")
        step = self._begin("resume", global_step)
        if self._is_ours():
            self._arrived(wait=True)
            self._resume(step)

    def flush(self) -> None:
        """Waits until the operating system has accepted the data of all earlier calls.

        Raises OSError if data could not be written; it is kept and retried.
        """
        self._begin("flush")
        if self._is_ours():
            self._arrived(wait=True)
            self._flush()

    def close(self) -> None:
        """Flushes as flush() does, closes the files and waits for the mirror. A later call opens a new file of the
        same run.

        Raises OSError if data could not be written; it is then discarded. Also raises OSError if the mirror lacks
        files, a TimeoutError after mirror_timeout: they stay in log_dir, and 'steptape sync' or the next writer of
        the run sends them.
        """
        if self._is_ours():
            self._arrived(wait=True)
            self._finish()

    def _finish(self) -> None:
        self._is_late = True  # unless this succeeds
        self._close(self._has_failed)
        self._is_late = False

    def stats(self) -> dict[str, int]:
        """Returns what this process has written of the run so far, and what it had to drop.

        scalars, values: points that were encoded. events, bytes_written, files: what the files got.
        dropped_scalars, dropped_values: points that were lost to a disk too slow or too full. retries: writes that
        were tried again. step_regressions: values with a smaller step than the value before of their tag.
        mirror_bytes: bytes that were sent to the mirror, repeated ones too. mirror_late_files, mirror_late_bytes: what
        it lacked when it last looked.
        """
        self._begin("stats")
        return dict(self._stats())

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
            return
        self._has_failed = _is_failure(error)
        try:
            self.close()
        except Exception as problem:  # pylint: disable=broad-except
            _warn(str(problem))  # The exception of the program is the one to see.
        finally:
            self._has_failed = False

    def __del__(self) -> None:
        self._end()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("SummaryWriter: got a request to copy or pickle it; expected each process to open a "
                        "writer of its own, such as with ranks='each' or another log_dir")

    def _begin(self, call: str, step: Any = None) -> int:
        """What each call does first. Returns the step."""
        if not self._pid:
            raise RuntimeError(f"{call}: got a writer without a run; expected SummaryWriter.__init__() to have been "
                               "called, and not to have raised")
        return 0 if step is None else self._step(step)

    def _is_ours(self) -> bool:
        """Whether this process opened the run; else it was made by fork() since, and logs nothing."""
        return self._pid == os.getpid()

    def _end(self) -> None:
        """Closes the run where nobody can catch an exception."""
        if not self._is_ours():
            return
        # A thread that Python has stopped may hold the lock. What was in flight was written at exit.
        waits = [] if sys.is_finalizing() else [lambda: self._arrived(wait=True)]
        # A mirror that was waited for in vain, or until Ctrl-C, is not waited for again.
        for act in [*waits, self._flush if self._is_late else self._finish]:
            try:
                act()
            except KeyboardInterrupt:
                _warn(f"{self.log_dir}: got Ctrl-C while the run was closed; what the disk has not accepted is brought "
                      "to the file by 'steptape recover', or by the next writer of the run")
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
        return _arguments.integer(step, "global_step")

    def _log(self, call: str, tag: str, write: Callable[..., None], walltime: Any, **given: Any) -> None:
        """Calls write(walltime, arrays …), now or once all arrays have arrived from their devices."""
        _arguments.text(tag, f"{call}: tag")
        walltime = _arguments.wall_time(walltime, call)
        if not self._is_ours():
            self._tell()
            return
        arrays = [_arrays.arrive(value, f"{call}: {name}") for name, value in given.items()]
        if not self._in_flight and not any(isinstance(array, _arrays.Arrival) for array in arrays):
            write(walltime, *arrays)
            return
        self._arrived()
        with self._lock:
            # The values of a tag stay in order: a reader may discard one that comes after a later step.
            if any(tag == waiting[0] for waiting in self._in_flight) or any(
                    _arrays.is_on_its_way(array) for array in arrays):
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
                    if not wait and _arrays.is_on_its_way(array):
                        return
                    _arrays.wait_for(array)
                self._in_flight.popleft()
                try:
                    write(*(_arrays.here(array) for array in arrays))
                except Exception as error:  # pylint: disable=broad-except
                    # The call that gave the value has returned. A device may have failed since.
                    _warn(str(error))
            self._is_ordered = False

    def _add_other_scalar(self, tag: str, value: Any, step: Any, walltime: Optional[float], new_style: Any,
                          double_precision: Any, name: Optional[str], description: Optional[str]) -> None:
        """Called by the core for what add_scalar() of the core does not do itself."""
        what = "add_scalar: scalar_value"
        at_step = self._begin("add_scalar", step)
        name = _arguments.optional_text(name, "add_scalar: display_name")
        description = _arguments.optional_text(description, "add_scalar: summary_description")
        is_double = double_precision is not None and _arguments.flag(double_precision, "add_scalar: double_precision")
        is_new = new_style is not None and _arguments.flag(new_style, "add_scalar: new_style") or is_double
        value = _arrays.numeral(value, what)

        def write(at: Optional[float], array: Any) -> None:
            number = _arrays.number(array, what)
            if is_new:
                self._add_tensor_scalar(tag, number, at_step, at, is_double)
            else:
                self._add_named_scalar(tag, number, at_step, at, name, description)

        self._log("add_scalar", tag, write, walltime, scalar_value=value)


_open: weakref.WeakSet[OpenRun] = weakref.WeakSet()


def _close_all() -> None:
    # The exception that ended the program. At a prompt it may be any, after which the program went on.
    has_failed = getattr(sys, "last_value", None) is not None and not (
        hasattr(sys, "ps1") or sys.flags.interactive)
    for run in list(_open):
        run._has_failed = has_failed
        run._end()


atexit.register(_close_all)
