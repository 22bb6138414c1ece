# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/benchmarks.cmake)

# An LSTM layer has 4 gates, each with weights for the inputs and for the hidden units and two biases.
set(small --input-size 32 --hidden-size 64 --time-steps 5)
math(EXPR one_layer "4 * 64 * (32 + 64 + 2) + 10 * (64 + 1)")
math(EXPR two_layers "${one_layer} + 4 * 64 * (64 + 64 + 2)")
expect_benchmark(1 sequences lstm ${one_layer} ${small})
expect_benchmark(2 sequences lstm ${two_layers} ${small} --layers 2 --fp16-allreduce)
expect_print(2 sequences ${small})
expect_operator(printed aten::lstm)
expect_tag(printed profile/operators_by_rank text)

run_example(1 --log-dir unprofiled --iterations 1 --steps 1 --profile-steps 0 ${small})
if(OUTPUT MATCHES "operators")
  message(FATAL_ERROR "expected no table in:\n${OUTPUT}")
endif()

run_ranks(2 --layers 0)
expect_failure(2 "lstm_benchmark: --layers: got '0'; expected a whole number of at least 1; see --help")
