# SPDX-License-Identifier: Apache-2.0
"""Raw tensors, which no page of TensorBoard shows: compared in the event files."""

import os

import numpy as np
from event_files import values_by_tag
from tensorboard.util import tensor_util


class TensorChecks:
    def test_tensors(self):
        ours, theirs = (values_by_tag(os.path.join(log.directory, "tensors"))
                        for log in (self.steptape, self.torch))
        names = {name for name in self.arrays if name.startswith("tensor_")}
        self.assertEqual(set(ours), names)
        self.assertEqual(set(theirs), names)
        for name in names:
            with self.subTest(name=name):
                self.check_tensor(self.arrays[name], *ours[name], *theirs[name])

    def check_tensor(self, array, event, value, peers_event, peers_value):
        self.assertEqual((event.step, event.wall_time), (peers_event.step, peers_event.wall_time))
        self.assertEqual(value.metadata.plugin_data.plugin_name,
                         peers_value.metadata.plugin_data.plugin_name)
        self.assertEqual(value.tensor.dtype, peers_value.tensor.dtype)
        self.assertEqual(value.tensor.tensor_shape, peers_value.tensor.tensor_shape)
        read = tensor_util.make_ndarray(value.tensor)
        self.assertEqual(read.dtype, array.dtype)
        np.testing.assert_array_equal(read, array)
        if array.dtype == np.float16:
            # torch stores the bits of a binary32 where those of a binary16 belong.
            self.assertEqual(list(peers_value.tensor.half_val),
                             array.astype(np.float32).reshape(-1).view(np.int32).tolist())
        elif array.dtype == np.uint8:
            # torch stores bytes in a field in which TensorBoard does not look for them.
            self.assertEqual(list(peers_value.tensor.uint32_val), array.tolist())
        else:
            np.testing.assert_array_equal(tensor_util.make_ndarray(peers_value.tensor), array)
