// SPDX-License-Identifier: Apache-2.0
// Keeping the state of the process allocates nothing where a program is busy.
#include <cstdint>

#include "steptape/process/zone.h"

#include "process/blackbox/state_child.h"
#include "process/blackbox/state_page.h"
#include "support/allocations.h"

#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

class StateCostTest : public test::StateTest {};

TEST_F(StateCostTest, ZonesStepsPhasesAndCollectivesAllocateNothing) {
  test::StateChild child([](const auto& ready) {
    StatePage::keep();
    StatePage& page = *StatePage::current();
    const std::uint32_t group = page.collectives().addGroup(1, "ranks 0-1", 0, 2);
    std::uint64_t allocated = 0;
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t before = allocationsOfThread();
      STEPTAPE_ZONE("train");
      { STEPTAPE_ZONE("layer"); }
      noteStep(i);
      const PhaseScope phase(RunPhase::kForward);
      const DType type = DType::kFloat32;
      const std::uint64_t number =
          page.collectives().start(group, static_cast<std::uint64_t>(i) + 1, "allreduce(sum)", 4,
                                   &type, RankState::CollectivePhase::kWaiting);
      page.collectives().end(group, number, true);
      page.noteHeartbeat();
      noteError("an error");
      if (i > 0) {  // the first zone of a thread and the first use of a name may allocate
        allocated += allocationsOfThread() - before;
      }
    }
    EXPECT_EQ(allocated, 0U);
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  EXPECT_EQ(state().step, 99);
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

}  // namespace
}  // namespace steptape::detail::process
