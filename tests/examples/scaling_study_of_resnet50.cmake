# SPDX-License-Identifier: Apache-2.0
# Without a program the study runs the benchmark in its own directory.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

execute_process(
  COMMAND ${PROGRAM} --launcher "${MPIEXEC} -n {ranks}" --ranks 1,2 --work 2 --json --log-dir study
  WORKING_DIRECTORY ${WORK_DIR}
  RESULT_VARIABLE status OUTPUT_VARIABLE JSON ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit code ${status}\n${JSON}\n${errors}")
endif()
foreach(i IN ITEMS 0 1)
  string(JSON wait GET "${JSON}" ${i} wait_share)
  string(JSON compute GET "${JSON}" ${i} compute_share)
  if(NOT compute GREATER 0 OR NOT wait GREATER_EQUAL 0)
    message(FATAL_ERROR "expected shares of the time in ${JSON}")
  endif()
endforeach()
