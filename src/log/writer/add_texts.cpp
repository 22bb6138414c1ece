// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

void addTable(detail::log::RunClient* client, std::string name, event::Tensor table,
              std::int64_t step, const TextOptions& options) {
  std::size_t bytes = 0;
  for (const std::string& cell : table.strings) {
    bytes += cell.size();
  }
  client->addValue(
      step, options.wallTime, bytes,
      [name = std::move(name), table = std::move(table), metadata = detail::log::namesOf(options)] {
        return detail::values::textTableValue(name, table, metadata);
      });
}

}  // namespace

void SummaryWriter::addText(std::string_view tag, std::string_view markdown, std::int64_t step,
                            const TextOptions& options) {
  client_->addValue(step, options.wallTime, markdown.size(),
                    [name = client_->validTag(tag), text = std::string(markdown),
                     metadata = detail::log::namesOf(options)] {
                      return detail::values::textValue(name, text, metadata);
                    });
}

void SummaryWriter::addTextTable(std::string_view tag, const std::vector<std::string>& rows,
                                 std::int64_t step, const TextOptions& options) {
  std::string name = client_->validTag(tag);
  if (client_->isActive()) {
    event::Tensor table = detail::log::CallSite("addTextTable", name).run([&] {
      return detail::values::textTable(rows);
    });
    addTable(client_.get(), std::move(name), std::move(table), step, options);
  }
}

void SummaryWriter::addTextTable(std::string_view tag,
                                 const std::vector<std::vector<std::string>>& rows,
                                 std::int64_t step, const TextOptions& options) {
  std::string name = client_->validTag(tag);
  if (client_->isActive()) {
    event::Tensor table = detail::log::CallSite("addTextTable", name).run([&] {
      return detail::values::textTable(rows);
    });
    addTable(client_.get(), std::move(name), std::move(table), step, options);
  }
}

}  // namespace steptape
