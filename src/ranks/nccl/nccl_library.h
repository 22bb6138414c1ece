// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/dtype.h"
#include "steptape/base/export.h"

namespace steptape::detail::ranks {

/// NCCL's functions and types as of version 2.10, which later versions keep. RCCL has the same.
///
/// @source nccl.h of NCCL 2.21.5.
struct STEPTAPE_EXPORT NcclLibrary {
  using Comm = void*;
  using Stream = void*;  ///< cudaStream_t or hipStream_t.
  struct UniqueId {
    std::array<char, 128> bytes;
  };

  static constexpr int kSuccess = 0;
  static constexpr int kInProgress = 7;
  static constexpr int kSum = 0;
  static constexpr int kMinVersion = 21000;  ///< The first with bfloat16.

  int (*getVersion)(int* version);
  const char* (*getErrorString)(int result);
  int (*getUniqueId)(UniqueId* id);
  int (*commInitRank)(Comm* comm, int ranks, UniqueId id, int rank);
  int (*commDestroy)(Comm comm);
  int (*commAbort)(Comm comm);
  int (*commGetAsyncError)(Comm comm, int* result);
  int (*allReduce)(const void* from, void* to, std::size_t count, int type, int op, Comm comm,
                   Stream stream);

  // Of the runtime of CUDA or HIP; null if it is not there.
  int (*getDevice)(int* device);
  int (*getPciBusId)(char* id, int length, int device);
  int (*createStream)(Stream* stream, unsigned flags, int priority);

  /// Loads a library. It stays loaded.
  ///
  /// @param name As for dlopen(3), such as "libnccl.so.2".
  /// @param why  Receives the reason if the result is null.
  static std::shared_ptr<const NcclLibrary> load(const std::string& name, std::string& why);

  /// Returns whether a call with this result did not succeed and is not in progress either.
  static bool failed(int result) { return result != kSuccess && result != kInProgress; }
  /// Returns the reason for a message: NCCL reports "remote process exited".
  std::string reportOf(int result) const;

  /// Returns which GPU is the thread's current one, as an address on the node's bus:
  /// "0000:3b:00.0". Empty if this is unknown.
  std::string currentGpu() const;
  /// Returns a stream of the thread's current GPU, of high priority, which does not wait for the
  /// default stream. There is one for each GPU, and it lives as long as the process: LibTorch's
  /// allocator may record events on it after its last use.
  ///
  /// @return null if the runtime is not there or refuses.
  /// @threads Any thread.
  Stream streamOfCurrentGpu() const;
};

/// Returns NCCL's number of an element type that it can sum.
STEPTAPE_EXPORT std::optional<int> ncclType(DType type);

}  // namespace steptape::detail::ranks
