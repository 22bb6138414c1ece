#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python's package safetensors and this library read each other's files, and write the same bytes."""

import os
import subprocess
import tempfile
import unittest

import safetensors
import safetensors.torch
import torch

OLD_DTYPES = ["bool", "uint8", "int8", "int16", "float16", "bfloat16", "int32", "float32", "complex64",
              "float64", "int64"]
DTYPES = OLD_DTYPES + ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                       "float8_e8m0fnu", "uint16", "uint32", "uint64"]


class Layer(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight


class Model(torch.nn.Module):
    """The struct Model of safetensors_program.cpp, with random values."""

    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4))
        self.features(torch.rand(5, 2, 4, 4))  # changes the buffers
        tied = torch.nn.Parameter(torch.rand(2, 3))
        self.encoder = Layer(tied)
        self.decoder = Layer(tied)


def random_tensor(dtype, *shape):
    """A tensor of random bytes, NaN and infinities of all kinds included."""
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    count = torch.Size(shape).numel() * dtype.itemsize
    return torch.randint(0, 256, (count,), dtype=torch.uint8).view(dtype).view(shape)


class SafetensorsTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.directory, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_program(self, task, source, target):
        return subprocess.run([os.environ["STEPTAPE_SAFETENSORS_PROGRAM"], task, self.path(source),
                               self.path(target)], capture_output=True, text=True)

    def check_copies(self, tensors, metadata):
        safetensors.torch.save_file(tensors, self.path("python"), metadata=metadata)
        run = self.run_program("copy", "python", "cpp")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.content("cpp"), self.content("python"))


class Tensors(SafetensorsTest):
    def test_every_dtype_is_copied_bit_for_bit(self):
        run = self.copy_tensors_of(DTYPES)
        if "expected a type that LibTorch 1." in run.stderr:
            run = self.copy_tensors_of(OLD_DTYPES)
        self.assertEqual(run.stderr, "")
        self.assertEqual(self.content("cpp"), self.content("python"))
        self.assertIn("float32_matrix", safetensors.torch.load_file(self.path("cpp")))

    def copy_tensors_of(self, dtypes):
        tensors = {}
        for name in dtypes:
            dtype = getattr(torch, name)
            tensors[f"{name}_matrix"] = random_tensor(dtype, 7, 33)
            tensors[f"{name}_scalar"] = random_tensor(dtype)
            tensors[f"{name}_empty"] = torch.empty(0, 3, dtype=dtype)
        safetensors.torch.save_file(tensors, self.path("python"), metadata={"format": "pt"})
        return self.run_program("copy", "python", "cpp")

    def test_types_names_and_sizes_are_ordered_alike(self):
        dtypes = [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.float64]
        names = ["b", "a.10", "a.2", "größe", "重み", "\U0001f600", 'quote"', "back\\slash", "tab\t",
                 "", "Z", "{}"]
        tensors = {f"{name}{i}": random_tensor(dtype, i, 3)
                   for name in names for i, dtype in enumerate(dtypes)}
        self.check_copies(tensors, {"format": "pt"})

    def test_metadata_is_copied(self):
        metadata = {"format": "np", "größe": 'a "quoted"\nline', "empty": ""}
        safetensors.torch.save_file({"a": torch.ones(2)}, self.path("python"), metadata=metadata)
        self.assertEqual(self.run_program("copy", "python", "cpp").stderr, "")
        with safetensors.safe_open(self.path("cpp"), framework="pt") as file:
            self.assertEqual(file.metadata(), metadata)

    def test_a_file_without_tensors_is_copied(self):
        self.check_copies({}, {"format": "pt"})

    def test_elements_of_less_than_a_byte_are_named(self):
        four_bits = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
        safetensors.torch.save_file({"w": four_bits}, self.path("python"))
        run = self.run_program("copy", "python", "cpp")
        self.assertEqual(run.returncode, 1)
        self.assertIn('"w": got F4 [8]; expected a type that LibTorch', run.stderr)


class Models(SafetensorsTest):
    def test_a_model_travels_from_python_to_cpp_and_back(self):
        model = Model()
        safetensors.torch.save_model(model, self.path("python"))
        run = self.run_program("model", "python", "cpp")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        loaded = Model()
        self.assertEqual(safetensors.torch.load_model(loaded, self.path("cpp")), (set(), []))
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(loaded.state_dict()[name], tensor), name)

    def test_tied_weights_are_named_as_in_python(self):
        safetensors.torch.save_model(Model(), self.path("python"))
        self.assertEqual(self.run_program("model", "python", "cpp").stderr, "")

        def metadata(name):
            with safetensors.safe_open(self.path(name), framework="pt") as file:
                return file.metadata()

        self.assertEqual(metadata("cpp"), {"format": "pt"} | metadata("python"))
        self.assertEqual(metadata("cpp")["encoder.weight"], "decoder.weight")


if __name__ == "__main__":
    unittest.main()
