# SPDX-License-Identifier: Apache-2.0
set_target_properties(torch_cpu PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_RPC"
)
set_target_properties(torch_cuda PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_C10D_NCCL"
)
