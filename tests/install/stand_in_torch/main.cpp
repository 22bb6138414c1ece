// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include <torch/torch.h>

#if !defined(USE_DISTRIBUTED) || !defined(USE_RPC)
#error the definitions that LibTorch exports are missing
#endif

int main() {
#ifdef USE_C10D_NCCL
  const bool nccl = true;
#else
  const bool nccl = false;
#endif
  std::printf("C++%ld, ABI %d, %s%s\n", __cplusplus / 100 % 100, _GLIBCXX_USE_CXX11_ABI,
              torch::newestDevice(), nccl ? " with NCCL" : "");
}
