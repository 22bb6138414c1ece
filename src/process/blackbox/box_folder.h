// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::process {

/// Returns the folder of the black boxes, `/dev/shm`; empty if there is none.
///
/// The environment variable STEPTAPE_BLACK_BOX names another folder; `off` turns black boxes off.
/// The default folder is used only if it is a tmpfs, whose pages stay in memory: on a disk, a store
/// into a mapped page can wait for milliseconds.
STEPTAPE_EXPORT std::string boxFolder();

/// Returns the name of the network file system with this number, as `f_type` of statfs(2); null if
/// the number is that of another one.
///
/// Such a folder holds no black box: a lock there need not tell one machine that a process of
/// another one lives, and pages that are mapped there reach the others late or never.
STEPTAPE_EXPORT const char* networkFileSystem(std::uint64_t type);
/// Like networkFileSystem(), of the file system that holds `folder`.
STEPTAPE_EXPORT const char* networkFileSystemOf(const std::string& folder);

/// A black box by its name: `<folder>/steptape-<user>-<16 hexadecimal digits>`, to which each file
/// adds its part: `.id`, `.names`, ….
struct BoxName {
  std::string folder;
  std::uint64_t user = 0;
  std::uint64_t number = 0;

  STEPTAPE_EXPORT std::string pathOf(const std::string& part) const;
};

/// Returns the boxes of this user in `folder`, in the order of their names.
/// @throws std::bad_alloc
STEPTAPE_EXPORT std::vector<BoxName> listBoxes(const std::string& folder);

}  // namespace steptape::detail::process
