// SPDX-License-Identifier: Apache-2.0
#include "values/charts/numbers.h"

#include "values/kinds/tensor/visit_elements.h"

namespace steptape::figure {

TensorView keep(const TensorView& view) {
  return view.isInFlight() ? view : view.copy();
}

std::vector<double> numbersOf(const TensorView& view) {
  view.waitForElements();
  const TensorView rowMajor = view.isContiguous() ? view : view.copy();
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(rowMajor.numel()));
  detail::values::visitElements(rowMajor, [&](const auto* elements) {
    for (std::int64_t i = 0; i < rowMajor.numel(); ++i) {
      numbers.push_back(detail::base::widen<double>(elements[i]));
    }
  });
  return numbers;
}

}  // namespace steptape::figure
