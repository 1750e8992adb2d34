//===- Profile.cpp - Where the time goes -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Profile.h"
#include "Observers.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

using namespace remat::runtime;

static const char *spell(Step::Kind kind) {
  constexpr const char *names[] = {"kernel", "matmul", "convolution", "copy", "while", "branch"};
  return names[size_t(kind)];
}

StopWatch::StopWatch(const Program &program) : program(program), start(Clock::now()) {}

bool StopWatch::begin(const PreparedStep &prepared) {
  for (uint32_t slot : prepared.step->taken)
    liveBytes += roundedBytes(program.slots[slot]);
  open.push_back(now());
  return true;
}

bool StopWatch::end(const PreparedStep &prepared) {
  const Step &step = *prepared.step;
  int64_t began = open.back(), ended = now();
  open.pop_back();
  int64_t bytes = step.kind == Step::Kind::Copy ? 2 * step.bytes : step.bytes;
  profile.executions.push_back({step.name, spell(step.kind), began, ended - began, bytes, liveBytes, int(open.size())});
  for (uint32_t slot : step.released)
    liveBytes -= roundedBytes(program.slots[slot]);
  return true;
}

Profile StopWatch::take() {
  profile.totalNs = now();
  return std::move(profile);
}

static void writeJsonText(std::ostream &out, const std::string &text) {
  out << '"';
  for (char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\')
      out << '\\' << c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out << (std::snprintf(escaped, sizeof(escaped), "\\u%04x", c), escaped);
    else
      out << c;
  }
  out << '"';
}

/// Chrome counts in microseconds.
static void writeMicroseconds(std::ostream &out, int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof(text), "%lld.%03lld", static_cast<long long>(nanoseconds / 1000),
                static_cast<long long>(nanoseconds % 1000));
  out << text;
}

void remat::runtime::writeChromeTrace(std::ostream &out, const Profile &profile) {
  out << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char *separator = "\n";
  for (const Profile::Execution &execution : profile.executions) {
    out << std::exchange(separator, ",\n") << "{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"name\": ";
    writeJsonText(out, execution.name);
    out << ", \"cat\": \"" << execution.kind << "\", \"ts\": ";
    writeMicroseconds(out, execution.startNs);
    out << ", \"dur\": ";
    writeMicroseconds(out, execution.durationNs);
    out << ", \"args\": {\"bytes\": " << execution.bytes << "}}";
    out << ",\n{\"ph\": \"C\", \"pid\": 0, \"name\": \"live bytes\", \"ts\": ";
    writeMicroseconds(out, execution.startNs);
    out << ", \"args\": {\"bytes\": " << execution.liveBytes << "}}";
  }
  out << "\n]}\n";
}

namespace {

struct Row {
  std::string name;
  size_t count = 0;
  int64_t ns = 0, bytes = 0;

  void add(const Row &other) {
    count += other.count;
    ns += other.ns;
    bytes += other.bytes;
  }
};

void writeRow(std::ostream &out, const Row &row, int64_t totalNs) {
  std::string name = row.name.size() > 40 ? row.name.substr(0, 37) + "..." : row.name;
  char text[128];
  std::snprintf(text, sizeof(text), "%-40s %7zu %10.3f %6.1f%% %8.1f\n", name.c_str(), row.count, double(row.ns) / 1e6,
                totalNs > 0 ? 100.0 * double(row.ns) / double(totalNs) : 0.0,
                row.ns > 0 ? double(row.bytes) / double(row.ns) : 0.0);
  out << text;
}

} // namespace

void remat::runtime::writeProfileTable(std::ostream &out, const Profile &profile, size_t rows) {
  std::map<std::string, Row> byName;
  for (const Profile::Execution &execution : profile.executions) {
    // A loop is the sum of what it holds.
    if (execution.kind == "while" || execution.kind == "branch")
      continue;
    Row &row = byName[execution.name];
    row.name = execution.name;
    row.add({{}, 1, execution.durationNs, execution.bytes});
  }
  std::vector<Row> sorted;
  for (auto &[name, row] : byName)
    sorted.push_back(std::move(row));
  std::ranges::sort(sorted, std::greater<>(), [](const Row &row) { return std::pair(row.ns, row.name); });
  char heading[128];
  std::snprintf(heading, sizeof(heading), "%-40s %7s %10s %7s %8s\n", "step", "runs", "ms", "share", "GB/s");
  out << heading;
  Row others{"(others)"}, all{"(all)"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    all.add(sorted[i]);
    if (i < rows)
      writeRow(out, sorted[i], profile.totalNs);
    else
      others.add(sorted[i]);
  }
  if (sorted.size() > rows)
    writeRow(out, others, profile.totalNs);
  writeRow(out, all, profile.totalNs);
}
