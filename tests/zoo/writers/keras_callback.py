# SPDX-License-Identifier: Apache-2.0
"""The TensorBoard callback of Keras 3: two runs, histograms of weights, metrics of each batch."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras  # noqa: E402
import numpy as np  # noqa: E402


def main(directory):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, name="out")],
                             name="model")
    model.compile("sgd", "mse", metrics=["mae"])
    x = np.arange(16, dtype="float32").reshape(8, 2) / 16
    y = x.sum(1)
    callback = keras.callbacks.TensorBoard(directory, histogram_freq=1, update_freq="batch",
                                           write_images=True, profile_batch=0)
    model.fit(x, y, batch_size=4, epochs=2, validation_data=(x, y), callbacks=[callback], verbose=0)


main(sys.argv[1])
