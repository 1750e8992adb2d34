//===- BlockBuilder.h - The steps of one block -------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is laid out on its own: items (ops that take time) in order, storages with the items that write and read
// them. The simulator says what the peak is, the packer where the slots lie. A loop's blocks are packed first; their
// arena is then a workspace of the loop.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "BuildProgram.h"

#include "Access.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace remat {

/// What all blocks of a function share.
struct ProgramParts {
  KernelTable &kernels;
  int64_t enoughBytes = 0; ///< The arena need not be smaller.
  runtime::Program program = {};
  llvm::SmallVector<int> parents = {}; ///< By slot: the slot that its offset is relative to, or -1.
  bool provenPacking = true;

  uint32_t addSlot(std::string name, int64_t bytes);
  /// Where among the constants the bytes lie.
  int64_t addConstant(llvm::ArrayRef<char> data);
};

/// Bytes of a tensor in memory; a boolean takes one.
int64_t tensorBytes(mlir::Type type);

/// What slots are aligned and their sizes are rounded up to, bytes.
constexpr int64_t slotAlignment = 64;
/// Bytes of a tensor's slot.
inline int64_t slotBytes(mlir::Type type) { return llvm::alignTo(tensorBytes(type), slotAlignment); }

/// The tensor<i32> with the number of the branch that is taken (ClusterPrepare.h); null for anything else.
mlir::Value branchNumber(mlir::scf::IfOp branch);

/// What a matrix product writes over: it has no bytes.
bool isShapeOnly(mlir::Value base);

/// Ops that are done when the program is made: reshapes, constants, and what starts a matrix product's sums; the
/// conditions of branches too. All others are items.
bool takesNoTime(mlir::Operation *op);

class BlockBuilder {
public:
  BlockBuilder(ProgramParts &parts, mlir::Block &block, BlockBuilder *outer);

  /// Says where a block argument lies. A carried place may be written once nobody reads the old value any more.
  void placeArgument(mlir::Value argument, runtime::Buffer buffer, bool isCarried);
  /// Lets the function's result of this number, or any, take the place of an argument that nobody reads any more.
  void donate(mlir::Value argument, std::optional<unsigned> result);
  /// The value that the terminator hands on is to lie where the carried argument does, if that is possible.
  void wantIn(mlir::Value value, mlir::Value carried) { wanted[findBase(value)] = carried; }

  mlir::LogicalResult addItems();
  /// Ends the block with copies of values to where they must be, as if all were made at once; nothing is done where a
  /// value lies there already.
  void addCopies(llvm::ArrayRef<std::pair<mlir::Value, runtime::Buffer>> copies);
  /// Simulates and packs; adds the events to the steps.
  mlir::LogicalResult finish();

  runtime::Buffer bufferOf(mlir::Value value) { return storages[storageOf(value)].buffer; }

  llvm::SmallVector<BuiltItem, 0> builtItems() const;

  std::vector<runtime::Step> steps;
  std::vector<mlir::Operation *> origins; ///< Of the steps in preorder.
  Graph graph;
  int64_t livePeakBytes = 0, arenaBytes = 0;
  llvm::SmallVector<uint32_t> slots; ///< Of this block; offsets are relative to its arena.

private:
  static constexpr size_t never = ~size_t(0);

  struct Storage {
    runtime::Buffer buffer; ///< In the arena: `index` is the slot; offsets come at the end.
    int64_t bytes = 0;
    size_t firstItem = 0, lastRead = 0; ///< `never`: outlives the block.
    bool isOwn = false, isCarried = false, isDonated = false;
    std::optional<unsigned> donatedResult = {}; ///< The only result that may take a donated place.
  };
  struct Item {
    mlir::Operation *op; ///< Null for copies at the end.
    size_t firstStep = 0;
    int64_t workspaceBytes = 0;
    llvm::SmallVector<uint32_t> workspaces = {};
    std::optional<uint32_t> innerArena = {}; ///< A loop's blocks lie in this slot; their own slots are what is taken.
  };

  void findReads();
  llvm::SmallVector<mlir::Value> readBy(mlir::Operation *op);
  size_t lastReadOf(mlir::Value value);
  unsigned storageOf(mlir::Value value);
  unsigned addStorage(mlir::Value value, Storage storage);

  mlir::LogicalResult addItem();
  mlir::LogicalResult addKernel(KernelOp kernel);
  mlir::LogicalResult addMatmul(mlir::linalg::GenericOp op);
  mlir::LogicalResult addConvolution(ConvolutionOp op);
  mlir::LogicalResult addLoop(mlir::scf::WhileOp loop);
  mlir::LogicalResult addBranch(mlir::scf::IfOp branch);
  void addParts(runtime::Step::Kind kind, runtime::Buffer decision, BlockBuilder &first, BlockBuilder &second);
  void addLibraryCall(mlir::Operation *op, runtime::Step::Kind kind, unsigned number, int64_t workspaceBytes);

  std::string name(llvm::StringRef what = {});
  runtime::Step &addStep(runtime::Step::Kind kind);
  void addCopy(runtime::Buffer from, runtime::Buffer to, int64_t bytes);
  runtime::Buffer addWorkspace(int64_t bytes);
  /// A place for a result: its operand's if `over`, a carried one if it is wanted there, else a new slot.
  unsigned placeResult(mlir::OpResult result, std::optional<unsigned> over);
  bool mayOverwrite(mlir::OpResult result, unsigned operand);
  bool mayTakeCarried(mlir::OpResult result);
  bool mayTakeDonated(mlir::OpResult result, const Storage &storage);
  unsigned countOperands(mlir::Operation *op, unsigned storage);

  ValueId graphValue(mlir::Value value);
  void addToGraph(mlir::ValueRange results, llvm::ArrayRef<mlir::Value> read);
  void noteEvents();

  ProgramParts &parts;
  mlir::Block &block;
  BlockBuilder *outer;
  llvm::SmallVector<Item, 0> items;
  size_t current = 0;
  llvm::DenseMap<mlir::Value, size_t> lastRead; ///< By base value.
  llvm::DenseMap<mlir::Value, unsigned> storageNumbers;
  llvm::SmallVector<Storage, 0> storages;
  llvm::DenseMap<mlir::Value, mlir::Value> wanted, overwritten; ///< Result to carried place; result to operand.

  GraphBuilder graphBuilder;
  llvm::DenseMap<mlir::Value, ValueId> graphValues;
  size_t graphValueCount = 0;
};

} // namespace remat
