// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "support/expect_error.h"
#include "values/charts/picture.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

Figure barFigure(const std::string& color) {
  BarOptions options;
  options.color = color;
  Figure figure;
  figure.bar(std::vector<double>{1}, options);
  return figure;
}

TEST(FigureGrid, PutsFiguresSideBySideAndBelowEachOther) {
  FigureGridOptions options;
  options.columns = 2;
  options.width = 600;
  options.height = 400;
  const Picture picture(
      FigureGrid({barFigure("#ff0000"), barFigure("#00ff00"), barFigure("#0000ff")}, options)
          .render());
  EXPECT_EQ(picture.width(), 600);
  EXPECT_EQ(picture.height(), 400);
  EXPECT_LT(picture.boxOf(kRed).right, 300);
  EXPECT_GT(picture.boxOf(kLime).left, 300);
  EXPECT_EQ(picture.boxOf(kLime).top, picture.boxOf(kRed).top);
  EXPECT_GT(picture.boxOf({0, 0, 255}).top, 200);
}

TEST(FigureGrid, LeavesRoomForItsTitle) {
  FigureGridOptions options;
  const Picture without(FigureGrid({barFigure("#ff0000")}, options).render());
  options.title = "All of it";
  const Picture with(FigureGrid({barFigure("#ff0000")}, options).render());
  EXPECT_GT(with.boxOf(kRed).top, without.boxOf(kRed).top + 10);
  EXPECT_EQ(with.boxOf(kRed).bottom, without.boxOf(kRed).bottom);
}

TEST(FigureGrid, KeepsTheFiguresUnchanged) {
  std::vector<Figure> figures{barFigure("#ff0000")};
  const FigureGrid grid(figures);
  const std::string before = grid.render().bytes;
  figures[0].setTitle("changed");
  EXPECT_TRUE(grid.render().bytes == before);
}

TEST(FigureGrid, RejectsWhatCannotBeLaidOut) {
  expectInvalidArgument([] { FigureGrid(std::vector<Figure>()); },
                        "FigureGrid: got no figures; expected at least one");
  FigureGridOptions options;
  options.columns = 0;
  expectInvalidArgument([&] { FigureGrid({Figure()}, options); },
                        "FigureGrid: got columns = 0; expected at least 1");
  options.columns = 20;
  expectInvalidArgument([&] { FigureGrid(std::vector<Figure>(20), options); },
                        "FigureGrid: got 48 x 480 pixels for each of 20 figures in 20 columns; "
                        "expected at least 64 pixels to a side");
}

}  // namespace
}  // namespace steptape
