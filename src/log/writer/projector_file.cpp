// SPDX-License-Identifier: Apache-2.0
#include "log/writer/projector_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "log/writer/file_system.h"

namespace steptape::detail::log {

ProjectorFile::ProjectorFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {}

ProjectorFile::~ProjectorFile() {
  close();
  if (isThere_) {
    FileSystem::current().remove(part_);
  }
}

Status ProjectorFile::append(std::string_view bytes) {
  if (descriptor_ < 0) {
    Status opened = open();
    if (!opened.ok()) {
      return opened;
    }
  }
  while (!bytes.empty()) {
    std::size_t written = 0;
    int error = FileSystem::current().write(descriptor_, bytes, &written);
    if (error == 0 && written == 0) {
      error = EIO;  // never loop on a device that accepts nothing and reports no error
    }
    if (error != 0) {
      return systemError("cannot write to", error);
    }
    bytes.remove_prefix(written);
  }
  return {};
}

Status ProjectorFile::commit() {
  close();
  if (const int error = FileSystem::current().rename(part_, path_)) {
    return systemError("cannot rename", error);
  }
  isThere_ = false;
  return {};
}

Status ProjectorFile::open() {
  FileSystem& files = FileSystem::current();
  int error = files.createExclusive(part_, &descriptor_);
  if (error == EEXIST) {
    // A file left by a killed process.
    files.remove(part_);
    error = files.createExclusive(part_, &descriptor_);
  }
  if (error != 0) {
    descriptor_ = -1;
    return systemError("cannot create", error);
  }
  isThere_ = true;
  return {};
}

Status ProjectorFile::systemError(const char* what, int error) const {
  return {ErrorCode::kIoError,
          std::string(what) + " " + part_ + ": " + std::generic_category().message(error)};
}

void ProjectorFile::close() {
  if (descriptor_ >= 0) {
    FileSystem::current().close(std::exchange(descriptor_, -1));
  }
}

}  // namespace steptape::detail::log
