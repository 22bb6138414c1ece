# SPDX-License-Identifier: Apache-2.0
# The network learns the same however it and its batches are divided; only rounding differs.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

set(short --synthetic --batch-size 16 --max-steps 20)

function(train_in_parts run ranks)
  run_example(${ranks} --log-dir ${run} ${short} ${ARGN})
  read_scalars(${run})
  expect_points(loss/train EQUAL 20)
  expect_points(straggler/wait/mean_ms EQUAL 2)
  expect_points(accuracy/test EQUAL 1)
  get_value(loss loss/train)
  string(SUBSTRING ${loss} 0 5 loss)
  set(LOSS ${loss} PARENT_SCOPE)
  set(OUTPUT "${OUTPUT}" PARENT_SCOPE)
endfunction()

train_in_parts(whole 1 --devices cpu)
set(expected ${LOSS})
train_in_parts(halves 1 --devices cpu,cpu)
expect_text("${LOSS}" "^${expected}$")
train_in_parts(micro 1 --devices cpu,cpu,cpu --micro-batches 4)
expect_text("${LOSS}" "^${expected}$")

train_in_parts(ranks 2 --devices cpu,cpu,cpu,cpu --parts 2)
run_tool(inspect ranks)
foreach(rank IN ITEMS 0 1)
  expect_text("${OUTPUT}" "parts/rank_0000${rank} ")
endforeach()

run_ranks(2 ${short} --devices cpu,nonsense)
expect_failure(2 "model_parallel: --devices: got 'nonsense'; expected a device such as cpu or cuda:0")
run_ranks(2 ${short} --devices cpu,cuda:99)
expect_failure(2 "--devices: got 'cuda:99'; expected a device of this node, which has ")
run_ranks(2 ${short} --devices cpu,cpu,cpu --parts 2)
expect_failure(2 "--devices: got 3 for 2 parts; expected a multiple of the number of parts, which is at most 6")
