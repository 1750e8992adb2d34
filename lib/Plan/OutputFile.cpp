//===- OutputFile.cpp - Files that are whole or not there ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/OutputFile.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <pthread.h>
#include <streambuf>
#include <sys/stat.h>
#include <unistd.h>

using namespace remat;

namespace {

/// What the system says of `code`, in our form: lower case.
std::string systemText(int code) {
  std::string text = std::strerror(code);
  if (!text.empty() && text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// Writes to a file descriptor and keeps the first error.
class DescriptorBuffer : public std::streambuf {
public:
  int descriptor = -1;
  int failure = 0;

  bool flush() {
    const char *next = buffer.data();
    while (failure == 0 && next != pptr() && pptr()) {
      ssize_t written = ::write(descriptor, next, size_t(pptr() - next));
      if (written >= 0)
        next += written;
      else if (errno != EINTR)
        failure = errno;
    }
    setp(buffer.data(), buffer.data() + buffer.size());
    return failure == 0;
  }

protected:
  int_type overflow(int_type c) override {
    if (!flush())
      return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof()))
      sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return flush() ? 0 : -1; }

private:
  std::array<char, size_t(1) << 16> buffer;
};

// Signal handlers may only touch lock-free atomics: the paths hang in fixed slots.
std::array<std::atomic<char *>, 16> temporaryPaths;
static_assert(std::atomic<char *>::is_always_lock_free);

void rememberPath(const std::string &path) {
  char *copy = ::strdup(path.c_str());
  for (std::atomic<char *> &slot : temporaryPaths)
    if (char *empty = nullptr; slot.compare_exchange_strong(empty, copy))
      return;
  std::free(copy);
}

void forgetPath(const std::string &path) {
  for (std::atomic<char *> &slot : temporaryPaths)
    if (char *kept = slot.load(); kept && path == kept) {
      slot.store(nullptr);
      std::free(kept);
      return;
    }
}

/// The thread that called `removeOnSignals`. Others hand signals on to it: where it has blocked them, a folder or a
/// child process is to end first.
pthread_t mainThread;

void removeTemporaryFiles(int signal) {
  if (!::pthread_equal(::pthread_self(), mainThread)) {
    ::pthread_kill(mainThread, signal);
    return;
  }
  for (std::atomic<char *> &slot : temporaryPaths)
    if (const char *path = slot.load())
      ::unlink(path);
  if (signal == SIGPIPE) {
    // A reader that has seen enough is no news. The signal is blocked here and ends the process on return.
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  // An interrupted run is a failed one: exit code 1, as for every error. Only what is safe in a handler is called.
  auto print = [](const char *text) { (void)!::write(STDERR_FILENO, text, ::strlen(text)); };
  print(program_invocation_short_name);
  print(": error: interrupted, nothing was written\n");
  ::_exit(1);
}

} // namespace

struct OutputFile::Impl {
  std::string path;
  std::string target;    ///< The file behind a symbolic link.
  std::string temporary; ///< Empty: written directly.
  DescriptorBuffer buffer;
  std::ostream stream{&buffer};

  ~Impl() {
    if (buffer.descriptor > STDERR_FILENO)
      ::close(buffer.descriptor);
    discard();
  }
  void discard() {
    if (temporary.empty())
      return;
    ::unlink(temporary.c_str());
    forgetPath(temporary);
    temporary.clear();
  }
  Error error(int code) const { return {"cannot write: " + systemText(code), path == "-" ? "<stdout>" : path}; }
};

OutputFile::OutputFile(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
OutputFile::OutputFile(OutputFile &&) = default;
OutputFile &OutputFile::operator=(OutputFile &&) = default;
OutputFile::~OutputFile() = default;

const std::string &OutputFile::path() const { return impl->path; }
std::ostream &OutputFile::stream() { return impl->stream; }

/// The permissions a new file gets.
static mode_t newFileMode() {
  mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

Expected<OutputFile> OutputFile::open(std::string path) {
  auto impl = std::make_unique<Impl>();
  impl->path = impl->target = std::move(path);
  if (impl->path == "-") {
    impl->buffer.descriptor = STDOUT_FILENO;
    return OutputFile(std::move(impl));
  }
  struct stat status;
  bool exists = ::stat(impl->path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return impl->error(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    impl->buffer.descriptor = ::open(impl->path.c_str(), O_WRONLY | O_CLOEXEC);
    if (impl->buffer.descriptor < 0)
      return impl->error(errno);
    return OutputFile(std::move(impl));
  }
  // A file that may not be written is not replaced either, although rename could.
  if (exists && ::access(impl->path.c_str(), W_OK) != 0)
    return impl->error(errno);
  if (char *real = exists ? ::realpath(impl->path.c_str(), nullptr) : nullptr) {
    impl->target = real;
    std::free(real);
  } else if (struct stat link; ::lstat(impl->path.c_str(), &link) == 0) {
    return Error{"cannot write: a symbolic link to a file that isn't there", impl->path, "remove the link"};
  }
  std::string temporary = impl->target + ".XXXXXX";
  impl->buffer.descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (impl->buffer.descriptor < 0)
    return impl->error(errno);
  impl->temporary = temporary;
  rememberPath(temporary);
  ::fchmod(impl->buffer.descriptor, exists ? status.st_mode & 07777 : newFileMode());
  return OutputFile(std::move(impl));
}

std::optional<Error> OutputFile::finish() {
  impl->stream.flush();
  if (impl->buffer.failure)
    return impl->error(impl->buffer.failure);
  if (impl->buffer.descriptor > STDERR_FILENO) {
    // Some file systems report a full disk only here.
    int closed = ::close(impl->buffer.descriptor);
    impl->buffer.descriptor = -1;
    if (closed != 0)
      return impl->error(errno);
  }
  return std::nullopt;
}

std::optional<Error> OutputFile::publish() {
  if (impl->temporary.empty())
    return std::nullopt;
  if (::rename(impl->temporary.c_str(), impl->target.c_str()) != 0)
    return impl->error(errno);
  forgetPath(impl->temporary);
  impl->temporary.clear();
  return std::nullopt;
}

std::optional<Error> OutputFile::commit() { return commitAll({this, 1}); }

std::optional<Error> OutputFile::commitAll(std::span<OutputFile> files) {
  // Standard output and devices last: they cannot be taken back.
  for (bool direct : {false, true})
    for (OutputFile &file : files)
      if (file.impl->temporary.empty() == direct)
        if (auto error = file.finish())
          return error;
  for (OutputFile &file : files)
    if (auto error = file.publish())
      return error;
  return std::nullopt;
}

namespace {

/// The file that a path leads to, whether it exists or not.
struct Place {
  std::string name; ///< The path without links and detours; `-` for standard output.
  dev_t device = 0;
  ino_t file = 0; ///< 0: no file to run together in, such as a new one or /dev/null.

  bool operator==(const Place &other) const {
    return name == other.name || (file && file == other.file && device == other.device);
  }
};

} // namespace

static std::string realPath(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  std::string text = real ? real : "";
  std::free(real);
  return text;
}

static Place placeOf(const std::string &path) {
  Place place{path};
  struct stat status;
  bool exists = path == "-" ? ::fstat(STDOUT_FILENO, &status) == 0 : ::stat(path.c_str(), &status) == 0;
  if (exists && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode))) {
    place.device = status.st_dev;
    place.file = status.st_ino;
  }
  if (path == "-" || exists)
    return place;
  size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  if (std::string real = realPath(folder); !real.empty())
    place.name = real + "/" + path.substr(slash + 1);
  return place;
}

static bool isDevice(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

std::optional<Error> OutputFile::checkDistinct(std::span<const std::string> paths) {
  for (size_t i = 0; i < paths.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (!(placeOf(paths[i]) == placeOf(paths[j])) || (paths[i] != "-" && isDevice(paths[i])))
        continue;
      if (paths[i] == paths[j])
        return Error{"'" + paths[i] + "' is named for two outputs", {}, "give every output a place of its own"};
      return Error{"'" + paths[j] + "' and '" + paths[i] + "' are the same file, named for two outputs",
                   {},
                   "give every output a place of its own"};
    }
  return std::nullopt;
}

std::optional<Error> OutputFile::checkNotInput(std::span<const std::string> paths, const std::string &input) {
  std::filesystem::path source = input == "-" ? "/dev/stdin" : input;
  std::error_code absent; // What isn't there is no file to destroy; reading it is an error elsewhere.
  if (input.empty() || !std::filesystem::is_regular_file(source, absent))
    return std::nullopt;
  for (const std::string &path : paths)
    if (!path.empty() && path != "-" && std::filesystem::equivalent(source, path, absent))
      return Error{"'" + path + "' is the input too", {}, "write to another file: this one would be lost"};
  return std::nullopt;
}

void OutputFile::removeOnSignals() {
  mainThread = ::pthread_self();
  struct sigaction action = {};
  action.sa_handler = removeTemporaryFiles;
  ::sigemptyset(&action.sa_mask);
  // A file that grows over the limit (ulimit -f) is an error of `write` like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction old;
    // What the parent made us ignore (nohup) stays ignored.
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

Expected<std::string> remat::readFile(const std::string &path) {
  std::string place = path == "-" ? "<stdin>" : path;
  int descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return makeError("cannot read: " + systemText(errno), place);
  std::string text;
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    text.reserve(size_t(status.st_size) + 1);
  int failure = 0;
  while (true) {
    constexpr size_t chunk = size_t(1) << 20;
    size_t size = text.size(), room = std::max(chunk, text.capacity() - size);
    text.resize(size + std::min(room, chunk));
    ssize_t got = ::read(descriptor, text.data() + size, text.size() - size);
    text.resize(size + size_t(std::max<ssize_t>(got, 0)));
    if (got == 0)
      break;
    if (got < 0 && errno != EINTR) {
      failure = errno;
      break;
    }
  }
  if (descriptor != STDIN_FILENO)
    ::close(descriptor);
  if (failure)
    return makeError("cannot read: " + systemText(failure), place);
  return text;
}
