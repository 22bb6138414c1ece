// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::test {

// The commands of fault_program, one file each. One program, because LibTorch's headers take longer
// to compile than all three. The arguments start with the command.

void disagree(int argc, char** argv);
void outlive(int argc, char** argv);
void train(int argc, char** argv);

}  // namespace steptape::test
