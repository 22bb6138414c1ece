# SPDX-License-Identifier: Apache-2.0
"""What torch.utils.tensorboard and tensorboardX have in common."""

from __future__ import annotations

import os
import time
from typing import Any, Mapping, Optional, Sequence, Union

from .. import _open_run, _writer


class FileWriter:
    """Writes messages of TensorFlow's Protocol Buffers to the run of a SummaryWriter."""

    def __init__(self, writer: _open_run.OpenRun) -> None:
        self._writer = writer

    def get_logdir(self) -> str:
        return self._writer.log_dir

    def add_event(self, event: Any, step: Optional[int] = None, walltime: Optional[float] = None) -> None:
        """Records a message Event, and sets its time and step as the originals do."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self._writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Optional[int] = None,
                    walltime: Optional[float] = None) -> None:
        """Records a message Summary."""
        self._writer._add_summary(summary.SerializeToString(), self._writer._step_of(global_step), walltime)

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def reopen(self) -> None:
        """Does nothing: a call after close() opens a file."""


class ClassicWriter(_writer.SummaryWriter):
    """A SummaryWriter with the habits of the originals, where they are not those of steptape.SummaryWriter.

    Every process writes, also several to one directory. Steps that are no integers are cut off. Texts have
    the tag <tag>/text_summary. Results of add_hparams() come into a run of their own.
    """

    def __init__(self, log_dir: Optional[_open_run.Path], comment: str, purge_step: Optional[int], max_queue: int,
                 flush_secs: float, filename_suffix: str, enabled: bool = True) -> None:
        super().__init__(log_dir, comment, purge_step, max_queue, flush_secs, filename_suffix, enabled=enabled,
                         ranks="all", shared=True)

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
        return int(step)

    def add_text(self, tag: str, text_string: Union[str, Sequence[str], Sequence[Sequence[str]]],
                 global_step: Optional[int] = None, walltime: Optional[float] = None) -> None:
        """Records a text under the tag <tag>/text_summary, as the originals do."""
        super().add_text(f"{tag}/text_summary", text_string, global_step, walltime)

    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Optional[Mapping[str, Sequence[Any]]] = None,
                    run_name: Optional[str] = None, global_step: Optional[int] = None) -> None:
        """Records hyperparameters and results in the run <log_dir>/<run_name>; None: the time."""
        directory = os.path.join(self.log_dir, run_name or str(time.time()))
        with _writer.SummaryWriter(directory, ranks="all", shared=True) as below:
            below.add_hparams(hparam_dict, metric_dict, hparam_domain_discrete, None,
                              0 if global_step is None else self._step_of(global_step))
