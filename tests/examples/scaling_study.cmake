# SPDX-License-Identifier: Apache-2.0
# Studies the solver of metric_averaging on 1 and 2 ranks.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

# study(<argument>...): sets STATUS, OUTPUT and ERRORS.
function(study)
  execute_process(
    COMMAND ${PROGRAM} --launcher "${MPIEXEC} -n {ranks}" ${ARGN}
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE STATUS OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE ERRORS)
  foreach(name IN ITEMS STATUS OUTPUT ERRORS)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

set(solver --rate-tag cell_updates_per_second
  -- ${SOLVER} --cells 40 --iterations 200 --tolerance 0 --log-dir {log_dir})

study(--ranks 1,2 --rounds 2 --log-dir study ${solver})
if(NOT STATUS EQUAL 0)
  message(FATAL_ERROR "exit code ${STATUS}\n${OUTPUT}\n${ERRORS}")
endif()
expect_text("${OUTPUT}" "ranks   cell_updates_per_second   speed-up   efficiency +wait")
expect_text("${OUTPUT}" "\n +1 +[0-9.]+ +1.00 +100.0 % ")
expect_text("${ERRORS}" "round 2 of 2, ranks 2: ")
foreach(ranks IN ITEMS 1 2)
  if(NOT EXISTS ${WORK_DIR}/study/ranks_${ranks}/round_2/output.txt)
    message(FATAL_ERROR "no output of the second job on ${ranks} ranks")
  endif()
endforeach()
read_scalars(study)
foreach(tag IN ITEMS cell_updates_per_second speed_up efficiency seconds wait_share input_share
                     compute_share)
  expect_points(scaling/${tag} EQUAL 2)
endforeach()
expect_value(scaling/input_share EQUAL 0)
expect_value(scaling/wait_share GREATER 0)
string(JSON step GET "${SCALARS}" study/scaling/efficiency 1 1)
if(NOT step EQUAL 2)
  message(FATAL_ERROR "step of the last point: got ${step}, expected the number of ranks, 2")
endif()
expect_tag(study scaling/table text)

study(--ranks 2 --scaling strong --work 10 --json --log-dir strong
  --rate-tag cell_updates_per_second
  -- ${SOLVER} --cells {work} --iterations 20 --tolerance 0 --log-dir {log_dir})
string(JSON ranks GET "${OUTPUT}" 0 ranks)
string(JSON speed_up GET "${OUTPUT}" 0 speed_up)
if(NOT ranks EQUAL 2 OR NOT speed_up EQUAL 2)
  message(FATAL_ERROR "got ${OUTPUT}\n${ERRORS}")
endif()
expect_tag(strong/ranks_2/round_1 temperature images)
run_tool(inspect strong/ranks_2/round_1)
expect_text("${OUTPUT}" " 5x5 PNG")

study(--ranks 1,2 --log-dir study ${solver})
expect_failure(1 "scaling_study: directory of the job study/ranks_1/round_1: got an existing one; expected a new one; choose another --log-dir")
study(--ranks 2,1 --log-dir other ${solver})
expect_failure(2 "scaling_study: --ranks: got '2,1'; expected increasing numbers; see --help")
study(--ranks 2 --scaling strong --work 3 --log-dir other ${solver})
expect_failure(2 "--work: got 3; expected a multiple of 2, the number of ranks")
study(--scaling sideways --log-dir other ${solver})
expect_failure(2 "--scaling: got 'sideways'; expected weak or strong")
study(--log-dir other -- ${SOLVER})
expect_failure(2 "PROGRAM: got no {log_dir} in its arguments; expected one, as its log directory")
study(--ranks 1 --log-dir failing -- ${SOLVER} --log-dir {log_dir} --bogus)
expect_failure(1 "scaling_study: job with {ranks} = 1: got exit code 2; expected exit code 0")
