# SPDX-License-Identifier: Apache-2.0
# Fashion-MNIST's files have MNIST's names and format.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

foreach(ranks IN ITEMS 1 2)
  run_example(${ranks} --data /usr/share/datasets/fashion-mnist --log-dir run_${ranks})
  read_scalars(run_${ranks})
  math(EXPR steps "(60000 / ${ranks} + 63) / 64")
  expect_points(loss/train EQUAL ${steps})
  expect_points(accuracy/test EQUAL 1)
  # Guessing reaches 0.1. The accuracy after an epoch depends on the processor's instruction set.
  expect_value(accuracy/test GREATER 0.5)
endforeach()

run_ranks(2 --data ${WORK_DIR})
expect_failure(1 "mnist: data set not found: no train-images-idx3-ubyte or ")
expect_text("${ERRORS}" "tools/get_data.sh mnist")
run_ranks(2 --epochs 0)
expect_failure(2 "mnist: --epochs: got '0'; expected a whole number of at least 1; see --help")
