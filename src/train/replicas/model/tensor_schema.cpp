// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/model/tensor_schema.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "steptape/base/status.h"

#include "base/crc32c.h"

namespace steptape::detail::train {
void TensorSchema::add(const std::string& name, const at::Tensor& tensor) {
  std::ostringstream line;
  line << name << ": " << at::toString(tensor.scalar_type()) << ' ' << tensor.sizes()
       << (tensor.requires_grad() ? " with gradient\n" : "\n");
  text_ += line.str();
}

void TensorSchema::checkSameOnAllRanks(Communicator& world, std::string_view who,
                                       std::string_view what) const {
  const std::vector<std::string> checksums = world.allgather(base::crc32c(text_).toString());
  const auto differs = std::find_if(checksums.begin(), checksums.end(), [&](const auto& checksum) {
    return checksum != checksums.front();
  });
  if (differs == checksums.end()) {
    return;
  }
  const std::vector<std::string> texts = world.allgather(text_);
  const auto rank = static_cast<std::size_t>(differs - checksums.begin());
  throw Error(ErrorCode::kRankMismatch,
              std::string(who) + ": rank " + std::to_string(rank) + " has a different " +
                  std::string(what) +
                  " from rank 0: " + firstDifference(texts[rank], texts.front()));
}

std::string firstDifference(const std::string& got, const std::string& wanted) {
  std::istringstream linesGot(got);
  std::istringstream linesWanted(wanted);
  std::string lineGot;
  std::string lineWanted;
  do {
    if (!std::getline(linesGot, lineGot)) {
      lineGot = "nothing";
    }
    if (!std::getline(linesWanted, lineWanted)) {
      lineWanted = "nothing";
    }
  } while (lineGot == lineWanted);
  return "got " + lineGot + "; expected " + lineWanted;
}

}  // namespace steptape::detail::train
