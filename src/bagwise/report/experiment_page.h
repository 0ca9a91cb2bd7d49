// The report of an experiment: one page of HTML with all tables and figures.
#pragma once

#include <string>

#include "bagwise/report/experiment_scores.h"

namespace bagwise {

// The result in a few sentences: who is ahead, and by how much.
std::string experiment_verdict(const ExperimentScores& scores);

std::string experiment_page(const ExperimentScores& scores);

}  // namespace bagwise
