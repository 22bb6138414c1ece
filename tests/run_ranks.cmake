# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of example programs. They get PROGRAM, MPIEXEC and WORK_DIR, and run one thread
# per rank so that ranks do not fight over the cores.

set(ENV{OMP_NUM_THREADS} 1)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

# run_ranks(<ranks> <argument>...): sets STATUS, OUTPUT and ERRORS.
function(run_ranks ranks)
  execute_process(
    COMMAND ${MPIEXEC} -n ${ranks} ${PROGRAM} ${ARGN}
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE STATUS OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE ERRORS)
  foreach(name IN ITEMS STATUS OUTPUT ERRORS)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# train(<ranks> <argument>...): as run_ranks(), must succeed; sets JSON to the last line.
function(train ranks)
  run_ranks(${ranks} --json ${ARGN})
  if(NOT STATUS EQUAL 0)
    message(FATAL_ERROR "exit code ${STATUS} on ${ranks} ranks\n${OUTPUT}\n${ERRORS}")
  endif()
  string(STRIP "${OUTPUT}" text)
  string(REGEX MATCH "[^\r\n]*$" line "${text}")
  set(JSON "${line}" PARENT_SCOPE)
  set(OUTPUT "${OUTPUT}" PARENT_SCOPE)
endfunction()

# expect_json(<key> <operator of if()> <value>)
function(expect_json key operator value)
  string(JSON got GET "${JSON}" ${key})
  if(NOT "${got}" ${operator} "${value}")
    message(FATAL_ERROR "${key}: got ${got}, wanted ${operator} ${value} in ${JSON}")
  endif()
endfunction()

# expect_failure(<exit code> <message>): of the latest run_ranks(); the message appears once, not once
# per rank.
function(expect_failure status message)
  if(NOT STATUS EQUAL ${status})
    message(FATAL_ERROR "exit code: got ${STATUS}, wanted ${status}\n${ERRORS}")
  endif()
  string(FIND "${ERRORS}" "${message}" first)
  string(FIND "${ERRORS}" "${message}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "wanted this message once: ${message}\ngot: ${ERRORS}")
  endif()
endfunction()
