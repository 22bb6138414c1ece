# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/examples.cmake)

set(short --batch-size 2 --warmup 1 --iterations 2 --steps 1 --json)

# The numbers of parameters are those of torchvision 0.28.
function(expect_benchmark ranks model parameters)
  run_example(${ranks} --model ${model} --log-dir ${model}_${ranks} ${short} ${ARGN})
  string(STRIP "${OUTPUT}" JSON)
  expect_json(model STREQUAL ${model})
  expect_json(ranks EQUAL ${ranks})
  expect_json(parameters EQUAL ${parameters})
  expect_json(images_per_second GREATER 0)
  expect_json(images_per_second_std GREATER_EQUAL 0)
  read_scalars(${model}_${ranks})
  foreach(tag IN ITEMS images_per_second images_per_second_per_rank/min loss
                       straggler/input/mean_ms straggler/wait/mean_ms)
    expect_points(${tag} EQUAL 2)
  endforeach()
  expect_tag(${model}_${ranks} configuration text)
endfunction()

expect_benchmark(1 resnet50 25557032 --image-size 32)
expect_benchmark(2 resnet50 25557032 --image-size 32 --fp16-allreduce)
expect_benchmark(2 alexnet 61100840 --image-size 64)

if(HAVE_IMAGES)
  file(COPY ${IMAGES}/halves.jpg ${IMAGES}/halves.png DESTINATION ${WORK_DIR}/images/halves)
  file(COPY ${IMAGES}/gray.jpg ${IMAGES}/cmyk.jpg ${IMAGES}/plain.jpg DESTINATION ${WORK_DIR}/images/others)
  run_example(2 --data images --image-size 32 --log-dir folder ${short})
  read_scalars(folder)
  expect_value(straggler/input/mean_ms GREATER 0)

  foreach(name IN ITEMS 1 2 3 4)
    file(WRITE ${WORK_DIR}/broken/class/${name}.jpg "no image")
  endforeach()
  run_ranks(2 --data broken --image-size 32 --log-dir broken_run ${short})
  if(STATUS EQUAL 0)
    message(FATAL_ERROR "a broken image was accepted")
  endif()
  expect_text("${ERRORS}" "in epoch 0: image \"broken/class/")

  run_ranks(2 --data broken --batch-size 3 --log-dir none)
  expect_failure(1 "--data: got 4 images; expected a whole batch for each rank")
  run_ranks(2 --data no/such/folder --log-dir none ${short})
  expect_failure(1 "no/such/folder")
endif()

run_ranks(2 --model vgg)
expect_failure(2 "imagenet_benchmark: --model: got 'vgg'; expected alexnet or resnet50; see --help")
