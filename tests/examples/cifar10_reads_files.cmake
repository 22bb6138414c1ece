# SPDX-License-Identifier: Apache-2.0
# Files of CIFAR-10's size: 10,000 records of a label and 3072 bytes. All bytes are 0.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

foreach(name IN ITEMS data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch)
  execute_process(COMMAND truncate -s 30730000 ${WORK_DIR}/${name}.bin COMMAND_ERROR_IS_FATAL ANY)
endforeach()
run_example(2 --data ${WORK_DIR} --batch-size 16 --max-steps 3 --log-dir run)
read_scalars(run)
expect_points(loss/train EQUAL 3)
expect_points(accuracy/test EQUAL 1)
