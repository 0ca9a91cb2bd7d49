// Several runs of the alternation side by side: from many starts, and again from the best of them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bagwise/methods/alter_psvm/alternation.h"

namespace bagwise::alter_psvm {

class Runner {
 public:
  // `make_machine` gives a machine of its own to every run; the problem must outlive the runner.
  Runner(const Problem& problem, const Schedule& schedule, std::function<std::unique_ptr<Svm>()> make_machine,
         unsigned threads, Observer observer);

  // One answer per start, each with the same bits whatever the number of threads. `steps` is the number of
  // values of C to be told to the observer; 0: not known.
  std::vector<Answer> run(std::vector<Start> starts, std::string_view phase, std::size_t steps) const;

 private:
  const Problem& problem_;
  Schedule schedule_;
  std::function<std::unique_ptr<Svm>()> make_machine_;
  unsigned threads_;
  Observer observer_;
};

// Whether there is a plane whose objective is a number.
bool usable(const Answer& answer);

// The first of the lowest. Where one was stopped, which might have become the lowest, so was the choice.
Answer take_best(std::vector<Answer> answers);

// Lowers C to several shares of itself and lets it rise again, always from the best labels so far, for as
// long as that lowers the objective.
Answer reheat(const Runner& runner, Answer best);

}  // namespace bagwise::alter_psvm
