# SPDX-License-Identifier: Apache-2.0
# cmake -DVENV=... -DSCRIPT=... -DARGUMENTS=... -P RunPython.cmake
# Runs a script with the Python that tools/setup.sh named, else with the project's own.
set(python $ENV{STEPTAPE_PYTHON})
if(NOT python)
  set(python ${VENV}/bin/python3)
endif()
if(EXISTS ${python})
  execute_process(COMMAND ${python} -c "import tensorboard" RESULT_VARIABLE result ERROR_QUIET)
endif()
if(NOT EXISTS ${python} OR NOT result EQUAL 0)
  message(FATAL_ERROR "${python} has no TensorBoard, which this test asks. Install it: tools/setup.sh --tests")
endif()
execute_process(COMMAND ${python} -B ${SCRIPT} ${ARGUMENTS} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SCRIPT} failed: ${result}")
endif()
