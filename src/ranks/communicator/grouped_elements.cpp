// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/grouped_elements.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/got_expected.h"

namespace steptape::detail::ranks {
namespace {

void checkPiece(const std::vector<Elements>& pieces, std::size_t i) {
  const std::string piece = "allreduceGrouped: array " + std::to_string(i);
  if (pieces[i].dtype() != pieces[0].dtype()) {
    base::reject(dtypeName(pieces[i].dtype()),
                 dtypeName(pieces[0].dtype()) + std::string(", as in array 0"), piece);
  }
  if (pieces[i].data() == nullptr && pieces[i].count() > 0) {
    base::reject("null", "data of " + std::to_string(pieces[i].count()) + " elements", piece);
  }
}

}  // namespace

GroupedElements::GroupedElements(const std::vector<Elements>& pieces)
    : pieces_(pieces), dtype_(pieces.empty() ? DType::kFloat32 : pieces.front().dtype()) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    checkPiece(pieces_, i);
    count_ += pieces_[i].count();
  }
  packed_.reserve(count_ * dtypeSize(dtype_));
  for (const Elements& piece : pieces_) {
    const auto* bytes = static_cast<const std::byte*>(piece.data());
    packed_.insert(packed_.end(), bytes, bytes + piece.bytes());
  }
}

void GroupedElements::unpack() const {
  const std::byte* from = packed_.data();
  for (const Elements& piece : pieces_) {
    if (piece.count() > 0) {
      std::memcpy(piece.data(), from, piece.bytes());
    }
    from += piece.bytes();
  }
}

GroupedCollective::GroupedCollective(std::unique_ptr<PendingCollective> packed,
                                     std::shared_ptr<GroupedElements> elements)
    : packed_(std::move(packed)), elements_(std::move(elements)) {}

bool GroupedCollective::poll() {
  if (!packed_->poll()) {
    return false;
  }
  elements_->unpack();
  return true;
}

void GroupedCollective::wait() {
  packed_->wait();
  elements_->unpack();
}

}  // namespace steptape::detail::ranks
