//===- ArenaVerify.cpp - The judge of packings --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays the steps with the set of occupied ranges, ordered by offset. It shares no code with the packers.
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "remat/Plan/Arena.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace remat {

namespace {

struct Event {
  int64_t step;
  bool begins; ///< At the same step, what ends comes first.
  size_t buffer;

  auto operator<=>(const Event &) const = default;
};

bool takesPlace(const ArenaBuffer &buffer) { return buffer.bytes > 0 && buffer.begin < buffer.end; }

Error atBuffer(size_t buffer, std::string message) {
  return makeError(std::move(message), formatText("buffer {}", buffer));
}

std::optional<Error> checkPlace(const ArenaBuffer &buffer, size_t number, int64_t offset, int64_t alignment,
                                std::optional<int64_t> capacity) {
  if (offset < 0 || offset % alignment != 0)
    return atBuffer(number, formatText("expected an offset that is a multiple of {}, found {}", alignment, offset));
  if (takesPlace(buffer) && capacity && (offset > *capacity || buffer.bytes > *capacity - offset))
    return atBuffer(number, formatText("{} bytes at offset {} end above the capacity of {} bytes", buffer.bytes, offset,
                                       *capacity));
  return std::nullopt;
}

/// The bytes taken at one step.
class Occupied {
public:
  Occupied(std::span<const ArenaBuffer> buffers, std::span<const int64_t> offsets)
      : buffers(buffers), offsets(offsets) {}

  void remove(size_t buffer) { byOffset.erase(offsets[buffer]); }

  std::optional<Error> add(size_t buffer) {
    auto next = byOffset.lower_bound(offsets[buffer]);
    if (next != byOffset.end() && next->first - offsets[buffer] < buffers[buffer].bytes)
      return clash(buffer, next->second);
    if (next != byOffset.begin()) {
      size_t below = std::prev(next)->second;
      if (offsets[buffer] - offsets[below] < buffers[below].bytes)
        return clash(buffer, below);
    }
    byOffset.emplace(offsets[buffer], buffer);
    return std::nullopt;
  }

private:
  Error clash(size_t buffer, size_t other) const {
    return atBuffer(buffer,
                    formatText("{} bytes at offset {} overlap buffer {} ({} bytes at offset {}), which is alive "
                               "at step {} too",
                               buffers[buffer].bytes, offsets[buffer], other, buffers[other].bytes, offsets[other],
                               buffers[buffer].begin));
  }

  std::span<const ArenaBuffer> buffers;
  std::span<const int64_t> offsets;
  std::map<int64_t, size_t> byOffset;
};

} // namespace

std::optional<Error> verifyArena(std::span<const ArenaBuffer> buffers, std::span<const int64_t> offsets,
                                 int64_t alignment, std::optional<int64_t> capacity) {
  if (offsets.size() != buffers.size())
    return makeError(formatText("{} offsets for {} buffers", offsets.size(), buffers.size()));
  std::vector<Event> events;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (auto error = checkPlace(buffers[i], i, offsets[i], alignment, capacity))
      return error;
    if (!takesPlace(buffers[i]))
      continue;
    events.push_back({buffers[i].begin, true, i});
    events.push_back({buffers[i].end, false, i});
  }
  std::ranges::sort(events);
  Occupied occupied(buffers, offsets);
  for (const Event &event : events) {
    if (!event.begins)
      occupied.remove(event.buffer);
    else if (auto error = occupied.add(event.buffer))
      return error;
  }
  return std::nullopt;
}

} // namespace remat
