// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>
#include <torch/serialize/archive.h>

namespace steptape::detail::train {

/// Replaces each tensor that was written to `archive`, in nested archives and containers too, by
/// what `replacement` returns for it. Undefined tensors stay.
///
/// An OutputArchive refers to the tensors that were written to it until save_to(). With this call
/// it refers to copies instead, whatever the save() of a module or an optimizer has written.
void replaceTensors(torch::serialize::OutputArchive& archive,
                    const std::function<at::Tensor(const at::Tensor&)>& replacement);
/// The same for an archive that was loaded.
void replaceTensors(torch::serialize::InputArchive& archive,
                    const std::function<at::Tensor(const at::Tensor&)>& replacement);

}  // namespace steptape::detail::train
