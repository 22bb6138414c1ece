#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call with a wrong argument raises an error that says what, got and expected, and logs nothing."""

import decimal
import fractions
import os
import tempfile
import unittest
import warnings

import numpy as np
import pandas
import torch

import steptape
import steptape.compat.tensorboard

NAN, INF = float("nan"), float("inf")
COMPLEX = np.array([1j])
OBJECTS = np.array([object()])
MASKED = np.ma.masked_array([1.0, 2.0], mask=[False, True])
IMAGE = np.zeros((3, 4, 4))
BOXES = np.array([[0, 0, 2, 2]])


def freed():
    tensor = torch.ones(1000)
    tensor.untyped_storage().resize_(0)
    return tensor


def fake():
    with torch._subclasses.FakeTensorMode():
        return torch.ones(3)


NO_NUMBERS = {
    "str": "text", "None": None, "complex": 1j, "complex array": COMPLEX, "objects": OBJECTS, "dict": {"a": 1},
    "strings": ["a", "b"], "ragged": [[1], [1, 2]], "times": np.array(["2020"], "M8[Y]"), "void": np.zeros(2, "V3"),
    "records": np.zeros(2, [("a", "f4")]), "masked": MASKED, "huge integers": [10**30],
    "decimals": [decimal.Decimal(1)],
    "meta": torch.empty(3, device="meta"), "complex tensor": torch.tensor([1j]), "freed": freed(), "fake": fake(),
    "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "series": pandas.Series(["a", "b"]),
    "function": len, "type": float, "set": {1, 2},
    "generator": (i for i in range(3)), "tensors of different lengths": [torch.ones(2), torch.ones(3)],
}

NO_TAGS = {"None": None, "int": 5, "bytes": b"a", "list": ["a"], "surrogates": "a\udc80", "empty": ""}

NO_STEPS = {"text": "5", "half": 1.5, "NaN": NAN, "infinity": INF, "large": 2**63, "small": -2**63 - 1, "list": [1],
            "array": np.arange(3), "tensor": torch.tensor(0.5), "complex": 1j, "numpy": np.float32(0.5),
            "object": object()}

# The arguments of each call without tag, step and wall time.
CALLS = {
    "add_scalar": dict(scalar_value=1), "add_tensor": dict(tensor=[1.0]), "add_histogram": dict(values=[1.0]),
    "add_histogram_raw": dict(min=0, max=1, num=1, sum=1, sum_squares=1, bucket_limits=[1.0], bucket_counts=[1]),
    "add_image": dict(img_tensor=IMAGE), "add_images": dict(img_tensor=IMAGE[None]),
    "add_image_with_boxes": dict(img_tensor=IMAGE, box_tensor=BOXES),
    "add_video": dict(vid_tensor=IMAGE[None, None]), "add_audio": dict(snd_tensor=np.zeros(10)),
    "add_text": dict(text_string="text"),
    "add_pr_curve": dict(labels=[0, 1], predictions=[0.5, 0.5]),
    "add_pr_curve_raw": dict(true_positive_counts=[1], false_positive_counts=[1], true_negative_counts=[1],
                             false_negative_counts=[1], precision=[1], recall=[1]),
    "add_mesh": dict(vertices=np.zeros((1, 2, 3))),
}

ARRAYS = (("add_tensor", "tensor"), ("add_histogram", "values"), ("add_image", "img_tensor"),
          ("add_images", "img_tensor"), ("add_image_with_boxes", "img_tensor"),
          ("add_image_with_boxes", "box_tensor"), ("add_video", "vid_tensor"),
          ("add_audio", "snd_tensor"), ("add_pr_curve", "labels"), ("add_pr_curve", "predictions"),
          ("add_pr_curve", "weights"), ("add_mesh", "vertices"), ("add_mesh", "colors"), ("add_mesh", "faces"))
OPTIONAL = {"weights", "colors", "faces"}

# What a message must not say: the words of nanobind, of Python's own conversions and of the core's other languages.
FOREIGN = ("incompatible function arguments", "bad_cast", "bad variant", "could not convert", "must be real number",
           "unsupported operand", "object has no attribute", "is not iterable", "not subscriptable", "unexpected type",
           "setting an array element", "list indices", "to unpack")


class Case(unittest.TestCase):
    def setUp(self):
        self.log_dir = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("error", steptape.WriterWarning)
        self.writer = steptape.SummaryWriter(self.log_dir)
        self.addCleanup(self.writer.close)

    def refuses(self, call, *arguments, says=".", **named):
        """The call raises an error in our own words; returns them."""
        function = getattr(self.writer, call) if isinstance(call, str) else call
        name = call if isinstance(call, str) else call.__name__
        with self.subTest(call=name, arguments=arguments, named=named):
            with self.assertRaises((TypeError, ValueError)) as raised:
                function(*arguments, **named)
            message = str(raised.exception)
            self.assertIn(type(raised.exception), (TypeError, ValueError), message)
            for words in FOREIGN:
                self.assertNotIn(words, message)
            self.assertRegex(message, "got .*; expected ")
            self.assertNotRegex(message, "add[A-Z]|dataFormat")  # the names of C++
            self.assertRegex(message, says)

    def tearDown(self):
        self.writer.close()
        for name, run in steptape.read(self.log_dir).items():
            self.assertEqual(list(run), [], name)


class Arguments(Case):
    def setUp(self):
        super().setUp()
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", steptape.EmptyLogWarning)

    def test_that_must_be_arrays_of_numbers(self):
        for call, name in ARRAYS:
            for kind, value in NO_NUMBERS.items():
                if not (kind == "None" and name in OPTIONAL):
                    with self.subTest(kind=kind):
                        self.refuses(call, "tag", **{**CALLS[call], name: value}, says=f"{call}: {name}: got ")

    def test_that_must_be_numbers(self):
        wrong = {**NO_NUMBERS, "empty": [], "two": [1, 2], "two of torch": torch.ones(2), "huge": 10**400}
        for kind, value in wrong.items():
            with self.subTest(kind=kind):
                self.refuses("add_scalar", "tag", value, says="add_scalar: scalar_value: got ")
                self.refuses("add_scalars", "tag", {"a": value}, says="add_scalars: tag_scalar_dict: a: got ")
                self.refuses("add_hparams", {}, {"a": value}, says="add_hparams: metric_dict: a: got ")

    def test_that_must_be_tags(self):
        for call, arguments in CALLS.items():
            for value in NO_TAGS.values():
                self.refuses(call, value, **arguments)
        for value in NO_TAGS.values():
            self.refuses("add_scalars", value, {"a": 1})
            self.refuses("add_embedding", np.zeros((2, 2)), tag=value)

    def test_that_must_be_steps(self):
        for call, arguments in {**CALLS, "add_scalars": dict(tag_scalar_dict={"a": 1})}.items():
            for value in NO_STEPS.values():
                self.refuses(call, "tag", **arguments, global_step=value, says="global_step: got ")
        for value in NO_STEPS.values():
            self.refuses("resume", value, says="global_step: got ")
        self.refuses("resume", None)

    def test_that_must_be_times(self):
        for call, arguments in CALLS.items():
            for value in ("now", NAN, INF, [1.0, 2.0], 1j, object()):
                self.refuses(call, "tag", **arguments, walltime=value, says=f"{call}: walltime: got ")

    def test_that_choose_how(self):
        wrong = {
            "add_histogram": {"bins": ("some", None, 0, -1, 1.5, True, [], [1], [2, 1], ["a"], [NAN, 1], {"a": 1},
                                       2**40),
                              "max_bins": ("5", 1.5, -1, NAN, 2**70)},
            "add_histogram_raw": {"min": ("0", None, 1j), "bucket_limits": ("text", None, 5, ["a"], [], [1, 2]),
                                  "bucket_counts": ("text", 5, [None], [-1])},
            "add_image": {"dataformats": ("XYZ", "CH", "CHWC", "", None, 5, "chwn")},
            "add_images": {"dataformats": ("CHW", "NCH", None)},
            "add_image_with_boxes": {"rescale": ("1", None, 0, -1, NAN, INF), "dataformats": ("HC", 3),
                                     "labels": (5, [1], ["a", "b"], {"a": 1})},
            "add_video": {"fps": ("4", None, 0, -1, NAN, INF), "dataformats": ("TCHW", None)},
            "add_audio": {"sample_rate": ("8000", None, 0, -1, 1.5, NAN, 2**40), "dataformats": ("X", 5)},
            "add_text": {"text_string": (None, 5, b"text", [1], [["a"], [1]], {"a": 1}, "\udc80")},
            "add_pr_curve": {"num_thresholds": ("5", None, 1.5, 0, 1, -1, 2**70)},
            "add_pr_curve_raw": {"recall": ("text", None, 5, ["a"], [1, 2])},
            "add_mesh": {"config_dict": ("text", 5, {"camera": object()}, {5: 5})},
            "add_scalar": {"double_precision": ("yes", []), "new_style": ("no",), "display_name": (5,),
                           "summary_description": (b"text",)},
        }
        for call, arguments in wrong.items():
            for name, values in arguments.items():
                for value in values:
                    self.refuses(call, "tag", **{**CALLS[call], name: value})

    def test_of_shapes_that_do_not_fit(self):
        for call, name, shapes in (
                ("add_image", "img_tensor", ((4, 4), (5, 4, 4), (3, 0, 4), (1, 3, 4, 4), (0,))),
                ("add_images", "img_tensor", ((3, 4, 4), (0, 3, 4, 4), (1, 5, 4, 4))),
                ("add_image_with_boxes", "box_tensor", ((4,), (1, 3), (1, 1, 4))),
                ("add_video", "vid_tensor", ((3, 4, 4), (1, 0, 3, 4, 4))),
                ("add_audio", "snd_tensor", ((), (0,), (1, 2, 3))),
                ("add_histogram", "values", ()), ("add_pr_curve", "labels", ((), (3,), (2, 2))),
                ("add_mesh", "vertices", ((3,), (1, 2, 2), (1, 0, 3))), ("add_mesh", "colors", ((1, 3, 3), (2, 2, 3)))):
            for shape in shapes:
                self.refuses(call, "tag", **{**CALLS[call], name: np.zeros(shape)})
        for shape in ((3,), (2, 0), (0, 2), (1, 2, 3)):
            self.refuses("add_embedding", np.zeros(shape))

    def test_of_whole_runs(self):
        for value in (None, 5, "text", [("a", 1)], {5: 1}, {"\udc80": 1}):
            self.refuses("add_hparams", value, {})
            self.refuses("add_hparams", {}, value)
            self.refuses("add_scalars", "tag", value)
            self.refuses("add_custom_scalars", value)
        for value in ([1, 2], {"a": 1}, object(), b"bytes", 1j, len, "\udc80", torch.float32):
            self.refuses("add_hparams", {"a": value}, {}, says="add_hparams: hparam_dict: a: got ")
        self.refuses("add_hparams", {"a": 1}, {}, {"b": [1]})
        self.refuses("add_hparams", {"a": 1}, {}, {"a": 1})
        self.refuses("add_hparams", {"a": 1}, {}, {"a": [object()]})
        self.refuses("add_hparams", {"a": 1}, {}, run_name=5)
        for chart in (5, "Multiline", ["Multiline"], ["Pie", ["a"]], ["Margin", ["a"]], ["Multiline", "a"],
                      ["Multiline", [5]], [["a"], "Multiline"]):
            self.refuses("add_custom_scalars", {"a": {"b": chart}})
        self.refuses("add_custom_scalars_multilinechart", "loss")
        self.refuses("add_custom_scalars_marginchart", ["a", "b"])
        for value in (None, 5, "text", object()):
            self.refuses("add_event", value)
        for value in (None, 5, "a\0b"):
            self.refuses("add_onnx_graph", value)
            self.refuses("export_scalars_to_json", value)
        for value in (None, "figure", [5], IMAGE):
            self.refuses("add_figure", "tag", value)
        for name, values in {"metadata": (5, "ab", ["a"], [["a", "b"], ["c"]]), "metadata_header": (5, "ab", [5]),
                             "label_img": ("text", np.zeros((3, 3, 2, 2)), np.zeros((2, 2)))}.items():
            for value in values:
                self.refuses("add_embedding", np.zeros((2, 2)), **{name: value})

    def test_of_the_reduction(self):
        for name, values in {"weight": ("1", None), "min": ("yes", None), "histogram": ([],),
                             "percentiles": (5, "90", ["a"]), "walltime": ("now",), "global_step": ("1",)}.items():
            for value in values:
                self.refuses("add_reduced", "tag", 1, **{name: value}, says=f"(add_reduced: )?{name}: got ")
        self.refuses("add_reduced", 5, 1)
        self.refuses("add_reduced", "tag", "1")

    def test_of_the_constructor(self):
        for name, values in {"log_dir": (5, "a\0b", ["a"]), "comment": (5, "\udc80"),
                             "purge_step": ("5", 1.5, NAN, 2**63), "flush_secs": ("1", None, 0, -1, NAN),
                             "filename_suffix": (5, "a/b", "a\0b"),
                             "enabled": ("no", None), "ranks": ("some", None, 5), "shared": ("no",),
                             "reduce": (3, "yes"), "mirror": (5, b"s3://bucket/run", "runs/exp", "\udc80"),
                             "mirror_secs": ("1", None, 0, -1, NAN), "mirror_timeout": ("1", None, 0, -1, NAN)}.items():
            for value in values:
                self.refuses(steptape.SummaryWriter, **{"log_dir": self.log_dir + "/other", name: value},
                             says=f"SummaryWriter: {name}: got ")


class Numbers(Case):
    def tearDown(self):
        pass

    def test_of_any_kind_are_scalars(self):
        numbers = (fractions.Fraction(1, 4), decimal.Decimal("0.25"), np.ma.masked_array(0.25, mask=False),
                   pandas.Series([0.25]), np.array([0.25], ">f4"), np.longdouble(0.25),
                   torch.tensor([0.25]).to(torch.float8_e4m3fn), torch.tensor([0.25]).to_sparse(),
                   torch.quantize_per_tensor(torch.tensor([0.25]), 0.25, 0, torch.qint8),
                   torch.nn.Parameter(torch.tensor(0.25)), memoryview(np.array([0.25])))
        for step, value in enumerate(numbers):
            self.writer.add_scalar("number", value, step)
        self.writer.add_hparams({str(step): value for step, value in enumerate(numbers)},
                                {f"metric/{step}": value for step, value in enumerate(numbers)})
        self.writer.close()
        run = steptape.read(self.log_dir)["."]
        self.assertEqual(run["number"].values.tolist(), [0.25] * len(numbers))
        self.assertEqual(run.hparams, {str(step): 0.25 for step in range(len(numbers))})

    def test_of_the_limits_are_steps(self):
        steps = (-2**63, -1, 0, 2**53, 2**63 - 1)
        for step in steps:
            self.writer.add_scalar("loss", 0.5, step)
        self.writer.close()
        self.assertEqual(steptape.read(self.log_dir)["."]["loss"].steps.tolist(), list(steps))

    def test_that_are_no_integers_are_cut_off_by_the_module_named_like_torch(self):
        with steptape.compat.tensorboard.SummaryWriter(os.path.join(self.log_dir, "torch")) as writer:
            for step in (1.5, np.float32(2.5), torch.tensor(3.5)):
                writer.add_scalar("loss", 0.5, step)
            for step in (NAN, INF, "4"):
                with self.subTest(step=step), self.assertRaisesRegex((TypeError, ValueError), "got .*; expected"):
                    writer.add_scalar("loss", 0.5, step)
        self.assertEqual(steptape.read(self.log_dir)["torch"]["loss"].steps.tolist(), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
