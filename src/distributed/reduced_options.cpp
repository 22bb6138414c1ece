// SPDX-License-Identifier: Apache-2.0
#include "steptape/distributed/reduced_options.h"

namespace steptape {

ReducedOptions ReducedOptions::all() {
  ReducedOptions options;
  options.min = options.max = options.std = options.argmaxRank = options.sum = true;
  options.percentiles = {50, 90, 99};
  options.perRankHistogram = true;
  options.band = true;
  return options;
}

}  // namespace steptape
