//===- LargeSearchLists.h - Millions of short lists ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace remat {

/// Lists that share one piece of memory: a vector for each would take several times as much. Spans are valid until the
/// next insertion.
template <typename T>
class ListPool {
public:
  explicit ListPool(size_t count) : lists(count) {}

  /// Makes room for lists of these sizes at once, which are then appended to.
  void reserve(std::span<const uint32_t> sizes) {
    size_t sum = 0;
    for (size_t i = 0; i < lists.size(); ++i) {
      lists[i] = {uint32_t(sum), 0, sizes[i]};
      sum += sizes[i];
    }
    memory.resize(sum);
  }

  std::span<T> operator[](size_t list) { return {memory.data() + lists[list].begin, lists[list].size}; }
  std::span<const T> operator[](size_t list) const { return {memory.data() + lists[list].begin, lists[list].size}; }

  void append(size_t list, T item) { insert(list, lists[list].size, item); }

  void insert(size_t list, size_t position, T item) {
    if (lists[list].size == lists[list].capacity)
      grow(list, lists[list].size + 1);
    T *data = memory.data() + lists[list].begin;
    std::copy_backward(data + position, data + lists[list].size, data + lists[list].size + 1);
    data[position] = item;
    ++lists[list].size;
  }

  void erase(size_t list, size_t position) {
    T *data = memory.data() + lists[list].begin;
    std::copy(data + position + 1, data + lists[list].size, data + position);
    --lists[list].size;
  }

  /// `items` lie elsewhere.
  void assign(size_t list, std::span<const T> items) {
    if (items.size() > lists[list].capacity)
      grow(list, items.size());
    std::ranges::copy(items, memory.data() + lists[list].begin);
    lists[list].size = items.size();
  }

private:
  struct List {
    uint32_t begin = 0, size = 0, capacity = 0;
  };

  void grow(size_t list, size_t least) {
    List old = lists[list];
    size_t sizeClass = std::bit_width(std::max<size_t>(2, least) - 1);
    List moved{uint32_t(memory.size()), old.size, uint32_t(1) << sizeClass};
    if (!unused[sizeClass].empty()) {
      moved.begin = unused[sizeClass].back();
      unused[sizeClass].pop_back();
    } else {
      memory.resize(memory.size() + moved.capacity);
    }
    std::copy_n(memory.data() + old.begin, old.size, memory.data() + moved.begin);
    if (old.capacity > 0)
      unused[std::bit_width(old.capacity) - 1].push_back(old.begin);
    lists[list] = moved;
  }

  std::vector<List> lists;
  std::vector<T> memory;
  std::vector<uint32_t> unused[32]; ///< Places with room for at least 2^i items.
};

} // namespace remat
