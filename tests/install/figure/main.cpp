// SPDX-License-Identifier: Apache-2.0
// Draws figures with the installed library and logs them.
#include <iostream>
#include <vector>

#include <steptape/profile_figure.h>
#include <steptape/steptape.h>

int main(int argc, char** argv) {
  const char* const directory = argc > 1 ? argv[1] : "runs";
  steptape::Figure figure;
  figure.line(std::vector<double>{3, 1, 2}).setTitle("Installed");
  steptape::SummaryWriter writer(directory);
  writer.addFigure("figure", figure, 0);
  steptape::writeProfileFigures(writer, steptape::Trace(), 0);
  const steptape::Status status = writer.close();
  std::cout << "a figure of " << figure.render().bytes.size()
            << " bytes: " << (status.ok() ? "written" : status.message()) << '\n';
  return status.ok() && writer.stats().values == 2 ? 0 : 1;
}
