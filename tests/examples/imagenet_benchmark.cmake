# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/benchmarks.cmake)

set(short --batch-size 2 --warmup 1 --iterations 1 --steps 1 --profile-steps 0 --json)

# The numbers of parameters are those of torchvision 0.28.
expect_benchmark(1 images resnet50 25557032 --image-size 32)
expect_benchmark(2 images resnet50 25557032 --image-size 32 --fp16-allreduce --warmup 0)
expect_benchmark(2 images alexnet 61100840 --image-size 64 --model alexnet --warmup 0)
expect_operator(alexnet_2 aten::conv2d)

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
