# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of the benchmarks.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

# expect_same_in_print_and_log(<samples>): of a run with one iteration, which read_scalars() has read.
function(expect_same_in_print_and_log samples)
  string(JSON printed GET "${JSON}" ${samples}_per_second)
  get_value(logged ${samples}_per_second)
  expect_close(${logged} ${printed} 1)  # A scalar is a float32.
  foreach(part IN ITEMS forward backward optimizer)
    string(JSON printed GET "${JSON}" ${part}_ms)
    get_value(logged step_ms/${part})
    expect_close(${logged} ${printed} 1)  # A scalar is a float32.
  endforeach()
endfunction()

# expect_benchmark(<ranks> <samples> <model> <parameters> <argument>...): one measurement of two steps,
# printed as JSON and logged.
function(expect_benchmark ranks samples model parameters)
  set(run ${model}_${ranks})
  run_example(${ranks} --log-dir ${run} --json
    --batch-size 2 --warmup 1 --iterations 1 --steps 2 --profile-steps 1 ${ARGN})
  string(STRIP "${OUTPUT}" JSON)
  expect_json(model STREQUAL ${model})
  expect_json(ranks EQUAL ${ranks})
  expect_json(parameters EQUAL ${parameters})
  expect_json(${samples}_per_second GREATER 0)
  expect_json(${samples}_per_second_std EQUAL 0)
  expect_json(forward_ms GREATER 0)
  expect_json(backward_ms GREATER 0)
  read_scalars(${run})
  expect_points(${samples}_per_second EQUAL 1)
  expect_same_in_print_and_log(${samples})
  string(JSON step GET "${SCALARS}" ${run}/${samples}_per_second 0 1)
  if(NOT step EQUAL 2)
    message(FATAL_ERROR "step of the measurement: got ${step}, expected the number of steps, 2")
  endif()
  foreach(tag IN ITEMS configuration profile/operators profile/operators_by_shape)
    expect_tag(${run} ${tag} text)
  endforeach()
endfunction()

# expect_operator(<run> <operator>): checks that the logged table names it.
function(expect_operator run operator)
  run_tool(export ${run} --format jsonl --tag "^profile/operators$")
  expect_text("${OUTPUT}" "`${operator}`")
endfunction()

# expect_print(<ranks> <samples> <argument>...): what is printed without --json.
function(expect_print ranks samples)
  run_example(${ranks} --log-dir printed --batch-size 2 --warmup 0 --iterations 2 --steps 1
    --profile-steps 2 ${ARGN})
  expect_text("${OUTPUT}" "iteration 2: [0-9.]+ ${samples} per second on each rank\n")
  expect_text("${OUTPUT}" "${samples} per second on each rank: +[0-9.]+ \\+- [0-9.]+\non all ranks: +[0-9.]+ ")
  expect_text("${OUTPUT}" "time of a step: +input [0-9.]+ ms +forward [0-9.]+ ms +backward [0-9.]+ ms ")
  expect_text("${OUTPUT}" "operators of rank 0 in 2 steps:\n")
  expect_text("${OUTPUT}" "\n *1 +[^\n]+ [0-9]+ +[0-9.]+ ")
  read_scalars(printed)
  foreach(tag IN ITEMS ${samples}_per_second ${samples}_per_second_per_rank/min loss
                       straggler/forward/mean_ms straggler/wait/mean_ms)
    expect_points(${tag} EQUAL 2)
  endforeach()
endfunction()
