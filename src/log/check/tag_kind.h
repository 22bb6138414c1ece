// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

#include "events/messages/value_facts.h"

namespace steptape::detail::log {

/// The pages of TensorBoard whose values are checked.
enum class Page : std::uint8_t {
  kNone,   ///< No page shows the tag.
  kOther,  ///< A page of a plugin that TensorBoard does not have, or one that is not checked.
  kScalars,
  kHistograms,
  kText,
  kPrCurves,
  kHparams,
  kMesh,
  kCustomScalars,
  kImages,
  kAudio,
  kGraphs,  ///< Run metadata and Keras models.
};

/// The kind of a tag for one of TensorBoard's readers.
struct TagKind {
  event::DataClass dataClass = event::DataClass::kUnknown;
  bool isDeclared = false;  ///< Whether the metadata contains the class.
  Page page = Page::kNone;  ///< Where the reader shows the tag: what plugin and class say.
  std::string plugin;
};

/// Returns the page of a plugin, whatever its data class; kOther for an unknown one, kNone for "".
Page pageOfPlugin(std::string_view plugin);

/// Returns the page of a value in the compatible form, which its field implies; else kNone.
Page pageOfField(const event::Value::Data& data);

/// Returns whether TensorBoard has data of this class.
bool isKnown(event::DataClass dataClass);

/// Returns the kind of a tag whose first value is `value`, for the fast data server.
/// @source tensorboard/data/server/data_compat.rs, SummaryValue::initial_metadata
STEPTAPE_EXPORT TagKind kindOf(const event::Value& value);

/// The kind of a tag for the Python loader: the metadata of the first value that has any, which
/// may come after values without. Its class depends on the tag's first value in the same file.
///
/// @source tensorboard/data_compat.py, tensorboard/dataclass_compat.py,
///         tensorboard/backend/event_processing/plugin_event_accumulator.py
class PythonKind {
 public:
  /// Takes the tag's next value. `file` numbers the files of the run.
  void take(const event::Value& value, const events::ValueFacts& facts, std::uint32_t file);

  /// Returns none if no value has had metadata.
  const std::optional<TagKind>& kind() const { return kind_; }

  /// Returns whether the loader omits the labels of the audio in the value that was taken last.
  bool omitsLabels() const { return isConverted_ && initial_ == Page::kAudio; }

  /// Returns whether any value had data under this tag.
  bool hasData() const { return hasData_; }

 private:
  std::optional<TagKind> kind_;
  Page initial_ = Page::kNone;  // of the plugin of the first value in the current file
  event::DataClass initialClass_ = event::DataClass::kUnknown;
  std::uint32_t file_ = 0;    // the current file plus 1
  bool isConverted_ = false;  // whether the loader adapts values to that plugin
  bool hasData_ = false;
};

}  // namespace steptape::detail::log
