// SPDX-License-Identifier: Apache-2.0
#include "ranks/nccl/nccl_library.h"

#include <dlfcn.h>
#include <map>

#include "base/mutex.h"

namespace steptape::detail::ranks {
namespace {

template <typename Function>
bool get(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

/// The runtime of CUDA or HIP is not NCCL's, which links its own statically, but the program's.
///
/// @param name Without "cuda" or "hip".
template <typename Function>
void getOfRuntime(void* library, const std::string& name, Function* function) {
  for (void* const place : {RTLD_DEFAULT, library}) {
    if (get(place, ("cuda" + name).c_str(), function) ||
        get(place, ("hip" + name).c_str(), function)) {
      return;
    }
  }
}

}  // namespace

std::shared_ptr<const NcclLibrary> NcclLibrary::load(const std::string& name, std::string& why) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = std::string("NCCL cannot be loaded: ") + dlerror();
    return nullptr;
  }
  auto library = std::make_shared<NcclLibrary>();
  if (!get(handle, "ncclGetVersion", &library->getVersion) ||
      !get(handle, "ncclGetErrorString", &library->getErrorString) ||
      !get(handle, "ncclGetUniqueId", &library->getUniqueId) ||
      !get(handle, "ncclCommInitRank", &library->commInitRank) ||
      !get(handle, "ncclCommDestroy", &library->commDestroy) ||
      !get(handle, "ncclCommAbort", &library->commAbort) ||
      !get(handle, "ncclCommGetAsyncError", &library->commGetAsyncError) ||
      !get(handle, "ncclAllReduce", &library->allReduce)) {
    why = name + " is not NCCL: " + dlerror();
    return nullptr;
  }
  getOfRuntime(handle, "GetDevice", &library->getDevice);
  getOfRuntime(handle, "DeviceGetPCIBusId", &library->getPciBusId);
  getOfRuntime(handle, "StreamCreateWithPriority", &library->createStream);
  int version = 0;
  if (library->getVersion(&version) != kSuccess || version < kMinVersion) {
    why = "got NCCL version " + std::to_string(version) + "; expected at least " +
          std::to_string(kMinVersion);
    return nullptr;
  }
  return library;
}

std::string NcclLibrary::reportOf(int result) const {
  return std::string("NCCL reports \"") + getErrorString(result) + "\"";
}

std::string NcclLibrary::currentGpu() const {
  int device = 0;
  std::array<char, 64> id{};
  const bool isKnown = getDevice != nullptr && getPciBusId != nullptr && getDevice(&device) == 0 &&
                       getPciBusId(id.data(), static_cast<int>(id.size()), device) == 0;
  return isKnown ? id.data() : "";
}

NcclLibrary::Stream NcclLibrary::streamOfCurrentGpu() const {
  constexpr unsigned kNonBlocking = 1;
  constexpr int kHighPriority = -1;
  static auto& mutex = *new base::Mutex;
  static auto& streams = *new std::map<int, Stream>;
  int device = 0;
  if (getDevice == nullptr || createStream == nullptr || getDevice(&device) != 0) {
    return nullptr;
  }
  const base::MutexLock lock(mutex);
  Stream& stream = streams[device];
  if (stream == nullptr && createStream(&stream, kNonBlocking, kHighPriority) != 0) {
    stream = nullptr;
  }
  return stream;
}

std::optional<int> ncclType(DType type) {
  switch (type) {
    case DType::kInt8:
      return 0;
    case DType::kUInt8:
      return 1;
    case DType::kInt32:
      return 2;
    case DType::kUInt32:
      return 3;
    case DType::kInt64:
      return 4;
    case DType::kUInt64:
      return 5;
    case DType::kFloat16:
      return 6;
    case DType::kFloat32:
      return 7;
    case DType::kFloat64:
      return 8;
    case DType::kBFloat16:
      return 9;
    default:
      return std::nullopt;
  }
}

}  // namespace steptape::detail::ranks
