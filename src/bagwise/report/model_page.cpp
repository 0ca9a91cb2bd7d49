#include "bagwise/report/model_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/data/write_table.h"
#include "bagwise/report/chart.h"
#include "bagwise/report/html.h"
#include "bagwise/report/model_parts.h"
#include "bagwise/report/training_text.h"

namespace bagwise {
namespace {

constexpr std::size_t kMostRows = 20000;  // of a table to download: a page stays a page

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

// Two columns without a header: what, and its value.
HtmlTable named_values(const std::vector<std::pair<std::string, std::string>>& lines, std::string caption) {
  HtmlTable out{.caption = std::move(caption)};
  for (const auto& [name, value] : lines) out.rows.push_back({{.text = name}, {.text = value}});
  return out;
}

std::string file_name(std::string_view what, const std::string& task) {
  std::string out(what);
  out += '-';
  for (const char c : task) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    out += plain ? c : '_';
  }
  return out + ".csv";
}

void add_findings(HtmlPage& page, const Diagnosis& diagnosis) {
  page.section("Verdict");
  std::vector<std::string> remarks;
  for (const Finding& finding : all_findings(diagnosis)) {
    switch (finding.severity) {
      case Severity::kVerdict:
        page.note(HtmlNote::kPlain, finding.message);
        break;
      case Severity::kWarning:
        page.note(HtmlNote::kWarning, finding.message);
        break;
      case Severity::kFault:
        page.note(HtmlNote::kFault, finding.message);
        break;
      case Severity::kRemark:
        remarks.push_back(finding.message);
        break;
    }
  }
  if (!remarks.empty()) page.list(remarks);
}

void add_history(HtmlPage& page, const TrainingReport& report) {
  if (report.objective_history.size() < 3) return;
  ChartSeries line{"objective", {}};
  std::string csv = "round,objective\n";
  for (std::size_t i = 0; i < report.objective_history.size(); ++i) {
    line.points.push_back({static_cast<double>(i + 1), report.objective_history[i]});
    csv += fmt::format("{},{}\n", i + 1, csv_number(report.objective_history[i]));
  }
  ChartAxis rounds{.label = "round"};
  if (line.points.size() <= 12) {  // each; of more, round numbers
    for (const ChartPoint& point : line.points) rounds.ticks.push_back(point.x);
  }
  page.figure({svg(LineChart{.title = "Objective by round",
                             .description = "The value of the objective after each round of the alternation.",
                             .x = rounds,
                             .y = {.label = "objective"},
                             .series = {line}}),
               "What each round of the alternation came to.", csv, "objective.csv"});
}

void add_summary(HtmlPage& page, const Model& model) {
  page.section("What it is");
  for (const std::string& warning : model.training.warnings) page.note(HtmlNote::kWarning, warning);
  if (model.training.termination != "converged") {
    page.note(HtmlNote::kWarning, fmt::format("The fit ended by {} before it reached what was asked.",
                                              model.training.termination));
  }
  page.table(named_values(training_lines(model), "Training"));
  std::vector<std::pair<std::string, std::string>> options;
  for (const auto& [name, value] : model.options) options.emplace_back(name, to_text(value));
  options.emplace_back("missing", model.missing);
  if (!model.one_hot.empty())
    options.emplace_back("one-hot", fmt::format("{}", fmt::join(model.one_hot, ", ")));
  page.table(named_values(options, "Options, as used"));
  add_history(page, model.training);
}

void add_committee(HtmlPage& page, const Committee& committee, std::size_t top) {
  const auto shares = setting_shares(committee);
  page.paragraph(fmt::format(
      "The model averages the probabilities of {} of {}; weights and biases below are those of their mean "
      "plane.",
      count_of(committee.size(), "plane", "planes"), count_of(shares.size(), "setting", "settings")));
  TextTable table({"setting", ">share", ">planes"});
  std::string csv = "setting,share,planes\n";
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i < top) table.add({shares[i].setting, share(shares[i].share), fmt::format("{}", shares[i].planes)});
    csv +=
        fmt::format("{},{},{}\n", csv_cell(shares[i].setting), csv_number(shares[i].share), shares[i].planes);
  }
  HtmlTable shown = html_table(table, "The settings that weigh most");
  shown.csv = csv;
  shown.csv_name = "settings.csv";
  page.table(shown);
}

// The largest weights of a task as bars; all of them to download.
HtmlFigure weights_figure(const Model& model, std::size_t task, std::size_t top) {
  const bool parts = has_shared_part(model);
  const std::string& name = model.tasks[task].name;
  const auto weights = largest_weights(model, task, kMostRows);
  BarChart chart{
      .title = fmt::format("Largest weights of the {}", short_name(name)),
      .description = "A bar for each feature, to the right where it speaks for the positive class.",
      .values = {.label = "weight on raw values"}};
  chart.parts = parts ? std::vector<std::string>{"shared", "own"} : std::vector<std::string>{"weight"};
  std::string csv = parts ? "feature,weight,shared,own\n" : "feature,weight\n";
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const WeightParts& one = weights[i];
    const std::string& feature = model.features[one.feature];
    if (i < top) {
      chart.bars.push_back(
          {.name = feature,
           .parts = parts ? std::vector<double>{one.shared, one.own} : std::vector<double>{one.weight}});
    }
    csv += fmt::format("{},{}", csv_cell(feature), csv_number(one.weight));
    csv += parts ? fmt::format(",{},{}\n", csv_number(one.shared), csv_number(one.own)) : "\n";
  }
  std::string caption =
      fmt::format("The {} largest of {} weights.", chart.bars.size(), model.features.size());
  if (parts) {
    caption +=
        " Shared: the part w_0 that all tasks have in common; own: what this task adds to it. The upright "
        "line "
        "is their sum.";
  }
  return {svg(chart), caption, csv, file_name("weights", name)};
}

void add_weights(HtmlPage& page, const Model& model, std::size_t top) {
  page.section("Weights");
  if (model.committee) add_committee(page, *model.committee, top);
  if (model.expansion) {
    page.paragraph(
        fmt::format("The model is {}: it has no weight for each feature.", kernel_text(*model.expansion)));
  }
  for (std::size_t t = model.tasks.size(); t-- > 0;) {
    const Plane plane = raw_plane(model, t);
    page.subsection(fmt::format("Task {}", short_name(model.tasks[t].name)));
    std::string line = fmt::format("Bias {}", short_number(plane.bias));
    if (t + 1 < model.tasks.size())
      line += fmt::format("; cosine of the angle to the target {}", share(cosine_to_target(model, t)));
    page.paragraph(line + ".");
    if (!model.expansion && !model.features.empty() && top > 0) page.figure(weights_figure(model, t, top));
  }
}

// The angles between the planes of all tasks, in degrees.
void add_angles(HtmlPage& page, const TrainingReport& report) {
  const std::size_t n = report.tasks.size();
  if (n < 2 || std::any_of(report.tasks.begin(), report.tasks.end(),
                           [&](const TaskReport& task) { return task.angles.size() != n; }))
    return;
  std::vector<std::string> titles = {"degrees between planes"};
  for (const TaskReport& task : report.tasks) titles.push_back(">" + short_name(task.name));
  TextTable table(titles);
  for (const TaskReport& task : report.tasks) {
    std::vector<std::string> cells = {short_name(task.name)};
    for (const double angle : task.angles) cells.push_back(fmt::format("{:.1f}", angle));
    table.add(std::move(cells));
  }
  page.table(html_table(table));
}

// The bags whose residual is largest; all of them to download.
HtmlFigure residual_figure(const TaskReport& task, std::size_t worst) {
  std::vector<std::size_t> order(task.residual.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(task.residual[a]) > std::abs(task.residual[b]);
  });
  BarChart chart{.title = fmt::format("Largest residuals of the {}", short_name(task.name)),
                 .description = "A bar for each bag: the plane's value at its mean, less what it should be.",
                 .values = {.label = "residual"},
                 .parts = {"residual"}};
  std::string csv = "bag,residual,shift,at_bound\n";
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t k = order[i];
    const std::string name = k < task.bag_names.size() ? task.bag_names[k] : fmt::format("{}", k + 1);
    if (i < worst) chart.bars.push_back({.name = name, .parts = {task.residual[k]}});
    if (i >= kMostRows) continue;
    csv += fmt::format("{},{},{},{}\n", csv_cell(name), csv_number(task.residual[k]),
                       k < task.shift.size() ? csv_number(task.shift[k]) : "",
                       k < task.at_bound.size() ? (task.at_bound[k] ? "1" : "0") : "");
  }
  return {svg(chart),
          fmt::format("The {} of {} whose mean the fit leaves furthest from its target value.",
                      count_of(chart.bars.size(), "bag", "bags"), order.size()),
          csv, file_name("residuals", task.name)};
}

void add_training_tasks(HtmlPage& page, const Model& model, std::size_t worst) {
  const TrainingReport& report = model.training;
  if (report.tasks.empty()) {
    page.section("Tasks and bags");
    page.paragraph(model.committee ? "An average over models keeps no report of each task and bag."
                                   : "The model keeps no report of each task and bag.");
    return;
  }
  page.section("Tasks and bags");
  page.table(html_table(task_table(report)));
  if (const std::string line = transfer_line(report); !line.empty()) {
    page.paragraph(
        fmt::format("The common plane w_0 has length {}: {}.", short_number(*report.shared_norm), line));
  }
  add_angles(page, report);
  for (std::size_t t = report.tasks.size(); t-- > 0;) {
    if (!report.tasks[t].residual.empty() && worst > 0) page.figure(residual_figure(report.tasks[t], worst));
  }
}

void add_proportions(HtmlPage& page, const ModelDiagnosis& model, std::size_t worst) {
  page.section("Proportions");
  ScatterChart chart{
      .title = "Known and predicted share of each bag",
      .description = "A point for each bag; on the diagonal the prediction is the known share.",
      .x = {.label = "known share", .low = 0, .high = 1},
      .y = {.label = "share of rows called positive"},
      .size_name = "rows",
      .marked_name = "does not fit"};
  std::string csv =
      "bag,rows,known,predicted,mean_probability,interval_low,interval_high,p_value,adjusted_p_value,fits\n";
  std::size_t unfit = 0;
  for (const BagFit& bag : model.bags) {
    const BagError& s = bag.shares;
    unfit += bag.fits ? 0 : 1;
    chart.points.push_back({s.known, s.hard, static_cast<double>(s.rows), s.bag, !bag.fits});
  }
  const auto ordered = worst_fits(model, kMostRows);
  for (const BagFit* bag : ordered) {
    const BagError& s = bag->shares;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_cell(s.bag), s.rows, csv_number(s.known),
                       csv_number(s.hard), csv_number(s.soft), csv_number(bag->interval.low),
                       csv_number(bag->interval.high), csv_number(bag->p_value), csv_number(bag->adjusted),
                       bag->fits ? 1 : 0);
  }
  // A mark for each of a great many bags is a smear and a file too large to open: those that fit worst.
  constexpr std::size_t kMostPoints = 5000;
  std::string caption =
      fmt::format("{} of the {}; {} not fit what the rows' probabilities allow, all looks allowed for.",
                  count_of(model.bags.size(), "bag", "bags"), short_name(model.task),
                  unfit == 1 ? "1 does" : fmt::format("{} do", unfit));
  if (chart.points.size() > kMostPoints) {
    chart.points.clear();
    for (std::size_t i = 0; i < kMostPoints; ++i) {
      const BagError& s = ordered[i]->shares;
      chart.points.push_back({s.known, s.hard, static_cast<double>(s.rows), s.bag, !ordered[i]->fits});
    }
    caption += fmt::format(" Shown are the {} that fit worst.", kMostPoints);
  }
  page.figure({svg(chart), caption, csv, "proportions.csv"});
  if (worst > 0) page.table(html_table(worst_bags_table(model, worst), "Bags that fit worst"));
}

void add_bootstrap(HtmlPage& page, const BootstrapDiagnosis& bootstrap, std::size_t top) {
  if (bootstrap.weights.empty() || top == 0) return;
  BarChart chart{.title = "Largest weights with their intervals",
                 .description = "A bar for each feature with the interval of 95 % over bootstraps of bags.",
                 .values = {.label = "weight on raw values"},
                 .parts = {"weight"}};
  std::string csv = "feature,weight,low,high,other_sign\n";
  for (std::size_t i = 0; i < bootstrap.weights.size(); ++i) {
    const WeightInterval& one = bootstrap.weights[i];
    if (i < top) chart.bars.push_back({one.feature, {one.weight}, one.interval.low, one.interval.high});
    csv +=
        fmt::format("{},{},{},{},{}\n", csv_cell(one.feature), csv_number(one.weight),
                    csv_number(one.interval.low), csv_number(one.interval.high), csv_number(one.other_sign));
  }
  page.figure({svg(chart), bootstrap_line(bootstrap) + ".", csv, "intervals.csv"});
}

void add_diagnosis(HtmlPage& page, const Diagnosis& diagnosis, std::size_t top) {
  page.section("Diagnosis");
  if (diagnosis.model) {
    page.table(html_table(model_table(*diagnosis.model)));
    if (diagnosis.model->bootstrap) add_bootstrap(page, *diagnosis.model->bootstrap, top);
  }
  page.table(html_table(diagnosis_table(diagnosis.tasks)));
  if (!diagnosis.transfers.empty()) page.table(html_table(transfer_table(diagnosis.transfers)));
}

}  // namespace

std::string model_page(const Model& model, const std::optional<Diagnosis>& diagnosis,
                       const ModelPageOptions& options) {
  const TrainingReport& report = model.training;
  HtmlPage page(
      fmt::format("A model of {}", model.method),
      fmt::format("{}{}{} in {}, {}", options.file, options.file.empty() ? "" : ": ",
                  count_of(report.instances, "instance", "instances"), count_of(report.bags, "bag", "bags"),
                  count_of(report.features, "feature", "features")));
  if (diagnosis) add_findings(page, *diagnosis);
  add_summary(page, model);
  if (diagnosis && diagnosis->model) add_proportions(page, *diagnosis->model, options.worst);
  add_weights(page, model, options.top);
  add_training_tasks(page, model, options.worst);
  if (diagnosis) {
    add_diagnosis(page, *diagnosis, options.top);
  } else {
    page.section("Proportions and diagnosis");
    page.paragraph(
        "A model file does not hold the data it was trained on. Given them, this page also shows the known "
        "against the predicted share of each bag, and what a diagnosis says:");
    page.code("bagwise report model.json --target T.csv --target-proportions P.csv -o report.html");
  }
  return page.text(made_by());
}

}  // namespace bagwise
