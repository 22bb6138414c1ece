// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tag.h"

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

TEST(CheckTag, AcceptsAnyNameButTheEmptyOne) {
  EXPECT_NO_THROW(detail::values::checkTag("loss/train"));
  EXPECT_NO_THROW(detail::values::checkTag(" "));
}

TEST(CheckTag, RejectsTheEmptyTag) {
  expectInvalidArgument([] { detail::values::checkTag(""); },
                        "tag: got an empty string; expected a name such as \"loss/train\"");
}

}  // namespace
}  // namespace steptape
