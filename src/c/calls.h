// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <string>

#include "steptape/base/status.h"
#include "steptape/c/steptape.h"

namespace steptape::detail::c {

/// Keeps the reason of a failed call for steptape_error_message() of this thread.
steptape_status fail(steptape_status status, const char* message) noexcept;
steptape_status fail(const Error& error) noexcept;
steptape_status fail(const Status& status) noexcept;

steptape_status statusOf(ErrorCode code) noexcept;

/// Runs the body of a function of the C interface, through which no exception may pass.
template <typename Body>
steptape_status call(const char* function, const Body& body) noexcept {
  try {
    body();
    return STEPTAPE_OK;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail(STEPTAPE_RESOURCE_EXHAUSTED, "got not enough memory");
  } catch (const std::exception& error) {
    return fail(STEPTAPE_INTERNAL, error.what());
  } catch (...) {
    return fail(STEPTAPE_INTERNAL, function);
  }
}

}  // namespace steptape::detail::c
