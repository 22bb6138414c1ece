# SPDX-License-Identifier: Apache-2.0
# `steptape run` starts a job again after one of its ranks was killed. The run has the same steps, to
# the last digit, as one that nobody disturbed.
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

set(common --synthetic --batch-size 16 --epochs 10 --warm-up 1 --max-steps 12)

# At the first start, rank 1 dies once there is a checkpoint. `exec` keeps the process id.
file(WRITE ${WORK_DIR}/rank.sh [[if [ "$STEPTAPE_RESTART_COUNT" = 0 ] && [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then
  rank=$$
  (while [ ! -e killed/checkpoints/checkpoint.pt ]; do sleep 0.01; done; kill -9 $rank) &
fi
exec "$@"
]])
execute_process(
  COMMAND ${STEPTAPE} run -n 2 --launcher ${MPIEXEC} --pause 1ms --logdir killed --
    sh rank.sh ${PROGRAM} ${common} --log-dir killed --checkpoint-dir killed/checkpoints --checkpoint-steps 2 --resume
  WORKING_DIRECTORY ${WORK_DIR}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit code ${status}, expected 0\n${output}\n${errors}")
endif()
expect_text("${errors}" "a rank was killed by SIGKILL\n")
expect_text("${errors}" "\nRank 1 on [^ ]+ ended without a trace")
expect_text("${errors}" "\n  killed: newest checkpoint at step [0-9]+\n  starting it again")
expect_text("${errors}" "steptape run: the job is done after 1 restart\n")
expect_text("${output}" "resumed from killed/checkpoints/checkpoint_[0-9]+.pt")

run_example(2 ${common} --log-dir whole)
expect_same_points(whole killed 12)
