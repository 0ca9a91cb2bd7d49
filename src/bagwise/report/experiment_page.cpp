#include "bagwise/report/experiment_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/experiment_figures.h"
#include "bagwise/report/experiment_tables.h"
#include "bagwise/report/html.h"
#include "bagwise/report/table.h"

namespace bagwise {
namespace {

std::string listed(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.append(i + 1 < parts.size() ? ", " : " and ");
    out.append(parts[i]);
  }
  return out;
}

std::string small_p(double p) {
  return p < 0.001 ? "p\xC2\xA0<\xC2\xA0"
                     "0.001"
                   : fmt::format("p\xC2\xA0=\xC2\xA0{:.3f}", p);
}

std::string points(const SampleMean& difference) {
  return fmt::format("{:.2f} {} {:.2f} points", 100 * std::abs(difference.mean), kPlusMinus,
                     100 * difference.error());
}

// "X is best on average: ..."
std::string who_is_best(const ExperimentScores& scores) {
  if (scores.methods.empty())
    return "No case has been finished by all methods that were tried, so that nothing can be compared yet.";
  const MethodScore& first = scores.methods[0];
  const std::string mean = fmt::format("{}\xC2\xA0% over {}", per_cent(first.accuracy.mean),
                                       count_of(scores.common.size(), "case", "cases"));
  if (scores.methods.size() == 1)
    return fmt::format("{} has a mean accuracy of {}.", scores.title(first.method), mean);
  const MethodScore& second = scores.methods[1];
  const PairedDifference lead = compare_methods(scores, first.method, second.method).over_cases;
  if (lead.difference.mean == 0) {
    return fmt::format("{} and {} have the same mean accuracy, and none has a higher one: {}.",
                       scores.title(first.method), scores.title(second.method), mean);
  }
  std::string text = fmt::format("{} has the highest mean accuracy: {}. It is ahead of {}, the next, by ",
                                 scores.title(first.method), mean, scores.title(second.method));
  if (lead.difference.count < 2)
    return text + fmt::format("{:.2f} points in the only case there is.", 100 * lead.difference.mean);
  text += fmt::format("{} (mean paired difference {} its standard error over cases)", points(lead.difference),
                      kPlusMinus);
  return text + (lead.clearly_above() ? "." : ", which is less than two standard errors: no clear lead.");
}

std::string who_wins(const ExperimentScores& scores) {
  const auto most = std::max_element(scores.methods.begin(), scores.methods.end(),
                                     [](const auto& a, const auto& b) { return a.best < b.best; });
  std::string text = fmt::format("{} is the best in {} of {}", scores.title(most->method), most->best,
                                 count_of(scores.common.size(), "case", "cases"));
  if (most->shared > 0) text += fmt::format(" ({} of them tied)", most->shared);
  return text + ".";
}

std::string what_was_run(const ExperimentPlan& plan) {
  std::vector<std::string> sizes, noise;
  for (const auto size : plan.bag_sizes) sizes.push_back(fmt::format("{}", size));
  for (const double share : plan.noise) noise.push_back(fmt::format("{:g}", 100 * share));
  std::string text = fmt::format("{}, {}, bags of {}", count_of(plan.data.size(), "data set", "data sets"),
                                 count_of(plan.methods.size(), "method", "methods"), listed(sizes));
  if (plan.noise.size() > 1 || plan.noise[0] != 0)
    text += fmt::format(", noise in {} % of the rows", listed(noise));
  text += plan.run_folds == plan.folds ? fmt::format(", {}", count_of(plan.folds, "fold", "folds"))
                                       : fmt::format(", {} of {} folds", plan.run_folds, plan.folds);
  return text + fmt::format(" of the target's rows, seed {}.", plan.seed);
}

void add_figure(HtmlPage& page, const std::optional<ReportFigure>& figure) {
  if (figure) page.figure({figure->svg, figure->caption, figure->csv, figure->name + ".csv"});
}

void add_result(HtmlPage& page, const ExperimentScores& scores) {
  page.section("Result");
  if (scores.done < scores.planned) {
    page.note(HtmlNote::kWarning,
              fmt::format("Unfinished: {} of {} cells done (a cell is one method on one fold of one case). "
                          "Methods are compared on the cases that all of them have finished: {} of {}.",
                          scores.done, scores.planned, scores.common.size(), scores.cases.size()));
  }
  page.paragraph(experiment_verdict(scores));
  if (!scores.methods.empty()) page.table(to_html(summary_table(scores)));
}

std::string tests_text(const RankTest& ranks, std::size_t methods) {
  const RankTest::Tests& tests = *ranks.tests;
  std::string text = fmt::format(
      "Friedman's test that all methods are alike: chi-square {} with {}, {}; ", short_number(tests.friedman),
      count_of(methods - 1, "degree of freedom", "degrees of freedom"), small_p(tests.friedman_p));
  text += std::isfinite(tests.iman_davenport)
              ? fmt::format("in Iman and Davenport's form F = {}, {}.", short_number(tests.iman_davenport),
                            small_p(tests.iman_davenport_p))
              : "all cases rank the methods alike, where Iman and Davenport's form has no value.";
  text += fmt::format(
      " Two methods differ at the level 0.05 (Nemenyi) if their mean ranks differ by {:.2f} or more.",
      tests.critical_difference);
  if (ranks.left_out > 0)
    text +=
        fmt::format(" Left out: {} not finished by all methods.", count_of(ranks.left_out, "case", "cases"));
  return text;
}

void add_comparison(HtmlPage& page, const ExperimentScores& scores) {
  if (scores.methods.size() < 2) return;
  page.section("Ranks and pairs");
  if (scores.ranks.tests) {
    page.paragraph(tests_text(scores.ranks, scores.methods.size()));
    add_figure(page, rank_figure(scores));
    page.paragraph(
        "What is ranked is a case: a data set with a bag size and a share of noise, averaged over folds. "
        "Cases "
        "of one data set have their rows in common, so that these tests are a little too sure of themselves; "
        "Nemenyi's, which allows for all pairs at once, is on the other hand slow to call two methods "
        "different.");
  }
  page.table(to_html(pairs_table(scores)));
  page.subsection("Case by case");
  page.table(to_html(differences_table(scores)));
}

void add_accuracy(HtmlPage& page, const ExperimentScores& scores) {
  page.section("Accuracy");
  if (!scores.plan().published.empty() && !scores.plan().published_in.empty())
    page.paragraph(fmt::format("Published figures: {}", scores.plan().published_in));
  page.table(to_html(accuracy_table(scores)));
  if (scores.plan().bag_sizes.size() < 2) return;
  page.section("By bag size");
  add_figure(page, bag_size_figure(scores));
  page.table(to_html(bag_size_table(scores)));
}

void add_noise(HtmlPage& page, const ExperimentScores& scores) {
  if (scores.plan().noise.size() < 2 || scores.common.empty()) return;
  page.section("Noise");
  add_figure(page, noise_mean_figure(scores));
  add_figure(page, noise_figure(scores));
  page.table(to_html(noise_table(scores)));
}

void add_times(HtmlPage& page, const ExperimentScores& scores) {
  if (scores.run->times.empty() || scores.methods.empty()) return;
  page.section("Times");
  std::uint64_t jobs = 1;
  for (const ExperimentTimes& times : scores.run->times) jobs = std::max(jobs, times.jobs);
  page.paragraph(fmt::format(
      "Wall-clock seconds on the machine this was run on, {}.",
      jobs == 1 ? "one cell at a time"
                : fmt::format("up to {} cells at once, which share it: read them as ratios between methods",
                              jobs)));
  add_figure(page, total_time_figure(scores));
  add_figure(page, fit_time_figure(scores));
  page.table(to_html(times_table(scores)));
  page.table(to_html(data_times_table(scores)));
}

}  // namespace

std::string experiment_verdict(const ExperimentScores& scores) {
  const std::string best = who_is_best(scores);
  return scores.methods.size() > 1 ? fmt::format("{} {}", best, who_wins(scores)) : best;
}

std::string experiment_page(const ExperimentScores& scores) {
  const ExperimentPlan& plan = scores.plan();
  HtmlPage page(plan.title.empty() ? plan.name : plan.title, what_was_run(plan));
  add_result(page, scores);
  add_accuracy(page, scores);
  add_comparison(page, scores);
  add_noise(page, scores);
  if (!scores.methods.empty()) {
    page.section("Other measures");
    page.table(to_html(measures_table(scores)));
  }
  add_times(page, scores);
  page.section("How it was run");
  page.table(to_html(methods_table(scores)));
  if (const ReportTable options = options_table(scores); !options.rows.empty()) page.table(to_html(options));
  return page.text(made_by());
}

}  // namespace bagwise
