//===- MaxFlow.cpp - Maximum flow, minimum cut ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaxFlow.h"

#include <algorithm>

namespace remat {

static constexpr uint32_t unreached = ~uint32_t(0);

void MaxFlow::addEdge(uint32_t from, uint32_t to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool MaxFlow::findLevels(uint32_t source, uint32_t sink) {
  level.assign(edgesOf.size(), unreached);
  level[source] = 0;
  std::vector<uint32_t> queue{source};
  for (size_t i = 0; i < queue.size() && level[sink] == unreached; ++i)
    for (uint32_t e : edgesOf[queue[i]])
      if (edges[e].capacity > 0 && level[edges[e].to] == unreached) {
        level[edges[e].to] = level[queue[i]] + 1;
        queue.push_back(edges[e].to);
      }
  return level[sink] != unreached;
}

/// Advances along the levels, retreats from dead ends; without recursion, for networks may be deep.
int64_t MaxFlow::pushOnePath(uint32_t source, uint32_t sink) {
  std::vector<uint32_t> path;
  uint32_t node = source;
  while (node != sink) {
    uint32_t &i = next[node];
    while (i < edgesOf[node].size() &&
           !(edges[edgesOf[node][i]].capacity > 0 && level[edges[edgesOf[node][i]].to] == level[node] + 1))
      ++i;
    if (i < edgesOf[node].size()) {
      path.push_back(edgesOf[node][i]);
      node = edges[path.back()].to;
    } else if (path.empty()) {
      return 0;
    } else {
      node = edges[path.back() ^ 1].to;
      path.pop_back();
      ++next[node];
    }
  }
  int64_t flow = infinity;
  for (uint32_t e : path)
    flow = std::min(flow, edges[e].capacity);
  for (uint32_t e : path) {
    edges[e].capacity -= flow;
    edges[e ^ 1].capacity += flow;
  }
  return flow;
}

void MaxFlow::findSinkSide(uint32_t sink) {
  reachesSink.assign(edgesOf.size(), false);
  reachesSink[sink] = true;
  std::vector<uint32_t> work{sink};
  while (!work.empty()) {
    uint32_t node = work.back();
    work.pop_back();
    for (uint32_t e : edgesOf[node])
      if (edges[e ^ 1].capacity > 0 && !reachesSink[edges[e].to]) {
        reachesSink[edges[e].to] = true;
        work.push_back(edges[e].to);
      }
  }
}

int64_t MaxFlow::run(uint32_t source, uint32_t sink) {
  int64_t total = 0;
  while (findLevels(source, sink)) {
    next.assign(edgesOf.size(), 0);
    while (int64_t flow = pushOnePath(source, sink))
      total += std::min(flow, infinity - total); // Several infinite paths are no more than one.
  }
  findSinkSide(sink);
  return total;
}

} // namespace remat
