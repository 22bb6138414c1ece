// SPDX-License-Identifier: Apache-2.0
//
// Makes allocations of a store fail, one stretch after the other, on any thread: in the end it
// shows everything. A separate program, because it replaces operator new.
#include <algorithm>
#include <memory>
#include <string>

#include "server/store/log_store_fixture.h"
#include "support/allocations.h"
#include "support/sweep.h"

namespace steptape::detail::server {
namespace {

class StoreOutOfMemory : public LogStoreFixture {
 protected:
  static bool isComplete(const LogStore& store) {
    const std::shared_ptr<const LogStore::Runs> runs = store.runs();
    return runs->size() == 3 && std::all_of(runs->begin(), runs->end(), [](const auto& run) {
             return stepsOf(*run.second, "x").size() == 4 &&
                    stepsOf(*run.second, "note").size() == 1;
           });
  }
  void expectEverything(std::uint64_t oneIn, std::uint64_t count) {
    const std::string what = "a store of all runs";  // before allocations fail
    test::sweep(oneIn, [&](std::uint64_t n) {
      FailingAllocations failing(n, count);
      std::unique_ptr<LogStore> store;
      if (!attempt([&] { store = std::make_unique<LogStore>(options()); })) {
        return true;  // there was no store
      }
      // What this thread allocates meanwhile may fail too.
      expectSoon(what, [&] {
        bool isThere = false;
        static_cast<void>(attempt([&] { isThere = isComplete(*store); }));
        return isThere;
      });
      return failing.stop() > 0;
    });
  }
};

TEST_F(StoreOutOfMemory, ShowsEverythingInTheEnd) {
  for (const char* run : {"a", "b", "c/d"}) {
    writeEvents(std::string(run) + "/events.out.tfevents.1",
                {version(), simpleScalar("x", 1, 1), tensorScalar("x", 2, 2),
                 simpleScalar("x", 3, 5), simpleScalar("x", 4, 7), textAt(1, "note", "words")});
  }
  expectEverything(60, 1);
  expectEverything(90, 25);
}

}  // namespace
}  // namespace steptape::detail::server
