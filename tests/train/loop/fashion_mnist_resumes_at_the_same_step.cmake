# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/../../examples/examples.cmake)

train(2 --max-steps 16 --log-dir whole)
set(whole "${JSON}")

train(2 --max-steps 8 --log-dir parts --checkpoint-dir checkpoints)
train(2 --max-steps 16 --log-dir parts --checkpoint-dir checkpoints --resume)
if(NOT OUTPUT MATCHES "resumed from checkpoints/checkpoint_8.pt at step 8")
  message(FATAL_ERROR "did not resume at step 8:\n${OUTPUT}")
endif()
# Dropout, momentum and the order of the images went on: the outcome is the same to the last digit.
foreach(key IN ITEMS test_loss test_accuracy parameters)
  string(JSON wanted GET "${whole}" ${key})
  expect_json(${key} STREQUAL ${wanted})
endforeach()

# TensorBoard shows all that both parts logged, and also when there is nothing left to train.
read_scalars(parts)
train(2 --max-steps 16 --log-dir parts --checkpoint-dir checkpoints --resume)
read_scalars(parts)
expect_points(loss/train EQUAL 16)
expect_points(loss/test EQUAL 2)
expect_points(accuracy/test EQUAL 2)
