//===- GpuTest.cpp - Steps on a real GPU -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Skipped where there is no GPU.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "RandomConvolutions.h"
#include "TestPrograms.h"
#include "remat/CudaRuntime/CudaExecutable.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace remat::runtime;

namespace {

/// out[i] = 2 × in[i] and out[i] = a[i] + b[i], one thread an element.
constexpr char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry gpu_double(.param .u64 in, .param .u64 out) {
  .reg .b32 %i; .reg .b64 %at, %a, %b; .reg .f32 %x;
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 4;
  ld.param.u64 %a, [in];
  ld.param.u64 %b, [out];
  add.u64 %a, %a, %at;
  add.u64 %b, %b, %at;
  ld.global.f32 %x, [%a];
  add.f32 %x, %x, %x;
  st.global.f32 [%b], %x;
  ret;
}

.visible .entry gpu_add(.param .u64 in, .param .u64 other, .param .u64 out) {
  .reg .b32 %i; .reg .b64 %at, %a, %b, %c; .reg .f32 %x, %y;
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 4;
  ld.param.u64 %a, [in];
  ld.param.u64 %b, [other];
  ld.param.u64 %c, [out];
  add.u64 %a, %a, %at;
  add.u64 %b, %b, %at;
  add.u64 %c, %c, %at;
  ld.global.f32 %x, [%a];
  ld.global.f32 %y, [%b];
  add.f32 %x, %x, %y;
  st.global.f32 [%c], %x;
  ret;
}
)";

CudaLaunch launchOf(std::string symbol, size_t buffers, uint32_t threads) {
  CudaLaunch launch;
  launch.symbol = std::move(symbol);
  launch.block = {threads, 1, 1};
  for (size_t i = 0; i < buffers; ++i)
    launch.parameters.push_back({CudaParameter::Kind::Buffer, int64_t(i)});
  return launch;
}

/// A device with a current context and memory of the test's own.
class GPUTest : public testing::Test {
protected:
  void SetUp() override {
    auto loaded = Driver::load(CudaLibraries().driver);
    if (!loaded)
      GTEST_SKIP() << loaded.error().str();
    driver = *loaded;
    CUdevice device;
    CUcontext context;
    check(driver.cuDeviceGet(&device, 0));
    check(driver.cuDevicePrimaryCtxRetain(&context, device));
    check(driver.cuCtxPushCurrent_v2(context));
    isReady = true;
  }
  void TearDown() override {
    if (!isReady)
      return;
    for (CUdeviceptr address : memory)
      check(driver.cuMemFree_v2(address));
    CUcontext context;
    check(driver.cuCtxPopCurrent_v2(&context));
    check(driver.cuDevicePrimaryCtxRelease_v2(0));
  }
  void check(CUresult status) {
    if (auto error = driver.check("the test's call", status))
      FAIL() << error->str();
  }
  DevicePointer upload(const void *data, size_t bytes) {
    CUdeviceptr address = 0;
    check(driver.cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1)));
    check(driver.cuMemcpyHtoD_v2(address, data, bytes));
    memory.push_back(address);
    return address;
  }
  std::vector<float> download(DevicePointer address, size_t count) {
    std::vector<float> values(count);
    check(driver.cuMemcpyDtoHAsync_v2(values.data(), address, count * 4, nullptr));
    check(driver.cuStreamSynchronize(nullptr));
    return values;
  }
  std::unique_ptr<CudaContext> contextOf(Program program, CudaCode code, const CudaOptions &options = {}) {
    auto executable = CudaExecutable::create(std::move(program), std::move(code));
    if (!executable) {
      ADD_FAILURE() << executable.error().str();
      return nullptr;
    }
    auto context = CudaContext::create(*executable, options);
    if (!context) {
      ADD_FAILURE() << context.error().str();
      return nullptr;
    }
    return std::move(*context);
  }
  /// Runs a program of one call and compares it with the CPU's.
  void compare(const Program &program, LibraryCall &cpu, const std::string &what);

  Driver driver;
  std::vector<CUdeviceptr> memory;
  bool isReady = false;
};

CudaCode chainCode(uint32_t n) {
  return {{{launchOf("gpu_double", 2, n)}, {launchOf("gpu_add", 3, n)}}, {}, {}, {ptx, ptx + sizeof(ptx)}};
}

TEST_F(GPUTest, runsAStep) {
  auto context = contextOf(chainProgram(100), chainCode(100));
  ASSERT_TRUE(context);
  std::vector<float> x(100);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  DevicePointer argument = upload(x.data(), 400);
  for (int run = 0; run < 3; ++run) {
    auto error = context->run({{argument}});
    ASSERT_FALSE(error) << error->str();
  }
  std::vector<float> r = download(context->result(0), 100);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(r[i], 6 * x[i]);
  EXPECT_EQ(context->memory()->arenaBytes, 1344);
}

TEST_F(GPUTest, replaysAGraph) {
  CudaOptions options;
  options.graph = true;
  auto context = contextOf(chainProgram(4), chainCode(4), options);
  ASSERT_TRUE(context);
  for (float scale : {1.0f, 10.0f}) {
    std::vector<float> x = {1 * scale, 2 * scale, 3 * scale, 4 * scale};
    DevicePointer argument = upload(x.data(), 16);
    for (int run = 0; run < 2; ++run)
      ASSERT_FALSE(context->run({{argument}}));
    EXPECT_EQ(download(context->result(0), 4)[3], 24 * scale);
  }
  EXPECT_EQ(context->graphCounts().instantiated, 1);
  EXPECT_EQ(context->graphCounts().updated, 1);
  EXPECT_EQ(context->graphCounts().launched, 4);
}

void GPUTest::compare(const Program &program, LibraryCall &cpu, const std::string &what) {
  std::mt19937 random(7);
  auto context = contextOf(program, {});
  ASSERT_TRUE(context) << what;
  std::vector<std::vector<float>> data;
  std::vector<DevicePointer> arguments;
  for (const Program::Value &argument : program.arguments) {
    data.emplace_back(size_t(argument.type.elements()));
    // Whole numbers: every order of summation gives the same.
    for (float &value : data.back())
      value = float(int(random() % 7) - 3);
    arguments.push_back(upload(data.back().data(), data.back().size() * 4));
  }
  auto error = context->run(arguments);
  ASSERT_FALSE(error) << error->str() << ": " << what;
  librarycases::Array workspace(ElementType::I8, cpu.workspaceBytes() + 64),
      expected(ElementType::F32, program.results[0].type.elements());
  cpu.run(data[0].data(), data[1].data(), expected.data(), workspace.data());
  std::vector<float> found = download(context->result(0), size_t(program.results[0].type.elements()));
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], static_cast<const float *>(expected.data())[i], 1e-3) << what << " at " << i;
}

/// One call: operands are arguments, the result is at 0 of the arena, a workspace of 4 MiB behind it.
Program callProgram(Step::Kind kind, TensorType a, TensorType b, TensorType c) {
  Program program;
  program.name = "call";
  program.arguments = {{"a", a}, {"b", b}};
  program.results = {{"c", c}};
  int64_t bytes = (c.bytes() + 255) / 256 * 256, workspaceBytes = int64_t(4) << 20;
  program.slots = {{"c", 0, c.bytes()}, {"workspace", bytes, workspaceBytes}};
  Step step;
  step.kind = kind;
  step.name = "call.0";
  step.buffers = {argumentAt(0), argumentAt(1), arenaAt(0), arenaAt(bytes)};
  step.taken = {0, 1};
  program.steps = {step};
  program.resultBuffers = {arenaAt(0)};
  program.arenaBytes = bytes + workspaceBytes;
  return program;
}

TEST_F(GPUTest, multipliesAsTheCpuDoes) {
  for (auto [m, n, k] : {std::tuple(1, 1, 1), {4, 3, 5}, {64, 64, 64}, {7, 129, 33}, {1, 200, 100}}) {
    Program program = callProgram(Step::Kind::Matmul, f32({m, k}), f32({k, n}), f32({m, n}));
    MatmulSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.aRowStride = k;
    spec.bRowStride = spec.cRowStride = n;
    spec.aColumnStride = spec.bColumnStride = spec.cColumnStride = 1;
    program.matmuls = {spec};
    std::string error;
    compare(program, *makeMatmul(spec, 1, error),
            std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k));
  }
}

TEST_F(GPUTest, convolvesAsTheCpuDoes) {
  librarycases::Random random(1);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    ConvolutionSpec spec;
    if (!randomConvolution(random, spec))
      continue;
    Program program = callProgram(Step::Kind::Convolution, spec.lhs, spec.rhs, spec.result);
    program.convolutions = {spec};
    std::string error;
    compare(program, *makeConvolution(spec, 1, error), "convolution " + std::to_string(i));
  }
}

} // namespace
