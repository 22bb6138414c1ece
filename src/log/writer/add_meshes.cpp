// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "base/got_expected.h"
#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/captured_pixels.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/plot/mesh.h"

namespace steptape {
namespace {

/// Reports, once for each tag, what a browser does not show.
void reportUnshown(const std::string& name, const detail::values::MeshTensors& mesh,
                   detail::log::Reporter* reporter) {
  if (mesh.notFinite > 0) {
    reporter->reportOnce("not finite " + name,
                         "addMesh " + detail::base::quoted(name) + ": " +
                             detail::base::gotExpected(std::to_string(mesh.notFinite) +
                                                           " coordinates that are NaN or infinite",
                                                       "finite ones") +
                             ": a browser does not show the mesh");
  }
  detail::log::reportUnshown("colors of mesh " + detail::base::quoted(name), mesh.unshown,
                             reporter);
}

}  // namespace

void SummaryWriter::addMesh(std::string_view tag, const TensorView& vertices, std::int64_t step,
                            const MeshOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addMesh", name);
  site.run([&] { detail::values::checkMesh(vertices, options); });
  std::vector<TensorView> views = {vertices};
  for (const auto& part : {options.colors, options.faces}) {
    if (part) {
      views.push_back(*part);
    }
  }
  std::size_t bytes = 0;
  for (const TensorView& view : views) {
    bytes += view.nbytes();
  }
  const bool hasColors = options.colors.has_value();
  const bool hasFaces = options.faces.has_value();
  const auto mesh = detail::log::capture(
      std::move(views), site,
      [hasColors, hasFaces, name, reporter = &client_->context().reporter()](const auto& captured) {
        MeshOptions parts;
        if (hasColors) {
          parts.colors = captured[1];
        }
        if (hasFaces) {
          parts.faces = captured.back();
        }
        detail::values::MeshTensors tensors = detail::values::meshTensors(captured[0], parts);
        reportUnshown(name, tensors, reporter);
        return tensors;
      });
  client_->addValues(
      step, options.wallTime, bytes,
      [name, mesh, config = options.configJson, metadata = detail::log::namesOf(options)] {
        return detail::values::meshValues(name, *mesh(), config, metadata);
      });
}

}  // namespace steptape
