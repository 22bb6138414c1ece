# SPDX-License-Identifier: Apache-2.0
# Runs the job scripts with fake scheduler programs, which record how they were called.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/bin)
set(jobs ${SOURCE_DIR}/examples/jobs)

file(GLOB scripts ${jobs}/*.sh)
list(LENGTH scripts count)
if(count LESS 9)
  message(FATAL_ERROR "found only ${scripts}")
endif()
find_program(shellcheck shellcheck)
file(READ ${jobs}/README.md readme)
foreach(script IN LISTS scripts)
  execute_process(COMMAND bash -n ${script} COMMAND_ERROR_IS_FATAL ANY)
  if(shellcheck)
    execute_process(COMMAND ${shellcheck} ${script} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  get_filename_component(name ${script} NAME)
  if(NOT readme MATCHES "`${name}`")
    message(FATAL_ERROR "README.md does not mention ${name}")
  endif()
endforeach()

# stand_in(<program> <line>...): creates a program that appends its arguments to calls.txt, and then
# runs the lines.
function(stand_in program)
  list(JOIN ARGN "\n" more)
  set(path ${WORK_DIR}/bin/${program})
  file(WRITE ${path} "#!/bin/sh\necho ${program} \"$@\" >>'${WORK_DIR}/calls.txt'\n${more}\n")
  file(CHMOD ${path} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# run_job(<exit code> <shell command>): runs it with the fake programs; sets CALLS and OUTPUT.
function(run_job expected command)
  file(REMOVE ${WORK_DIR}/calls.txt)
  file(WRITE ${WORK_DIR}/nodes "a\na\nb\nb\n")
  execute_process(
    COMMAND env -u OMP_NUM_THREADS -u OMPI_COMM_WORLD_LOCAL_RANK PATH=${WORK_DIR}/bin:$ENV{PATH} DATA=${WORK_DIR}/data RUN=run
      SLURM_JOB_ID=17 SLURM_CPUS_PER_TASK=8 COBALT_JOBSIZE=2
      PBS_JOBID=18.server PBS_O_WORKDIR=${WORK_DIR} PBS_NODEFILE=${WORK_DIR}/nodes
      bash -c "${command}"
    WORKING_DIRECTORY ${WORK_DIR}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL expected)
    message(FATAL_ERROR "${command}: got exit code ${status}, expected ${expected}\n${output}")
  endif()
  set(calls "")
  if(EXISTS ${WORK_DIR}/calls.txt)
    file(READ ${WORK_DIR}/calls.txt calls)
  endif()
  set(CALLS "${calls}" PARENT_SCOPE)
  set(OUTPUT "${output}" PARENT_SCOPE)
endfunction()

function(expect text expression)
  if(NOT "${text}" MATCHES "${expression}")
    message(FATAL_ERROR "expected '${expression}' in:\n${text}")
  endif()
endfunction()

foreach(program IN ITEMS srun scancel scontrol mpiexec qsub aprun)
  stand_in(${program})
endforeach()
stand_in(flux "[ \"$1\" != resource ] || echo 2")

# Without data the script starts no job, and says how to get the data.
foreach(script IN ITEMS slurm pbs flux cobalt)
  run_job(1 "bash '${jobs}/${script}.sh'")
  expect("${CALLS}" "^$")
  expect("${OUTPUT}" "on the login node run: tools/get_data.sh cifar10")
endforeach()
file(WRITE ${WORK_DIR}/data/test_batch.bin "")

run_job(0 "bash '${jobs}/slurm.sh' --epochs 10")
expect("${CALLS}" "^srun --cpu-bind=cores --cpus-per-task=8 build/release/bin/cifar10 --data [^\n]*/data --log-dir run --checkpoint-dir run/checkpoints --resume --epochs 10\n$")
run_job(0 "bash '${jobs}/slurm_gpu.sh' --model alexnet")
expect("${CALLS}" "^srun [^\n]* build/release/bin/imagenet_benchmark --log-dir run --image-size 224 --model alexnet\n$")
run_job(0 "SECONDS_TO_RUN=100 bash '${jobs}/pbs.sh'")
expect("${CALLS}" "^mpiexec -n 4 --map-by slot:PE=8 --bind-to core -x OMP_NUM_THREADS [^\n]* --resume --max-seconds 100\n$")
run_job(0 "SECONDS_TO_RUN=0 bash '${jobs}/pbs.sh'")
expect("${CALLS}" "\nqsub examples/jobs/pbs.sh\n$")
run_job(0 "bash '${jobs}/pbs_gpu.sh' --model alexnet")
expect("${CALLS}" "^mpiexec -n 4 --map-by slot:PE=8 --bind-to core -x OMP_NUM_THREADS build/release/bin/imagenet_benchmark --log-dir run --model alexnet\n$")
run_job(0 "bash '${jobs}/flux.sh' --epochs 10")
expect("${CALLS}" "\nflux run -N 2 -n 8 -c 8 -o cpu-affinity=per-task -o gpu-affinity=per-task build/release/bin/cifar10 [^\n]* --resume --max-seconds 3480 --epochs 10\n$")
run_job(0 "GPUS_PER_RANK=1 SECONDS_TO_RUN=0 bash '${jobs}/flux.sh'")
expect("${CALLS}" "\nflux run -N 2 -n 8 -c 8 -g 1 ")
expect("${CALLS}" "\nflux --parent batch examples/jobs/flux.sh\n$")
run_job(0 "bash '${jobs}/cobalt.sh'")
expect("${CALLS}" "^aprun -n 8 -N 4 -cc depth -d 16 -j 1 -e OMP_NUM_THREADS=16 -e KMP_AFFINITY=none -e KMP_BLOCKTIME=0 ")

# PALS starts the ranks of each node of PBS_NODEFILE, with the environment that the script sets.
stand_in(mpiexec "echo $OMP_NUM_THREADS $OMP_PLACES $OMP_PROC_BIND $MPICH_MAX_THREAD_SAFETY >>'${WORK_DIR}/calls.txt'")
run_job(0 "RUN= bash '${jobs}/pals.sh' --model resnet50")
expect("${CALLS}" "^mpiexec -n 8 --ppn 4 --depth 8 --cpu-bind depth examples/jobs/gpu_affinity.sh build/release/bin/imagenet_benchmark --log-dir runs/imagenet_18 --model resnet50\n8 cores close multiple\n$")
run_job(0 "RANKS_PER_NODE=8 CORES_PER_RANK=13 WRAPPER= bash '${jobs}/pals.sh'")
expect("${CALLS}" "^mpiexec -n 16 --ppn 8 --depth 13 --cpu-bind depth build/release/bin/imagenet_benchmark --log-dir run\n13 ")

# Each local rank gets its GPU, and the program its arguments.
stand_in(program "echo $CUDA_VISIBLE_DEVICES >>'${WORK_DIR}/calls.txt'")
run_job(0 "PALS_LOCAL_RANKID=1 bash '${jobs}/gpu_affinity.sh' program --a 'b c'")
expect("${CALLS}" "^program --a b c\n2\n$")
run_job(0 "PMI_LOCAL_RANK=5 GPUS='0 1 2' bash '${jobs}/gpu_affinity.sh' program")
expect("${CALLS}" "\n2\n$")
run_job(1 "bash '${jobs}/gpu_affinity.sh' program")
expect("${OUTPUT}" "got no PALS_LOCAL_RANKID")
expect("${CALLS}" "^$")

# At the time limit the script forwards the signal to the ranks; after they have ended it requeues the
# job.
stand_in(srun "touch started" "i=0"
  "while [ ! -e signaled ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done")
stand_in(scancel "touch signaled")
run_job(0 "bash '${jobs}/slurm.sh' & job=$!; while [ ! -e started ]; do sleep 0.1; done; kill -TERM $job; wait $job")
expect("${CALLS}" "\nscancel --signal=TERM 17\nscontrol requeue 17\n$")

# A job that fails is not requeued.
stand_in(srun "exit 3")
run_job(3 "bash '${jobs}/slurm.sh'")
expect("${CALLS}" "^srun [^\n]*\n$")

# scaling_study gets its launcher as one argument.
file(MAKE_DIRECTORY ${WORK_DIR}/programs)
stand_in(scaling_study)
file(RENAME ${WORK_DIR}/bin/scaling_study ${WORK_DIR}/programs/scaling_study)
run_job(0 "PROGRAMS=programs bash '${jobs}/slurm_scaling.sh'")
expect("${CALLS}" "^scaling_study --ranks 1,2,4,8,16 --threads 8 --log-dir run --launcher srun --exact [^\n]* -n {ranks}\n$")
