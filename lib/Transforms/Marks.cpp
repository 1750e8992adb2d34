//===- Marks.cpp - What a rewritten function says about itself ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Marks.h"

#include "remat/IR/RematDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace remat {

bool isStableHlo(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        StringRef dialect = op->getName().getDialectNamespace();
        return dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo" ? WalkResult::interrupt()
                                                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isBarrier(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "stablehlo.optimization_barrier" || name == "mhlo.optimization_barrier" || name == "remat.barrier";
}

bool isRewritten(func::FuncOp function) {
  return function->hasAttr(attr::recomputations) || frontendNumber(function, attr::recomputations);
}

StringRef frontendText(Operation *op, StringRef name) {
  auto dictionary = op->getAttrOfType<DictionaryAttr>(mark::frontend);
  auto text = dictionary ? dictionary.getAs<StringAttr>(name) : StringAttr();
  return text ? text.getValue() : StringRef();
}

void setFrontendText(Operation *op, StringRef name, const Twine &text) {
  NamedAttrList attributes;
  if (auto dictionary = op->getAttrOfType<DictionaryAttr>(mark::frontend))
    attributes = NamedAttrList(dictionary);
  attributes.set(name, StringAttr::get(op->getContext(), text));
  op->setAttr(mark::frontend, attributes.getDictionary(op->getContext()));
}

std::optional<int64_t> frontendNumber(Operation *op, StringRef name) {
  int64_t number;
  if (frontendText(op, name).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

void setFrontendNumber(Operation *op, StringRef name, int64_t number) { setFrontendText(op, name, Twine(number)); }

} // namespace remat
