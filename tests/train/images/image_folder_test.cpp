// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"
#include <steptape/images.h>

#include "support/expect_error.h"
#include "support/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

using test::expectError;
using test::expectInvalidArgument;
using ::testing::ElementsAre;

class Folder : public ::testing::Test {
 protected:
  void add(const std::string& file) const {
    const fs::path path = dir_.path() / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "";
  }

  std::vector<std::string> listed(const ImageFolderOptions& options = {}) const {
    const ImageFolder folder(dir_.string(), options);
    std::vector<std::string> images;
    for (std::int64_t i = 0; i < folder.size(); ++i) {
      images.push_back(std::to_string(folder.label(i)) + " " +
                       fs::path(folder.path(i)).lexically_relative(dir_.path()).string());
    }
    return images;
  }

  testing::TempDir dir_;
};

TEST_F(Folder, NumbersClassesAndSortsImagesByTheBytesOfTheirNames) {
  for (const char* file : {"zebra/b.JPG", "zebra/B.png", "zebra/a.Jpeg", "cat/10.jpg", "cat/9.jpg",
                           "Dog/\xc3\xa4 b\n.png"}) {
    add(file);
  }
  EXPECT_THAT(listed(), ElementsAre("0 Dog/\xc3\xa4 b\n.png", "1 cat/10.jpg", "1 cat/9.jpg",
                                    "2 zebra/B.png", "2 zebra/a.Jpeg", "2 zebra/b.JPG"));
  EXPECT_THAT(ImageFolder(dir_.string()).classes(), ElementsAre("Dog", "cat", "zebra"));
}

TEST_F(Folder, IgnoresWhatIsNoImage) {
  for (const char* file : {"a/1.jpg", "a/notes.txt", "a/jpg", "a/.jpg", "a/._2.jpg",
                           "a/deeper/3.jpg", "a/folder.png/x", ".git/4.jpg", "5.jpg", "README"}) {
    add(file);
  }
  EXPECT_THAT(listed(), ElementsAre("0 a/1.jpg"));
}

TEST_F(Folder, FollowsLinksAndNoLoop) {
  add("a/1.jpg");
  fs::create_directory_symlink(dir_.path() / "a", dir_.path() / "b");
  fs::create_directory_symlink(dir_.path(), dir_.path() / "a" / "loop.jpg");
  fs::create_symlink(dir_.path() / "a" / "1.jpg", dir_.path() / "a" / "2.jpg");
  fs::create_symlink("nowhere", dir_.path() / "a" / "3.jpg");
  EXPECT_THAT(listed(), ElementsAre("0 a/1.jpg", "0 a/2.jpg", "0 a/3.jpg", "1 b/1.jpg", "1 b/2.jpg",
                                    "1 b/3.jpg"));
}

TEST_F(Folder, RejectsAnEmptyClassUnlessAllowed) {
  add("a/notes.txt");
  add("b/1.jpg");
  expectInvalidArgument(
      [&] { listed(); },
      "image folder \"" + dir_.string() +
          "\": got no image in the class \"a\"; expected files named .jpg, .jpeg or .png; remove "
          "the folder, or set ImageFolderOptions::allowEmptyClasses");
  ImageFolderOptions options;
  options.allowEmptyClasses = true;
  EXPECT_THAT(listed(options), ElementsAre("1 b/1.jpg"));
}

TEST_F(Folder, RejectsAFolderWithoutImages) {
  expectInvalidArgument([&] { listed(); },
                        "image folder \"" + dir_.string() +
                            "\": got no images; expected class/name.jpg or class/name.png");
  expectError(ErrorCode::kIoError,
              "image folder \"no/such/folder\": cannot list it: No such file or directory",
              [] { ImageFolder("no/such/folder"); });
}

TEST(ImageFolderSource, GivesNormalizedPixelsAndTheClass) {
  const testing::TempDir dir;
  test::writeImageFolder(dir.string(), 2, 2);
  const Normalization normalization{{0.5, 0.4, 0.3}, {0.2, 0.3, 0.4}};
  const ImageTransforms transforms{Resize{30}, CenterCrop{16}};
  const ImageFolderSource source(ImageFolder(dir.string()), transforms, normalization);
  EXPECT_EQ(source.size(), 4);
  EXPECT_THAT(source.shape(), ElementsAre(3, 16, 16));
  std::vector<float> input(3 * 16 * 16);
  SampleRandom random(0, 0, 2);
  EXPECT_EQ(source.read(2, random, input.data()), 1);
  const Image image = transformImage(decodeImage(source.folder().path(2)), transforms, random);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < 16 * 16; ++i) {
      EXPECT_NEAR(input[channel * 16 * 16 + i],
                  (image.pixels[3 * i + channel] / 255.0 - normalization.mean[channel]) /
                      normalization.std[channel],
                  1e-5);
    }
  }
}

TEST(ImageFolderSource, NamesAFileThatHasVanished) {
  const testing::TempDir dir;
  test::writeImageFolder(dir.string(), 1, 2);
  const ImageFolderSource source(ImageFolder(dir.string()), {CenterCrop{8}});
  fs::remove(source.folder().path(1));
  std::vector<float> input(3 * 8 * 8);
  SampleRandom random(0, 0, 0);
  source.read(0, random, input.data());
  expectError(
      ErrorCode::kIoError,
      "image \"" + source.folder().path(1) + "\": cannot open it: No such file or directory",
      [&] { source.read(1, random, input.data()); });
}

TEST(ImageFolderSource, RejectsTransformsWithoutAFixedSize) {
  const testing::TempDir dir;
  test::writeImageFolder(dir.string(), 1, 1);
  expectInvalidArgument([&] { ImageFolderSource(ImageFolder(dir.string()), {Resize{8}}); },
                        "ImageFolderSource: got transforms whose images differ in size; expected "
                        "RandomResizedCrop, CenterCrop or RandomCrop among them");
}

}  // namespace
}  // namespace steptape
