// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/value_names.h"
#include "log/writer/writer_core.h"
#include "values/kinds/tensor/raw_tensor.h"

namespace steptape {

void SummaryWriter::addTensor(std::string_view tag, const TensorView& tensor, std::int64_t step,
                              const ValueOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const detail::CallSite site("addTensor", name);
  site.run([&] { checkRawTensor(tensor); });
  const auto copy =
      detail::capture({tensor}, site, [](const auto& views) { return rawTensor(views[0]); });
  core_->addValue(step, options.wallTime, tensor.nbytes(),
                  [name, copy, metadata = detail::namesOf(options)] {
                    return tensorValue(name, *copy(), metadata);
                  });
}

}  // namespace steptape
