# SPDX-License-Identifier: Apache-2.0
"""Writes runs for TensorBoard."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import _arrays, _graphs, _pictures
from ._open_run import OpenRun, Path


class SummaryWriter(OpenRun):
    """Writes a run for TensorBoard.

        with steptape.SummaryWriter("runs/demo") as writer:
            for step in range(1000):
                writer.add_scalar("loss/train", train(), step)

    The calls, parameters and defaults are those of torch.utils.tensorboard and tensorboardX. Arrays of numpy,
    torch, JAX, and every object with DLPack or the buffer protocol are read without a copy; lists are
    converted. When a call returns, it has copied what it needs. Values on a device are copied asynchronously,
    and written once they have arrived: by a later call, flush() or close().

    No call waits for the disk. `kill -9` and os._exit() lose no scalar: `steptape recover`, or the next writer
    of the run, writes what the process left in memory. At exit, open writers are closed. In a process made by
    fork(), all calls do nothing, and the first one warns: open a writer there.

    log_dir: the directory of the run; None: runs/<date>_<host><comment>.
    purge_step: the step at which a run resumes; TensorBoard discards earlier points at or after it.
    max_queue: ignored; the queue holds 64 MiB.
    flush_secs: the longest time until the operating system has a value; at most one second in any case.
    filename_suffix: appended to the names of the event files.
    enabled: False: nothing is written, for processes that do not log.
    ranks: the processes of torchrun, mpiexec or srun that write. "root": rank 0; "each": every rank, in a run
        of its own below log_dir, such as rank_00000; "all": every rank, in log_dir itself.
    reduce: the ranks that add_reduced() and reduce() average over: True for those of torch.distributed or
        mpi4py, a communicator of mpi4py, or a process group of torch.distributed. Collective: every rank
        makes the writer.
    shared: whether other processes may write to log_dir; TensorBoard then shows one curve of all.

    Raises OSError if the run cannot be created, and RuntimeError if another process writes it. Thread-safe,
    except add_reduced() and reduce().
    """

    if TYPE_CHECKING:  # It is a method of _core.Writer, whose help() teaches it.
        def add_scalar(self, tag: str, scalar_value: Any, global_step: Optional[int] = None,
                       walltime: Optional[float] = None, new_style: bool = False, double_precision: bool = False,
                       display_name: str = "", summary_description: str = "") -> None: ...

    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any],
                    global_step: Optional[int] = None, walltime: Optional[float] = None) -> None:
        """Records several curves of one chart.

            writer.add_scalars("loss", {"train": 0.5, "test": 0.7}, step)

        Curve `name` becomes the curve main_tag of the run <log_dir>/<main_tag>/<name>, as in tensorboardX.
        """
        step = self._step_of(global_step)
        names = list(tag_scalar_dict)
        what = "add_scalars: tag_scalar_dict"

        def write(time: Optional[float], *values: Any) -> None:
            numbers = [_arrays.number(value, what) for value in values]
            self._add_scalars(main_tag, list(zip(names, numbers)), step, time)

        self._log(main_tag, write, walltime, *((value, what) for value in tag_scalar_dict.values()))

    def add_tensor(self, tag: str, tensor: Any, global_step: Optional[int] = None,
                   walltime: Optional[float] = None) -> None:
        """Records an array unchanged. No page of TensorBoard shows it; steptape.read() does."""
        step = self._step_of(global_step)
        self._log(tag, lambda time, array: self._add_tensor(tag, array, step, time), walltime,
                  (tensor, "add_tensor: tensor"))

    def add_histogram(self, tag: str, values: Any, global_step: Optional[int] = None,
                      bins: Union[str, int, Sequence[float]] = "tensorflow", walltime: Optional[float] = None,
                      max_bins: Optional[int] = None) -> None:
        """Records the distribution of an array of any shape.

        bins: "tensorflow", a rule of numpy such as "auto" or "fd", a number of buckets, or their edges.
        max_bins: the most buckets; neighbors are merged.

        NaN and infinities are not counted; a warning reports how many there are, once for each tag.
        """
        step = self._step_of(global_step)
        edges = bins if isinstance(bins, (str, int)) else [float(edge) for edge in bins]
        self._log(tag, lambda time, array: self._add_histogram(tag, array, step, edges, time, max_bins or 0),
                  walltime, (values, "add_histogram: values"))

    def add_histogram_raw(self, tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,
                          bucket_limits: Sequence[float], bucket_counts: Sequence[float],
                          global_step: Optional[int] = None, walltime: Optional[float] = None) -> None:
        """Records a histogram that the caller has counted. bucket_limits are the right edges."""
        self._add_histogram_raw(tag, float(min), float(max), float(num), float(sum), float(sum_squares),
                                [float(limit) for limit in bucket_limits],
                                [float(count) for count in bucket_counts], self._step_of(global_step), walltime)

    def add_image(self, tag: str, img_tensor: Any, global_step: Optional[int] = None,
                  walltime: Optional[float] = None, dataformats: str = "CHW") -> None:
        """Records an image: an array, or an image of Pillow.

        dataformats: the order of the dimensions: "CHW", "HWC", "HW" and so on; with an N a batch, as
            add_images(). Not used for an image of Pillow.

        uint8 is 0 to 255, floating point 0 to 1. Other integers raise ValueError: they have no scale.
        """
        if _pictures.is_pillow(img_tensor):
            img_tensor, dataformats = _pictures.pillow_pixels(img_tensor)
        add = self._add_images if "N" in dataformats.upper() else self._add_image
        step = self._step_of(global_step)
        self._log(tag, lambda time, pixels: add(tag, pixels, step, time, dataformats.upper()), walltime,
                  (img_tensor, "add_image: img_tensor"))

    def add_images(self, tag: str, img_tensor: Any, global_step: Optional[int] = None,
                   walltime: Optional[float] = None, dataformats: str = "NCHW") -> None:
        """Records a batch of images as one grid of up to 8 columns; see add_image()."""
        step = self._step_of(global_step)
        self._log(tag, lambda time, pixels: self._add_images(tag, pixels, step, time, dataformats.upper()),
                  walltime, (img_tensor, "add_images: img_tensor"))

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any,
                             global_step: Optional[int] = None, walltime: Optional[float] = None,
                             rescale: float = 1, dataformats: str = "CHW",
                             labels: Optional[Sequence[str]] = None) -> None:
        """Records an image with boxes, one row of left, top, right and bottom for each, and their labels."""
        step = self._step_of(global_step)
        names = [labels] if isinstance(labels, str) else list(labels or [])
        self._log(tag, lambda time, pixels, boxes: self._add_image_with_boxes(
            tag, pixels, boxes, step, time, rescale, dataformats.upper(), names), walltime,
            (img_tensor, "add_image_with_boxes: img_tensor"), (box_tensor, "add_image_with_boxes: box_tensor"))

    def add_figure(self, tag: str, figure: Any, global_step: Optional[int] = None, close: bool = True,
                   walltime: Optional[float] = None) -> None:
        """Records a figure of matplotlib, or a list of them, which is drawn in this call.

        close: whether the figure is closed afterwards.
        """
        step = self._step_of(global_step)
        figures = list(figure) if isinstance(figure, (list, tuple)) else [figure]
        pictures = [_pictures.figure_pixels(one, close) for one in figures]
        self._add_image_list(tag, pictures, step, walltime, "HWC")

    def add_video(self, tag: str, vid_tensor: Any, global_step: Optional[int] = None, fps: float = 4,
                  walltime: Optional[float] = None, dataformats: str = "NTCHW") -> None:
        """Records videos of shape (N, T, C, H, W), which TensorBoard plays as an image. Units: add_image()."""
        step = self._step_of(global_step)
        self._log(tag, lambda time, frames: self._add_video(tag, frames, step, fps, time, dataformats.upper()),
                  walltime, (vid_tensor, "add_video: vid_tensor"))

    def add_audio(self, tag: str, snd_tensor: Any, global_step: Optional[int] = None, sample_rate: int = 44100,
                  walltime: Optional[float] = None, dataformats: Optional[str] = None) -> None:
        """Records sound as WAV: (frames), (1, frames) or (frames, channels).

        dataformats: "LC" or "CL", if there are several channels. Without it, more channels than frames
            raise ValueError.

        Floating point is -1 to 1; int16, int32 and uint8 use their range.
        """
        step = self._step_of(global_step)

        def write(time: Optional[float], samples: Any) -> None:
            shape = tuple(samples.shape)
            order = dataformats.upper() if dataformats else "CL" if len(shape) == 2 and shape[0] == 1 else "LC"
            if not dataformats and order == "LC" and len(shape) == 2 and shape[1] > shape[0]:
                raise ValueError(f"add_audio: snd_tensor: got shape {shape}; expected (frames, channels), or "
                                 "dataformats='CL'")
            self._add_audio(tag, samples, step, sample_rate, time, order)

        self._log(tag, write, walltime, (snd_tensor, "add_audio: snd_tensor"))

    def add_text(self, tag: str, text_string: Union[str, Sequence[str], Sequence[Sequence[str]]],
                 global_step: Optional[int] = None, walltime: Optional[float] = None) -> None:
        """Records a text, which TensorBoard shows as Markdown; a list is a column, a list of lists a table."""
        text = text_string
        if not isinstance(text, (str, list, tuple)):
            raise TypeError(f"add_text: text_string: got {type(text).__name__}; expected a str, or a list of them")
        if not isinstance(text, str):
            text = [row if isinstance(row, str) else list(row) for row in text]
        self._add_text(tag, text, self._step_of(global_step), walltime)

    def add_onnx_graph(self, prototxt: Path) -> None:
        """Records the graph of an ONNX file."""
        self._add_onnx_graph(os.fsencode(prototxt))

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Records the graph of a model of torch, which torch.onnx exports.

        use_strict_trace is ignored. Raises what torch.onnx.export() raises if it cannot export the model.
        """
        _graphs.export(model, input_to_model, verbose, self.add_onnx_graph)

    def add_embedding(self, mat: Any, metadata: Optional[Sequence[Any]] = None, label_img: Any = None,
                      global_step: Optional[int] = None, tag: str = "default",
                      metadata_header: Optional[Sequence[str]] = None) -> None:
        """Records points, one a row of mat, for TensorBoard's projector.

        metadata: a label for each point, or a row of them with titles in metadata_header.
        label_img: a picture for each point, (N, C, H, W).
        """
        step = self._step_of(global_step)
        rows = [[str(cell) for cell in row] if isinstance(row, (list, tuple)) else [str(row)]
                for row in (metadata if metadata is not None else [])]
        given = [(mat, "add_embedding: mat")]
        if label_img is not None:
            given.append((label_img, "add_embedding: label_img"))
        self._log(tag, lambda time, matrix, images=None: self._add_embedding(
            matrix, rows, list(metadata_header or []), images, step, tag), None, *given)

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: Optional[int] = None,
                     num_thresholds: int = 127, weights: Any = None, walltime: Optional[float] = None) -> None:
        """Records a precision-recall curve of labels, 0 or 1, and predictions from 0 to 1."""
        step = self._step_of(global_step)
        given = [(labels, "add_pr_curve: labels"), (predictions, "add_pr_curve: predictions")]
        if weights is not None:
            given.append((weights, "add_pr_curve: weights"))
        self._log(tag, lambda time, truth, scores, weight=None: self._add_pr_curve(
            tag, truth, scores, step, num_thresholds, weight, time), walltime, *given)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
                         global_step: Optional[int] = None, num_thresholds: int = 127, weights: Any = None,
                         walltime: Optional[float] = None) -> None:
        """Records a precision-recall curve that the caller has counted. The last parameters but walltime are
        ignored."""
        rows = [[float(count) for count in counts]
                for counts in (true_positive_counts, false_positive_counts, true_negative_counts,
                               false_negative_counts, precision, recall)]
        self._add_pr_curve_raw(tag, rows, self._step_of(global_step), walltime)

    def add_custom_scalars_multilinechart(self, tags: Sequence[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Adds a chart of several curves to the custom-scalars page. tags are regular expressions."""
        self._add_custom_scalars([(category, [(title, False, list(tags))])])

    def add_custom_scalars_marginchart(self, tags: Sequence[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Adds a chart of a curve within a band: tags are value, lower and upper bound."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Adds charts to the custom-scalars page.

            writer.add_custom_scalars({"loss": {"both": ["Multiline", ["loss/train", "loss/test"]],
                                                "band": ["Margin", ["loss", "loss/min", "loss/max"]]}})
        """
        categories = []
        for category, charts in layout.items():
            found = []
            for title, (kind, tags) in charts.items():
                if kind not in ("Multiline", "Margin"):
                    raise ValueError(f"add_custom_scalars: {category}: {title}: got {kind!r}; expected 'Multiline' "
                                     "or 'Margin'")
                if kind == "Margin" and len(tags) != 3:
                    raise ValueError(f"add_custom_scalars: {category}: {title}: got {len(tags)} tags; expected "
                                     "value, lower and upper bound")
                found.append((title, kind == "Margin", list(tags)))
            categories.append((category, found))
        self._add_custom_scalars(categories)

    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None,
                 config_dict: Optional[Mapping[str, Any]] = None, global_step: Optional[int] = None,
                 walltime: Optional[float] = None) -> None:
        """Records point clouds (batch, points, 3), with colors 0 to 255; with faces, meshes.

        config_dict: settings of THREE.js, under "camera", "lights" and "material".
        """
        step = self._step_of(global_step)
        config = json.dumps(config_dict) if config_dict else ""
        given = [(vertices, "add_mesh: vertices")]
        if colors is not None:
            given.append((colors, "add_mesh: colors"))
        if faces is not None:
            given.append((faces, "add_mesh: faces"))

        def write(time: Optional[float], points: Any, *others: Any) -> None:
            parts = iter(others)
            paint = next(parts) if colors is not None else None
            triangles = next(parts) if faces is not None else None
            self._add_mesh(tag, points, paint, triangles, config, step, time)

        self._log(tag, write, walltime, *given)

    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Optional[Mapping[str, Sequence[Any]]] = None,
                    run_name: Optional[str] = None, global_step: Optional[int] = None) -> None:
        """Records the hyperparameters of the run, and its results, by which TensorBoard compares runs.

            writer.add_hparams({"lr": 0.1, "optimizer": "sgd"}, {"accuracy/test": 0.93})

        hparam_dict: bool, numbers and str by name; None is left out.
        hparam_domain_discrete: all values that a hyperparameter can have.
        run_name: a run below this one that gets them; None: this one.
        global_step: the step of the results; None: the last step of each tag.
        """
        if run_name:
            with type(self)(os.path.join(self.log_dir, run_name), ranks="all") as below:
                below.add_hparams(hparam_dict, metric_dict, hparam_domain_discrete, None, global_step)
            return
        hparams = [(name, _hparam(name, value)) for name, value in hparam_dict.items() if value is not None]
        metrics = [(tag, _arrays.scalar(value, "add_hparams: metric_dict")) for tag, value in metric_dict.items()]
        domains = [(name, [_hparam(name, value) for value in values])
                   for name, values in (hparam_domain_discrete or {}).items()]
        for name, _ in domains:
            if name not in hparam_dict:
                raise ValueError(f"add_hparams: hparam_domain_discrete: got {name!r}; expected a name of hparam_dict")
        if global_step is not None:
            for tag, value in metrics:
                self.add_scalar(tag, value, global_step)
        self._add_hparams(hparams, metrics, domains)

    def add_event(self, event: Any) -> None:
        """Records an event unchanged: a message tensorflow.Event of Protocol Buffers, or its bytes."""
        self._add_event(event if isinstance(event, bytes) else event.SerializeToString())

    def export_scalars_to_json(self, path: Path) -> None:
        """Writes all scalars of this writer to a file, in the form of tensorboardX."""
        self.flush()
        self._export_scalars(os.fsencode(path))


def _hparam(name: str, value: Any) -> Union[bool, float, str]:
    if isinstance(value, (bool, str)):
        return value
    if type(value).__name__ in ("bool_", "bool"):  # of numpy
        return bool(value)
    return _arrays.scalar(value, f"add_hparams: hparam_dict: {name}")
