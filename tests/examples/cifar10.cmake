# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

set(short --synthetic --batch-size 16 --epochs 10 --warm-up 1)

# One run in a single job, and the same run in two jobs that end in the middle of an epoch.
run_example(2 ${short} --max-steps 12 --log-dir whole)
run_example(2 ${short} --max-steps 7 --log-dir parts --checkpoint-dir checkpoints --resume)
expect_text("${OUTPUT}" "stopped at step 7 by ")
run_example(2 ${short} --max-steps 12 --log-dir parts --checkpoint-dir checkpoints --resume)
expect_text("${OUTPUT}" "stopped at step 12 by ")

read_scalars(whole)
expect_points(loss/train EQUAL 12)
get_value(loss loss/train)
get_value(rate optimizer/learning_rate)
# The rate 0.1 is for 128 images; 16 images get 1/8 of it. With 2 ranks it doubles during the first
# epoch, which has 2000 / 16 / 2 = 62.5 steps.
if(NOT rate GREATER 0.0146 OR NOT rate LESS 0.015)
  message(FATAL_ERROR "learning_rate: got ${rate}, expected 0.0125 + 0.0125 * 11 / 63 or 12 / 63")
endif()
expect_tag(whole augmented_images images)
expect_tag(whole configuration text)
read_scalars(parts)
expect_points(loss/train EQUAL 12)
expect_value(loss/train STREQUAL ${loss})

# One epoch is enough to learn the patterns of the classes: every seed tried reached 0.99. Guessing
# reaches 0.1.
run_example(1 --synthetic --batch-size 16 --epochs 1 --log-dir single)
read_scalars(single)
expect_value(accuracy/test GREATER 0.5)

run_ranks(2 --synthetic --resume)
expect_failure(2 "cifar10: --resume needs --checkpoint-dir; see --help")
run_ranks(2 --data ${WORK_DIR})
expect_failure(1 "cifar10: data set not found: no data_batch_1.bin in ")
expect_text("${ERRORS}" "tools/get_data.sh cifar10")
