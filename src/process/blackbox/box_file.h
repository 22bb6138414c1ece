// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "base/file_descriptor.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail::process {

/// A file of this process's black box: it is appended to, or parts of it are mapped.
///
/// @threads As a file descriptor: append() from one thread at a time.
class STEPTAPE_EXPORT BoxFile {
 public:
  /// Creates the file `part` of a box, with its header.
  ///
  /// Only this user can read it. An existing file is never opened, and no link is followed.
  ///
  /// @param suffix The end of its name if that is not `part`: a file that will replace another one.
  /// @return null if the operating system refuses, with the reason in `*why`.
  static std::unique_ptr<BoxFile> create(const BoxName& box, const std::string& part,
                                         const BoxHeader& header, Status* why,
                                         const std::string& suffix = {});
  ~BoxFile();
  BoxFile(const BoxFile&) = delete;
  BoxFile& operator=(const BoxFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }

  /// Returns whether the file has lost its name, to whomever.
  bool isRemoved() const noexcept;

  /// Appends all of `bytes` in as few system calls as possible.
  /// @return 0 or an errno; the file may then end with a part of them.
  int append(std::string_view bytes) noexcept;
  /// Ends the file after its first `bytes`.
  /// @return 0 or an errno.
  int cutTo(std::uint64_t bytes) noexcept;

  /// Maps `bytes` at `offset`, which the file then has: their pages are reserved before, so that no
  /// store ends the process because the file system is full. A child made by fork() does not have
  /// the mapping.
  ///
  /// @param offset A multiple of the page size, as `bytes`.
  /// @return null if there is no room, with an errno in `*error`.
  void* map(std::uint64_t offset, std::size_t bytes, int* error) noexcept;

  /// Maps `bytes` at `offset` in the place of the pages at `at`, whose content they get; see map().
  /// REQUIRES: nobody uses those pages meanwhile.
  /// @return 0 or an errno; the pages at `at` are then unchanged.
  int replaceMapping(std::uint64_t offset, std::size_t bytes, void* at) noexcept;

  /// Gives this file the name of another one, which loses it.
  /// @return 0 or an errno.
  int takePlaceOf(BoxFile* other) noexcept;

  /// Removes the name. Mappings stay. The destructor does the same in the process that created the
  /// file: what shall outlive the process must not be destroyed.
  void remove() noexcept;

 private:
  friend Status continueBoxFile(const BoxName& box, const std::string& part, std::uint64_t at,
                                std::string_view bytes);
  void* mapAt(void* at, std::uint64_t offset, std::size_t bytes, int* error) noexcept;
  int reserve(std::uint64_t offset, std::size_t bytes) noexcept;
  bool isOverLimit(std::uint64_t end) const noexcept;
  explicit BoxFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;  // where append() writes
  int remover_ = 0;         // the process whose destructor removes the name; 0: none
};

/// Returns why a call on the file `path` failed.
STEPTAPE_EXPORT Status boxError(const char* what, const std::string& path, int error);

/// Writes all of `bytes` to an open file. Adds to `*total` what was written, also if it is not all.
///
/// @return 0 or an errno.
int writeAll(int descriptor, std::string_view bytes, std::uint64_t* total) noexcept;

/// Opens the file `part` of a box to read it. It may be of any process. Never the file `.id` of
/// this one, whose lock would end.
///
/// @return kIoError or kDataLoss with what was got and expected. Links and files of other users are
///         refused.
STEPTAPE_EXPORT Status openBoxFile(const BoxName& box, const std::string& part,
                                   base::FileDescriptor* file);

/// Reads up to `size` bytes at `offset`.
/// @return how many, less than `size` only at the end; negative: errno says why not.
STEPTAPE_EXPORT ssize_t readBytesAt(int descriptor, std::uint64_t offset, char* data,
                                    std::size_t size) noexcept;

/// Reads the file `part` of a box, header included. The file may belong to a running process, may
/// be anything, and may change while it is read: at most `most` bytes are taken.
///
/// @return kIoError or kDataLoss with what was got and expected. Links and files of other users are
///         refused.
STEPTAPE_EXPORT Status readBoxFile(const BoxName& box, const std::string& part, std::size_t most,
                                   std::string* bytes);

/// Reads the header of the file `part` alone. Like readBoxFile().
STEPTAPE_EXPORT Status readBoxHeader(const BoxName& box, const std::string& part,
                                     BoxHeader* header);

/// Returns whether a box has the file `part`.
STEPTAPE_EXPORT bool hasBoxFile(const BoxName& box, const std::string& part);

/// Replaces what follows the first `at` bytes of the file `part` by `bytes`.
STEPTAPE_EXPORT Status continueBoxFile(const BoxName& box, const std::string& part,
                                       std::uint64_t at, std::string_view bytes);

}  // namespace steptape::detail::process
