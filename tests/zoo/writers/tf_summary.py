# SPDX-License-Identifier: Apache-2.0
"""tf.summary of TensorFlow 2.21: every kind of value, hyperparameters, and a tensor of no plugin."""

import sys

import numpy as np
import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams


def main(directory):
    with tf.summary.create_file_writer(directory).as_default():
        hparams.hparams({"lr": 0.1, "optimizer": "sgd", "nesterov": True}, trial_id="trial")
        for step in range(3):
            tf.summary.scalar("loss", 1 / (step + 1), step, description="the *loss*")
            tf.summary.scalar("count", step, step)
            tf.summary.scalar("half", tf.constant(0.5 + step, tf.bfloat16), step)
            tf.summary.histogram("weights", np.linspace(-1, 1 + step, 20), step, buckets=4)
        tf.summary.histogram("constant", np.ones(5), 0, buckets=4)
        tf.summary.image("picture", np.zeros((2, 2, 3, 3), np.float32), 0)
        tf.summary.audio("sound", np.zeros((1, 8, 1), np.float32), 8000, 0)
        tf.summary.text("note", "**hello**", 0)
        tf.summary.text("table", [["a", "b"], ["c", "d"]], 0)
        tf.summary.write("custom", tf.constant([1.0, 2.0]), 0)


main(sys.argv[1])
