// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "c/arguments.h"
#include "c/calls.h"
#include "c/writer_slots.h"

namespace steptape::detail::c {
namespace {

static_assert(sizeof(ScalarTag) == sizeof(steptape_series) &&
                  std::is_trivially_copyable_v<ScalarTag>,
              "a series is the bytes of a handle");

ScalarTag tagOf(steptape_series series) noexcept {
  ScalarTag tag;
  std::memcpy(static_cast<void*>(&tag), &series, sizeof series);
  return tag;
}

steptape_series seriesOf(ScalarTag tag) noexcept {
  steptape_series series = 0;
  std::memcpy(&series, &tag, sizeof series);
  return series;
}

ScalarOptions scalarOptions(const char* function, const steptape_value_options* given) {
  ScalarOptions options;
  setCommon(function, optionsOf(function, given), &options);
  return options;
}

}  // namespace
}  // namespace steptape::detail::c

namespace impl = steptape::detail::c;

extern "C" {

steptape_status steptape_add(steptape_writer* writer, steptape_series series, double value,
                             int64_t step) {
  steptape::SummaryWriter* const open = impl::writerOf(writer);
  if (open == nullptr) {
    return impl::failForWriter("steptape_add", writer);
  }
  return impl::call("steptape_add", [&] { open->addScalar(impl::tagOf(series), value, step); });
}

steptape_status steptape_add_scalar_n(steptape_writer* writer, const char* tag, size_t length,
                                      double value, int64_t step) {
  steptape::SummaryWriter* const open = impl::writerOf(writer);
  if (open == nullptr) {
    return impl::failForWriter("steptape_add_scalar_n", writer);
  }
  return impl::call("steptape_add_scalar_n", [&] {
    impl::checkList({"steptape_add_scalar_n", "tag"}, tag, length);
    open->addScalar(std::string_view(tag, length), value, step);
  });
}

steptape_status steptape_add_scalar(steptape_writer* writer, const char* tag, double value,
                                    int64_t step) {
  steptape::SummaryWriter* const open = impl::writerOf(writer);
  if (open == nullptr) {
    return impl::failForWriter("steptape_add_scalar", writer);
  }
  return impl::call("steptape_add_scalar", [&] {
    open->addScalar(impl::textOf({"steptape_add_scalar", "tag"}, tag), value, step);
  });
}

steptape_status steptape_add_scalar_with(steptape_writer* writer, const char* tag, double value,
                                         int64_t step, const steptape_value_options* options) {
  return impl::callOpen("steptape_add_scalar_with", writer, [&](steptape::SummaryWriter& open) {
    open.addScalar(impl::textOf({"steptape_add_scalar_with", "tag"}, tag), value, step,
                   impl::scalarOptions("steptape_add_scalar_with", options));
  });
}

steptape_status steptape_get_series(steptape_writer* writer, const char* tag,
                                    const steptape_value_options* options,
                                    steptape_series* series) {
  return impl::callOpen("steptape_get_series", writer, [&](steptape::SummaryWriter& open) {
    impl::checkList({"steptape_get_series", "series"}, series, 1);
    *series = 0;
    *series = impl::seriesOf(open.scalarTag(impl::textOf({"steptape_get_series", "tag"}, tag),
                                            impl::scalarOptions("steptape_get_series", options)));
  });
}

steptape_status steptape_add_step(steptape_writer* writer, int64_t step,
                                  const steptape_series* series, const double* values,
                                  size_t count) {
  return impl::callOpen("steptape_add_step", writer, [&](steptape::SummaryWriter& open) {
    impl::checkList({"steptape_add_step", "series"}, series, count);
    impl::checkList({"steptape_add_step", "values"}, values, count);
    steptape::StepBatch batch = open.atStep(step);
    for (size_t i = 0; i < count; ++i) {
      batch.add(impl::tagOf(series[i]), values[i]);
    }
  });
}

steptape_status steptape_add_scalars(steptape_writer* writer, const char* mainTag,
                                     const char* const* names, const double* values, size_t count,
                                     int64_t step, const steptape_value_options* options) {
  return impl::callOpen("steptape_add_scalars", writer, [&](steptape::SummaryWriter& open) {
    impl::checkList({"steptape_add_scalars", "names"}, names, count);
    impl::checkList({"steptape_add_scalars", "values"}, values, count);
    std::vector<std::pair<std::string, double>> curves;
    curves.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      curves.emplace_back(impl::textOf({"steptape_add_scalars", "names"}, names[i]), values[i]);
    }
    open.addScalars(impl::textOf({"steptape_add_scalars", "main_tag"}, mainTag), curves, step,
                    impl::scalarOptions("steptape_add_scalars", options));
  });
}

}  // extern "C"
