// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/tensor/raw_tensor.h"

namespace steptape {

void SummaryWriter::addTensor(std::string_view tag, const TensorView& tensor, std::int64_t step,
                              const ValueOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addTensor", name);
  site.run([&] { detail::values::checkRawTensor(tensor); });
  const auto copy = detail::log::capture(
      {tensor}, site, [](const auto& views) { return detail::values::rawTensor(views[0]); });
  client_->addValue(step, options.wallTime, tensor.nbytes(),
                    [name, copy, metadata = detail::log::namesOf(options)] {
                      return detail::values::tensorValue(name, *copy(), metadata);
                    });
}

}  // namespace steptape
