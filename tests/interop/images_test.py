# SPDX-License-Identifier: Apache-2.0
"""Decoding and resizing give the pixels that Pillow gives."""
import os
import subprocess
import tempfile
import unittest

import numpy
from PIL import Image

PROGRAM = os.environ["STEPTAPE_IMAGE_DUMP"]
# Two releases of libjpeg-turbo may round differently.
JPEG_TOLERANCE = 2


def steptape_pixels(path, *transforms):
    output = subprocess.run([PROGRAM, path, *map(str, transforms)], check=True, stdout=subprocess.PIPE).stdout
    header, pixels = output.split(b"\n", 1)
    width, height = map(int, header.split())
    return numpy.frombuffer(pixels, numpy.uint8).reshape(height, width, 3)


def noise(*shape):
    return numpy.random.default_rng(1).integers(0, 256, shape, numpy.uint8)


def smooth(width, height):
    x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    return numpy.stack([x + y, 255 - x, 2 * y], axis=2).clip(0, 255).astype(numpy.uint8)


class ImageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def save(self, image, name, **options):
        path = os.path.join(self.folder, name)
        image.save(path, **options)
        return path


class Decoding(ImageTest):
    def expect_pillow(self, path, tolerance=0):
        with Image.open(path) as image:
            expected = numpy.asarray(image.convert("RGB")).astype(int)
        difference = numpy.abs(steptape_pixels(path) - expected).max()
        self.assertLessEqual(difference, tolerance, path)

    def test_png_of_every_mode(self):
        color = Image.fromarray(noise(21, 33, 4), "RGBA")
        for mode in ("RGB", "RGBA", "L", "LA", "P", "1"):
            self.expect_pillow(self.save(color.convert(mode), f"{mode}.png"))
        transparent = color.convert("RGB").quantize(16)
        self.expect_pillow(self.save(transparent, "transparent.png", transparency=3))

    def test_png_of_16_bits_keeps_the_high_bytes(self):
        values = numpy.arange(33 * 21, dtype=numpy.uint16).reshape(21, 33) * 94
        path = self.save(Image.fromarray(values), "16.png")
        expected = (values >> 8).astype(numpy.uint8)
        for channel in range(3):
            numpy.testing.assert_array_equal(steptape_pixels(path)[:, :, channel], expected)

    def test_jpeg_of_every_mode(self):
        color = Image.fromarray(smooth(65, 43), "RGB")
        for mode in ("RGB", "L", "CMYK"):
            for progressive in (False, True):
                for subsampling in (0, 1, 2):
                    path = self.save(color.convert(mode), f"{mode}{progressive}{subsampling}.jpg", quality=90,
                                     progressive=progressive, subsampling=subsampling)
                    self.expect_pillow(path, JPEG_TOLERANCE)


class Transforms(ImageTest):
    def setUp(self):
        super().setUp()
        self.image = Image.fromarray(noise(83, 121, 3), "RGB")
        self.path = self.save(self.image, "noise.png")

    def expect(self, image, *transforms):
        numpy.testing.assert_array_equal(steptape_pixels(self.path, *transforms), numpy.asarray(image))

    def test_resizing_gives_equal_bytes(self):
        for size in (7, 40, 82, 83, 84, 200):
            longer = size * 121 // 83  # torchvision's rule
            self.expect(self.image.resize((longer, size), Image.Resampling.BILINEAR), "resize", size)

    def test_resizing_a_crop_gives_equal_bytes(self):
        crop = self.image.crop((20, 2, 20 + 80, 2 + 80))  # (121 - 80) / 2 and (83 - 80) / 2, halves to even
        self.expect(crop.resize((33, 33), Image.Resampling.BILINEAR), "center_crop", 80, "resize", 33)

    def test_cropping_and_mirroring_what_was_resized(self):
        resized = self.image.resize((72, 50), Image.Resampling.BILINEAR)
        crop = resized.crop((16, 5, 16 + 40, 5 + 40))
        self.expect(crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT), "resize", 50, "center_crop", 40, "flip")

    def test_padding_a_small_image(self):
        padded = self.image.crop((-39, -58, 121 + 40, 83 + 59))
        self.expect(padded, "center_crop", 200)


if __name__ == "__main__":
    unittest.main()
