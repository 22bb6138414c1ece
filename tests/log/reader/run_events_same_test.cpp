// SPDX-License-Identifier: Apache-2.0
//
// RunEvents returns the same as RunReader for any run, although each determines differently what
// restarts discard.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "log/reader/run_contents.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

class RandomRun : public RunFixture {
 protected:
  static constexpr PurgePolicy kPolicies[] = {PurgePolicy::kRestarts,
                                              PurgePolicy::kTensorBoardServer, PurgePolicy::kNone};

  /// Makes an event of few steps and tags, so that events often discard others.
  event::Event randomEvent() {
    const auto step = static_cast<std::int64_t>(random_() % 12);
    const std::string tag = std::string("t") + static_cast<char>('0' + random_() % 4);
    switch (random_() % 22) {
      case 0:
        return version(random_() % 2 == 0 ? "brain.Event:1" : "brain.Event:2");
      case 1:
      case 2:
        return start(step);
      case 3:
        return textAt(step, "note", "text");
      case 4:
        return tensorScalar("new", static_cast<float>(random_() % 100), step, random_() % 3 == 0);
      case 5: {
        event::Event event = textAt(step, "note", "text");
        std::get<event::Summary>(event.what)
            .values.push_back({tag, static_cast<float>(random_() % 100), std::nullopt});
        return event;
      }
      case 6:
        return eventAt(step, event::GraphDef{"graph"});
      case 7: {
        // Metadata without a plugin has no effect.
        event::Event event = tensorScalar("new", 1, step);
        std::get<event::Summary>(event.what).values[0].metadata->pluginName.clear();
        return event;
      }
      case 8:
        return eventAt(step, event::Summary{{{tag, event::SummaryHistogram(), std::nullopt}}});
      case 9:
        return eventAt(step, event::Summary{{{tag, event::SummaryImage(), std::nullopt}}});
      case 10: {
        event::Value value = tensorValue<std::int64_t>(tag, event::TensorType::kInt64, {7});
        return eventAt(step, event::Summary{{random_() % 2 == 0 ? ofScalarsPlugin(std::move(value))
                                                                : std::move(value)}});
      }
      case 11:
        return textAt(step, tag, std::string(random_() % 2 == 0 ? 1 : 5000, 'x'));
      default:
        return simpleScalar(tag, static_cast<float>(random_() % 100), step);
    }
  }
  std::string randomFile() {
    std::vector<event::Event> events;
    for (std::size_t i = random_() % 60; i > 0; --i) {
      events.push_back(randomEvent());
    }
    return framed(events);
  }

  std::mt19937 random_{1};
};

TEST_F(RandomRun, GivesTheSameToBothReaders) {
  for (int i = 0; i < 300; ++i) {
    writeBytes(kFirst, randomFile());
    writeBytes(kSecond, randomFile());
    for (const PurgePolicy policy : kPolicies) {
      const RunReader run = read(purging(policy));
      ASSERT_EQ(contentsOf(run), streamedContents(listRuns(root_).at(0), policy)) << i;
    }
  }
}

TEST_F(RandomRun, GivesTheSameToBothReadersThoughItIsDamaged) {
  for (int i = 0; i < 300; ++i) {
    std::string bytes = randomFile();
    for (std::size_t flips = random_() % 4; flips > 0 && !bytes.empty(); --flips) {
      char& byte = bytes[random_() % bytes.size()];
      byte = static_cast<char>(byte ^ (1 << random_() % 8));
    }
    bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), random_() % 20));
    writeBytes(kFirst, bytes);
    writeBytes(kSecond, randomFile());
    for (const PurgePolicy policy : kPolicies) {
      RunReaderOptions options = purging(policy);
      options.expectGrowth = false;
      const RunReader run = read(options);
      ASSERT_EQ(contentsOf(run), streamedContents(listRuns(root_).at(0), policy)) << i;
    }
  }
}

}  // namespace
}  // namespace steptape
