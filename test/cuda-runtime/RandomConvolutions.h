//===- RandomConvolutions.h - Convolutions of every form ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "LibraryCases.h"

#include <algorithm>

namespace remat::runtime {

inline std::vector<int64_t> randomOrder(librarycases::Random &random, size_t rank) {
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = int64_t(i);
  std::shuffle(order.begin(), order.end(), random.engine);
  return order;
}

/// One that cuDNN has, of any rank, dimension numbers, groups and padding. False: no such convolution.
inline bool randomConvolution(librarycases::Random &random, ConvolutionSpec &spec) {
  size_t rank = size_t(random.pick({0, 1, 2, 2, 2, 3}));
  for (std::vector<int64_t> *dims : {&spec.lhsDims, &spec.rhsDims, &spec.resultDims})
    *dims = randomOrder(random, rank + 2);
  spec.lhs.shape.assign(rank + 2, 1);
  spec.rhs.shape.assign(rank + 2, 1);
  int64_t groups = random.pick({1, 1, 2, 3}), inputs = random.pick({1, 2, 3}), outputs = random.pick({1, 2, 3});
  (random.below(2) ? spec.featureGroups : spec.batchGroups) = groups;
  spec.lhs.shape[size_t(spec.lhsDims[0])] = random.pick({1, 2}) * spec.batchGroups;
  spec.lhs.shape[size_t(spec.lhsDims[1])] = inputs * spec.featureGroups;
  spec.rhs.shape[size_t(spec.rhsDims[0])] = inputs;
  spec.rhs.shape[size_t(spec.rhsDims[1])] = outputs * groups;
  bool isReversed = random.below(3) == 0, isDilated = random.below(3) == 0;
  for (size_t d = 0; d < rank; ++d) {
    spec.lhs.shape[size_t(spec.lhsDims[d + 2])] = random.pick({1, 3, 4, 6, 7});
    spec.rhs.shape[size_t(spec.rhsDims[d + 2])] = random.pick({1, 2, 3, 5});
    spec.strides.push_back(isDilated ? 1 : random.pick({1, 1, 2, 3}));
    spec.lhsDilation.push_back(isDilated ? random.pick({1, 2, 3}) : 1);
    spec.rhsDilation.push_back(random.pick({1, 1, 2}));
    spec.reversed.push_back(isReversed);
    for (int side = 0; side < 2; ++side)
      spec.padding.push_back(random.pick({-2, -1, 0, 0, 1, 2, 3, 5}));
  }
  return librarycases::finish(spec);
}

} // namespace remat::runtime
