# SPDX-License-Identifier: Apache-2.0
"""tensorboardX over Steptape's writer.

    from steptape.compat.tensorboardX import SummaryWriter   # was tensorboardX
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from .._arguments import Number, Path, Step
from ._classic import ClassicWriter, FileWriter

__all__ = ["FileWriter", "SummaryWriter"]


class SummaryWriter(ClassicWriter):
    __doc__ = ClassicWriter.__doc__

    def __init__(self, logdir: Optional[Path] = None, comment: str = "", purge_step: Step = None,
                 max_queue: int = 10, flush_secs: Number = 120, filename_suffix: str = "", write_to_disk: bool = True,
                 log_dir: Optional[Path] = None, comet_config: Optional[dict[str, Any]] = None) -> None:
        if comet_config and not comet_config.get("disabled", False):
            raise ValueError("SummaryWriter: comet_config: got a configuration; expected none: Comet is not written")
        super().__init__(log_dir or logdir, comment, purge_step, max_queue, flush_secs, filename_suffix,
                         enabled=write_to_disk)

    @property
    def logdir(self) -> str:
        """The directory of the run."""
        return self.log_dir

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Step = None,
                   walltime: Optional[Number] = None, display_name: str = "", summary_description: str = "") -> None:
        """Records one value of a curve; see steptape.SummaryWriter.add_scalar()."""
        super().add_scalar(tag, scalar_value, global_step, walltime, display_name=display_name,
                           summary_description=summary_description)

    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    name: Optional[str] = None, global_step: Step = None) -> None:
        """Records hyperparameters and results in the run <logdir>/<name>; None: the time."""
        super().add_hparams(hparam_dict, metric_dict, None, name, global_step)

    def add_onnx_graph(self, onnx_model_file: Path) -> None:
        """Records the graph of an ONNX file."""
        super().add_onnx_graph(onnx_model_file)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any, global_step: Step = None,
                             walltime: Optional[Number] = None, dataformats: str = "CHW",
                             labels: Optional[Iterable[str]] = None, rescale: Number = 1) -> None:
        """Records an image with boxes; see steptape.SummaryWriter.add_image_with_boxes()."""
        super().add_image_with_boxes(tag, img_tensor, box_tensor, global_step, walltime, rescale, dataformats, labels)
