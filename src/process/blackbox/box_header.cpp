// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/box_header.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "steptape/base/clock.h"

#include "base/crc32c.h"
#include "base/got_expected.h"
#include "base/host_name.h"
#include "base/process_stat.h"
#include "base/whole_file.h"

namespace steptape::detail::process {
namespace {

constexpr std::size_t kCheckedBytes = offsetof(BoxHeader, crc);

template <std::size_t kSize>
void copyText(std::string_view text, std::array<char, kSize>* field) {
  field->fill('\0');
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), field->data());
}

std::string bootId() {
  std::string text;
  if (!base::readWholeFile("/proc/sys/kernel/random/boot_id", text).ok()) {
    return {};
  }
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

/// Returns when a process started, in clock ticks after the boot; 0 if there is no such process, or
/// if it has ended.
std::uint64_t startOf(const std::string& process) {
  const std::optional<base::ProcessStat> stat = base::readProcessStat(process);
  return stat && !stat->hasEnded() ? stat->start : 0;
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
  copyText(base::hostName(), &header.host);
  copyText(programPath(), &header.program);
  return header;
}

std::string encodeBoxHeader(BoxHeader header, std::string_view part) {
  copyText(part, &header.part);
  std::string bytes(BoxHeader::kBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.crc = base::crc32c(std::string_view(bytes).substr(0, kCheckedBytes)).value();
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

Status decodeBoxHeader(std::string_view bytes, std::string_view part, BoxHeader* header) {
  const auto damaged = [](const std::string& got, const std::string& expected) {
    return Status(ErrorCode::kDataLoss, "black box: " + base::gotExpected(got, expected));
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
  if (header->crc != base::crc32c(bytes.substr(0, kCheckedBytes)).value()) {
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

}  // namespace steptape::detail::process
