// SPDX-License-Identifier: Apache-2.0
#include "steptape/trace/chrome_trace.h"

namespace steptape {

Status writeChromeTrace(const std::string&, Span<const Trace>, const ChromeTraceOptions&) {
  return {};
}
std::string chromeTraceFileName(const Trace&) {
  return "x";
}

}  // namespace steptape
