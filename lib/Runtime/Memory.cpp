//===- Memory.cpp - The arena's memory and the process's -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Memory.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace remat::runtime;

Pages::~Pages() {
  if (address)
    ::munmap(address, size_t(size));
}

std::string remat::runtime::systemText(int code) {
  std::string text = std::strerror(code);
  // Not of `RPC` and the like.
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Expected<Pages> Pages::allocate(int64_t bytes, int64_t limitBytes, const char *purpose) {
  std::string needed = std::string(purpose) + " needs " + std::to_string(bytes) + " bytes";
  if (limitBytes > 0 && bytes > limitBytes)
    return Error{needed + ", the limit is " + std::to_string(limitBytes), "",
                 "raise the limit, or plan for less memory: --policy=sqrt-n"};
  Pages pages;
  if (bytes == 0)
    return pages;
  void *memory = ::mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{needed + ", the system says: " + systemText(errno), "", "plan for less memory: --policy=sqrt-n"};
  pages.address = static_cast<char *>(memory);
  pages.size = bytes;
  // Large pages spare a matrix product most of its address translations. The advice is free to fail.
  (void)::madvise(memory, size_t(bytes), MADV_HUGEPAGE);
  return pages;
}

static int64_t kibibytesAfter(const char *text, const char *key) {
  const char *found = std::strstr(text, key);
  return found ? std::strtoll(found + std::strlen(key), nullptr, 10) * 1024 : 0;
}

ProcessMemory remat::runtime::readProcessMemory() {
  char text[4096];
  int descriptor = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return {};
  ssize_t size = ::read(descriptor, text, sizeof(text) - 1);
  ::close(descriptor);
  if (size <= 0)
    return {};
  text[size] = 0;
  return {kibibytesAfter(text, "VmRSS:"), kibibytesAfter(text, "VmHWM:")};
}

bool remat::runtime::resetPeakMemory() {
  int descriptor = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  bool done = ::write(descriptor, "5", 1) == 1;
  ::close(descriptor);
  return done;
}
