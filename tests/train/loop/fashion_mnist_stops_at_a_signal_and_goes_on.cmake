# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/../../run_ranks.cmake)

set(common --model mlp --epochs 1000 --evaluate-steps 0 --no-log)  # Out of reach: the signal ends the job.

# SIGTERM to one of the ranks, once the first checkpoint shows that training has begun.
file(WRITE ${WORK_DIR}/rank.sh [[echo $$ > pid.$$
exec "$@"
]])
file(WRITE ${WORK_DIR}/stop.sh [[
"$@" > stopped.out 2> stopped.err &
job=$!
polls=0
until [ -e checkpoints/checkpoint.pt ]; do
  polls=$((polls + 1))
  if [ $polls -gt 600 ]; then
    kill $job
    exit 99
  fi
  sleep 0.1
done
set -- pid.*
kill -TERM "${1#pid.}"
wait $job
]])
execute_process(
  COMMAND sh stop.sh ${MPIEXEC} -n 2 sh rank.sh ${PROGRAM} --json ${common}
    --checkpoint-dir checkpoints --checkpoint-steps 100
  WORKING_DIRECTORY ${WORK_DIR}
  RESULT_VARIABLE STATUS)
file(READ ${WORK_DIR}/stopped.out OUTPUT)
file(READ ${WORK_DIR}/stopped.err ERRORS)
if(NOT STATUS EQUAL 0)
  message(FATAL_ERROR "exit code ${STATUS} after SIGTERM, wanted 0\n${OUTPUT}\n${ERRORS}")
endif()
if(NOT OUTPUT MATCHES "stopped at step ([0-9]+) by Terminated; checkpoint: checkpoints/checkpoint_([0-9]+).pt")
  message(FATAL_ERROR "did not say where it stopped:\n${OUTPUT}\n${ERRORS}")
endif()
set(step ${CMAKE_MATCH_1})
if(NOT step EQUAL CMAKE_MATCH_2)
  message(FATAL_ERROR "stopped at step ${step} with the checkpoint of step ${CMAKE_MATCH_2}")
endif()

math(EXPR last "${step} + 480")  # In the next epoch, which has 469 steps.
train(2 ${common} --max-steps ${last} --checkpoint-dir checkpoints --resume)
if(NOT OUTPUT MATCHES "resumed from checkpoints/checkpoint_${step}.pt at step ${step}")
  message(FATAL_ERROR "did not resume at step ${step}:\n${OUTPUT}")
endif()
# As if it had not stopped: momentum and the order of the images went on.
set(resumed "${JSON}")
train(2 ${common} --max-steps ${last})
expect_json(step EQUAL ${last})
foreach(key IN ITEMS step parameters test_loss)
  string(JSON wanted GET "${resumed}" ${key})
  expect_json(${key} STREQUAL ${wanted})
endforeach()
