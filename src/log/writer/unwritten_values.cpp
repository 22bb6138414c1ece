// SPDX-License-Identifier: Apache-2.0
#include "log/writer/unwritten_values.h"

#include <utility>

#include "log/writer/box_view.h"
#include "log/writer/directory_place.h"
#include "process/blackbox/box_folder.h"

namespace steptape::detail::log {

UnwrittenValues::UnwrittenValues(std::string directory) : directory_(std::move(directory)) {}

UnwrittenValues::~UnwrittenValues() = default;

bool UnwrittenValues::update() {
  const std::vector<process::BoxName> names = process::listBoxes(process::boxFolder());
  if (names.empty() && boxes_.empty()) {
    return false;
  }
  const DirectoryPlace wanted = placeOf(directory_);
  bool hasChanged = std::exchange(wasInterrupted_, true);
  RingImage image;
  std::map<std::uint64_t, std::unique_ptr<BoxView>> there;
  for (const process::BoxName& name : names) {
    const auto known = boxes_.find(name.number);
    std::unique_ptr<BoxView>& view = there[name.number];
    if (known != boxes_.end() && known->second->name().folder == name.folder) {
      view = std::move(known->second);
      boxes_.erase(known);
    } else {
      view = std::make_unique<BoxView>(name);
    }
    hasChanged = view->update(wanted, &image) || hasChanged;
  }
  // What is left has gone.
  for (const auto& [number, view] : boxes_) {
    hasChanged = hasChanged || !view->all().empty();
  }
  boxes_ = std::move(there);
  if (hasChanged) {
    all_.clear();
    for (const auto& [number, view] : boxes_) {
      all_.insert(all_.end(), view->all().begin(), view->all().end());
    }
  }
  wasInterrupted_ = false;
  return hasChanged;
}

}  // namespace steptape::detail::log
