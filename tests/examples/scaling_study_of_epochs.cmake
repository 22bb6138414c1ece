# SPDX-License-Identifier: Apache-2.0
# Studies the time of an epoch of fashion_mnist.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

execute_process(
  COMMAND ${PROGRAM} --launcher "${MPIEXEC} -n {ranks}" --ranks 1,2 --epochs 1 --log-dir study
    -- ${TRAINER} --model mlp --batch-size 500 --evaluate-steps 0 --epochs {epochs} --detail-scalars
    --progress none --log-dir {log_dir}
  WORKING_DIRECTORY ${WORK_DIR}
  RESULT_VARIABLE status OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit code ${status}\n${OUTPUT}\n${errors}")
endif()
expect_text("${OUTPUT}" "^Time of 1 epoch, threads per rank: 1\n")
expect_text("${OUTPUT}" "\nranks   epochs   seconds   speed-up   efficiency ")
expect_text("${OUTPUT}" "\n +1 +1 +[0-9.]+ +1.00 +100.0 % ")
expect_text("${OUTPUT}" "\n +2 +1 +[0-9.]+ +[0-9.]+ +[0-9.]+ % ")
expect_tag(study scaling/table text)
read_scalars(study/ranks_2/round_1)
get_value(expected epoch_seconds)
read_scalars(study)
get_value(got scaling/seconds_of_epochs)
expect_close(${got} ${expected} 1)
