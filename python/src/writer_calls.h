// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <optional>

#include "steptape/log/summary_writer.h"

#include "gil.h"
#include "writer.h"

namespace steptape::python {

using Self = nb::pointer_and_handle<Writer>;
using WallTime = std::optional<double>;

inline void report(const Self& self) {
  if (self.p->problems().hasSome() || self.p->isForked()) {
    reportProblems(self.h, self.p);
  }
}

/// Calls `body` without the GIL, then tells what is wrong.
template <typename Body>
void call(const Self& self, const Body& body) {
  {
    const GilRelease release;
    body(self.p->writer());
  }
  report(self);
}

/// Adds the calls that record values other than scalars.
void bindAddedValues(nb::class_<Writer>* writer);

}  // namespace steptape::python
