# SPDX-License-Identifier: Apache-2.0
# Trains on 4 ranks of one node, and of two nodes with 2 ranks each, which are network namespaces.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

# run_on_two_nodes(<shell command>): sets STATUS, OUTPUT and ERRORS.
function(run_on_two_nodes command)
  execute_process(
    COMMAND ${SOURCE_DIR}/tools/nodes.sh 2 sh -c "${command}"
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE STATUS OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE ERRORS)
  foreach(name IN ITEMS STATUS OUTPUT ERRORS)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

run_on_two_nodes(true)
if(STATUS EQUAL 77)
  message("skipped: ${ERRORS}")  # See SKIP_REGULAR_EXPRESSION.
  return()
endif()

set(steps 10)
set(training --model mlp --batch-size 32 --evaluate-steps 0 --max-steps ${steps} --progress none)
run_example(4 ${training} --log-dir one_node)

list(JOIN training " " arguments)
run_on_two_nodes("'${MPIEXEC}' -n 4 '${PROGRAM}' ${arguments} --log-dir two_nodes && cat /proc/net/dev")
if(NOT STATUS EQUAL 0 OR NOT OUTPUT MATCHES "eth0: *([0-9]+)")
  message(FATAL_ERROR "exit code ${STATUS} on two nodes\n${OUTPUT}\n${ERRORS}")
endif()

# In each step the first node received the sums of the other one's gradients: 784 x 256 and 256 x 10 weights and
# their biases.
set(received ${CMAKE_MATCH_1})
math(EXPR expected "${steps} * 4 * (785 * 256 + 257 * 10)")
if(received LESS expected)
  message(FATAL_ERROR "received by TCP: got ${received} bytes, expected at least ${expected}")
endif()
set(runs two_nodes)

# The same without MPI: each node starts its ranks with the variables of srun.
if(HAVE_C10D)
  file(WRITE ${WORK_DIR}/ranks_of_node.sh "
    for rank in $(($1 * 2)) $(($1 * 2 + 1)); do
      SLURM_PROCID=$rank SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=7 SLURM_STEP_ID=0 \\
        SLURM_STEP_NODELIST='node[0-1]' '${PROGRAM}' ${arguments} --log-dir two_nodes_by_gloo &
    done
    wait")
  run_on_two_nodes("\"$STEPTAPE_NODE_SHELL\" node1 sh '${WORK_DIR}/ranks_of_node.sh' 1 & sh ranks_of_node.sh 0; wait")
  expect_text("${OUTPUT}" "srun, 4 ranks on 2 nodes by gloo, store at node0:20049")
  list(APPEND runs two_nodes_by_gloo)
endif()

foreach(run IN LISTS runs)
  run_tool(export ${run} --format jsonl --tag configuration)
  expect_text("${OUTPUT}" "node0 \\(2 ranks\\), node1 \\(2 ranks\\)")
  expect_text("${OUTPUT}" "shared memory, 4 ranks on 2 nodes")
  foreach(tag IN ITEMS loss/train loss/train/max loss/test accuracy/test)
    read_scalars(one_node)
    get_value(expected ${tag})
    read_scalars(${run})
    get_value(got ${tag})
    expect_close(${got} ${expected} 1000)
  endforeach()
  expect_points(loss/train EQUAL ${steps})
endforeach()
