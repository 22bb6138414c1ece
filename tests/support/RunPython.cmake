# SPDX-License-Identifier: Apache-2.0
# cmake -DVENV=... -DSCRIPT=... -DARGUMENTS=... [-DMODULES=...] [-DPACKAGES=...] -P RunPython.cmake
# Runs a script with the Python that tools/setup.sh named, else with the project's own. MODULES are
# what it needs beside TensorBoard. PACKAGES is a folder of packages that precede those of Python.
set(python $ENV{STEPTAPE_PYTHON})
if(NOT python)
  set(python ${VENV}/bin/python3)
endif()
if(NOT EXISTS ${python})
  message(FATAL_ERROR "${python}: not found; this test needs it to run TensorBoard. Install it: tools/setup.sh --tests")
endif()
if(PACKAGES)
  if(NOT EXISTS ${PACKAGES})
    message(FATAL_ERROR "${PACKAGES}: not found; this test needs it. Install it: tools/setup.sh --tests")
  endif()
  set(path ${PACKAGES} $ENV{PYTHONPATH})
  list(JOIN path ":" path)
  set(ENV{PYTHONPATH} ${path})
endif()
# They are not imported, which takes seconds for some.
execute_process(
  COMMAND ${python} -c "import importlib.util, sys
print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])" tensorboard ${MODULES}
  OUTPUT_VARIABLE missing OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(missing)
  message(FATAL_ERROR "${python}: got no module ${missing}; this test needs it. Install it: tools/setup.sh --tests")
endif()
# In a Turkish locale the C code of Python's protobuf makes "metricinfos" of "metric_infos", and the
# HPARAMS page stays empty, for files of any writer.
set(ENV{LC_ALL} C.UTF-8)
execute_process(COMMAND ${python} -B ${SCRIPT} ${ARGUMENTS} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SCRIPT} failed: ${result}")
endif()
