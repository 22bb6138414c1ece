# SPDX-License-Identifier: Apache-2.0
# Runs the script without internet: it finds data that exists, explains how to get missing data, and
# refuses damaged files of a mirror.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

# get_data(<status> <part of the output> [NAME=value ...] -- <argument>...)
function(get_data expected_status expected)
  execute_process(
    COMMAND env -u SLURM_JOB_ID -u PBS_JOBID -u COBALT_JOBID ${ARGN}
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${expected}" at)
  if(NOT status EQUAL expected_status OR at EQUAL -1)
    message(FATAL_ERROR "${ARGN}: got exit code ${status} and\n${output}\n"
                        "expected ${expected_status} and: ${expected}")
  endif()
endfunction()
set(script ${SOURCE_DIR}/tools/get_data.sh)

get_data(1 "data set: got 'faces'; expected fashion-mnist, mnist or cifar10; usage: " ${script} faces)
foreach(job IN ITEMS SLURM_JOB_ID=7 PBS_JOBID=7 COBALT_JOBID=7 STEPTAPE_OFFLINE=1)
  get_data(1 "MNIST: no files in digits, and jobs and STEPTAPE_OFFLINE=1 fetch nothing; on a machine with internet access run: tools/get_data.sh mnist digits"
    ${job} ${script} mnist digits)
  get_data(1 "run: tools/get_data.sh cifar10 pictures" ${job} ${script} cifar10 pictures)
endforeach()

string(REPLACE " " "%20" mirror "file://${WORK_DIR}/mirror")
file(WRITE ${WORK_DIR}/mirror/train-images-idx3-ubyte.gz "not what it should be")
get_data(1 "train-images-idx3-ubyte.gz: got MD5 sum "
  STEPTAPE_MNIST_URL=${mirror} ${script} mnist digits)
get_data(1 "error: could not fetch ${mirror}/cifar-10-binary.tar.gz"
  STEPTAPE_CIFAR10_URL=${mirror} ${script} cifar10 pictures)
file(GLOB left ${WORK_DIR}/digits/* ${WORK_DIR}/pictures/*)
if(left)
  message(FATAL_ERROR "files remain: ${left}")
endif()

# Existing files are used unchanged, plain or gzipped.
foreach(name IN ITEMS train-images-idx3-ubyte train-labels-idx1-ubyte.gz t10k-images-idx3-ubyte
                      t10k-labels-idx1-ubyte.gz)
  file(WRITE ${WORK_DIR}/digits/${name} "")
endforeach()
get_data(0 "digits" SLURM_JOB_ID=7 ${script} mnist digits)
file(WRITE ${WORK_DIR}/pictures/data_batch_5.bin "")
file(WRITE ${WORK_DIR}/pictures/test_batch.bin "")
get_data(0 "pictures" SLURM_JOB_ID=7 ${script} cifar10 pictures)
