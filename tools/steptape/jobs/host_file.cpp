// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/host_file.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <unistd.h>

#include "steptape/base/status.h"

namespace steptape::tools {

HostFile::HostFile(const std::string& content) {
  if (content.empty()) {
    return;
  }
  const char* const folder = std::getenv("TMPDIR");
  path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/steptape_hosts_XXXXXX";
  const int file = ::mkstemp(path_.data());
  const bool isWritten = file >= 0 && ::write(file, content.data(), content.size()) ==
                                          static_cast<ssize_t>(content.size());
  const std::string reason = std::generic_category().message(errno);
  if (file >= 0) {
    ::close(file);
  }
  if (!isWritten) {
    throw Error(ErrorCode::kIoError, "cannot write the host file " + path_ + ": " + reason);
  }
}

HostFile::~HostFile() {
  if (!path_.empty()) {
    ::unlink(path_.c_str());
  }
}

}  // namespace steptape::tools
