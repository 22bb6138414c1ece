// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/bitmap_font.h"

#include <array>

#include "base/utf8.h"

namespace steptape::detail::values::bitmap_font {
namespace {

constexpr char kFirst = ' ';
constexpr char kLast = '~';
/// Index of the hollow box, which is after the last character.
constexpr int kReplacement = kLast - kFirst + 1;
constexpr int kGlyphsPerBand = 12;
constexpr int kBands = 8;

/// The characters in ASCII order, twelve per band, as they look.
constexpr std::array<std::string_view, kBands* kHeight> kSheet = {
    // clang-format off
    "        #    # #          #   ##  #  ##     #      #   #                ",
    "        #    # #   # #   #### ## #  #  #    #     #     #     #     #   ",
    "        #    # #  ##### # #      #  # #     #    #       #  # # #   #   ",
    "        #          # #   ###    #    #           #       #   ###  ##### ",
    "        #         #####   # #  #    # # #        #       #  # # #   #   ",
    "                   # #  ####   # ## #  #         #       #    #     #   ",
    "        #                 #   #  ##  ## #         #     #               ",
    "                                                   #   #                ",
    "                                                                        ",
    "                      #  ###    #    ###   ###     #  #####   ##  ##### ",
    "                      # #   #  ##   #   # #   #   ##  #      #        # ",
    "                     #  #  ## # #       #     #  # #  ####  #        #  ",
    "      #####         #   # # #   #     ##    ##  #  #      # ####     #  ",
    "                   #    ##  #   #    #        # #####     # #   #   #   ",
    " ##          ##   #     #   #   #   #     #   #    #  #   # #   #   #   ",
    " ##          ##   #      ###  ##### #####  ###     #   ###   ###    #   ",
    "  #                                                                     ",
    " #                                                                      ",
    " ###   ###                 #         #     ###   ###    #   ####   ###  ",
    "#   # #   #  ##    ##     #           #   #   # #   #  # #  #   # #   # ",
    "#   # #   #  ##    ##    #    #####    #      # # ### #   # #   # #     ",
    " ###   ####             #               #    #  # # # #   # ####  #     ",
    "#   #     #              #    #####    #    #   # ### ##### #   # #     ",
    "#   #    #   ##    ##     #           #         #     #   # #   # #   # ",
    " ###   ##    ##    ##      #         #      #    #### #   # ####   ###  ",
    "                    #                                                   ",
    "                   #                                                    ",
    "###   ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ###  ",
    "#  #  #     #     #   # #   #   #      #  #  #  #     ## ## ##  # #   # ",
    "#   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   # ",
    "#   # ####  ####  # ### #####   #      #  ##    #     # # # # # # #   # ",
    "#   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   # ",
    "#  #  #     #     #   # #   #   #   #  #  #  #  #     #   # #  ## #   # ",
    "###   ##### #      #### #   #  ###   ##   #   # ##### #   # #   #  ###  ",
    "                                                                        ",
    "                                                                        ",
    "####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####  ###  ",
    "#   # #   # #   # #       #   #   # #   # #   # #   # #   #     #  #    ",
    "#   # #   # #   # #       #   #   # #   # #   #  # #   # #     #   #    ",
    "####  #   # ####   ###    #   #   # #   # # # #   #     #     #    #    ",
    "#     # # # # #       #   #   #   #  # #  # # #  # #    #    #     #    ",
    "#     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #      #    ",
    "#      ## # #   # ####    #    ###    #   #   # #   #   #   #####  #    ",
    "                                                                   ###  ",
    "                                                                        ",
    "#      ###    #          #          #               #         ##        ",
    "#        #   # #          #         #               #        #  #       ",
    " #       #  #   #          #   ###  # ##   ###   ## #  ###   #     #### ",
    "  #      #                        # ##  # #     #  ## #   # ###   #   # ",
    "   #     #                     #### #   # #     #   # #####  #    #   # ",
    "    #    #                    #   # #   # #   # #   # #      #    #   # ",
    "    #    #        #####        #### ####   ###   ####  ###   #     #### ",
    "       ###                                                            # ",
    "                                                                   ###  ",
    "#       #      #  #      ##                                             ",
    "#                 #       #                                             ",
    "# ##   ##     ##  #  #    #   ## #  # ##   ###  ####   #### # ##   #### ",
    "##  #   #      #  # #     #   # # # ##  # #   # #   # #   # ##  # #     ",
    "#   #   #      #  ##      #   # # # #   # #   # #   # #   # #      ###  ",
    "#   #   #      #  # #     #   # # # #   # #   # ##  # #  ## #         # ",
    "#   #  ###     #  #  #   ###  #   # #   #  ###  # ##   ## # #     ####  ",
    "            #  #                                #         #             ",
    "             ##                                 #         #             ",
    " #                                          ##    #   ##          ##### ",
    " #                                         #      #     #         #   # ",
    "###   #   # #   # #   # #   # #   # #####  #      #     #    #    #   # ",
    " #    #   # #   # #   #  # #  #   #    #  #       #      #  # # # #   # ",
    " #    #   # #   # # # #   #   #   #   #    #      #     #      #  #   # ",
    " #  # #  ##  # #  # # #  # #  #  ##  #     #      #     #         #   # ",
    "  ##   ## #   #    # #  #   #  ## # #####  #      #     #         ##### ",
    "                                  #         ##    #   ##                ",
    "                               ###                                      ",
    // clang-format on
};

}  // namespace

std::size_t length(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); ++count) {
    nextGlyph(text, &position);
  }
  return count;
}

int nextGlyph(std::string_view text, std::size_t* position) {
  const char first = text[(*position)++];
  while (*position < text.size() && base::isUtf8Continuation(text[*position])) {
    ++*position;
  }
  return first < kFirst || first > kLast ? kReplacement : first - kFirst;
}

bool hasInk(int glyph, int x, int y) {
  const int row = glyph / kGlyphsPerBand * kHeight + y;
  const int column = glyph % kGlyphsPerBand * kAdvance + x;
  return kSheet[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] == '#';
}

}  // namespace steptape::detail::values::bitmap_font
