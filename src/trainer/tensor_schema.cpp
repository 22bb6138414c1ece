// SPDX-License-Identifier: Apache-2.0
#include "trainer/tensor_schema.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/record/crc32c.h"

namespace steptape::detail {
namespace {

/// The next line of both texts that is not the same; "nothing" where one has ended.
std::pair<std::string, std::string> firstDifference(const std::string& a, const std::string& b) {
  std::istringstream linesOfA(a);
  std::istringstream linesOfB(b);
  std::pair<std::string, std::string> lines;
  do {
    if (!std::getline(linesOfA, lines.first)) {
      lines.first = "nothing";
    }
    if (!std::getline(linesOfB, lines.second)) {
      lines.second = "nothing";
    }
  } while (lines.first == lines.second);
  return lines;
}

}  // namespace

void TensorSchema::add(const std::string& name, const at::Tensor& tensor) {
  std::ostringstream line;
  line << name << ": " << at::toString(tensor.scalar_type()) << ' ' << tensor.sizes()
       << (tensor.requires_grad() ? " with gradient\n" : "\n");
  text_ += line.str();
}

void TensorSchema::checkSameOnAllRanks(Communicator& world, std::string_view who) const {
  const std::vector<std::string> checksums = world.allgather(crc32c(text_).toString());
  const auto differs = std::find_if(checksums.begin(), checksums.end(), [&](const auto& checksum) {
    return checksum != checksums.front();
  });
  if (differs == checksums.end()) {
    return;
  }
  const std::vector<std::string> texts = world.allgather(text_);
  const auto rank = static_cast<std::size_t>(differs - checksums.begin());
  const auto [wanted, got] = firstDifference(texts.front(), texts[rank]);
  throw Error(ErrorCode::kRankMismatch, std::string(who) + ": rank " + std::to_string(rank) +
                                            " has another model than rank 0: got " + got +
                                            ", wanted " + wanted);
}

}  // namespace steptape::detail
