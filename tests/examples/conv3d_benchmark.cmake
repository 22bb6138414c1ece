# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/benchmarks.cmake)

# Convolutions of 4 -> 4 -> 8 channels with 8 weights per kernel; 8 x 8 x 8 voxels become 2 x 2 x 2.
set(small --image-size 8 --layers 2 --channels 4)
math(EXPR rest "(128 + 1) * 64 + (64 + 1) * 4")
math(EXPR parameters "(4 * 8 + 1) * 4 + (4 * 8 + 1) * 8 + (8 * 8 + 1) * 128 + ${rest}")
expect_benchmark(1 images cosmoflow ${parameters} ${small})
math(EXPR parameters "(4 * 27 + 1) * 4 + (4 * 27 + 1) * 8 + (8 * 8 + 1) * 128 + ${rest}")
expect_benchmark(2 images cosmoflow ${parameters} ${small} --kernel-size 3)
expect_print(2 images ${small})
expect_operator(printed aten::conv3d)

run_ranks(2 --image-size 31)
expect_failure(2 "conv3d_benchmark: --image-size: got 31; expected at least 2 to the power of --layers, 5, which halve it; see --help")
