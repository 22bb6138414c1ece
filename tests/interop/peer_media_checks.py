# SPDX-License-Identifier: Apache-2.0
"""Images, videos and audio: equal to the peers', or better as the checks state."""

import io
import wave

import numpy as np
import peer_numbers
import tensorboardX.utils
import torch.utils.tensorboard
from PIL import Image


def frames(data):
    """The pictures of an image file as arrays of RGBA, with the milliseconds that each is shown."""
    with Image.open(io.BytesIO(data)) as image:
        pictures = []
        for index in range(getattr(image, "n_frames", 1)):
            image.seek(index)
            pictures.append((np.array(image.convert("RGBA")), image.info.get("duration")))
        return pictures


def mode(data):
    with Image.open(io.BytesIO(data)) as image:
        return image.mode


class ImageChecks:
    def image(self, log, run, tag, sample=0):
        (data,) = log.blobs("images", "images", "individualImage", run, tag, sample)
        return data

    def pixels(self, log, run, tag, sample=0):
        ((picture, _),) = frames(self.image(log, run, tag, sample))
        return picture

    def assert_same_pixels(self, run, tag, peers=None):
        with self.subTest(tag=tag):
            self.assert_same(lambda log: self.pixels(log, run, tag).tolist(), peers)

    def test_images(self):
        for layout in ("CHW", "HWC", "CWH", "HW", "WH"):
            self.assert_same_pixels("images", f"layout/{layout}")
        for tag in ("gray", "rgba", "levels"):
            self.assert_same_pixels("images", tag)

    def test_image_steps_and_times(self):
        def fetch(log):
            (entry,) = log.get("images", "images", run="images", tag="levels", sample=0)
            return entry["step"], entry["wall_time"]

        self.assert_same(fetch)

    def test_gray_images_stay_gray(self):
        def check():
            for tag in ("gray", "layout/HW", "layout/WH"):
                self.assertEqual(mode(self.image(self.steptape, "images", tag)), "L")
                for peer in self.peers:
                    self.assertEqual(mode(self.image(peer, "images", tag)), "RGB")

        self.eventually(check)

    def test_images_out_of_range(self):
        """Steptape and torch clip, tensorboardX wraps round."""
        self.assert_same_pixels("images", "too_bright", [self.torch])
        values = self.arrays["too_bright"].transpose(1, 2, 0)
        inside = (values >= 0) & (values <= 1)

        def check():
            ours = self.pixels(self.steptape, "images", "too_bright")[:, :, :3]
            theirs = self.pixels(self.tensorboardx, "images", "too_bright")[:, :, :3]
            np.testing.assert_array_equal(ours[values > 1], 255)
            np.testing.assert_array_equal(ours[values < 0], 0)
            np.testing.assert_array_equal(ours[inside], theirs[inside])
            self.assertTrue(np.any(theirs[values > 1] < 200))

        self.eventually(check)

    def test_images_of_float64(self):
        """Scaled in binary32 as by torch; tensorboardX, in binary64, cuts to one less."""
        self.assert_same_pixels("images", "all_levels", [self.torch])

        def check():
            ours, theirs = (self.pixels(log, "images", "all_levels")[:, :, 0].reshape(-1).tolist()
                            for log in (self.steptape, self.tensorboardx))
            self.assertEqual(ours, list(range(256)))
            self.assertEqual(theirs, [0, *range(255)])

        self.eventually(check)

    def test_batches_of_images(self):
        for layout in ("NCHW", "NHWC"):
            self.assert_same_pixels("image_batches", f"grid/{layout}")

    def test_batches_of_images_with_alpha(self):
        self.assert_same_pixels("image_batches", "grid/RGBA", [self.tensorboardx])
        with self.assertRaises(AssertionError):
            torch.utils.tensorboard.summary.image("batch", self.arrays["nchw_rgba"],
                                                  dataformats="NCHW")

    def test_lists_of_images(self):
        """Steptape keeps them apart as samples; tensorboardX tiles them, torch takes no list."""
        def check():
            tiled = self.pixels(self.tensorboardx, "image_batches", "list")
            tags = self.steptape.get("images", "tags")["image_batches"]
            self.assertEqual(tags["list"]["samples"], 3)
            for sample in range(3):
                tile = tiled[:, sample * peer_numbers.WIDTH:(sample + 1) * peer_numbers.WIDTH]
                np.testing.assert_array_equal(
                    self.pixels(self.steptape, "image_batches", "list", sample), tile)

        self.eventually(check)

    def test_boxes(self):
        for tag in ("plain", "half", "twice"):
            self.assert_same_pixels("boxes", tag)

    def test_labels_of_boxes(self):
        """The font is another; the pictures differ only where the labels stand."""
        label_width, label_height = 24, 16
        outside = np.ones((40, 60), dtype=bool)
        for left, _, _, bottom in self.arrays["boxes"].astype(int):
            outside[max(0, bottom - label_height):bottom + 1, left:left + label_width] = False

        def check():
            ours = self.pixels(self.steptape, "boxes", "labels")
            self.assertTrue(np.any(ours != self.pixels(self.steptape, "boxes", "plain")))
            for peer in self.peers:
                theirs = self.pixels(peer, "boxes", "labels")
                np.testing.assert_array_equal(ours[outside], theirs[outside])

        self.eventually(check)


    def test_figures(self):
        self.assert_same_pixels("figures", "plot")


class VideoChecks:
    def test_videos(self):
        """The other writers need the package moviepy; their input to it is known without it."""
        for tag, name in (("one", "clip"), ("three", "clips")):
            with self.subTest(tag=tag):
                expected = tensorboardX.utils._prepare_video(self.arrays[name])
                self.eventually(lambda: self.check_video(tag, expected))

    def check_video(self, tag, expected):
        shown = frames(self.image(self.steptape, "videos", tag))
        self.assertEqual(len(shown), len(expected))
        for (picture, milliseconds), frame in zip(shown, expected):
            self.assertEqual(milliseconds, 125)
            np.testing.assert_array_equal(picture[:, :, :3], np.rint(frame * 255))


class SoundChecks:
    def sound(self, log, tag):
        """The samples, (frames, channels), after the checks that are the same for all."""
        (data,) = log.blobs("audio", "audio", "individualAudio", "sounds", tag)
        with wave.open(io.BytesIO(data)) as sound:
            self.assertEqual((sound.getsampwidth(), sound.getframerate()), (2, 8000))
            samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
            return samples.reshape(-1, sound.getnchannels()).astype(int)

    def test_sounds(self):
        def check():
            for tag in ("mono", "stereo", "loud"):
                expected = self.arrays[tag].reshape(len(self.arrays[tag]), -1)
                expected = np.rint(expected.clip(-1, 1).astype(float) * 32767)
                np.testing.assert_array_equal(self.sound(self.steptape, tag), expected)

        self.eventually(check)

    def test_sounds_as_torch_writes_them(self):
        """torch truncates where Steptape rounds, so that samples differ by at most one."""
        def check():
            for tag in ("mono", "loud"):
                ours, theirs = self.sound(self.steptape, tag), self.sound(self.torch, tag)
                self.assertEqual(ours.shape, theirs.shape)
                self.assertEqual(np.abs(ours - theirs).max(), 1)

        self.eventually(check)

    def test_types_of_sounds(self):
        """Without a name for its data class the fast loader does not know a sound's type."""
        def check():
            for log, expected in ((self.steptape, "audio/wav"),
                                  (self.torch, "application/octet-stream" if self.fast
                                   else "audio/wav")):
                (entry,) = log.get("audio", "audio", run="sounds", tag="mono", sample=0)
                self.assertEqual(entry["contentType"], expected)
                self.assertEqual((entry["step"], entry["wall_time"]), (0, 1.7e9 + 0.25))

        self.eventually(check)
