# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR "a CUDA build's package wants a CUDA toolkit")
