# SPDX-License-Identifier: Apache-2.0
# One run in three jobs, stopped in the ways of a batch system: a warning signal to the launcher,
# which forwards it to all ranks; SIGTERM to one rank; a time limit.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

set(common --synthetic --batch-size 16 --epochs 10 --warm-up 1)
set(parts ${common} --log-dir parts --checkpoint-dir checkpoints --checkpoint-steps 2 --resume)

file(WRITE ${WORK_DIR}/rank.sh [[echo $$ > rank.$$.pid
exec "$@"
]])
# stop.sh <signal> <file with the pid> <command>...: sends the signal after a new checkpoint.
file(WRITE ${WORK_DIR}/stop.sh [[signal=$1
whom=$2
shift 2
rm -f *.pid
before=$(readlink checkpoints/checkpoint.pt)
"$@" > stopped.out 2> stopped.err &
job=$!
echo $job > launcher.pid
polls=0
while [ "$(readlink checkpoints/checkpoint.pt)" = "$before" ]; do
  polls=$((polls + 1))
  if [ $polls -gt 600 ] || ! kill -0 $job; then
    kill $job
    exit 99
  fi
  sleep 0.1
done
set -- $whom
kill -$signal $(cat $1)
wait $job
]])

# stop_at_signal(<signal> <its name> <file with the pid>): sets STEP to the step of the stop.
function(stop_at_signal signal name whom)
  execute_process(
    COMMAND sh stop.sh ${signal} ${whom} ${MPIEXEC} -n 2 sh rank.sh ${PROGRAM} ${parts}
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE status)
  file(READ ${WORK_DIR}/stopped.out output)
  file(READ ${WORK_DIR}/stopped.err errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit code ${status} after ${signal}, expected 0\n${output}\n${errors}")
  endif()
  expect_stop("${output}" ${name})
  set(STEP ${STEP} PARENT_SCOPE)
endfunction()

# expect_stop(<output> <reason>): sets STEP.
function(expect_stop output reason)
  set(file "checkpoints/checkpoint_([0-9]+).pt")
  if(NOT output MATCHES "stopped at step ([0-9]+) by ${reason}; checkpoint: ${file}")
    message(FATAL_ERROR "the output does not name the step:\n${output}")
  endif()
  if(NOT CMAKE_MATCH_1 EQUAL CMAKE_MATCH_2)
    message(FATAL_ERROR "stopped at step ${CMAKE_MATCH_1} with the checkpoint of ${CMAKE_MATCH_2}")
  endif()
  set(STEP ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

stop_at_signal(USR1 "User defined signal 1" launcher.pid)
set(first ${STEP})
stop_at_signal(TERM "Terminated" "rank.*.pid")
set(second ${STEP})
run_example(2 ${parts} --max-seconds 0.5)
expect_text("${OUTPUT}" "resumed from checkpoints/checkpoint_${second}.pt at step ${second}")
expect_stop("${OUTPUT}" "the time limit")
if(NOT first LESS second OR NOT second LESS STEP)
  message(FATAL_ERROR "stopped at the steps ${first}, ${second} and ${STEP}")
endif()

run_example(2 ${common} --max-steps ${STEP} --log-dir whole)
expect_same_points(whole parts ${STEP})
