#include "bagwise/report/experiment_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bagwise/report/chart.h"
#include "bagwise/report/experiment_tables.h"

namespace bagwise {
namespace {

constexpr char kErrorBars[] = "Bars are one standard error, by the spread over folds.";

// What a method came to along one of the things that vary: a point where there are cases.
template <class Select>
ChartSeries series_of(const ExperimentScores& scores, std::size_t method, const std::vector<double>& along,
                      const Select& cases_at) {
  ChartSeries series{.name = scores.title(method), .points = {}, .style = method};
  for (std::size_t i = 0; i < along.size(); ++i) {
    const std::vector<std::size_t> cases = cases_at(i);
    if (cases.empty()) continue;
    const MeanOverCases mean = mean_over(scores, method, cases);
    series.points.push_back({along[i], mean.mean, mean.error.value_or(0)});
  }
  return series;
}

std::vector<std::size_t> cases_of_size(const ExperimentScores& scores, std::size_t size) {
  return common_cases(scores, [&](const ExperimentCase& at) { return at.size == size; });
}

ChartSeries published_series(const ExperimentScores& scores, std::size_t method) {
  ChartSeries series{.name = scores.title(method), .points = {}, .style = method};
  for (std::size_t s = 0; s < scores.plan().bag_sizes.size(); ++s) {
    if (const auto mean = published_mean(scores, method, cases_of_size(scores, s)))
      series.points.push_back({static_cast<double>(scores.plan().bag_sizes[s]), *mean, 0});
  }
  return series;
}

ChartAxis accuracy_axis() { return {.label = "accuracy", .percent = true}; }

ChartAxis noise_axis(const ExperimentScores& scores) {
  return {.label = "rows with noise", .ticks = scores.plan().noise, .percent = true};
}

// Accuracy along the share of noise, a line per method, over the cases a filter lets through.
std::vector<ChartSeries> noise_series(const ExperimentScores& scores, const CaseFilter& filter) {
  std::vector<ChartSeries> out;
  for (const std::size_t method : scores.tried) {
    out.push_back(series_of(scores, method, scores.plan().noise, [&](std::size_t n) {
      return common_cases(scores, [&](const ExperimentCase& at) { return at.noise == n && filter(at); });
    }));
  }
  return out;
}

bool has_noise_to_show(const ExperimentScores& scores) {
  return scores.plan().noise.size() > 1 && !scores.common.empty();
}

std::optional<ReportFigure> time_figure(const ExperimentScores& scores, const std::string& name,
                                        const std::string& title, double MeanTimes::*part) {
  DotChart chart{.title = title,
                 .description = "Mean seconds per data set and method, on a logarithmic axis.",
                 .values = {.label = "seconds", .kind = AxisKind::kLog10},
                 .groups = {},
                 .series = {}};
  bool any = false;
  for (const ExperimentData& data : scores.plan().data) chart.groups.push_back(data.title);
  for (const std::size_t method : scores.tried) {
    DotSeries series{.name = scores.title(method), .values = {}, .style = method};
    for (std::size_t d = 0; d < chart.groups.size(); ++d) {
      const auto times = mean_times(scores, method, d);
      series.values.push_back(times ? (*times).*part : std::numeric_limits<double>::quiet_NaN());
      any = any || (times && (*times).*part > 0);
    }
    chart.series.push_back(series);
  }
  if (!any) return {};
  return ReportFigure{name, title + " by data set and method, on a logarithmic axis.", svg(chart),
                      to_csv(data_times_table(scores))};
}

}  // namespace

std::optional<ReportFigure> bag_size_figure(const ExperimentScores& scores) {
  const ExperimentPlan& plan = scores.plan();
  if (plan.bag_sizes.size() < 2 || scores.common.empty()) return {};
  const std::vector<double> sizes(plan.bag_sizes.begin(), plan.bag_sizes.end());
  const ChartAxis x{.label = "rows in a bag", .kind = AxisKind::kLog2, .ticks = sizes};
  std::vector<ChartSeries> here, published;
  bool any_published = false;
  for (const std::size_t method : scores.tried) {
    here.push_back(series_of(scores, method, sizes, [&](std::size_t s) { return cases_of_size(scores, s); }));
    published.push_back(published_series(scores, method));
    any_published = any_published || !published.back().points.empty();
  }
  const std::string title = "Mean accuracy by bag size";
  ReportFigure figure{"bag_sizes", fmt::format("{}. {}", title, kErrorBars), "",
                      to_csv(bag_size_table(scores))};
  const std::string description = "A line per method: mean accuracy over the data sets, by bag size.";
  if (any_published) {
    figure.caption = fmt::format("{}, here and as published. {}", title, kErrorBars);
    figure.svg = svg(
        PanelChart{.title = title,
                   .description = description,
                   .x = x,
                   .y = accuracy_axis(),
                   .panels = {{.title = "here", .series = here}, {.title = "published", .series = published}},
                   .columns = 2});
  } else {
    figure.svg = svg(
        LineChart{.title = title, .description = description, .x = x, .y = accuracy_axis(), .series = here});
  }
  return figure;
}

std::optional<ReportFigure> rank_figure(const ExperimentScores& scores) {
  if (!scores.ranks.tests) return {};
  RankChart chart{.title = "Mean ranks",
                  .description = "Mean ranks of the methods, 1 the best; bars join those that do not differ.",
                  .ranks = {},
                  .critical_difference = scores.ranks.tests->critical_difference};
  for (const MethodScore& score : scores.methods)
    chart.ranks.push_back({scores.title(score.method), score.rank});
  return ReportFigure{
      "ranks",
      fmt::format("Mean ranks over {} cases, 1 the best. Bars join methods that differ by less "
                  "than the critical difference, {:.2f} (Nemenyi, 0.05).",
                  scores.ranks.cases, chart.critical_difference),
      svg(chart), to_csv(summary_table(scores))};
}

std::optional<ReportFigure> noise_mean_figure(const ExperimentScores& scores) {
  if (!has_noise_to_show(scores)) return {};
  return ReportFigure{
      "noise_mean",
      fmt::format("Mean accuracy over all data sets by the share of noisy rows. {}", kErrorBars),
      svg(LineChart{.title = "Mean accuracy by noise",
                    .description = "A line per method: mean accuracy by the share of rows with noise.",
                    .x = noise_axis(scores),
                    .y = accuracy_axis(),
                    .series = noise_series(scores, [](const ExperimentCase&) { return true; })}),
      to_csv(noise_table(scores))};
}

std::optional<ReportFigure> noise_figure(const ExperimentScores& scores) {
  if (!has_noise_to_show(scores)) return {};
  PanelChart chart{.title = "Accuracy by noise",
                   .description = "A panel per data set: accuracy of each method by the share of noisy rows.",
                   .x = noise_axis(scores),
                   .y = accuracy_axis(),
                   .panels = {}};
  for (std::size_t d = 0; d < scores.plan().data.size(); ++d) {
    chart.panels.push_back({scores.plan().data[d].title,
                            noise_series(scores, [d](const ExperimentCase& at) { return at.data == d; })});
  }
  return ReportFigure{
      "noise", fmt::format("Accuracy by the share of noisy rows, data set by data set. {}", kErrorBars),
      svg(chart), to_csv(noise_table(scores))};
}

std::optional<ReportFigure> total_time_figure(const ExperimentScores& scores) {
  return time_figure(scores, "times", "Seconds of a run, choosing and fit together", &MeanTimes::total);
}

std::optional<ReportFigure> fit_time_figure(const ExperimentScores& scores) {
  return time_figure(scores, "fit_times", "Seconds of the fit with the chosen options", &MeanTimes::fit);
}

std::vector<ReportFigure> experiment_figures(const ExperimentScores& scores) {
  std::vector<ReportFigure> out;
  for (auto* make :
       {bag_size_figure, rank_figure, noise_mean_figure, noise_figure, total_time_figure, fit_time_figure}) {
    if (auto figure = make(scores)) out.push_back(std::move(*figure));
  }
  return out;
}

}  // namespace bagwise
