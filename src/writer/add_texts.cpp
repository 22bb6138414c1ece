// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/summary/tag.h"
#include "steptape/summary/text.h"
#include "steptape/writer/summary_writer.h"

#include "writer/capture.h"
#include "writer/value_names.h"
#include "writer/writer_core.h"

namespace steptape {

void SummaryWriter::addText(std::string_view tag, std::string_view markdown, std::int64_t step,
                            const TextOptions& options) {
  core_->addValue(step, options.wallTime, markdown.size(),
                  [name = core_->validTag(tag), text = std::string(markdown),
                   metadata = namesOf(options)] { return textValue(name, text, metadata); });
}

}  // namespace steptape
