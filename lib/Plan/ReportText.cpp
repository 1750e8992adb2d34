//===- ReportText.cpp - Reports for a terminal -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "remat/Plan/Report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

using namespace remat;

static std::string fixed(double value, int digits) {
  std::array<char, 400> text;
  return {text.data(), size_t(std::snprintf(text.data(), text.size(), "%.*f", digits, value))};
}

/// `value` in the largest unit that leaves at least 1 of it.
static std::string inUnits(double value, double base, std::span<const std::string_view> units) {
  size_t unit = 0;
  for (; unit + 1 < units.size() && value >= base; ++unit)
    value /= base;
  return fixed(value, unit ? 1 : 0) + " " + std::string(units[unit]);
}

static std::string humanBytes(int64_t bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return inUnits(double(bytes), 1024, units);
}

static std::string humanCount(int64_t count) {
  static constexpr std::string_view units[] = {"", "k", "M", "G", "T", "P", "E"};
  return inUnits(double(count), 1000, units);
}

static std::string humanTime(double ns) {
  static constexpr std::string_view units[] = {"ns", "us", "ms", "s"};
  return inUnits(ns, 1000, units);
}

static std::string percent(double fraction) {
  double value = 100 * std::abs(fraction);
  if (value > 0 && value < 0.005)
    return "<0.01%";
  return fixed(value, value < 10 ? 2 : 1) + "%";
}

/// Columns of UTF-8 text, taking every character for one column.
static size_t width(std::string_view text) {
  return size_t(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// `text` in exactly `columns` columns, cut or filled up at its end. Control characters become `?`.
static std::string cell(std::string_view text, size_t columns) {
  bool isCut = width(text) > columns;
  size_t room = isCut ? columns - 3 : columns;
  std::string shown;
  for (size_t used = 0; char c : text) {
    used += (c & 0xc0) != 0x80;
    if (used > room)
      break;
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return shown + (isCut ? "..." : std::string(columns - width(shown), ' '));
}

static std::string rightCell(std::string text, size_t columns) {
  return std::string(columns - std::min(columns, width(text)), ' ') + text;
}

static std::string withoutTrailingSpace(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

static std::string exactAndHuman(std::string exact, std::string human) { return formatText("{} ({})", exact, human); }

static std::string bytesCell(int64_t bytes) { return exactAndHuman(toText(bytes), humanBytes(bytes)); }

static void writeRow(std::ostream &out, std::string_view label, std::string before, std::string after) {
  out << withoutTrailingSpace(cell(label, 14) + rightCell(std::move(before), 33) + rightCell(std::move(after), 33));
}

/// What else to try where `policy` gained nothing.
static std::string_view waysOut(std::string_view policy) {
  if (policy == "sqrt-n")
    return "no cut into segments lowers this peak; --prune drops what does not pay";
  return "--prune drops what does not pay, --segments=auto recomputes by layer,\n"
         "      and --policy=sqrt-n is never above the original peak";
}

static std::string_view ifInterrupted(const Report &report) {
  return report.interrupted ? "; the search was ended early" : "";
}

static std::string more(const Report &report, double overheadCost, double overheadFlops) {
  return report.costIsFlops ? percent(overheadFlops) + " more FLOPs" : percent(overheadCost) + " more time";
}

static void writeLimit(std::ostream &out, const Report &report) {
  bool isOnArena = report.arenaBytes.has_value();
  std::string arena;
  if (isOnArena)
    arena = formatText(": the arena takes {} (peaks count a place for every value)", bytesCell(*report.arenaBytes));
  out << formatText("the limit of {} is kept{}{}\n", bytesCell(*report.memoryLimitBytes), arena, ifInterrupted(report));
  std::string plans = report.order == "given" ? "plan in the given order" : "plan";
  if (isOnArena && report.overheadCost > 0)
    plans += " with no higher peak";
  if (report.gap && *report.gap == 0)
    out << formatText("optimal: no {} costs less\n", plans);
  else if (report.order == "free")
    out << "no bound is known for plans in free order; --order=given has one\n";
  else if (report.gap)
    out << formatText("proven: within {} of the original cost of the best {}\n", percent(*report.gap), plans);
  if (report.lowerBoundPeakBytes)
    out << formatText("no {} has a peak below {}\n", plans, bytesCell(*report.lowerBoundPeakBytes));
}

static void writePareto(std::ostream &out, const Report &report) {
  if (report.pareto.empty())
    return;
  out << formatText("\nplans from the cheapest to the smallest{}\n", ifInterrupted(report));
  for (const Report::ParetoPoint &point : report.pareto) {
    double share = report.before.peakBytes > 0 ? double(point.peakBytes) / double(report.before.peakBytes) : 1;
    out << withoutTrailingSpace(rightCell(bytesCell(point.peakBytes), 33) + rightCell(percent(share), 9) +
                                rightCell(more(report, point.overheadCost, point.overheadFlops), 20));
  }
}

static void writeVerdict(std::ostream &out, const Report &report) {
  int64_t before = report.before.peakBytes, after = report.after.peakBytes;
  std::string change = before > 0 ? percent(double(after - before) / double(before)) : std::string("0%");
  std::string sizes = formatText("{} -> {}", humanBytes(before), humanBytes(after));
  if (after < before)
    out << formatText("peak lowered by {}: {}", change, sizes);
  else if (after > before)
    out << formatText("the peak rose by {}: {}", change, sizes);
  else
    out << formatText("nothing gained: the peak stays at {}", humanBytes(after));
  bool costs = report.after.costNs > report.before.costNs;
  if (costs)
    out << ", at " << more(report, report.overheadCost, report.overheadFlops);
  out << "\n";
  if (report.memoryLimitBytes)
    return writeLimit(out, report);
  if (after > before || (after == before && costs))
    out << "note: " << waysOut(report.context.policy) << "\n";
}

void remat::writeReportSummary(std::ostream &out, const Report &report) {
  writeVerdict(out, report);
  const Report::Side &before = report.before, &after = report.after;
  writeRow(out, "", "before", "after");
  writeRow(out, "peak bytes", bytesCell(before.peakBytes), bytesCell(after.peakBytes));
  writeRow(out, "  at op", cell(before.peakOp, std::min<size_t>(30, width(before.peakOp))),
           cell(after.peakOp, std::min<size_t>(30, width(after.peakOp))));
  writeRow(out, "residual bytes", bytesCell(before.residualBytes), bytesCell(after.residualBytes));
  writeRow(out, "cost", humanTime(before.costNs), humanTime(after.costNs));
  writeRow(out, "FLOPs", humanCount(before.flops), humanCount(after.flops));
  out << formatText("resident bytes (arguments): {}\n", bytesCell(report.residentBytes));
  out << formatText("{} values saved, {} ops recomputed; overhead {} time, {} FLOPs\n", report.saved.size(),
                    report.recomputedOps, percent(report.overheadCost), percent(report.overheadFlops));
  writePareto(out, report);
}

static constexpr size_t shownItems = 10;

void remat::writeReportText(std::ostream &out, const Report &report) {
  writeReportSummary(out, report);
  out << formatText("\nlargest saved values ({} of {})\n", std::min(shownItems, report.saved.size()),
                    report.saved.size());
  for (size_t i = 0; i < std::min(shownItems, report.saved.size()); ++i) {
    const Report::SavedValue &saved = report.saved[i];
    out << withoutTrailingSpace(rightCell(toText(saved.bytes), 15) +
                                rightCell("(" + humanBytes(saved.bytes) + ")", 13) + "  " + cell(saved.value, 22) +
                                "  " + cell(saved.location, 22));
  }
  size_t count = report.recomputed.size();
  out << formatText("\ncostliest recomputed ops ({} of {})\n", std::min(shownItems, count), count);
  for (size_t i = 0; i < std::min(shownItems, count); ++i) {
    const Report::RecomputedOp &op = report.recomputed[i];
    out << withoutTrailingSpace(rightCell(humanTime(op.costNs), 15) + rightCell(formatText("{} times", op.times), 13) +
                                "  " + cell(op.op, 22) + "  " + cell(op.location, 22));
  }
}
