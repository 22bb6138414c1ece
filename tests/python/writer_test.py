#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steptape.SummaryWriter writes what a program gives it, whatever package the values are of."""

import io
import os
import shutil
import sys
import tempfile
import threading
import types
import unittest
import warnings
from unittest import mock

import numpy as np
import torch
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util
from torch.utils import tensorboard as torch_tensorboard

import steptape
import steptape.compat.tensorboard
import steptape.compat.tensorboardX
from steptape import _arrays


class Case(unittest.TestCase):
    def setUp(self):
        self.log_dir = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("error", steptape.WriterWarning)

    def writer(self, **options):
        return steptape.SummaryWriter(self.log_dir, **options)

    def run_(self, name="."):
        return steptape.read(self.log_dir)[name]


class Scalars(Case):
    NUMBERS = (1, 2.5, True, np.float32(3.5), np.float64(4.5), np.int64(5), np.uint8(6), np.float16(7.5),
               np.bool_(True), np.array(8.5), np.array([9.5]), torch.tensor(10.5),
               torch.tensor([[11.5]]), torch.tensor(12.5, requires_grad=True), torch.tensor(13, dtype=torch.int8),
               torch.tensor(14.5, dtype=torch.bfloat16), [15.5])

    def test_are_numbers_of_any_package(self):
        with self.writer() as writer:
            for step, number in enumerate(self.NUMBERS):
                writer.add_scalar("number", number, step)
        series = self.run_()["number"]
        self.assertEqual(series.values.tolist(), [float(np.asarray(number.detach().float() if isinstance(
            number, torch.Tensor) else number).reshape(())) for number in self.NUMBERS])
        self.assertEqual(series.steps.tolist(), list(range(len(self.NUMBERS))))

    def test_have_steps_of_any_integer(self):
        steps = (None, 1, np.int32(2), torch.tensor(3), 4.0, 2**62)
        with self.writer() as writer:
            for step in steps:
                writer.add_scalar("loss", 0.5, step)
        self.assertEqual(self.run_()["loss"].steps.tolist(), [0, 1, 2, 3, 4, 2**62])

    def test_may_be_given_by_name(self):
        with self.writer() as writer:
            writer.add_scalar(tag="loss", scalar_value=0.5, global_step=3, walltime=1234.5,
                              display_name="Loss", summary_description="of the training")
            writer.add_scalar("loss", 0.25, walltime=1235.5, global_step=4)
        loss = self.run_()["loss"]
        self.assertEqual(loss.wall_times.tolist(), [1234.5, 1235.5])
        events = EventAccumulator(self.log_dir).Reload()
        self.assertEqual(events.SummaryMetadata("loss").display_name, "Loss")
        self.assertEqual(events.SummaryMetadata("loss").summary_description, "of the training")

    def test_may_be_tensors_of_32_and_64_bits(self):
        with self.writer() as writer:
            writer.add_scalar("narrow", 0.1, 0, new_style=True)
        with self.assertWarnsRegex(steptape.WriterWarning, "DT_FLOAT"), self.writer() as writer:
            writer.add_scalar("wide", 0.1, 0, double_precision=True)
        run = self.run_()
        self.assertEqual(run["narrow"].values[0], np.float32(0.1))
        self.assertEqual(run["wide"].values[0], 0.1)

    def test_that_are_none_raise_and_leave_the_run_as_it_is(self):
        wrong = [((), TypeError, "no 'tag'"), (("a",), TypeError, "no 'scalar_value'"),
                 (("a", "0.5"), TypeError, "'0.5'"), (("a", None), TypeError, "None"),
                 (("a", np.zeros(2)), TypeError, r"\(2,\)"), (("a", 1j), TypeError, "complex"),
                 (("a", np.complex64(1)), TypeError, "complex"), (("a", object()), TypeError, "object"),
                 (("", 1), ValueError, "empty"), ((5, 1), TypeError, "tag: got 5; expected a str"),
                 (("\udc80", 1), ValueError, "surrogates"),
                 (("a", 1, 0.5), ValueError, "0.5"), (("a", 1, "x"), TypeError, "'x'"),
                 (("a", 1, 2**70), ValueError, "from -2..63"), (("a", 10**400), ValueError, "float64"),
                 (("a",) * 9, TypeError, "9 arguments")]
        with self.writer() as writer:
            writer.add_scalar("a", 1, 0)
            for arguments, error, message in wrong:
                with self.subTest(arguments=arguments), self.assertRaisesRegex(error, message):
                    writer.add_scalar(*arguments)
            with self.assertRaisesRegex(TypeError, "unknown argument 'step'"):
                writer.add_scalar("a", 1, step=3)
            with self.assertRaisesRegex(TypeError, "two values of 'tag'"):
                writer.add_scalar("a", 1, tag="b")
        self.assertEqual({tag: len(self.run_()[tag].steps) for tag in self.run_()}, {"a": 1})

    def test_come_from_threads_at_once(self):
        def log(thread):
            for step in range(2000):
                writer.add_scalar(f"thread/{thread}", step, step)

        with self.writer() as writer:
            threads = [threading.Thread(target=log, args=(thread,)) for thread in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for thread in range(4):
            self.assertEqual(self.run_()[f"thread/{thread}"].values.tolist(), list(range(2000)))

    def test_of_one_chart_are_runs_of_their_own(self):
        with self.writer() as writer:
            writer.add_scalars("loss", {"train": 0.5, "test": torch.tensor(0.75)}, 3)
        runs = steptape.read(self.log_dir)
        self.assertEqual(runs["loss/train"]["loss"].values.tolist(), [0.5])
        self.assertEqual(runs["loss/test"]["loss"].values.tolist(), [0.75])


class Arrays(Case):
    def test_of_any_layout_are_counted_without_a_copy(self):
        column = np.arange(12, dtype=np.float64).reshape(3, 4)
        same = (column, column[::-1], column.T, column[:, ::-1], column.astype(">f8"), column.tolist(),
                column.astype(np.longdouble), torch.from_numpy(column).t(), memoryview(column),
                torch.from_numpy(column).to(torch.bfloat16).requires_grad_(),
                [torch.tensor(row) for row in column])
        with self.writer() as writer:
            for step, values in enumerate(same):
                writer.add_histogram("values", values, step)
        for histogram in self.run_()["values"].values:
            self.assertEqual(histogram.counts.sum(), 12)
            self.assertLessEqual(histogram.edges[0], 0)
            self.assertGreaterEqual(histogram.edges[-1], 11)

    def test_that_hold_no_numbers_raise(self):
        wrong = (["text"], np.array([1j]), np.array([object()]), None, np.array(["2020"], "M8[Y]"),
                 torch.empty(3, device="meta"), torch.tensor([1j]))
        with self.writer() as writer:
            for values in wrong:
                with self.subTest(values=values), self.assertRaisesRegex(TypeError, "add_histogram: values: got"):
                    writer.add_histogram("values", values, 0)

    def test_may_change_after_the_call(self):
        image = np.full((3, 4, 4), 200, np.uint8)
        with self.writer() as writer:
            writer.add_image("image", image, 0)
            image[:] = 0
        self.assertEqual(self.run_()["image"].values[0].decode().min(), 200)

    def test_of_pillow_are_images(self):
        picture = Image.new("RGBA", (5, 3), (10, 20, 30, 255))
        with self.writer() as writer:
            for step, mode in enumerate(("RGBA", "RGB", "P", "L", "1", "LA", "CMYK")):
                writer.add_image("picture", picture.convert(mode), step)
        for image in self.run_()["picture"].values:
            self.assertEqual((image.width, image.height), (5, 3))
        first = self.run_()["picture"].values[0].decode()
        self.assertEqual(first[0, 0].tolist(), [10, 20, 30, 255])

    def test_of_tensorflow_are_not_taken_by_dlpack(self):
        class Tensor:  # as TensorFlow's, which ends the process if it has strings
            dtype = types.SimpleNamespace(name="string")

            def __init__(self, array):
                self.numpy = lambda: array

            def __dlpack__(self):
                self.fail("is an operation that may end the process")

            __dlpack_device__ = __dlpack__

        tensorflow = types.SimpleNamespace(Tensor=Tensor, Variable=None)
        with mock.patch.dict(sys.modules, tensorflow=tensorflow), self.writer() as writer:
            writer.add_histogram("values", Tensor(np.arange(3.0)), 0)
            with self.assertRaisesRegex(TypeError, "got Tensor of type string; expected numbers"):
                writer.add_histogram("values", Tensor(np.array([b"text"])), 1)
        self.assertEqual(self.run_()["values"].values[0].counts.sum(), 3)

    def test_with_an_ambiguous_order_raise(self):
        with self.writer() as writer:
            with self.assertRaisesRegex(ValueError, r"\(2, 100\); expected \(frames, channels\)"):
                writer.add_audio("sound", np.zeros((2, 100)), 0)
            writer.add_audio("sound", np.zeros((2, 100)), 0, dataformats="CL")
            writer.add_audio("sound", torch.zeros(1, 100), 1)
            with self.assertRaisesRegex(ValueError, "int64"):
                writer.add_image("image", np.zeros((3, 4, 4), np.int64), 0)


class Pictures(Case):
    def test_of_modules_are_graphs_of_the_exported_file(self):
        golden = os.path.join(os.path.dirname(__file__), "..", "golden", "resnet.onnx")

        def export(model, arguments, path, **options):
            self.assertEqual([tensor.shape for tensor in arguments], [(1, 3)])
            shutil.copy(golden, path)

        module, inputs = torch.nn.Linear(3, 5), torch.zeros(1, 3)
        with mock.patch("torch.onnx.export", export), mock.patch.dict(sys.modules, onnx=mock.Mock()):
            with self.writer() as writer:
                writer.add_graph(module, inputs)
                for arguments, message in (((module,), "input_to_model: got None"), (("model", inputs), "got 'model'")):
                    with self.assertRaisesRegex(TypeError, message):
                        writer.add_graph(*arguments)
        with steptape.SummaryWriter(os.path.join(self.log_dir, "file")) as writer:
            writer.add_onnx_graph(golden)
        self.assertEqual(self.run_()["__run_graph__"].values[0], self.run_("file")["__run_graph__"].values[0])

    def test_of_lists_of_images_are_batches(self):
        images = [np.full((3, 4, 5), 50 * i, np.uint8) for i in range(3)]
        with self.writer() as writer:
            writer.add_images("images", images, 0, dataformats="CHW")
            writer.add_images("images", np.stack(images), 1)
        first, second = self.run_()["images"].values
        self.assertEqual(first, second)


class SlowDevice:
    """A device whose copies arrive when the test says so."""

    def __init__(self, case):
        self.arrived = 0
        self.waits = 0
        original = _arrays.arrive

        def arrive(value, what):
            if not isinstance(value, OnDevice):
                return original(value, what)
            return _arrays.Arrival(lambda: np.asarray(value.value), lambda: value.number < self.arrived, self.wait)

        case.addCleanup(setattr, _arrays, "arrive", original)
        _arrays.arrive = arrive

    def wait(self):
        self.waits += 1
        self.arrived = sys.maxsize


class OnDevice:
    def __init__(self, number, value):
        self.number, self.value = number, value


class InFlight(Case):
    def test_values_are_written_once_they_have_arrived(self):
        device = SlowDevice(self)
        with self.writer() as writer:
            writer.add_scalar("loss", OnDevice(0, 0.5), 0)
            writer.add_histogram("weights", OnDevice(1, [1.0, 2.0]), 0)
            writer.add_scalar("other", 0.75, 0)
            # Behind that of step 0, although it is here.
            writer.add_scalar("loss", 0.25, 1)
            self.assertEqual(device.waits, 0)
            writer.flush()
            self.assertEqual(device.waits, 1)
            writer.add_scalar("loss", 0.125, 2)
        run = self.run_()
        self.assertEqual(run["loss"].values.tolist(), [0.5, 0.25, 0.125])
        self.assertEqual(run["loss"].steps.tolist(), [0, 1, 2])
        self.assertEqual(run["weights"].values[0].counts.sum(), 2)
        self.assertLessEqual(run["loss"].wall_times[0], run["other"].wall_times[0])

    def test_a_later_call_writes_what_is_there(self):
        device = SlowDevice(self)
        with self.writer() as writer:
            writer.add_scalar("loss", OnDevice(0, 0.5), 0)
            writer.add_scalar("loss", OnDevice(1, 0.25), 1)
            device.arrived = 1
            writer.add_scalar("other", 1, 0)
            writer._flush()  # without what is in flight
            self.assertEqual(self.run_()["loss"].values.tolist(), [0.5])
        self.assertEqual(self.run_()["loss"].values.tolist(), [0.5, 0.25])

    def test_values_of_a_device_that_fails_cost_no_others(self):
        def fail():
            raise RuntimeError("device-side assert")

        original = _arrays.arrive
        self.addCleanup(setattr, _arrays, "arrive", original)
        _arrays.arrive = lambda value, what: (_arrays.Arrival(fail, lambda: False, fail)
                                              if isinstance(value, str) else original(value, what))
        writer = self.writer()
        writer.add_scalar("loss", 0.5, 0)
        with self.assertWarnsRegex(steptape.WriterWarning, "device-side assert"):
            writer.add_histogram("weights", "device", 0)
            writer.add_histogram("weights", [1.0], 1)
            writer.flush()
        writer.close()
        self.assertEqual(self.run_()["weights"].steps.tolist(), [1])

    def test_wrong_values_are_told(self):
        SlowDevice(self)
        writer = self.writer()
        writer.add_scalar("loss", OnDevice(0, [1, 2]), 0)
        with self.assertWarnsRegex(steptape.WriterWarning, r"\(2,\)"):
            writer.close()


def log_everything(writer):
    """The calls of torch.utils.tensorboard, with values that depend on nothing."""
    random = np.random.default_rng(2)
    normal = random.normal(size=1000)
    for step in range(3):
        writer.add_scalar("loss/train", 1 / (step + 1), step)
    writer.add_scalars("both", {"left": 1.0, "right": 2.0}, 1)
    writer.add_histogram("normal", normal, 1)
    writer.add_histogram("normal/auto", normal, 1, bins="auto")
    writer.add_histogram("normal/ten", torch.from_numpy(normal), 1, bins=np.linspace(-5, 5, 11))
    writer.add_histogram_raw("raw", 0.0, 3.0, 4, 6.0, 14.0, [1.0, 2.0, 3.0], [1, 1, 2], 1)
    writer.add_image("image", random.random((3, 6, 5)).astype(np.float32), 1)
    writer.add_image("image/hwc", torch.from_numpy(random.integers(0, 255, (6, 5, 3), np.uint8)), 1, dataformats="HWC")
    writer.add_image("image/hw", random.random((6, 5)), 1, dataformats="HW")
    writer.add_images("images", random.random((4, 3, 6, 5)).astype(np.float32), 1)
    writer.add_audio("sound", torch.linspace(-1, 1, 200).reshape(1, -1), 1, sample_rate=8000)
    writer.add_text("text", "*some* text", 1)
    writer.add_tensor("tensor", torch.arange(6.0).reshape(2, 3), 1)
    writer.add_pr_curve("pr", random.integers(0, 2, 100), random.random(100), 1, num_thresholds=11)
    writer.add_mesh("mesh", torch.rand(1, 4, 3, generator=torch.Generator().manual_seed(1)), global_step=1,
                    faces=torch.tensor([[[0, 1, 2]]]))
    writer.add_custom_scalars({"loss": {"both": ["Multiline", ["loss/.*"]], "band": ["Margin", ["a", "b", "c"]]}})
    writer.add_hparams({"lr": 0.1, "bsize": 32, "name": "sgd", "nesterov": True}, {"accuracy": 0.5},
                       {"lr": [0.1, 0.01]}, run_name="trial", global_step=3)


class SameAsTorch(unittest.TestCase):
    """TensorBoard reads the same of one program with one import changed."""

    @classmethod
    def setUpClass(cls):
        cls.theirs = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.ours = cls.enterClassContext(tempfile.TemporaryDirectory())
        for module, log_dir in ((torch_tensorboard, cls.theirs), (steptape.compat.tensorboard, cls.ours)):
            with module.SummaryWriter(log_dir) as writer:
                log_everything(writer)

    def both(self, run=""):
        return [EventAccumulator(os.path.join(log_dir, run), {"scalars": 0, "images": 0}).Reload()
                for log_dir in (self.theirs, self.ours)]

    def test_all_tags_are_there(self):
        for run in ("", "trial"):
            # Ours have a tensor without elements in the records of hyperparameters, as TensorBoard's have.
            theirs, ours = ({kind: sorted(tag for tag in tags if not tag.startswith("_hparams_/"))
                             for kind, tags in events.Tags().items() if isinstance(tags, list)}
                            for events in self.both(run))
            self.assertEqual(theirs, ours, run)

    def test_scalars(self):
        for run in ("", "trial"):
            theirs, ours = self.both(run)
            for tag in theirs.Tags()["scalars"]:
                self.assertEqual([(event.step, event.value) for event in theirs.Scalars(tag)],
                                 [(event.step, event.value) for event in ours.Scalars(tag)], tag)

    def test_histograms(self):
        theirs, ours = self.both()
        for tag in theirs.Tags()["histograms"]:
            their, our = (events.Histograms(tag)[0].histogram_value for events in (theirs, ours))
            for field in ("min", "max", "num", "sum", "sum_squares"):
                self.assertAlmostEqual(getattr(their, field), getattr(our, field), places=6, msg=tag)
            self.assertEqual(sum(their.bucket), sum(our.bucket), tag)

    def test_images(self):
        theirs, ours = self.both()
        for tag in theirs.Tags()["images"]:
            their, our = (decode(events.Images(tag)[0].encoded_image_string) for events in (theirs, ours))
            np.testing.assert_array_equal(their[..., :our.shape[-1]], our, tag)

    def test_tensors_and_hparams(self):
        for run in ("", "trial"):
            theirs, ours = self.both(run)
            for tag in theirs.Tags()["tensors"]:
                their, our = theirs.Tensors(tag)[0], ours.Tensors(tag)[0]
                self.assertEqual(their.step, our.step, tag)
                np.testing.assert_array_equal(values_of(their), values_of(our), tag)
                self.assertEqual(theirs.SummaryMetadata(tag).plugin_data.plugin_name,
                                 ours.SummaryMetadata(tag).plugin_data.plugin_name)
        started = [plugin_data_pb2.HParamsPluginData.FromString(
            events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content).session_start_info
            for events in self.both("trial")]
        # torch makes a number of a bool, which TensorBoard then shows as 1.
        self.assertEqual(started[0].hparams["nesterov"].number_value, 1)
        self.assertTrue(started[1].hparams["nesterov"].bool_value)
        for info in started:
            del info.hparams["nesterov"]
        self.assertEqual(started[0].hparams, started[1].hparams)


def decode(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def values_of(event):
    return tensor_util.make_ndarray(event.tensor_proto)


class Messages(Case):
    def test_of_tensorflow_are_written_as_they_are(self):
        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="loss", simple_value=0.5)])
        with steptape.compat.tensorboard.SummaryWriter(self.log_dir) as writer:
            writer.file_writer.add_summary(summary, 3)
            writer._get_file_writer().add_event(event_of(summary), 4, walltime=1234.5)
            with self.assertRaisesRegex(ValueError, "add_event"):
                writer.add_event(b"no message")
        loss = self.run_()["loss"]
        self.assertEqual(loss.steps.tolist(), [3, 4])
        self.assertEqual(loss.wall_times[1], 1234.5)


def event_of(summary):
    return event_pb2.Event(summary=summary)


class Habits(Case):
    def test_of_the_originals_are_kept_by_the_modules_named_like_them(self):
        with steptape.compat.tensorboardX.SummaryWriter(logdir=self.log_dir) as writer:
            writer.add_scalar("loss", 0.5, 1.9, None, "Loss", "of the training")
            self.assertEqual(writer.logdir, self.log_dir)
        with steptape.compat.tensorboardX.SummaryWriter(self.log_dir + "/none", write_to_disk=False) as writer:
            writer.add_scalar("loss", 0.5, 1)
        self.assertEqual(self.run_()["loss"].steps.tolist(), [1])
        self.assertFalse(os.path.exists(self.log_dir + "/none"))
        with self.assertRaisesRegex(ValueError, "Comet"):
            steptape.compat.tensorboardX.SummaryWriter(self.log_dir, comet_config={"disabled": False})

    def test_exported_scalars_are_those_of_tensorboard_x(self):
        path = os.path.join(self.log_dir, "scalars.json")
        with self.writer() as writer:
            writer.add_scalar("loss", 0.5, 1, walltime=2.5)
            writer.export_scalars_to_json(path)
        with open(path, encoding="utf-8") as file:
            self.assertIn("[[2.5, 1, 0.5]]", file.read())


if __name__ == "__main__":
    unittest.main()
