// SPDX-License-Identifier: Apache-2.0
#include "profile/figures/call_tree.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "profile/trace/thread_time.h"

namespace steptape::detail::profile {
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
    addChildren();
    for (Call& call : calls_) {
      std::sort(call.children.begin(), call.children.end(), [&](std::size_t a, std::size_t b) {
        return calls_[a].total != calls_[b].total ? calls_[a].total > calls_[b].total
                                                  : calls_[a].name < calls_[b].name;
      });
    }
    return std::move(calls_);
  }

 private:
  /// Adds the time of a thread to the calls themselves.
  struct Adder : ThreadVisitor {
    CallTree* tree;
    const std::vector<TraceSpan>* spans;
    std::vector<std::size_t> calls{0};  // of the open spans, after the call that contains all

    void begin(std::size_t i, const std::vector<OpenSpan>& around) {
      if (takesTimeOfThread((*spans)[i])) {
        calls.resize(around.size() + 1);
        calls.push_back(tree->childOf(calls.back(), (*spans)[i].name));
      }
    }
    void pass(std::int64_t from, std::int64_t to, const std::vector<OpenSpan>& open) {
      tree->calls_[calls[open.size()]].total += to - from;
    }
  };

  void add(const std::vector<TraceSpan>& spans) {
    Adder adder;
    adder.tree = this;
    adder.spans = &spans;
    visitThread(spans, &adder);
  }

  /// Adds the time of each call to that of the calls around it. Children have higher numbers.
  void addChildren() {
    for (std::size_t i = calls_.size(); i-- > 0;) {
      for (const std::size_t child : calls_[i].children) {
        calls_[i].total += calls_[child].total;
      }
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

}  // namespace steptape::detail::profile
