#include "bagwise/methods/alter_psvm/alternation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/linalg/compensated.h"

namespace bagwise::alter_psvm {
namespace {

constexpr double kFactor = 1.5;     // Yu et al. (2013)
constexpr double kRoughGap = 1e-4;  // of the machines while C rises

double hinge(double margin) { return std::max(0.0, 1 - margin); }

// One run: the labels and the machine as they are now.
class Run {
 public:
  Run(const Problem& problem, Svm& machine, Labels start, const Schedule& schedule, Watched& watched)
      : problem_(problem), machine_(machine), schedule_(schedule), watched_(watched) {
    answer_.labels = std::move(start);
  }

  // Rounds at one value of C. Returns whether the run can go on.
  bool rounds_at(double cost, double gap, bool last) {
    double before = std::numeric_limits<double>::infinity();
    if (last) answer_.history.clear(), answer_.steps.clear();
    for (int round = 0;; ++round) {
      const SvmSolution& found = machine_.solve(answer_.labels, cost, gap, watched_.inside());
      ++answer_.machines;
      if (found.report.termination == Termination::kNumericalFault) return ended(End::kNumericalFault);
      const double here = value_of(found, cost);
      // A machine is exact to its gap only: one that is no better than the plane there was is not taken.
      const bool better = !(here >= before);
      if (better) answer_.machine = found;
      Labels labels = answer_.labels;
      const double after =
          answer_.machine.squared_norm / 2 + best_labels(problem_, cost, answer_.machine.values, labels);
      const bool moved = labels != answer_.labels && after < std::min(here, before);
      if (moved) answer_.labels = std::move(labels);
      const double value = moved ? after : std::min(here, before);
      if (last) answer_.history.push_back(value), answer_.steps.push_back(found.report.iterations);
      if (watched_.stop) return ended(End::kStopped);
      if (!better || !moved) return true;
      if (!last && before - value <= schedule_.tolerance * value) return true;
      if (last && round + 1 >= schedule_.max_rounds) return ended(End::kRoundLimit);
      before = value;
    }
  }

  Answer finish() {
    if (answer_.end == End::kNumericalFault) {  // perhaps of the first machine: then there is none
      answer_.objective = std::numeric_limits<double>::infinity();
      return std::move(answer_);
    }
    answer_.objective =
        answer_.machine.squared_norm / 2 + loss(problem_, problem_.C, answer_.machine.values, answer_.labels);
    return std::move(answer_);
  }

 private:
  [[nodiscard]] double value_of(const SvmSolution& s, double cost) const {
    return s.squared_norm / 2 + loss(problem_, cost, s.values, answer_.labels);
  }
  bool ended(End end) {
    answer_.end = end;
    return false;
  }

  const Problem& problem_;
  Svm& machine_;
  const Schedule& schedule_;
  Watched& watched_;
  Answer answer_;
};

}  // namespace

double Problem::share_cost(std::size_t bag, std::size_t positives) const {
  const auto size = static_cast<double>(bag_start[bag + 1] - bag_start[bag]);
  if (size == 0) return 0;
  const double off = std::abs(static_cast<double>(positives) - size * proportions[bag]);
  return C_p * std::max(0.0, off - size * epsilon);
}

double loss(const Problem& problem, double cost, std::span<const double> values, const Labels& labels) {
  CompensatedSum sum;
  for (std::size_t k = 0; k < problem.bags(); ++k) {
    std::size_t positives = 0;
    double hinges = 0;
    for (std::size_t i = problem.bag_start[k]; i < problem.bag_start[k + 1]; ++i) {
      positives += labels[i] > 0 ? 1 : 0;
      hinges += hinge(labels[i] * values[i]);
    }
    sum.add(cost * hinges);
    sum.add(problem.share_cost(k, positives));
  }
  return sum.value();
}

double best_labels(const Problem& problem, double cost, std::span<const double> values, Labels& labels) {
  std::vector<double> gain;
  for (std::size_t k = 0; k < problem.bags(); ++k) {
    const std::size_t from = problem.bag_start[k], size = problem.bag_start[k + 1] - from;
    gain.clear();
    for (const double f : values.subspan(from, size)) gain.push_back(cost * (hinge(-f) - hinge(f)));
    label_bag(
        gain, {0, size}, [&](std::size_t m) { return problem.share_cost(k, m); },
        std::span(labels).subspan(from, size));
  }
  return loss(problem, cost, values, labels);
}

Answer alternate(const Problem& problem, Svm& machine, Start start, const Schedule& schedule,
                 Watched& watched) {
  machine.start_from(start.machine);
  Run run(problem, machine, std::move(start.labels), schedule, watched);
  bool on = true;
  // The last step but one may be as short as rounding makes it; it is then the last.
  for (double share = start.share; on && share < 1 - 1e-9; share *= kFactor, ++watched.steps)
    on = run.rounds_at(share * problem.C, std::max(kRoughGap, schedule.gap), false);
  if (on) run.rounds_at(problem.C, schedule.gap, true);
  ++watched.steps;
  return run.finish();
}

}  // namespace bagwise::alter_psvm
