// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/hosts/host_list.h"

namespace steptape::tools {

/// The command that reaches a host without asking for a password.
inline constexpr char kRemoteShell[] = "ssh -o BatchMode=yes -o ConnectTimeout=5";

/// Returns whether a host is this machine, by its name.
bool isThisMachine(const std::string& host);

/// Asks all hosts at once whether they run a program, by "<shell> <host> true". This machine itself
/// always does.
///
/// @param shell Such as the words of kRemoteShell.
/// @return the hosts that answered within 15 s, in their order.
std::vector<Host> answeringHosts(const std::vector<Host>& hosts,
                                 const std::vector<std::string>& shell);

}  // namespace steptape::tools
