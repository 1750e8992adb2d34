//===- Random.cpp - rng_bit_generator -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random bits by counting: block c of the bits is a cipher of (counter + c) under a key, both from the state. Threefry
// and Philox are those of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011); which
// element of the result gets which word of which block is StableHLO's to leave open and XLA's to say, and is kept here:
// a step gives the same numbers as under XLA.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Tensors.h"

#include "remat/Transforms/ImportedMarks.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Ciphers
//===----------------------------------------------------------------------===//

namespace {

/// Arithmetic on words of 32 and 64 bits.
struct WordMath {
  OpBuilder &builder;
  Location loc;

  Value word(uint32_t value) const {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value wide(int64_t value) const { return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
  Value exclusiveOr(Value a, Value b) const { return arith::XOrIOp::create(builder, loc, a, b); }
  Value rotateLeft(Value a, unsigned by) const {
    return arith::OrIOp::create(builder, loc, arith::ShLIOp::create(builder, loc, a, word(by)),
                                arith::ShRUIOp::create(builder, loc, a, word(32 - by)));
  }
  /// The low and the high half of 64 bits, and back.
  std::array<Value, 2> split(Value a) const {
    Value high = arith::ShRUIOp::create(builder, loc, a, wide(32));
    return {arith::TruncIOp::create(builder, loc, builder.getI32Type(), a),
            arith::TruncIOp::create(builder, loc, builder.getI32Type(), high)};
  }
  Value join(Value low, Value high) const {
    Value shifted = arith::ShLIOp::create(builder, loc, widen(high), wide(32));
    return arith::OrIOp::create(builder, loc, widen(low), shifted);
  }
  Value widen(Value a) const { return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), a); }
};

/// What an algorithm makes of one number of the counter.
struct Cipher {
  unsigned words; ///< Of 32 bits in a block.
  /// The words of the block with this number. `state` is the key, then the counter, low word first.
  SmallVector<Value> (*block)(const WordMath &math, ValueRange state, Value number);
};

} // namespace

static SmallVector<Value> threefryBlock(const WordMath &math, ValueRange state, Value number) {
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  auto [key0, key1] = math.split(state[0]);
  Value key2 = math.exclusiveOr(math.exclusiveOr(key0, key1), math.word(0x1BD11BDA));
  Value keys[3] = {key0, key1, key2};
  auto [a, b] = math.split(math.add(state[1], number));
  a = math.add(a, keys[0]);
  b = math.add(b, keys[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : rotations[group % 2]) {
      a = math.add(a, b);
      b = math.exclusiveOr(math.rotateLeft(b, rotation), a);
    }
    a = math.add(a, keys[(group + 1) % 3]);
    b = math.add(math.add(b, keys[(group + 2) % 3]), math.word(group + 1));
  }
  return {a, b};
}

/// The counter of a state, low word first, with a number added. Threefry's has 64 bits (the high word means nothing),
/// Philox's 128; a state without a high word takes the key for it.
static std::array<Value, 2> addToCounter(const WordMath &math, ValueRange state, Value number) {
  Value low = math.add(state[1], number), high = state.size() == 2 ? state[0] : state[2];
  Value carry = arith::CmpIOp::create(math.builder, math.loc, arith::CmpIPredicate::ult, low, state[1]);
  return {low, math.add(high, arith::ExtUIOp::create(math.builder, math.loc, math.builder.getI64Type(), carry))};
}

static SmallVector<Value> philoxBlock(const WordMath &math, ValueRange state, Value number) {
  auto [key0, key1] = math.split(state[0]);
  auto [low, high] = addToCounter(math, state, number);
  auto [a, b] = math.split(low);
  auto [c, d] = math.split(high);
  auto product = [&](Value word, int64_t factor) {
    return math.split(arith::MulIOp::create(math.builder, math.loc, math.widen(word), math.wide(factor)));
  };
  for (unsigned round = 0; round < 10; ++round) {
    auto [lowA, highA] = product(a, 0xD2511F53);
    auto [lowC, highC] = product(c, 0xCD9E8D57);
    a = math.exclusiveOr(math.exclusiveOr(highC, b), key0);
    b = lowC;
    c = math.exclusiveOr(math.exclusiveOr(highA, d), key1);
    d = lowA;
    key0 = math.add(key0, math.word(0x9E3779B9));
    key1 = math.add(key1, math.word(0xBB67AE85));
  }
  return {a, b, c, d};
}

//===----------------------------------------------------------------------===//
// Where the words go
//===----------------------------------------------------------------------===//

namespace {

/// Where the elements of a block stand in the result, seen as a tensor of three dimensions: block (o, h, i), numbered
/// row by row, holds the elements (o, h * `perBlock` + e, i). The last block along the middle may hold fewer.
struct Layout {
  int64_t outer, middle, inner, perBlock;

  int64_t blocks() const { return llvm::divideCeil(middle, perBlock); }
};

} // namespace

/// Threefry's two words, where an element takes one, are neighbours along the first dimension of even size, or, if none
/// is even, along the largest.
static Layout pairLayout(ArrayRef<int64_t> shape) {
  size_t split = 0;
  while (split < shape.size() && shape[split] % 2 != 0)
    ++split;
  if (split == shape.size())
    split = std::max_element(shape.begin(), shape.end()) - shape.begin();
  Layout layout{1, 1, 1, 2};
  for (auto [dim, size] : llvm::enumerate(shape))
    (dim < split ? layout.outer : dim == split ? layout.middle : layout.inner) *= size;
  return layout;
}

/// The elements of a block: its words, cut to the element's width, or in pairs for 64 bits.
static SmallVector<Value> blockElements(const WordMath &math, ArrayRef<Value> words, Type element) {
  SmallVector<Value> elements;
  if (element.isInteger(64)) {
    for (size_t i = 0; i + 1 < words.size(); i += 2)
      elements.push_back(math.join(words[i], words[i + 1]));
    return elements;
  }
  for (Value word : words)
    elements.push_back(castScalar(math.builder, math.loc, word, element));
  return elements;
}

/// The result in the layout's three dimensions, its blocks [first, end) along the middle filled with `count` elements
/// each.
static Converted fillBlocks(Importer &importer, Location loc, const Layout &layout, const Cipher &cipher,
                            ValueRange state, int64_t first, int64_t end, int64_t count, Value result) {
  OpBuilder &builder = importer.builder;
  auto range = [&](int64_t lower, int64_t upper) {
    return LoopRange{builder.getIndexAttr(lower), builder.getIndexAttr(upper)};
  };
  if (first == end)
    return SmallVector<Value>{result};
  SmallVector<LoopRange> ranges{range(0, layout.outer), range(first, end), range(0, layout.inner)};
  return buildLoops(importer, loc, ranges, result, [&](ValueRange block, ValueRange carried) -> Converted {
    IndexMath math{builder, loc};
    Value number = math.multiply(math.add(math.multiply(block[0], layout.blocks()), block[1]), layout.inner);
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), math.add(number, block[2]));
    SmallVector<Value> words = cipher.block({builder, loc}, state, wide);
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    Value next = carried.front();
    SmallVector<Value> elements = blockElements({builder, loc}, words, element);
    for (auto [e, value] : llvm::enumerate(ArrayRef<Value>(elements).take_front(count))) {
      Value middle = math.add(math.multiply(block[1], layout.perBlock), e);
      next = tensor::InsertOp::create(builder, loc, value, next, ValueRange{block[0], middle, block[2]});
    }
    return SmallVector<Value>{next};
  });
}

//===----------------------------------------------------------------------===//
// rng_bit_generator
//===----------------------------------------------------------------------===//

/// The state with the counter moved on by the number of blocks. The key stays.
static Value advance(const WordMath &math, Value state, ValueRange words, int64_t blocks) {
  std::array<Value, 2> counter = addToCounter(math, words, math.wide(blocks));
  for (size_t i = 1; i < words.size(); ++i) {
    Value place = arith::ConstantIndexOp::create(math.builder, math.loc, i);
    state = tensor::InsertOp::create(math.builder, math.loc, counter[i - 1], state, place);
  }
  return state;
}

static FailureOr<Cipher> readCipher(Operation *op, RankedTensorType state) {
  std::string name = hloEnum(getHloAttr(op, "rng_algorithm"));
  bool threefry = name == "THREE_FRY";
  if (!threefry && name != "PHILOX" && name != "DEFAULT") // By default XLA takes Philox on every platform we know.
    return unsupported(op, "algorithm '" + name + "'", "use THREE_FRY or PHILOX");
  int64_t length = state.getRank() == 1 ? state.getDimSize(0) : 0;
  if (!state.getElementType().isInteger(64) || !(length == 2 || (length == 3 && !threefry)))
    return malformed(op, Twine("expected a state of tensor<2xui64>") + (threefry ? "" : " or tensor<3xui64>"));
  return threefry ? Cipher{2, threefryBlock} : Cipher{4, philoxBlock};
}

static Converted convertRngBitGenerator(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1, 2)))
    return failure();
  RankedTensorType state = Importer::resultType(op, 0), type = Importer::resultType(op, 1);
  FailureOr<Cipher> cipher = readCipher(op, state);
  if (failed(cipher))
    return failure();
  if (importer.operand(op, 0).getType() != state)
    return malformed(op, "expected a new state of the old one's type");
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element || !llvm::is_contained({8u, 16u, 32u, 64u}, element.getWidth()))
    return unsupported(op, "an element that isn't an integer of 8, 16, 32 or 64 bits",
                       "draw integers and convert them with bitcast_convert");
  unsigned perBlock = element.getWidth() == 64 ? cipher->words / 2 : cipher->words;
  Layout layout{1, type.getNumElements(), 1, perBlock};
  if (cipher->words == 2 && perBlock == 2)
    layout = pairLayout(type.getShape());
  auto flat = RankedTensorType::get({layout.outer, layout.middle, layout.inner}, element);
  Location loc = op->getLoc();
  auto body = [&](ValueRange arguments) -> Converted {
    WordMath math{importer.builder, loc};
    SmallVector<Value> words;
    for (int64_t i = 0; i < state.getDimSize(0); ++i)
      words.push_back(tensor::ExtractOp::create(importer.builder, loc, arguments[0],
                                                ValueRange{arith::ConstantIndexOp::create(importer.builder, loc, i)}));
    int64_t whole = layout.middle / perBlock, blocks = layout.blocks();
    Converted filled = fillBlocks(importer, loc, layout, *cipher, words, 0, whole, perBlock, importer.empty(loc, flat));
    if (succeeded(filled))
      filled =
          fillBlocks(importer, loc, layout, *cipher, words, whole, blocks, layout.middle % perBlock, filled->front());
    if (failed(filled))
      return failure();
    return SmallVector<Value>{advance(math, arguments[0], words, layout.outer * blocks * layout.inner),
                              reshape(importer.builder, loc, filled->front(), type)};
  };
  Converted converted = buildKernel(importer, loc, {state, type}, importer.operand(op, 0), {0, -1}, body);
  if (succeeded(converted))
    converted->front().getDefiningOp()->setAttr(randomMark, importer.builder.getUnitAttr());
  return converted;
}

/// Nobody says which numbers `rng` gives, so a recomputed one would differ from the first.
static Converted convertRng(Importer &, Operation *op) {
  return unsupported(op, "a generator without a state",
                     "use 'stablehlo.rng_bit_generator', which takes its state as an operand (in JAX, "
                     "'jax.random' with any key)");
}

void addRandomConversions(ConversionTable &table) {
  table["stablehlo.rng_bit_generator"] = convertRngBitGenerator;
  table["stablehlo.rng"] = convertRng;
}

} // namespace remat
