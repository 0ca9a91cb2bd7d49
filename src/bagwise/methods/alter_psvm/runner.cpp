#include "bagwise/methods/alter_psvm/runner.h"

#include <cmath>
#include <limits>
#include <utility>

namespace bagwise::alter_psvm {
namespace {

bool lower(const Answer& a, const Answer& b) {
  return usable(a) && (!usable(b) || a.objective < b.objective);
}

}  // namespace

Runner::Runner(const Problem& problem, const Schedule& schedule,
               std::function<std::unique_ptr<Svm>()> make_machine, unsigned threads, Observer observer)
    : problem_(problem),
      schedule_(schedule),
      make_machine_(std::move(make_machine)),
      threads_(threads),
      observer_(std::move(observer)) {}

std::vector<Answer> Runner::run(std::vector<Start> starts, std::string_view phase, std::size_t steps) const {
  std::vector<Answer> out(starts.size());
  watched_for(starts.size(), threads_, phase, steps, observer_, [&](std::size_t s, Watched& watched) {
    if (watched.stop && s > 0) {  // the first gives an answer whatever happens; of the others none is missed
      out[s].end = End::kStopped;
      out[s].objective = std::numeric_limits<double>::infinity();
      return;
    }
    const auto machine = make_machine_();
    out[s] = alternate(problem_, *machine, std::move(starts[s]), schedule_, watched);
  });
  return out;
}

bool usable(const Answer& answer) {
  return answer.end != End::kNumericalFault && std::isfinite(answer.objective);
}

Answer take_best(std::vector<Answer> answers) {
  std::size_t best = 0;
  bool stopped = false;
  for (std::size_t s = 0; s < answers.size(); ++s) {
    if (lower(answers[s], answers[best])) best = s;
    stopped = stopped || answers[s].end == End::kStopped;
  }
  if (stopped) answers[best].end = End::kStopped;
  return std::move(answers[best]);
}

Answer reheat(const Runner& runner, Answer best) {
  constexpr double kShares[] = {0.3, 0.1, 0.03, 0.01};
  constexpr int kMostSweeps = 20;
  for (int sweep = 0; sweep < kMostSweeps && best.end == End::kConverged; ++sweep) {
    std::vector<Start> starts;
    for (const double share : kShares) starts.push_back({best.labels, share, best.machine});
    Answer found = take_best(runner.run(std::move(starts), "reheating", 0));
    const bool stopped = found.end == End::kStopped;
    if (!usable(found) || !(found.objective < best.objective * (1 - 1e-6))) {
      if (stopped) best.end = End::kStopped;
      break;
    }
    // What the run before came to stands first, then one value for every sweep.
    best.history.push_back(found.objective);
    best.steps.push_back(found.steps.empty() ? 0 : found.steps.back());
    found.history = std::move(best.history);
    found.steps = std::move(best.steps);
    best = std::move(found);
  }
  return best;
}

}  // namespace bagwise::alter_psvm
