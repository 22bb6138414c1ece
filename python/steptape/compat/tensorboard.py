# SPDX-License-Identifier: Apache-2.0
"""torch.utils.tensorboard over Steptape's writer.

    from steptape.compat.tensorboard import SummaryWriter   # was torch.utils.tensorboard
"""

from __future__ import annotations

from typing import Optional

from .._arguments import Number, Path, Step
from ._classic import ClassicWriter, FileWriter

__all__ = ["FileWriter", "SummaryWriter"]


class SummaryWriter(ClassicWriter):
    __doc__ = ClassicWriter.__doc__

    def __init__(self, log_dir: Optional[Path] = None, comment: str = "", purge_step: Step = None,
                 max_queue: int = 10, flush_secs: Number = 120, filename_suffix: str = "") -> None:
        super().__init__(log_dir, comment, purge_step, max_queue, flush_secs, filename_suffix)
