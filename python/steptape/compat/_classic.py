# SPDX-License-Identifier: Apache-2.0
"""What torch.utils.tensorboard and tensorboardX have in common."""

from __future__ import annotations

import math
import os
import time
from typing import Any, Iterable, Mapping, Optional, Union

from .. import _arguments, _open_run, _writer
from .._arguments import Number, Step


def _place(log_dir: Optional[_arguments.Path]) -> tuple[Optional[_arguments.Path], Optional[str]]:
    """The directory of a run and its mirror. The originals write to S3 themselves; here the run needs a disk."""
    url = "" if log_dir is None else _arguments.path(log_dir, "SummaryWriter: log_dir")
    if not url.startswith("s3://"):
        return log_dir, None
    # The same for each process and each restart, so that what a killed one has left is found.
    names = [name for name in url[len("s3://"):].split("/") if name]
    if not names or not {".", ".."}.isdisjoint(names):
        raise ValueError(f"SummaryWriter: log_dir: got {url!r}; expected s3://BUCKET/RUN")
    return os.path.join("runs", *names), url


class FileWriter:
    """Writes messages of TensorFlow's Protocol Buffers to the run of a SummaryWriter."""

    def __init__(self, writer: _open_run.OpenRun) -> None:
        self._writer = writer

    def get_logdir(self) -> str:
        return self._writer.log_dir

    def add_event(self, event: Any, step: Optional[int] = None, walltime: Optional[Number] = None) -> None:
        """Records a message Event, and sets its time and step as the originals do."""
        event.wall_time = time.time() if walltime is None else _arguments.finite(walltime, "add_event: walltime")
        if step is not None:
            event.step = self._writer._begin("add_event", step)
        self._writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Step = None,
                    walltime: Optional[Number] = None) -> None:
        """Records a message Summary."""
        self._writer._add_summary(_arguments.message(summary, "add_summary: summary"),
                                  self._writer._begin("add_summary", global_step),
                                  _arguments.wall_time(walltime, "add_summary"))

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def reopen(self) -> None:
        """Does nothing: a call after close() opens a file."""


class ClassicWriter(_writer.SummaryWriter):
    """A SummaryWriter with the habits of the originals, where they are not those of steptape.SummaryWriter.

    Every process writes, also several to one directory. Steps that are no integers are cut off. Texts have
    the tag <tag>/text_summary. Results of add_hparams() come into a run of their own. A run of a bucket,
    s3://BUCKET/RUN, is written to runs/BUCKET/RUN on the disk, its log_dir, and mirrored from there.
    """

    def __init__(self, log_dir: Optional[_arguments.Path], comment: str, purge_step: Step, max_queue: int,
                 flush_secs: Number, filename_suffix: str, enabled: bool = True) -> None:
        directory, mirror = _place(log_dir)
        super().__init__(directory, comment, purge_step, max_queue, flush_secs, filename_suffix, enabled=enabled,
                         ranks="all", shared=True, mirror=mirror)
        if mirror is not None and self._is_enabled:
            _open_run._warn(f"SummaryWriter: log_dir: got {mirror!r}; the run is written to {directory!r} and mirrored "
                            f"from there. steptape.SummaryWriter(log_dir, mirror={mirror!r}) lets you choose log_dir")

    @property
    def file_writer(self) -> FileWriter:
        """Takes messages of Protocol Buffers."""
        return FileWriter(self)

    @property
    def all_writers(self) -> dict[str, FileWriter]:
        return {self.log_dir: self.file_writer}

    def _get_file_writer(self) -> FileWriter:
        return self.file_writer

    def _step(self, step: Any) -> int:
        try:
            whole = step.__index__()
        except (AttributeError, TypeError):
            whole = math.trunc(_arguments.finite(step, "global_step"))
        return _arguments.integer(whole, "global_step")

    def add_text(self, tag: str, text_string: Union[str, Iterable[str], Iterable[Iterable[str]]],
                 global_step: Step = None, walltime: Optional[Number] = None) -> None:
        """Records a text under the tag <tag>/text_summary, as the originals do."""
        super().add_text(f"{_arguments.text(tag, 'add_text: tag')}/text_summary", text_string, global_step, walltime)

    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Optional[Mapping[str, Iterable[Any]]] = None,
                    run_name: Optional[str] = None, global_step: Step = None) -> None:
        """Records hyperparameters and results in the run <log_dir>/<run_name>; None: the time."""
        super().add_hparams(hparam_dict, metric_dict, hparam_domain_discrete,
                            str(time.time()) if run_name in (None, "") else run_name,
                            0 if global_step is None else global_step)

    def _run_below(self, name: str) -> _writer.SummaryWriter:
        return _writer.SummaryWriter(self._below(name), ranks="all", shared=True, enabled=self._is_enabled)
