// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/key_store.h"

namespace steptape::c10d::detail {

KeyStore::~KeyStore() = default;

}  // namespace steptape::c10d::detail
