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

# A folder of images; needs the decoders.
file(COPY ${CMAKE_CURRENT_LIST_DIR}/images/halves.jpg ${CMAKE_CURRENT_LIST_DIR}/images/halves.png
  DESTINATION ${WORK_DIR}/images/halves)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/images/gray.jpg ${CMAKE_CURRENT_LIST_DIR}/images/cmyk.jpg
  ${CMAKE_CURRENT_LIST_DIR}/images/plain.jpg DESTINATION ${WORK_DIR}/images/others)
run_example(2 --data images --image-size 32 --log-dir folder ${short})
read_scalars(folder)
expect_value(straggler/input/mean_ms GREATER 0)

file(WRITE ${WORK_DIR}/broken/class/image.jpg "no image")
run_ranks(2 --data broken --image-size 32 --log-dir broken_run ${short})
if(STATUS EQUAL 0)
  message(FATAL_ERROR "a broken image was accepted")
endif()
expect_text("${ERRORS}" "cannot read the image broken/class/image.jpg: ")

run_ranks(2 --model vgg)
expect_failure(2 "imagenet_benchmark: --model: got 'vgg'; expected alexnet or resnet50; see --help")
run_ranks(2 --data no/such/folder --log-dir none ${short})
expect_failure(1 "no/such/folder")
