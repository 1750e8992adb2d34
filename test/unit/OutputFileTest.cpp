//===- OutputFileTest.cpp --------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/OutputFile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace remat;
namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "remat.XXXXXX";
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string in(const std::string &name) const { return folder + "/" + name; }
  size_t count() const { return size_t(std::distance(fs::directory_iterator(folder), {})); }
  void put(const std::string &name, const std::string &text) const { std::ofstream(in(name)) << text; }

  std::string folder;
};

TEST_F(OutputFileTest, appearsOnCommit) {
  auto file = OutputFile::open(in("a"));
  ASSERT_TRUE(file);
  file->stream() << "text";
  EXPECT_FALSE(fs::exists(in("a")));
  EXPECT_FALSE(file->commit());
  EXPECT_EQ(*readFile(in("a")), "text");
  EXPECT_EQ(count(), 1u);
}

TEST_F(OutputFileTest, withoutCommitNothingChanges) {
  put("a", "old");
  {
    auto file = OutputFile::open(in("a"));
    file->stream() << std::string(1 << 20, 'x');
  }
  EXPECT_EQ(*readFile(in("a")), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(OutputFileTest, largeTextsArriveWhole) {
  std::string text;
  for (int i = 0; i < 300000; ++i)
    text += std::to_string(i) + "\n";
  auto file = OutputFile::open(in("a"));
  file->stream() << text;
  EXPECT_FALSE(file->commit());
  EXPECT_EQ(*readFile(in("a")), text);
}

TEST_F(OutputFileTest, linksAndPermissionsStay) {
  put("real", "old");
  fs::permissions(in("real"), fs::perms(0640));
  fs::create_symlink("real", in("link"));
  auto file = OutputFile::open(in("link"));
  file->stream() << "new";
  EXPECT_FALSE(file->commit());
  EXPECT_TRUE(fs::is_symlink(in("link")));
  EXPECT_EQ(*readFile(in("real")), "new");
  EXPECT_EQ(fs::status(in("real")).permissions(), fs::perms(0640));
}

TEST_F(OutputFileTest, saysWhyItCannotBeOpened) {
  auto missing = OutputFile::open(in("no/such"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "cannot write: no such file or directory");
  EXPECT_EQ(missing.error().place, in("no/such"));
  auto isFolder = OutputFile::open(folder);
  ASSERT_FALSE(isFolder);
  EXPECT_EQ(isFolder.error().message, "cannot write: is a directory");
}

TEST_F(OutputFileTest, aFullDiskLeavesNothing) {
  std::vector<OutputFile> files;
  files.push_back(std::move(*OutputFile::open(in("a"))));
  files.push_back(std::move(*OutputFile::open("/dev/full")));
  for (OutputFile &file : files)
    file.stream() << "text";
  auto error = OutputFile::commitAll(files);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "cannot write: no space left on device");
  EXPECT_EQ(error->place, "/dev/full");
  files.clear();
  EXPECT_EQ(count(), 0u);
}

TEST_F(OutputFileTest, aSignalLeavesNothing) {
  EXPECT_EXIT(
      {
        OutputFile::removeOnSignals();
        auto file = OutputFile::open(in("a"));
        file->stream() << std::string(1 << 20, 'x');
        std::raise(SIGTERM);
      },
      testing::ExitedWithCode(1), "error: interrupted, nothing was written");
  EXPECT_EQ(count(), 0u);
}

TEST_F(OutputFileTest, aReaderThatLeavesEndsTheProcessSilently) {
  EXPECT_EXIT(
      {
        OutputFile::removeOnSignals();
        auto file = OutputFile::open(in("a"));
        std::raise(SIGPIPE);
      },
      testing::KilledBySignal(SIGPIPE), "^$");
  EXPECT_EQ(count(), 0u);
}

TEST_F(OutputFileTest, aFileThatGrowsTooLargeIsAnError) {
  EXPECT_EXIT(
      {
        OutputFile::removeOnSignals();
        rlimit limit;
        limit.rlim_cur = limit.rlim_max = 1 << 10;
        ::setrlimit(RLIMIT_FSIZE, &limit);
        std::optional<Error> error;
        {
          auto file = OutputFile::open(in("a"));
          file->stream() << std::string(1 << 20, 'x');
          error = file->commit();
        }
        std::exit(error && error->message == "cannot write: file too large" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(count(), 0u);
}

TEST_F(OutputFileTest, oneFileUnderTwoNamesIsFound) {
  auto clash = [](std::vector<std::string> paths) {
    auto error = OutputFile::checkDistinct(paths);
    return error ? error->message : std::string();
  };
  fs::create_directory(in("sub"));
  fs::create_symlink(".", in("loop"));
  put("old", "");
  fs::create_symlink("old", in("link"));
  EXPECT_EQ(clash({in("a"), in("b"), "-"}), "");
  EXPECT_EQ(clash({"-", in("a"), "-"}), "'-' is named for two outputs");
  std::string same = " are the same file, named for two outputs";
  EXPECT_EQ(clash({in("a"), in("./a")}), "'" + in("a") + "' and '" + in("./a") + "'" + same);
  EXPECT_EQ(clash({in("a"), in("sub/../a")}), "'" + in("a") + "' and '" + in("sub/../a") + "'" + same);
  EXPECT_EQ(clash({in("a"), in("loop/a")}), "'" + in("a") + "' and '" + in("loop/a") + "'" + same);
  EXPECT_EQ(clash({in("old"), in("link")}), "'" + in("old") + "' and '" + in("link") + "'" + same);
  EXPECT_EQ(clash({"/dev/null", "/dev/null"}), "");
}

TEST_F(OutputFileTest, readFileSaysWhy) {
  EXPECT_EQ(readFile(in("a")).error().message, "cannot read: no such file or directory");
  EXPECT_EQ(readFile(folder).error().message, "cannot read: is a directory");
}
