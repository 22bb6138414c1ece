// SPDX-License-Identifier: Apache-2.0
// The calls of DistributedWriter that write values of several ranks.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "steptape/metrics/distributed_writer.h"

#include "metrics/reduce/gather_from_ranks.h"
#include "values/kinds/image/image.h"

namespace steptape {
namespace {

std::string tagOfRank(std::string_view tag, std::size_t rank) {
  return std::string(tag) + "/" + rankRunName(static_cast<int>(rank));
}

}  // namespace

void DistributedWriter::addImageFromRanks(std::string_view tag, const TensorView& pixels,
                                          std::int64_t step, const ImageFromRanksOptions& options) {
  const std::vector<std::optional<std::string>> pngByRank = detail::metrics::gatherFromRanks(
      *communicator(), {"addImageFromRanks", tag, step, options.ranks}, [&] {
        pixels.waitForElements();
        return detail::values::encodePng(detail::values::imagePixels(pixels, options.dataFormat));
      });
  FigureOptions written;
  written.wallTime = options.wallTime;
  written.description = options.description;
  for (std::size_t rank = 0; rank < pngByRank.size(); ++rank) {
    if (pngByRank[rank]) {
      jobWriter().addFigure(tagOfRank(tag, rank), pngImage(*pngByRank[rank]), step, written);
    }
  }
}

void DistributedWriter::addTextFromRanks(std::string_view tag, std::string_view markdown,
                                         std::int64_t step, const TextFromRanksOptions& options) {
  const std::vector<std::optional<std::string>> textByRank = detail::metrics::gatherFromRanks(
      *communicator(), {"addTextFromRanks", tag, step, options.ranks},
      [&] { return std::string(markdown); });
  TextOptions written;
  written.wallTime = options.wallTime;
  written.description = options.description;
  for (std::size_t rank = 0; rank < textByRank.size(); ++rank) {
    if (textByRank[rank]) {
      jobWriter().addText(tagOfRank(tag, rank), *textByRank[rank], step, written);
    }
  }
}

}  // namespace steptape
