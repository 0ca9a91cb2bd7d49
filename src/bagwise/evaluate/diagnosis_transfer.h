// How far a source is from the target, and whether learning from it is likely to help.
//
// Distance. Means of all rows, feature by feature in pooled standard deviations; and the energy distance of a
// sample of rows of each task in the same units (Szekely and Rizzo 2013),
//
//   1 - (E|x - x'| + E|y - y'|) / (2 E|x - y|)     in [0, 1]; 0 for equal distributions
//
// with a permutation p-value. Far apart is not yet bad: what counts is where the classes lie.
//
// Transfer. The direction between the source's class means is asked to tell the target's classes apart
// (class_signal of the target's bags along it), and, held out, the source's own. The verdict compares the
// target's correlation with half of the source's, in standard errors of both: more than one above, likely to
// help; more than one below, likely to hurt; else unclear. docs/guide/diagnosing.md has how often it is
// right on made data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/evaluate/diagnosis_task.h"

namespace bagwise {

enum class TransferVerdict { kHelps, kUnclear, kHurts };
std::string_view to_text(TransferVerdict verdict);  // "likely to help", "unclear", "likely to hurt"

struct FeatureShift {
  std::string feature;
  double shift = 0;  // source less target, in pooled standard deviations
};

struct EnergyTest {
  double distance = 0;   // in [0, 1]
  double p_value = 1;    // of the permutation test
  std::size_t rows = 0;  // looked at, of both tasks
};

// The cosine between the class-mean differences of two tasks, with the lengths cleaned of noise.
struct DirectionCosine {
  double cosine = 0;
  Interval interval;  // of 95 %, from bootstraps over bags
};

struct TransferDiagnosis {
  std::string source;
  double mean_shift = 0;             // root mean square of the shifts over features
  std::vector<FeatureShift> shifts;  // the five largest
  EnergyTest energy;
  std::uint64_t shared_rows = 0;          // source rows that the target has too
  std::optional<DirectionCosine> cosine;  // none where noise drowns a difference
  ClassSignal own;                        // the source's direction on its own bags, held out
  ClassSignal across;                     // the source's direction on the target's bags
  TransferVerdict verdict = TransferVerdict::kUnclear;
};

TransferDiagnosis diagnose_transfer(const std::string& source_name, const BaggedData& source,
                                    const ReducedBags& source_sums, const BaggedData& target,
                                    const ReducedBags& target_sums, const DiagnosisOptions& options = {});

// The parts, for those who want one alone. Rows have the same columns; `units` multiply them.
EnergyTest energy_test(const RowsView& a, const RowsView& b, std::span<const double> units, Rng& rng);
std::optional<DirectionCosine> direction_cosine(const ReducedBags& a, const ReducedBags& b,
                                                std::span<const double> units, std::size_t draws, Rng& rng);
TransferVerdict transfer_verdict(const ClassSignal& own, const ClassSignal& across);

}  // namespace bagwise
