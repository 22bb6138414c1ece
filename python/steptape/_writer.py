# SPDX-License-Identifier: Apache-2.0
"""Writes runs for TensorBoard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

from . import _arguments, _arrays, _graphs, _pictures
from ._arguments import Number, Path, Step
from ._open_run import OpenRun


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
    mirror: a place in a bucket, "s3://bucket/runs/exp", that is kept as log_dir is while the program runs, with keys,
        region and endpoint as AWS's tools take them.
    mirror_secs: how often the mirror is brought up to date.
    mirror_timeout: the longest time that close(), the exit or SIGTERM waits for the mirror.

    Raises OSError if the run cannot be created, and RuntimeError if another process writes it, or if there is
    no libcurl for a mirror. Thread-safe, except add_reduced() and reduce().
    """

    if TYPE_CHECKING:  # It is a method of _core.Writer, whose help() teaches it.
        def add_scalar(self, tag: str, scalar_value: Any, global_step: Step = None,
                       walltime: Optional[Number] = None, new_style: bool = False, double_precision: bool = False,
                       display_name: str = "", summary_description: str = "") -> None: ...

    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any],
                    global_step: Step = None, walltime: Optional[Number] = None) -> None:
        """Records several curves of one chart.

            writer.add_scalars("loss", {"train": 0.5, "test": 0.7}, step)

        Curve `name` becomes the curve main_tag of the run <log_dir>/<main_tag>/<name>, as in tensorboardX.
        """
        step = self._begin("add_scalars", global_step)
        _arguments.text(main_tag, "add_scalars: main_tag")
        values = _arguments.mapping(tag_scalar_dict, "add_scalars: tag_scalar_dict")
        what = {name: f"tag_scalar_dict: {name}" for name in values}

        def write(time: Optional[float], *arrays: Any) -> None:
            numbers = [_arrays.number(array, f"add_scalars: {what[name]}") for name, array in zip(values, arrays)]
            self._add_scalars(main_tag, list(zip(values, numbers)), step, time)

        self._log("add_scalars", main_tag, write, walltime,
                  **{what[name]: _arrays.numeral(value, f"add_scalars: {what[name]}")
                     for name, value in values.items()})

    def add_tensor(self, tag: str, tensor: Any, global_step: Step = None,
                   walltime: Optional[Number] = None) -> None:
        """Records an array unchanged. No page of TensorBoard shows it; steptape.read() does."""
        step = self._begin("add_tensor", global_step)
        self._log("add_tensor", tag, lambda time, array: self._add_tensor(tag, array, step, time), walltime,
                  tensor=tensor)

    def add_histogram(self, tag: str, values: Any, global_step: Step = None,
                      bins: Union[str, Number, Iterable[Any]] = "tensorflow", walltime: Optional[Number] = None,
                      max_bins: Optional[Number] = None) -> None:
        """Records the distribution of an array of any shape.

        bins: "tensorflow", a rule of numpy such as "auto" or "fd", a number of buckets, or their edges.
        max_bins: the most buckets; neighbors are merged.

        NaN and infinities are not counted; a warning reports how many there are, once for each tag.
        """
        step = self._begin("add_histogram", global_step)
        edges = _edges(bins)
        most = 0 if max_bins is None else _arguments.integer(max_bins, "add_histogram: max_bins", 0, 2**31 - 1)
        self._log("add_histogram", tag,
                  lambda time, array: self._add_histogram(tag, array, step, edges, time, most), walltime,
                  values=values)

    def add_histogram_raw(self, tag: str, min: Number, max: Number, num: Number, sum: Number, sum_squares: Number,
                          bucket_limits: Iterable[Any], bucket_counts: Iterable[Any],
                          global_step: Step = None, walltime: Optional[Number] = None) -> None:
        """Records a histogram that the caller has counted. bucket_limits are the right edges."""
        step = self._begin("add_histogram_raw", global_step)
        what = "add_histogram_raw"
        numbers = [_arguments.number(value, f"{what}: {name}") for name, value in (
            ("min", min), ("max", max), ("num", num), ("sum", sum), ("sum_squares", sum_squares))]
        self._add_histogram_raw(_arguments.text(tag, f"{what}: tag"), *numbers,
                                _arguments.numbers(bucket_limits, f"{what}: bucket_limits"),
                                _arguments.numbers(bucket_counts, f"{what}: bucket_counts"), step,
                                _arguments.wall_time(walltime, what))

    def add_image(self, tag: str, img_tensor: Any, global_step: Step = None,
                  walltime: Optional[Number] = None, dataformats: str = "CHW") -> None:
        """Records an image: an array, or an image of Pillow.

        dataformats: the order of the dimensions: "CHW", "HWC", "HW" and so on; with an N a batch, as
            add_images(). Not used for an image of Pillow.

        uint8 is 0 to 255, floating point 0 to 1. Other integers raise ValueError: they have no scale.
        """
        step = self._begin("add_image", global_step)
        if _pictures.is_pillow(img_tensor):
            img_tensor, dataformats = _pictures.pillow_pixels(img_tensor)
        order = _arguments.dimensions(dataformats, "add_image: dataformats", "'CHW', 'HWC', 'HW' and so on")
        add = self._add_images if "N" in order else self._add_image
        self._log("add_image", tag, lambda time, pixels: add(tag, pixels, step, time, order), walltime,
                  img_tensor=img_tensor)

    def add_images(self, tag: str, img_tensor: Any, global_step: Step = None,
                   walltime: Optional[Number] = None, dataformats: str = "NCHW") -> None:
        """Records a batch of images as one grid of up to 8 columns; see add_image().

        A list of images of one shape is a batch as well; dataformats may then be that of each.
        """
        step = self._begin("add_images", global_step)
        order = _arguments.dimensions(dataformats, "add_images: dataformats", "'NCHW', 'NHWC' and so on")
        if isinstance(img_tensor, (list, tuple)) and "N" not in order:
            order = "N" + order
        self._log("add_images", tag, lambda time, pixels: self._add_images(tag, pixels, step, time, order),
                  walltime, img_tensor=img_tensor)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any,
                             global_step: Step = None, walltime: Optional[Number] = None,
                             rescale: Number = 1, dataformats: str = "CHW",
                             labels: Optional[Iterable[str]] = None) -> None:
        """Records an image with boxes, one row of left, top, right and bottom for each, and their labels."""
        what = "add_image_with_boxes"
        step = self._begin(what, global_step)
        names = ([] if labels is None else [_arguments.text(labels, f"{what}: labels")] if isinstance(labels, str)
                 else _arguments.texts(labels, f"{what}: labels"))
        scale = _arguments.number(rescale, f"{what}: rescale")
        order = _arguments.dimensions(dataformats, f"{what}: dataformats", "'CHW', 'HWC', 'HW' and so on")
        self._log(what, tag, lambda time, pixels, boxes: self._add_image_with_boxes(
            tag, pixels, boxes, step, time, scale, order, names), walltime,
            img_tensor=img_tensor, box_tensor=box_tensor)

    def add_figure(self, tag: str, figure: Any, global_step: Step = None, close: bool = True,
                   walltime: Optional[Number] = None) -> None:
        """Records a figure of matplotlib, or a list of them, which is drawn in this call.

        close: whether the figure is closed afterwards.
        """
        step = self._begin("add_figure", global_step)
        _arguments.text(tag, "add_figure: tag")
        time = _arguments.wall_time(walltime, "add_figure")
        figures = list(figure) if isinstance(figure, (list, tuple)) else [figure]
        is_closed = _arguments.flag(close, "add_figure: close")
        pictures = [_pictures.figure_pixels(one, is_closed) for one in figures]
        self._add_image_list(tag, pictures, step, time, "HWC")

    def add_video(self, tag: str, vid_tensor: Any, global_step: Step = None, fps: Number = 4,
                  walltime: Optional[Number] = None, dataformats: str = "NTCHW") -> None:
        """Records videos of shape (N, T, C, H, W), which TensorBoard plays as an image. Units: add_image()."""
        step = self._begin("add_video", global_step)
        rate = _arguments.number(fps, "add_video: fps")
        order = _arguments.dimensions(dataformats, "add_video: dataformats", "'NTCHW', 'NTHWC' and so on")
        self._log("add_video", tag, lambda time, frames: self._add_video(tag, frames, step, rate, time, order),
                  walltime, vid_tensor=vid_tensor)

    def add_audio(self, tag: str, snd_tensor: Any, global_step: Step = None, sample_rate: Number = 44100,
                  walltime: Optional[Number] = None, dataformats: Optional[str] = None) -> None:
        """Records sound as WAV: (frames), (1, frames) or (frames, channels).

        dataformats: "LC" or "CL", if there are several channels. Without it, more channels than frames
            raise ValueError.

        Floating point is -1 to 1; int16, int32 and uint8 use their range.
        """
        step = self._begin("add_audio", global_step)
        rate = _arguments.integer(sample_rate, "add_audio: sample_rate")
        given = ("" if dataformats is None else
                 _arguments.dimensions(dataformats, "add_audio: dataformats", "'LC' or 'CL'"))

        def write(time: Optional[float], samples: Any) -> None:
            shape = tuple(samples.shape)
            order = given or ("CL" if len(shape) == 2 and shape[0] == 1 else "LC")
            if not given and order == "LC" and len(shape) == 2 and shape[1] > shape[0]:
                raise ValueError(f"add_audio: snd_tensor: got shape {shape}; expected (frames, channels), or "
                                 "dataformats='CL'")
            self._add_audio(tag, samples, step, rate, time, order)

        self._log("add_audio", tag, write, walltime, snd_tensor=snd_tensor)

    def add_text(self, tag: str, text_string: Union[str, Iterable[str], Iterable[Iterable[str]]],
                 global_step: Step = None, walltime: Optional[Number] = None) -> None:
        """Records a text, which TensorBoard shows as Markdown; a list is a column, a list of lists a table."""
        step = self._begin("add_text", global_step)
        self._add_text(_arguments.text(tag, "add_text: tag"), _table(text_string), step,
                       _arguments.wall_time(walltime, "add_text"))

    def add_onnx_graph(self, prototxt: Path) -> None:
        """Records the graph of an ONNX file."""
        self._begin("add_onnx_graph")
        self._add_onnx_graph(os.fsencode(_arguments.path(prototxt, "add_onnx_graph: prototxt")))

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Records the graph of a model of torch, which torch.onnx exports.

        use_strict_trace is ignored. Raises what torch.onnx.export() raises if it cannot export the model.
        """
        self._begin("add_graph")
        _graphs.export(model, input_to_model, verbose, lambda path: self._add_onnx_graph(os.fsencode(path)))

    def add_embedding(self, mat: Any, metadata: Optional[Iterable[Any]] = None, label_img: Any = None,
                      global_step: Step = None, tag: str = "default",
                      metadata_header: Optional[Iterable[str]] = None) -> None:
        """Records points, one a row of mat, for TensorBoard's projector.

        metadata: a label for each point, or a row of them with titles in metadata_header.
        label_img: a picture for each point, (N, C, H, W).
        """
        what = "add_embedding"
        step = self._begin(what, global_step)
        labels = ([] if metadata is None else
                  _arguments.sequence(metadata, f"{what}: metadata", "a list with a label for each point"))
        rows = [[_arguments.cell(cell) for cell in row] if isinstance(row, (list, tuple)) else [_arguments.cell(row)]
                for row in labels]
        header = [] if metadata_header is None else _arguments.texts(metadata_header, f"{what}: metadata_header")
        given = {"mat": mat, **({} if label_img is None else {"label_img": label_img})}
        self._log(what, tag, lambda time, matrix, images=None: self._add_embedding(
            matrix, rows, header, images, step, tag), None, **given)

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: Step = None,
                     num_thresholds: Number = 127, weights: Any = None, walltime: Optional[Number] = None) -> None:
        """Records a precision-recall curve of labels, 0 or 1, and predictions from 0 to 1."""
        step = self._begin("add_pr_curve", global_step)
        count = _arguments.integer(num_thresholds, "add_pr_curve: num_thresholds")
        given = {"labels": labels, "predictions": predictions, **({} if weights is None else {"weights": weights})}
        self._log("add_pr_curve", tag, lambda time, truth, scores, weight=None: self._add_pr_curve(
            tag, truth, scores, step, count, weight, time), walltime, **given)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
                         global_step: Step = None, num_thresholds: Number = 127, weights: Any = None,
                         walltime: Optional[Number] = None) -> None:
        """Records a precision-recall curve that the caller has counted. The last parameters but walltime are
        ignored."""
        what = "add_pr_curve_raw"
        step = self._begin(what, global_step)
        rows = [_arguments.numbers(_arrays.host(counts, f"{what}: {name}"), f"{what}: {name}") for name, counts in (
            ("true_positive_counts", true_positive_counts), ("false_positive_counts", false_positive_counts),
            ("true_negative_counts", true_negative_counts), ("false_negative_counts", false_negative_counts),
            ("precision", precision), ("recall", recall))]
        self._add_pr_curve_raw(_arguments.text(tag, f"{what}: tag"), rows, step,
                               _arguments.wall_time(walltime, what))

    def add_custom_scalars_multilinechart(self, tags: Iterable[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Adds a chart of several curves to the custom-scalars page. tags are regular expressions."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags: Iterable[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Adds a chart of a curve within a band: tags are value, lower and upper bound."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Iterable[Any]]]) -> None:
        """Adds charts to the custom-scalars page.

            writer.add_custom_scalars({"loss": {"both": ["Multiline", ["loss/train", "loss/test"]],
                                                "band": ["Margin", ["loss", "loss/min", "loss/max"]]}})
        """
        self._begin("add_custom_scalars")
        what = "add_custom_scalars: layout"
        self._add_custom_scalars([
            (category, [_chart(f"{what}: {category}: {title}", title, chart)
                        for title, chart in _arguments.mapping(charts, f"{what}: {category}").items()])
            for category, charts in _arguments.mapping(layout, what).items()])

    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None,
                 config_dict: Optional[Mapping[str, Any]] = None, global_step: Step = None,
                 walltime: Optional[Number] = None) -> None:
        """Records point clouds (batch, points, 3), with colors 0 to 255; with faces, meshes.

        config_dict: settings of THREE.js, under "camera", "lights" and "material".
        """
        step = self._begin("add_mesh", global_step)
        config = _arguments.json_text(config_dict, "add_mesh: config_dict") if config_dict is not None else ""
        given = {"vertices": vertices}
        if colors is not None:
            given["colors"] = colors
        if faces is not None:
            given["faces"] = faces

        def write(time: Optional[float], points: Any, *others: Any) -> None:
            parts = iter(others)
            paint = next(parts) if colors is not None else None
            triangles = next(parts) if faces is not None else None
            self._add_mesh(tag, points, paint, triangles, config, step, time)

        self._log("add_mesh", tag, write, walltime, **given)

    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Optional[Mapping[str, Iterable[Any]]] = None,
                    run_name: Optional[str] = None, global_step: Step = None) -> None:
        """Records the hyperparameters of the run, and its results, by which TensorBoard compares runs.

            writer.add_hparams({"lr": 0.1, "optimizer": "sgd"}, {"accuracy/test": 0.93})

        hparam_dict: bool, numbers and str by name; None is left out.
        hparam_domain_discrete: all values that a hyperparameter can have.
        run_name: a run below this one that gets them; None: this one.
        global_step: the step of the results; None: the last step of each tag.
        """
        step = self._begin("add_hparams", global_step)
        what = "add_hparams: hparam_dict"
        given = _arguments.mapping(hparam_dict, what)
        hparams = [(name, _hparam(f"{what}: {name}", value)) for name, value in given.items() if value is not None]
        what = "add_hparams: metric_dict"
        metrics = [(tag, _arrays.scalar(value, f"{what}: {tag}"))
                   for tag, value in _arguments.mapping(metric_dict, what).items()]
        what = "add_hparams: hparam_domain_discrete"
        domains = [(name, [_hparam(f"{what}: {name}", value) for value in _arguments.sequence(
            values, f"{what}: {name}", "a list")])
                   for name, values in _arguments.mapping(hparam_domain_discrete or {}, what).items()]
        for name, _ in domains:
            if name not in given:
                raise ValueError(f"{what}: got {name!r}; expected a name of hparam_dict")
        if run_name is not None:
            below = self._run_below(_arguments.text(run_name, "add_hparams: run_name"))
            with below:
                below._record_hparams(hparams, metrics, domains, step, global_step is not None)
        else:
            self._record_hparams(hparams, metrics, domains, step, global_step is not None)

    def _run_below(self, name: str) -> SummaryWriter:
        """Opens a run below this one, for a moment."""
        return SummaryWriter(self._below(name), ranks="all", enabled=self._is_enabled)

    def _below(self, name: str) -> str:
        return os.path.join(self._absolute(), name)

    def _record_hparams(self, hparams: list[tuple[str, Any]], metrics: list[tuple[str, float]],
                        domains: list[tuple[str, list[Any]]], step: int, has_step: bool) -> None:
        for tag, value in metrics if has_step else ():
            self.add_scalar(tag, value, step)
        self._add_hparams(hparams, metrics, domains)

    def add_event(self, event: Any) -> None:
        """Records an event unchanged: a message tensorflow.Event of Protocol Buffers, or its bytes."""
        self._begin("add_event")
        self._add_event(_arguments.message(event, "add_event: event"))

    def export_scalars_to_json(self, path: Path) -> None:
        """Writes all scalars of this writer to a file, in the form of tensorboardX."""
        self._begin("export_scalars_to_json")
        encoded = os.fsencode(_arguments.path(path, "export_scalars_to_json: path"))
        self.flush()
        if self._is_ours():
            self._export_scalars(encoded)


def _hparam(what: str, value: Any) -> Union[bool, float, str]:
    if isinstance(value, str):
        return _arguments.text(value, what)
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # of numpy
        return bool(value)
    return _arrays.scalar(value, what, "a bool, a number or a str")


def _edges(bins: Any) -> Union[str, int, list[float]]:
    """How a histogram is divided."""
    if isinstance(bins, str):
        return _arguments.text(bins, "add_histogram: bins")
    if isinstance(bins, bool) or bins is None:
        raise _arguments.wrong("add_histogram: bins", bins, "a rule such as 'auto', a number of buckets, or edges")
    if hasattr(bins, "__index__") and getattr(bins, "ndim", 0) == 0:
        return _arguments.integer(bins, "add_histogram: bins", 1, 2**31 - 1)
    return _arguments.numbers(bins, "add_histogram: bins")


def _table(given: Any) -> Union[str, list[str], list[list[str]]]:
    """A text, a column or a table."""
    what = "add_text: text_string"
    if isinstance(given, str):
        return _arguments.text(given, what)
    rows = _arguments.sequence(given, what, "a str, a list of them, or a list of lists")
    if all(isinstance(row, str) for row in rows):
        return _arguments.texts(rows, what)
    return [_arguments.texts(row, what) for row in rows]


def _chart(what: str, title: str, chart: Any) -> tuple[str, bool, list[str]]:
    parts = _arguments.sequence(chart, what, "a kind and its tags")
    if len(parts) != 2:
        raise ValueError(f"{what}: got a list of {len(parts)}; expected a kind and its tags")
    if parts[0] not in ("Multiline", "Margin"):
        raise _arguments.wrong(what, parts[0], "'Multiline' or 'Margin'", ValueError)
    tags = _arguments.texts(parts[1], f"{what}: tags")
    if parts[0] == "Margin" and len(tags) != 3:
        raise ValueError(f"{what}: got {len(tags)} tags; expected value, lower and upper bound")
    return title, parts[0] == "Margin", tags
