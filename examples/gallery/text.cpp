// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "gallery.h"

void logTexts(steptape::SummaryWriter& writer) {
  writer.addText("notes", R"(## What changed

- learning rate **0.01**, halved every *20 epochs*
- augmentation: `RandomCrop(32, padding=4)`

| model | parameters | accuracy |
|---|--:|--:|
| ResNet-18 | 11.2 M | 95.3 % |
| MobileNet | 3.2 M | 93.1 % |
)",
                 0);
  writer.addTextTable("samples",
                      {{"**prompt**", "**answer**"},
                       {"Who is there?", "Nay, answer me: stand, and unfold yourself."},
                       {"What is the time?", "I think it lacks of twelve."}},
                      0);
}

/// No page shows a tensor; it is for programs that read the event file.
void logTensor(steptape::SummaryWriter& writer) {
  const std::array<std::int32_t, 6> values = {1, 2, 3, 4, 5, 6};
  writer.addTensor("raw", {values.data(), {2, 3}}, 0);
}
