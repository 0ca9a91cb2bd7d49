// The figures of an experiment's report, each with its data.
//
// A method has the same colour and marker in all of them: those of its place in the plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bagwise/report/experiment_scores.h"

namespace bagwise {

struct ReportFigure {
  std::string name;     // of its file, without ending
  std::string caption;  // a sentence
  std::string svg;
  std::string csv;
};

// Each only where there is something to see: several bag sizes, methods and cases to rank, several levels of
// noise, times.
std::optional<ReportFigure> bag_size_figure(const ExperimentScores& scores);
std::optional<ReportFigure> rank_figure(const ExperimentScores& scores);
std::optional<ReportFigure> noise_mean_figure(const ExperimentScores& scores);
std::optional<ReportFigure> noise_figure(const ExperimentScores& scores);  // a panel per data set
std::optional<ReportFigure> total_time_figure(const ExperimentScores& scores);
std::optional<ReportFigure> fit_time_figure(const ExperimentScores& scores);

std::vector<ReportFigure> experiment_figures(const ExperimentScores& scores);  // all of these

}  // namespace bagwise
