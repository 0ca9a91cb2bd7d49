#include "bagwise/report/experiment_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bagwise/evaluate/grid.h"
#include "bagwise/report/table.h"

namespace bagwise {
namespace {

constexpr std::size_t kValuesShown = 3;  // of an option, those chosen most often

bool has_noise(const ExperimentScores& scores) { return scores.plan().noise.size() > 1; }

std::string noise_text(double share) { return fmt::format("{:g}", 100 * share); }

bool has_published(const ExperimentScores& scores) {
  const auto& published = scores.plan().published;
  const auto& methods = scores.plan().methods;
  return std::any_of(published.begin(), published.end(), [&](const PublishedFigure& figure) {
    return std::any_of(methods.begin(), methods.end(),
                       [&](const ExperimentMethod& method) { return method.name == figure.method; });
  });
}

bool has_published(const ExperimentScores& scores, std::size_t method) {
  const auto& published = scores.plan().published;
  return std::any_of(published.begin(), published.end(), [&](const PublishedFigure& figure) {
    return figure.method == scores.plan().methods[method].name;
  });
}

// A column per method for a mean and its spread; and, where there is something published, one for that.
void add_method_columns(ReportTable& table, const ExperimentScores& scores, const std::string& value,
                        const std::string& spread, const std::string& published_spread) {
  const bool any_published = has_published(scores);
  for (std::size_t m = 0; m < scores.plan().methods.size(); ++m) {
    const std::string& name = scores.plan().methods[m].name;
    ReportColumn column{.title = scores.title(m),
                        .fields = {fmt::format("{}_{}", name, value), fmt::format("{}_{}", name, spread)}};
    if (any_published) {
      column.group = column.title;
      column.title = "here";
    }
    table.columns.push_back(column);
    if (!has_published(scores, m)) continue;
    ReportColumn beside{.title = "publ.", .fields = {name + "_published"}, .group = column.group};
    beside.soft = true;
    if (!published_spread.empty())
      beside.fields.push_back(fmt::format("{}_published_{}", name, published_spread));
    table.columns.push_back(beside);
  }
}

// Cells of a row in which one value per method is compared: the highest in bold, ties alike.
struct ComparedRow {
  std::vector<ReportCell> cells;
  std::vector<std::pair<std::size_t, double>> values;  // cell and value

  void add(ReportCell cell, const std::optional<double>& value) {
    if (value) values.emplace_back(cells.size(), *value);
    cells.push_back(std::move(cell));
  }
  std::vector<ReportCell> finish() {
    double most = -1;
    for (const auto& [cell, value] : values) most = std::max(most, value);
    for (const auto& [cell, value] : values) cells[cell].bold = value > most - kTiedScores;
    return std::move(cells);
  }
};

// Means of every method over some common cases, with what was published for them.
void add_means(ComparedRow& row, const ExperimentScores& scores, const std::vector<std::size_t>& cases,
               bool with_published) {
  for (std::size_t m = 0; m < scores.plan().methods.size(); ++m) {
    const bool tried = std::count(scores.tried.begin(), scores.tried.end(), m) > 0 && !cases.empty();
    if (tried) {
      const MeanOverCases mean = mean_over(scores, m, cases);
      row.add(mean_cell(mean.mean, mean.error), mean.mean);
    } else {
      row.add(mean_cell({}, {}), {});
    }
    if (with_published && has_published(scores, m))
      row.cells.push_back(share_cell(published_mean(scores, m, cases)));
  }
}

std::vector<ReportCell> case_cells(const ExperimentScores& scores, const ExperimentCase& at) {
  const ExperimentPlan& plan = scores.plan();
  std::vector<ReportCell> cells = {named_cell(plan.data[at.data].title, plan.data[at.data].name),
                                   count_cell(plan.bag_sizes[at.size])};
  if (has_noise(scores)) cells.push_back({noise_text(plan.noise[at.noise]), {exact(plan.noise[at.noise])}});
  return cells;
}

void add_case_columns(ReportTable& table, const ExperimentScores& scores) {
  table.columns.push_back({.title = "Data set", .fields = {"data"}, .number = false});
  table.columns.push_back({.title = "Bags of", .fields = {"bag_size"}});
  if (has_noise(scores)) table.columns.push_back({.title = "Noise, %", .fields = {"noise"}});
  table.row_heads = table.columns.size();
  table.by_first = true;
}

ReportColumn method_column() { return {.title = "Method", .fields = {"method"}, .number = false}; }

ReportCell method_cell(const ExperimentScores& scores, std::size_t method) {
  return named_cell(scores.title(method), scores.plan().methods[method].name);
}

ReportCell paired_cell(const PairedDifference& found) {
  const SampleMean& difference = found.difference;
  return difference_cell(difference.mean,
                         difference.count > 1 ? std::optional(difference.error()) : std::nullopt);
}

std::string on_cases(const ExperimentScores& scores) {
  return scores.common.size() == scores.cases.size()
             ? count_of(scores.common.size(), "case", "cases")
             : fmt::format("the {} that all methods have finished",
                           count_of(scores.common.size(), "case", "cases"));
}

std::string selection_text(const ExperimentMethod& method) {
  if (!method.tuned) return "one setting, not chosen";
  const TuneOptions& how = method.selection;
  std::string text = fmt::format("{} on {} folds of bags", name_of(how.criterion), how.folds);
  if (how.repeats > 1) text += fmt::format(", {} times", how.repeats);
  if (how.search == Search::kHalving) text += ", by halving";
  switch (how.combine) {
    case Combine::kBest:
      return text + "; the best fitted to all bags";
    case Combine::kAverage:
      return text + "; fold models averaged";
    case Combine::kPlane:
      return text + "; one mean plane";
  }
  return text;
}

}  // namespace

ReportTable methods_table(const ExperimentScores& scores) {
  ReportTable table{.name = "methods",
                    .title =
                        "The methods, and how their options were chosen: on bags and their proportions "
                        "only.",
                    .columns = {method_column(),
                                {.title = "Learner", .fields = {"learner"}, .number = false},
                                {.title = "Metric", .fields = {"metric"}, .number = false},
                                {.title = "Learns from", .fields = {"learns_from"}, .number = false},
                                {.title = "Settings", .fields = {"settings"}},
                                {.title = "Choice", .fields = {"choice"}, .number = false}}};
  for (std::size_t m = 0; m < scores.plan().methods.size(); ++m) {
    const ExperimentMethod& method = scores.plan().methods[m];
    std::string learners, metrics;
    std::set<std::string> seen;
    std::size_t settings = 0;
    bool takes_sources = false;
    for (const Arm& arm : method.arms.empty() ? method.arms_alone : method.arms) {
      const std::string learner = arm.method == nullptr ? method.name : arm.method->name;
      if (seen.insert(learner).second) learners += (learners.empty() ? "" : ", ") + learner;
      if (seen.insert("metric " + arm.metric).second) metrics += (metrics.empty() ? "" : ", ") + arm.metric;
      settings += settings_of(arm.paths).size();
      takes_sources = takes_sources || (arm.method != nullptr && arm.method->uses_sources);
    }
    table.rows.push_back(
        {method_cell(scores, m), text_cell(learners), text_cell(metrics),
         text_cell(method.uses_sources && takes_sources ? "source and target" : "target alone"),
         count_cell(settings), text_cell(selection_text(method))});
  }
  return table;
}

ReportTable summary_table(const ExperimentScores& scores) {
  const bool published = has_published(scores);
  ReportTable table{
      .name = "summary",
      .title = fmt::format("Mean accuracy, per cent, over {} {} standard error by the spread over folds; how "
                           "often a method is the best (a tie counts for all in it); mean rank.",
                           on_cases(scores), kPlusMinus),
      .columns = {method_column(), {.title = "Accuracy", .fields = {"accuracy", "standard_error"}}}};
  if (published) table.columns.push_back({.title = "published", .fields = {"published"}, .soft = true});
  table.columns.push_back({.title = "Best in", .fields = {"best"}});
  table.columns.push_back({.title = "of these tied", .fields = {"tied"}});
  table.columns.push_back({.title = "Mean rank", .fields = {"mean_rank"}});
  for (const MethodScore& score : scores.methods) {
    auto& row = table.rows.emplace_back();
    row = {method_cell(scores, score.method), mean_cell(score.accuracy.mean, score.accuracy.error)};
    row.back().bold = score.accuracy.mean > scores.methods[0].accuracy.mean - kTiedScores;
    if (published) row.push_back(share_cell(score.published));
    row.push_back(count_cell(score.best));
    row.push_back(count_cell(score.shared));
    row.push_back(number_cell(score.rank, 2));
  }
  return table;
}

ReportTable accuracy_table(const ExperimentScores& scores) {
  ReportTable table{.name = "accuracy",
                    .title = fmt::format("Accuracy, per cent: mean {} standard deviation over {}. In bold "
                                         "the best of each row here{}.",
                                         kPlusMinus, count_of(scores.plan().run_folds, "fold", "folds"),
                                         has_published(scores) ? "; publ.: as published" : ""),
                    .columns = {}};
  add_case_columns(table, scores);
  add_method_columns(table, scores, "accuracy", "deviation", "deviation");
  for (std::size_t c = 0; c < scores.cases.size(); ++c) {
    ComparedRow row{.cells = case_cells(scores, scores.cases[c]), .values = {}};
    for (std::size_t m = 0; m < scores.plan().methods.size(); ++m) {
      const auto& mean = scores.results[c][m].mean;
      if (mean) {
        row.add(mean_cell(mean->mean, mean->count > 1 ? std::optional(mean->deviation) : std::nullopt),
                mean->mean);
      } else {
        row.add(mean_cell({}, {}), {});
      }
      if (!has_published(scores, m)) continue;
      const PublishedFigure* figure = published_figure(scores, m, scores.cases[c]);
      // Its deviation is for programs: the table is wide enough.
      row.cells.push_back({figure != nullptr ? per_cent(figure->accuracy) : kEnDash,
                           figure != nullptr ? std::vector{exact(figure->accuracy), exact(figure->deviation)}
                                             : std::vector<std::string>(2)});
    }
    table.rows.push_back(row.finish());
  }
  return table;
}

ReportTable bag_size_table(const ExperimentScores& scores) {
  ReportTable table{.name = "bag_sizes",
                    .title = fmt::format("Mean accuracy by bag size, per cent, over {} {} standard error by "
                                         "the spread over folds.",
                                         on_cases(scores), kPlusMinus),
                    .columns = {{.title = "Bags of", .fields = {"bag_size", "cases"}}}};
  add_method_columns(table, scores, "accuracy", "standard_error", "");
  const auto add = [&](const std::string& name, const std::vector<std::size_t>& cases) {
    ComparedRow row{.cells = {{name, {name, fmt::format("{}", cases.size())}}}, .values = {}};
    add_means(row, scores, cases, true);
    table.rows.push_back(row.finish());
  };
  for (std::size_t s = 0; s < scores.plan().bag_sizes.size(); ++s) {
    add(fmt::format("{}", scores.plan().bag_sizes[s]),
        common_cases(scores, [&](const ExperimentCase& at) { return at.size == s; }));
  }
  add("all", scores.common);
  return table;
}

ReportTable pairs_table(const ExperimentScores& scores) {
  ReportTable table{
      .name = "pairs",
      .title = fmt::format("Methods in pairs: difference of accuracies in points, mean over {} {} its "
                           "standard error over cases; in how many cases the first is above, level, below; "
                           "and by more than two standard errors over the folds of the case.",
                           on_cases(scores), kPlusMinus),
      .columns = {method_column(),
                  {.title = "less", .fields = {"less"}, .number = false},
                  {.title = "Difference", .fields = {"difference", "standard_error"}},
                  {.title = "above", .fields = {"above"}},
                  {.title = "level", .fields = {"level"}},
                  {.title = "below", .fields = {"below"}},
                  {.title = "clearly above", .fields = {"clearly_above"}},
                  {.title = "clearly below", .fields = {"clearly_below"}}},
      .row_heads = 2};
  for (std::size_t i = 0; i < scores.methods.size(); ++i) {
    for (std::size_t j = i + 1; j < scores.methods.size(); ++j) {
      const std::size_t a = scores.methods[i].method, b = scores.methods[j].method;
      const MethodPair pair = compare_methods(scores, a, b);
      const PairedDifference& over = pair.over_cases;
      ReportCell difference = paired_cell(over);
      difference.bold = over.clearly_above();
      table.rows.push_back({method_cell(scores, a), method_cell(scores, b), difference, count_cell(over.wins),
                            count_cell(over.ties), count_cell(over.losses), count_cell(pair.clearly_above),
                            count_cell(pair.clearly_below)});
    }
  }
  return table;
}

ReportTable differences_table(const ExperimentScores& scores) {
  ReportTable table{.name = "differences", .title = "", .columns = {}};
  if (scores.methods.empty()) return table;
  const std::size_t best = scores.methods[0].method;
  table.title = fmt::format(
      "{} less each other method, case by case: difference of accuracies in points, "
      "mean over folds {} its standard error. In bold where it is more than two "
      "standard errors above 0, marked where it is as far below.",
      scores.title(best), kPlusMinus);
  add_case_columns(table, scores);
  for (std::size_t i = 1; i < scores.methods.size(); ++i) {
    const ExperimentMethod& method = scores.plan().methods[scores.methods[i].method];
    table.columns.push_back(
        {.title = method.title, .fields = {method.name + "_difference", method.name + "_standard_error"}});
  }
  for (const std::size_t c : scores.common) {
    std::vector<ReportCell> row = case_cells(scores, scores.cases[c]);
    for (std::size_t i = 1; i < scores.methods.size(); ++i) {
      const PairedDifference found = compare_in_case(scores, c, best, scores.methods[i].method);
      ReportCell cell = paired_cell(found);
      cell.bold = found.clearly_above();
      if (found.clearly_below()) cell.kind = "bad";
      row.push_back(cell);
    }
    table.rows.push_back(row);
  }
  return table;
}

ReportTable noise_table(const ExperimentScores& scores) {
  ReportTable table{.name = "noise",
                    .title = fmt::format("Mean accuracy by the share of rows with noise, per cent, over bag "
                                         "sizes {} standard error by the spread over folds.",
                                         kPlusMinus),
                    .columns = {{.title = "Data set", .fields = {"data"}, .number = false},
                                {.title = "Noise, %", .fields = {"noise"}}},
                    .row_heads = 2,
                    .by_first = true};
  const ExperimentPlan& plan = scores.plan();
  for (const ExperimentMethod& method : plan.methods) {
    table.columns.push_back(
        {.title = method.title, .fields = {method.name + "_accuracy", method.name + "_standard_error"}});
  }
  const auto add = [&](const ReportCell& data, std::size_t noise, const CaseFilter& filter) {
    ComparedRow row{.cells = {data, {noise_text(plan.noise[noise]), {exact(plan.noise[noise])}}},
                    .values = {}};
    add_means(row, scores,
              common_cases(scores, [&](const ExperimentCase& at) { return at.noise == noise && filter(at); }),
              false);
    table.rows.push_back(row.finish());
  };
  for (std::size_t n = 0; n < plan.noise.size(); ++n)
    add(named_cell("all", "all"), n, [](const ExperimentCase&) { return true; });
  for (std::size_t d = 0; d < plan.data.size(); ++d) {
    for (std::size_t n = 0; n < plan.noise.size(); ++n) {
      add(named_cell(plan.data[d].title, plan.data[d].name), n,
          [&](const ExperimentCase& at) { return at.data == d; });
    }
  }
  return table;
}

ReportTable measures_table(const ExperimentScores& scores) {
  ReportTable table{
      .name = "measures",
      .title = fmt::format("All measures, per cent: means over {}. AUC is the area under the "
                           "ROC curve; the last is how far predicted proportions are from those "
                           "learnt from.",
                           on_cases(scores)),
      .columns = {method_column(),
                  {.title = "Accuracy", .fields = {"accuracy"}},
                  {.title = "Balanced accuracy", .fields = {"balanced_accuracy"}},
                  {.title = "AUC", .fields = {"auc"}},
                  {.title = "Proportion error", .fields = {"proportion_error"}}}};
  for (const MethodScore& score : scores.methods) {
    std::vector<double> balanced, auc, error;
    for (const std::size_t c : scores.common) {
      for (const ExperimentResult* result : scores.results[c][score.method].folds) {
        if (result->balanced_accuracy) balanced.push_back(*result->balanced_accuracy);
        if (result->auc) auc.push_back(*result->auc);
        error.push_back(result->proportion_error);
      }
    }
    const auto cell = [](const std::vector<double>& values) {
      return share_cell(values.empty() ? std::nullopt : std::optional(sample_mean(values).mean));
    };
    table.rows.push_back({method_cell(scores, score.method), share_cell(score.accuracy.mean), cell(balanced),
                          cell(auc), cell(error)});
  }
  return table;
}

std::optional<MeanTimes> mean_times(const ExperimentScores& scores, std::size_t method,
                                    std::optional<std::size_t> data) {
  const ExperimentPlan& plan = scores.plan();
  MeanTimes sum;
  double count = 0;
  for (const ExperimentTimes& times : scores.run->times) {
    if (times.key.method != plan.methods[method].name) continue;
    const bool common = std::any_of(scores.common.begin(), scores.common.end(), [&](std::size_t c) {
      const ExperimentCase& at = scores.cases[c];
      return (!data || at.data == *data) && times.key.data == plan.data[at.data].name &&
             times.key.bag_size == plan.bag_sizes[at.size] && times.key.noise == plan.noise[at.noise];
    });
    if (!common) continue;
    ++count;
    sum.choose += times.choose;
    sum.fit += times.fit;
    sum.total += times.total;
    sum.settings += static_cast<double>(times.settings);
  }
  if (count == 0) return {};
  return MeanTimes{sum.choose / count, sum.fit / count, sum.total / count, sum.settings / count};
}

ReportTable times_table(const ExperimentScores& scores) {
  ReportTable table{.name = "times",
                    .title =
                        "Mean seconds of a run on one fold: choosing options on bags, the fit with those "
                        "chosen, and all of it; and how many settings were tried.",
                    .columns = {method_column(),
                                {.title = "Choosing", .fields = {"choose_seconds"}},
                                {.title = "Fit", .fields = {"fit_seconds"}},
                                {.title = "Total", .fields = {"total_seconds"}},
                                {.title = "Settings", .fields = {"settings"}}}};
  for (const MethodScore& score : scores.methods) {
    const auto times = mean_times(scores, score.method, {});
    const auto cell = [&](double MeanTimes::*part) {
      return seconds_cell(times ? std::optional((*times).*part) : std::nullopt);
    };
    table.rows.push_back({method_cell(scores, score.method), cell(&MeanTimes::choose), cell(&MeanTimes::fit),
                          cell(&MeanTimes::total), cell(&MeanTimes::settings)});
  }
  return table;
}

ReportTable data_times_table(const ExperimentScores& scores) {
  ReportTable table{.name = "times_by_data",
                    .title = "Mean seconds of a run on one fold, choosing and fit together, by data set.",
                    .columns = {{.title = "Data set", .fields = {"data"}, .number = false}}};
  const ExperimentPlan& plan = scores.plan();
  for (const std::size_t m : scores.tried) {
    const ExperimentMethod& method = plan.methods[m];
    table.columns.push_back({.title = method.title,
                             .fields = {method.name + "_total_seconds", method.name + "_choose_seconds",
                                        method.name + "_fit_seconds"}});
  }
  for (std::size_t d = 0; d < plan.data.size(); ++d) {
    std::vector<ReportCell> row = {named_cell(plan.data[d].title, plan.data[d].name)};
    for (const std::size_t m : scores.tried) {
      const auto times = mean_times(scores, m, d);
      row.push_back(times ? ReportCell{short_number(times->total),
                                       {exact(times->total), exact(times->choose), exact(times->fit)}}
                          : ReportCell{kEnDash, {"", "", ""}});
    }
    table.rows.push_back(row);
  }
  return table;
}

ReportTable options_table(const ExperimentScores& scores) {
  ReportTable table{.name = "options",
                    .title =
                        "Values of options that were chosen most often, of the runs done (of averaged "
                        "models, those of the best setting).",
                    .columns = {method_column(),
                                {.title = "Option", .fields = {"option"}, .number = false},
                                {.title = "Runs", .fields = {"runs"}},
                                {.title = "Values chosen", .fields = {"values"}}},
                    .row_heads = 2,
                    .by_first = true};
  const char* places[kValuesShown] = {"First", "Second", "Third"};
  const char* fields[kValuesShown] = {"first", "second", "third"};
  for (std::size_t i = 0; i < kValuesShown; ++i) {
    table.columns.push_back(
        {.title = places[i], .fields = {fields[i], std::string(fields[i]) + "_runs"}, .number = false});
  }
  for (const ExperimentMethod& method : scores.plan().methods) {
    std::map<std::string, std::map<std::string, std::size_t>> chosen;
    std::size_t runs = 0;
    for (const ExperimentResult& result : scores.run->results) {
      if (result.key.method != method.name) continue;
      ++runs;
      for (const auto& [option, value] : result.options) ++chosen[option][value];
    }
    for (const auto& [option, values] : chosen) {
      std::vector<std::pair<std::string, std::size_t>> sorted(values.begin(), values.end());
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      std::vector<ReportCell> row = {named_cell(method.title, method.name), text_cell(option),
                                     count_cell(runs), count_cell(sorted.size())};
      for (std::size_t i = 0; i < kValuesShown; ++i) {
        row.push_back(i < sorted.size()
                          ? ReportCell{fmt::format("{} ({})", sorted[i].first, sorted[i].second),
                                       {sorted[i].first, fmt::format("{}", sorted[i].second)}}
                          : ReportCell{"", {"", ""}});
      }
      table.rows.push_back(row);
    }
  }
  return table;
}

std::vector<ReportTable> experiment_tables(const ExperimentScores& scores) {
  std::vector<ReportTable> tables = {summary_table(scores), accuracy_table(scores)};
  if (scores.plan().bag_sizes.size() > 1) tables.push_back(bag_size_table(scores));
  if (scores.methods.size() > 1) {
    tables.push_back(pairs_table(scores));
    tables.push_back(differences_table(scores));
  }
  if (has_noise(scores)) tables.push_back(noise_table(scores));
  tables.push_back(measures_table(scores));
  if (!scores.run->times.empty()) {
    tables.push_back(times_table(scores));
    tables.push_back(data_times_table(scores));
  }
  ReportTable options = options_table(scores);
  if (!options.rows.empty()) tables.push_back(std::move(options));
  tables.push_back(methods_table(scores));
  return tables;
}

}  // namespace bagwise
