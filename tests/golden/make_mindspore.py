#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden file of MindSpore with MindSpore's own messages; see README.md.

    python3 make_mindspore.py FOLDER_OF_THE_UNPACKED_WHEEL TARGET
"""

import re
import sys

from google.protobuf import descriptor_pool, message_factory
from tensorboard.summary.writer.record_writer import RecordWriter

BEGAN = 1_700_000_000.5


def event_class(wheel):
    """The class of mindspore/train/summary_pb2.py, which needs an installed MindSpore to be imported."""
    pool = descriptor_pool.DescriptorPool()
    for name in ("anf_ir", "summary"):
        with open(f"{wheel}/mindspore/train/{name}_pb2.py", encoding="utf-8") as file:
            (serialized,) = re.findall(r"AddSerializedFile\((b'.*?')\)", file.read(), re.DOTALL)
        pool.AddSerializedFile(eval(serialized))  # a literal of bytes
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("mindspore.irpb.Event"))


def events(event):
    # The version's time is later than that of the next events: the file is opened lazily.
    yield event(wall_time=BEGAN + 5, version="MindSpore.Event:1")
    for step in range(3):
        record = event(wall_time=BEGAN + step, step=step)
        values = record.summary.value
        values.add(tag="loss").scalar_value = 0.5 * step
        image = values.add(tag="picture").image
        image.height, image.width, image.colorspace, image.encoded_image = 2, 3, 3, b"\x89PNG\r\n\x1a\n"
        tensor = values.add(tag="weights").tensor  # as _fill_tensor_summary()
        tensor.data_type = 4  # DT_INT32
        tensor.float_data.extend([1, 2, 3, 4, 5, 6])
        tensor.dims.extend([2, 3])
        histogram = values.add(tag="gradients").histogram  # as _fill_histogram_summary()
        histogram.count, histogram.nan_count, histogram.pos_inf_count, histogram.neg_inf_count = 7, 0, 0, 0
        histogram.min, histogram.max, histogram.sum = -1, 1, 0.5
        histogram.buckets.add(left=-1, width=1, count=3)
        histogram.buckets.add(left=0, width=1, count=4)
        if step == 2:
            values.add(tag="landscape").loss_landscape.metadata.unit = "step"
        yield record


def main():
    wheel, target = sys.argv[1:]
    with open(target, "wb") as file:
        writer = RecordWriter(file)
        for event in events(event_class(wheel)):
            writer.write(event.SerializeToString())


if __name__ == "__main__":
    main()
