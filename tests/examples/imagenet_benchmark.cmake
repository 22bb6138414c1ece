# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/benchmarks.cmake)

set(short --batch-size 2 --warmup 1 --iterations 1 --steps 1 --profile-steps 0 --json)

# The numbers of parameters are those of torchvision 0.28.
expect_benchmark(1 images resnet50 25557032 --image-size 32)
expect_benchmark(2 images resnet50 25557032 --image-size 32 --fp16-allreduce --warmup 0)
expect_benchmark(2 images alexnet 61100840 --image-size 64 --model alexnet --warmup 0)
expect_operator(alexnet_2 aten::conv2d)

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
