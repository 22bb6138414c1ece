// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "process/blackbox/box_file.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail::process {

/// The black box of this process: a set of files, usually in memory (tmpfs), that outlive the
/// process however it ends, and from which another process reads what was lost.
///
/// The file `.id` exists as long as the box. The process holds a lock on it, which the kernel frees
/// when the process ends. Parts of the library add files of their own. Whoever needs the box holds
/// a reference: the last one removes `.id`, after the other parts have removed their files.
///
/// A child made by fork() has no box until it acquires one of its own.
///
/// @threads Thread-safe.
class STEPTAPE_EXPORT ProcessBox {
 public:
  /// Returns the box of this process; creates it if there is none in boxFolder().
  /// @return null if there can be none, with the reason in `*why`.
  static std::shared_ptr<ProcessBox> acquire(Status* why);

  ~ProcessBox();
  ProcessBox(const ProcessBox&) = delete;
  ProcessBox& operator=(const ProcessBox&) = delete;

  const BoxName& name() const { return name_; }
  const BoxHeader& header() const { return header_; }
  /// Returns whether the calling process is the one that made the box, and not a child of it.
  bool isOurs() const;

  /// Creates a further file of the box: see BoxFile::create().
  std::unique_ptr<BoxFile> addFile(const std::string& part, Status* why,
                                   const std::string& suffix = {}) const {
    return BoxFile::create(name_, part, header_, why, suffix);
  }

 private:
  ProcessBox(BoxName name, BoxHeader header, std::unique_ptr<BoxFile> id)
      : name_(std::move(name)), header_(header), id_(std::move(id)) {}

  const BoxName name_;
  const BoxHeader header_;
  const std::unique_ptr<BoxFile> id_;
};

/// Returns whether the process of a box lives, without claiming the box: neither that process nor
/// one that recovers it notices.
///
/// @param header Of any file of the box.
STEPTAPE_EXPORT bool hasLivingProcess(const BoxName& name, const BoxHeader& header);

/// The box of a process that has died. While this object exists, no other process can claim it.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT DeadBox {
 public:
  enum class State {
    kDead,     ///< The box is claimed.
    kLives,    ///< Its process lives, or another process has claimed the box.
    kNothing,  ///< It is no box, or none any more.
  };

  DeadBox() = default;
  ~DeadBox();
  DeadBox(const DeadBox&) = delete;
  DeadBox& operator=(const DeadBox&) = delete;

  /// Claims the box if its process has died. May be called again after kLives.
  State claim(const BoxName& name);

  const BoxName& name() const { return name_; }
  const BoxHeader& header() const { return header_; }

  /// Removes the files `parts`, in this order, and the box if no other part is left.
  /// REQUIRES: claim() returned kDead
  void remove(std::initializer_list<const char*> parts);

 private:
  /// Gives the claim up.
  void release();

  BoxName name_;
  BoxHeader header_;
  int descriptor_ = -1;
};

}  // namespace steptape::detail::process
