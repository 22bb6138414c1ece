// SPDX-License-Identifier: Apache-2.0
#include "profile_figure/call_tree.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace steptape::detail {
namespace {

class CallTree {
 public:
  explicit CallTree(const Trace& trace) : trace_(trace), calls_(1) {
    // One number for each text: entries of the name table may differ only in kind.
    std::unordered_map<std::string_view, std::uint32_t> firstByText;
    for (const TraceName& name : trace.names) {
      const auto number = static_cast<std::uint32_t>(textOfName_.size());
      textOfName_.push_back(firstByText.emplace(name.text, number).first->second);
    }
  }

  std::vector<Call> build() {
    for (const TraceThread& thread : trace_.threads) {
      if (thread.device < 0) {
        add(thread.spans);
      }
    }
    for (Call& call : calls_) {
      std::sort(call.children.begin(), call.children.end(), [&](std::size_t a, std::size_t b) {
        return calls_[a].total != calls_[b].total ? calls_[a].total > calls_[b].total
                                                  : calls_[a].name < calls_[b].name;
      });
    }
    return std::move(calls_);
  }

 private:
  struct OpenCall {
    std::size_t call;
    std::int64_t end;
  };

  void add(const std::vector<TraceSpan>& spans) {
    std::vector<OpenCall> open{{0, INT64_MAX}};
    for (const TraceSpan& span : spans) {
      if ((span.flags & kDetached) != 0) {
        continue;
      }
      while (open.back().end <= span.start) {
        open.pop_back();
      }
      const std::size_t call = childOf(open.back().call, span.name);
      calls_[call].total += span.duration;
      if (open.size() == 1) {
        calls_[0].total += span.duration;
      }
      open.push_back({call, span.start + span.duration});
    }
  }

  std::size_t childOf(std::size_t parent, std::uint32_t name) {
    const std::uint32_t text = textOfName_[name];
    const auto [known, isNew] =
        childByName_.emplace(std::uint64_t{parent} << 32 | text, calls_.size());
    if (isNew) {
      calls_[parent].children.push_back(calls_.size());
      calls_.push_back({trace_.names[text].text, 0, {}});
    }
    return known->second;
  }

  const Trace& trace_;
  std::vector<std::uint32_t> textOfName_;
  std::vector<Call> calls_;
  std::unordered_map<std::uint64_t, std::size_t> childByName_;
};

}  // namespace

std::vector<Call> mergeCalls(const Trace& trace) {
  return CallTree(trace).build();
}

}  // namespace steptape::detail
