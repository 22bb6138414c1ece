// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/app.h"

int main(int argc, char** argv) {
  return steptape::tools::runTool(argc, argv);
}
