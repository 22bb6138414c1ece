// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::test {

// What fault_program does, each in a file of its own. One program, because LibTorch's headers take
// longer to compile than all three. The arguments begin with the command.

void disagree(int argc, char** argv);
void outlive(int argc, char** argv);
void train(int argc, char** argv);

}  // namespace steptape::test
