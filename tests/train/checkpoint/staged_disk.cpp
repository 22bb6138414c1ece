// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/staged_disk.h"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>

namespace steptape::test {
namespace {

enum class Fault { kNone, kFails, kKills, kHangs };

constexpr std::uint64_t kNever = ~std::uint64_t{0};

struct Stage {
  std::string operations;  ///< The checkpoint thread's while there is a checkpoint under way.
  Fault fault = Fault::kNone;
  std::uint64_t first = kNever;
  std::uint64_t last = kNever;
  int error = 0;
  std::mutex mutex;
  std::condition_variable released;
  bool isReleased = false;
};

Stage& stage() {
  static Stage* const kStage = new Stage;  // also for calls at the end of the process
  return *kStage;
}

void set(Fault fault, std::uint64_t first, std::uint64_t last, int error = 0) {
  Stage& now = stage();
  now.operations.clear();
  now.fault = fault;
  now.first = first;
  now.last = last;
  now.error = error;
  now.isReleased = false;
}

bool isCheckpointThread() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return std::string_view(name) == "steptape-ckpt";
}

void hang() {
  Stage& now = stage();
  std::unique_lock<std::mutex> lock(now.mutex);
  now.released.wait(lock, [&now] { return now.isReleased; });
}

/// Counts an operation. @return the fault that it meets.
Fault faultOf(char kind) {
  if (!isCheckpointThread()) {
    return Fault::kNone;
  }
  Stage& now = stage();
  const std::uint64_t operation = now.operations.size();
  now.operations += kind;
  return operation >= now.first && operation <= now.last ? now.fault : Fault::kNone;
}

/// Makes a call that is done or not. `half`: as far as it comes when it fails.
template <typename Result, typename Call, typename Half>
Result stagedCall(char kind, Result failed, const Call& call, const Half& half) {
  switch (faultOf(kind)) {
    case Fault::kFails:
      half();
      errno = stage().error;
      return failed;
    case Fault::kKills:
      half();
      std::raise(SIGKILL);
      break;
    case Fault::kHangs:
      hang();
      break;
    case Fault::kNone:
      break;
  }
  return call();
}

template <typename Result, typename Call>
Result stagedCall(char kind, Result failed, const Call& call) {
  return stagedCall(kind, failed, call, [] {});
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

std::string diskOperations() {
  return stage().operations;
}

void diskWorks() {
  set(Fault::kNone, kNever, kNever);
}

void diskFailsAt(std::uint64_t first, int error, bool forever) {
  set(Fault::kFails, first, forever ? kNever : first, error);
}

void diskKillsAt(std::uint64_t first) {
  set(Fault::kKills, first, first);
}

void diskHangsAt(std::uint64_t first) {
  set(Fault::kHangs, first, first);
}

void releaseDisk() {
  {
    const std::lock_guard<std::mutex> lock(stage().mutex);
    stage().isReleased = true;
  }
  stage().released.notify_all();
}

}  // namespace steptape::test

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): those of the C library

extern "C" {

int open(const char* path, int flags, ...) {
  static auto* const kReal = steptape::test::real<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return steptape::test::stagedCall('o', -1, [&] { return kReal(path, flags, mode); });
}

ssize_t write(int file, const void* data, std::size_t size) {
  static auto* const kReal = steptape::test::real<ssize_t(int, const void*, std::size_t)>("write");
  return steptape::test::stagedCall(
      'w', ssize_t{-1}, [&] { return kReal(file, data, size); },
      [&] { kReal(file, data, size / 2); });
}

int fsync(int file) {
  static auto* const kReal = steptape::test::real<int(int)>("fsync");
  return steptape::test::stagedCall('s', -1, [&] { return kReal(file); });
}

int fclose(std::FILE* file) {
  static auto* const kReal = steptape::test::real<int(std::FILE*)>("fclose");
  return steptape::test::stagedCall(
      'c', EOF, [&] { return kReal(file); }, [&] { kReal(file); });
}

int rename(const char* from, const char* to) {
  static auto* const kReal = steptape::test::real<int(const char*, const char*)>("rename");
  return steptape::test::stagedCall('r', -1, [&] { return kReal(from, to); });
}

int symlink(const char* target, const char* path) {
  static auto* const kReal = steptape::test::real<int(const char*, const char*)>("symlink");
  return steptape::test::stagedCall('l', -1, [&] { return kReal(target, path); });
}

int link(const char* from, const char* to) {
  static auto* const kReal = steptape::test::real<int(const char*, const char*)>("link");
  return steptape::test::stagedCall('l', -1, [&] { return kReal(from, to); });
}

int remove(const char* path) {
  static auto* const kReal = steptape::test::real<int(const char*)>("remove");
  return steptape::test::stagedCall('d', -1, [&] { return kReal(path); });
}

int unlink(const char* path) {
  static auto* const kReal = steptape::test::real<int(const char*)>("unlink");
  return steptape::test::stagedCall('d', -1, [&] { return kReal(path); });
}

}  // extern "C"

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
