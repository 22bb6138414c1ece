# SPDX-License-Identifier: Apache-2.0
# The same network under Python's DistributedDataParallel, with the same batches and learning rate,
# reaches 0.73 to 0.75, by the processor; guesses reach 0.1. interop.same_as_ddp compares step by step.
include(${CMAKE_CURRENT_LIST_DIR}/../../examples/examples.cmake)

train(2 --epochs 1 --log-dir run)
expect_json(epochs EQUAL 1)
expect_json(test_accuracy GREATER 0.5)

# TensorBoard first shows curves, with points at steps 75, 150, ..., 450 and 469.
read_scalars(run)
expect_points(accuracy/test EQUAL 7)
expect_points(loss/test EQUAL 7)
expect_points(loss/train EQUAL 469)
string(JSON tags LENGTH "${SCALARS}")
if(NOT tags EQUAL 10)
  message(FATAL_ERROR "got ${tags} curves; expected 10 in\n${SCALARS}")
endif()
