// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <functional>
#include <unordered_set>

#include "steptape/process/zone.h"

#include "base/mutex.h"
#include "base/never_destroyed.h"

namespace steptape {
namespace {

constexpr std::size_t kMaxDetails = std::size_t{1} << 20;

class DetailsTable {
 public:
  // Never destroyed: threads may end, and record their last spans, after main() has returned.
  static DetailsTable& instance() {
    static auto* const kTable = new DetailsTable;
    return *kTable;
  }

  std::uint32_t intern(const SpanDetails& details) {
    const detail::base::MutexLock lock(mutex_);
    candidate_ = &details;
    if (const auto known = ids_.find(kCandidate); known != ids_.end()) {
      return *known;
    }
    if (details_.size() == kMaxDetails) {
      return 0;
    }
    details_.push_back(details);
    const auto id = static_cast<std::uint32_t>(details_.size());
    ids_.insert(id);
    return id;
  }

  const SpanDetails& at(std::uint32_t id) {
    static const detail::base::NeverDestroyed<SpanDetails> kNone;
    const detail::base::MutexLock lock(mutex_);
    return id == 0 ? *kNone : details_.at(id - 1);
  }

 private:
  /// Stands for the number of details that are searched for and may not have a number yet.
  static constexpr std::uint32_t kCandidate = 0;

  const SpanDetails& behind(std::uint32_t id) const {
    return id == kCandidate ? *candidate_ : details_[id - 1];
  }

  struct Hash {
    const DetailsTable* table;
    std::size_t operator()(std::uint32_t id) const {
      const SpanDetails& details = table->behind(id);
      const std::hash<std::string> hash;
      std::size_t sum = hash(details.shapes);
      for (const std::string* text : {&details.types, &details.module, &details.arguments}) {
        sum = sum * 31 + hash(*text);
      }
      return sum;
    }
  };
  struct Equal {
    const DetailsTable* table;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return a == b || table->behind(a) == table->behind(b);
    }
  };

  detail::base::Mutex mutex_;
  const SpanDetails* candidate_ = nullptr;
  std::deque<SpanDetails> details_;  // a deque: references stay valid
  std::unordered_set<std::uint32_t, Hash, Equal> ids_{64, Hash{this}, Equal{this}};
};

}  // namespace

bool SpanDetails::operator==(const SpanDetails& other) const noexcept {
  return shapes == other.shapes && types == other.types && module == other.module &&
         flops == other.flops && bytes == other.bytes && arguments == other.arguments;
}

std::uint32_t internSpanDetails(const SpanDetails& details) {
  return DetailsTable::instance().intern(details);
}

const SpanDetails& spanDetails(std::uint32_t detailsId) {
  return DetailsTable::instance().at(detailsId);
}

}  // namespace steptape
