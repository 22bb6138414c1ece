// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/file_watch.h"

#include <chrono>
#include <system_error>
#include <utility>

namespace steptape::detail::profile {
namespace {

constexpr std::chrono::milliseconds kFileLookEvery(250);

}  // namespace

FileWatch::FileWatch(std::string path)
    : path_(std::move(path)), thread_({"steptape-file", 0, base::LoopThread::kUnlimited}, [this] {
        look();
        return std::chrono::steady_clock::now() + kFileLookEvery;
      }) {}

void FileWatch::look() {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path_, error);
  if (!error) {
    modification_.store(time.time_since_epoch().count(), std::memory_order_relaxed);
  } else if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    modification_.store(kAbsent, std::memory_order_relaxed);
  }
  // Any other error, such as an unreachable server, does not mean that the file is gone.
}

}  // namespace steptape::detail::profile
