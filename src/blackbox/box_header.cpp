// SPDX-License-Identifier: Apache-2.0
#include "blackbox/box_header.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "steptape/base/clock.h"

#include "base/crc32c.h"
#include "base/got_expected.h"
#include "base/host_name.h"
#include "base/whole_file.h"

namespace steptape::detail {
namespace {

constexpr std::size_t kCheckedBytes = offsetof(BoxHeader, crc);

template <std::size_t kSize>
void copyText(std::string_view text, std::array<char, kSize>* field) {
  field->fill('\0');
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), field->data());
}

/// Returns a small file of /proc; empty if it cannot be read.
std::string procFile(const std::string& path) {
  std::string text;
  return readWholeFile(path, text).ok() ? text : std::string();
}

std::string bootId() {
  std::string text = procFile("/proc/sys/kernel/random/boot_id");
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

/// Returns when a process started, in clock ticks after the boot; 0 if there is no such process, or
/// if it has ended and its parent has not yet asked for its exit code.
/// @source proc_pid_stat(5), fields 3 and 22
std::uint64_t startOf(const std::string& pid) {
  const std::string stat = procFile("/proc/" + pid + "/stat");
  // The name in field 2 may contain spaces and parentheses.
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos) {
    return 0;
  }
  constexpr std::size_t kToState = 2;
  if (at + kToState >= stat.size() || stat[at + kToState] == 'Z' || stat[at + kToState] == 'X') {
    return 0;
  }
  constexpr int kFieldsBetween = 20;  // from before field 3 to before field 22
  for (int field = 0; field < kFieldsBetween; ++field) {
    at = stat.find(' ', at + 1);
    if (at == std::string::npos) {
      return 0;
    }
  }
  return std::strtoull(stat.c_str() + at, nullptr, 10);
}

/// Returns what tells the namespace of process numbers apart from others; 0 if it is unknown.
std::uint64_t pidNamespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::string programPath() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

BoxHeader headerOfThisProcess() {
  BoxHeader header;
  header.user = ::getuid();
  header.pid = static_cast<std::uint64_t>(::getpid());
  header.pidNamespace = pidNamespace();
  header.processStart = startOf("self");
  header.created = Clock::system().wallSeconds();
  copyText(bootId(), &header.boot);
  copyText(hostName(), &header.host);
  copyText(programPath(), &header.program);
  return header;
}

std::string encodeBoxHeader(BoxHeader header, std::string_view part) {
  copyText(part, &header.part);
  std::string bytes(BoxHeader::kBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.crc = crc32c(std::string_view(bytes).substr(0, kCheckedBytes)).value();
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

Status decodeBoxHeader(std::string_view bytes, std::string_view part, BoxHeader* header) {
  const auto damaged = [](const std::string& got, const std::string& expected) {
    return Status(ErrorCode::kDataLoss, "black box: " + gotExpected(got, expected));
  };
  if (bytes.size() < BoxHeader::kBytes) {
    return damaged(std::to_string(bytes.size()) + " bytes",
                   "a header of " + std::to_string(BoxHeader::kBytes));
  }
  std::memcpy(header, bytes.data(), sizeof(*header));
  if (header->magic != BoxHeader::kMagic) {
    return damaged("other first bytes", "\"stepbox\"");
  }
  if (header->byteOrder != BoxHeader::kByteOrder) {
    return damaged("the byte order of another kind of machine", "that of this one");
  }
  if (header->version != BoxHeader::kVersion) {
    return damaged("version " + std::to_string(header->version),
                   "version " + std::to_string(BoxHeader::kVersion) +
                       "; read it with the release of Steptape that wrote it");
  }
  if (header->crc != crc32c(bytes.substr(0, kCheckedBytes)).value()) {
    return damaged("a wrong checksum of the header", "an undamaged file");
  }
  if (BoxHeader::textOf(header->part) != part) {
    return damaged("the part \"" + BoxHeader::textOf(header->part) + "\"",
                   "\"" + std::string(part) + "\"");
  }
  return {};
}

bool isOfThisBoot(const BoxHeader& header) {
  return BoxHeader::textOf(header.boot) == bootId();
}

bool isKnownToLive(const BoxHeader& header) {
  const std::uint64_t ours = pidNamespace();
  if (ours == 0 || header.pidNamespace != ours || !isOfThisBoot(header)) {
    return false;
  }
  return header.processStart != 0 && startOf(std::to_string(header.pid)) == header.processStart;
}

}  // namespace steptape::detail
