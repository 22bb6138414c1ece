// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/events/record_reader.h"

#include "log/check/finding_list.h"
#include "log/check/record_walk.h"

namespace steptape::detail::log {

/// The rule that bytes between records break, and the effect on both readers.
struct DamageRule {
  CheckRule rule;
  const char* consequence;
};

/// REQUIRES: `walk`, over `source`, has just returned kDamage.
/// @source tensorboard/data/server/{tf_record,event_file}.rs;
///          tensorboard/compat/tensorflow_stub/pywrap_tensorflow.py
DamageRule damageRule(const ByteSource& source, const RecordWalk& walk);

}  // namespace steptape::detail::log
