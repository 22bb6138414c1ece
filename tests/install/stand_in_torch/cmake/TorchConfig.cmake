# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR "CUDA build: got no CUDA toolkit; expected one")
