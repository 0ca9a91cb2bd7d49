// bagwise evaluate: how good a model's predictions are, by labels or by known proportions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/evaluate/matched_labels.h"
#include "bagwise/evaluate/metrics.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/bag_ledger.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scoring.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

struct Evaluation {
  std::string file, method, task;
  std::uint64_t rows = 0;
  std::optional<LabelMetrics> labels;
  std::optional<ProportionMetrics> proportions;
  std::optional<double> matched_accuracy;  // of labels that match the known shares
};

// Scores of a table beside what is known about its rows, gathered block by block.
class Gathering {
 public:
  Gathering(std::string file, std::optional<ProportionTable> proportions)
      : file_(std::move(file)), by_table_(proportions.has_value()), ledger_(std::move(proportions)) {}

  Result<void> add(const TableBlock& block, const std::vector<double>& f, const Scorer& scorer) {
    rows_ += f.size();
    const bool by_bag = by_table_ || !block.rows.shares.empty();
    std::vector<std::uint32_t> bags;
    if (by_bag) {
      auto entered = ledger_.enter(block, file_);
      if (!entered) return entered.error();
      bags = std::move(*entered);
      hard_.resize(ledger_.bags().size());
      soft_.resize(ledger_.bags().size());
      if (!block.rows.labels.empty()) {
        matching_.scores.insert(matching_.scores.end(), f.begin(), f.end());
        matching_.bag_of_row.insert(matching_.bag_of_row.end(), bags.begin(), bags.end());
        matching_.labels.insert(matching_.labels.end(), block.rows.labels.begin(), block.rows.labels.end());
      }
    }
    for (std::size_t i = 0; i < f.size(); ++i) {
      const double p = scorer.probability(f[i]);
      if (by_bag) {
        hard_[bags[i]] += f[i] > 0 ? 1 : 0;
        soft_[bags[i]].add(p);
      }
      if (!block.rows.labels.empty() && block.rows.labels[i] != 0) {
        scores_.push_back(f[i]);
        probabilities_.push_back(p);
        labels_.push_back(block.rows.labels[i]);
      }
    }
    return {};
  }

  Result<Evaluation> finish() const {
    Evaluation out;
    out.rows = rows_;
    if (!labels_.empty()) out.labels = label_metrics(scores_, probabilities_, labels_);
    if (by_table_ || !ledger_.bags().empty()) {
      if (auto checked = ledger_.check(file_); !checked) return checked.error();
      std::vector<BagError> bags;
      for (std::size_t k = 0; k < ledger_.bags().size(); ++k) {
        const auto& bag = ledger_.bags()[k];
        const auto rows = static_cast<double>(bag.rows);
        bags.push_back(
            {bag.name, bag.rows, bag.known, static_cast<double>(hard_[k]) / rows, soft_[k].value() / rows});
      }
      out.proportions = proportion_metrics(std::move(bags));
      if (out.labels) {
        const auto matched = matched_labels(matching_.scores, matching_.bag_of_row, ledger_.shares());
        out.matched_accuracy = accuracy_of(matched, matching_.labels);
      }
    }
    if (!out.labels && !out.proportions) {
      return Error{
          "has neither labels nor proportions; expected a label column, a proportion column or --proportions",
          file_};
    }
    return out;
  }

 private:
  std::string file_;
  bool by_table_;
  BagLedger ledger_;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> hard_;
  std::vector<CompensatedSum> soft_;
  std::vector<double> scores_, probabilities_;
  std::vector<std::int8_t> labels_;
  struct {
    std::vector<double> scores;
    std::vector<std::uint32_t> bag_of_row;
    std::vector<std::int8_t> labels;
  } matching_;  // all rows, where both labels and shares are known
};

Result<Evaluation> evaluate(const Arguments& arguments, const std::string& model_file,
                            const std::optional<ProportionTable>& proportions) {
  const auto model = load_model(model_file);
  if (!model) return model.error();
  const auto task = model->find_task(arguments.text("task"));
  if (!task) return Error{"--task: " + task.error().message};
  const Scorer scorer(*model, *task);
  const std::string input = arguments.text("input");

  TableOptions table = table_options(arguments, *model);
  table.want_labels = true;
  table.want_groups = proportions.has_value();
  Gathering gathering(input, proportions);
  ProgressBar bar(arguments.flag("quiet"));
  const auto consume = [&](TableBlock&& block) -> Result<void> {
    const auto f = finite_scores(scorer, block, table.threads, input);
    if (!f) return f.error();
    return gathering.add(block, *f, scorer);
  };
  if (auto read = stream_table(input, table, consume, bar.observer()); !read)
    return at_prediction(read.error());
  auto out = gathering.finish();
  if (!out) return out.error();
  out->file = model_file;
  out->method = model->method;
  out->task = model->tasks[*task].name;
  return out;
}

// The bags whose predicted share is furthest from the known one; of equal ones the larger.
std::vector<BagError> worst_bags(const ProportionMetrics& metrics, std::size_t count) {
  std::vector<BagError> bags = metrics.bags;
  std::stable_sort(bags.begin(), bags.end(), [](const BagError& a, const BagError& b) {
    const double x = std::abs(a.hard - a.known), y = std::abs(b.hard - b.known);
    return x != y ? x > y : a.rows > b.rows;
  });
  bags.resize(std::min(bags.size(), count));
  return bags;
}

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json evaluation_json(const Evaluation& one, std::size_t worst) {
  Json out = {{"model", one.file}, {"method", one.method}, {"task", one.task}, {"rows", one.rows}};
  if (one.labels) {
    const LabelMetrics& m = *one.labels;
    out["labelled_rows"] = m.rows;
    out["positives"] = m.positives;
    out["accuracy"] = m.accuracy;
    out["balanced_accuracy"] = optional_number(m.balanced_accuracy);
    out["f1"] = optional_number(m.f1);
    out["auc"] = optional_number(m.auc);
    out["log_loss"] = m.log_loss;
    out["brier"] = m.brier;
    out["calibration_error"] = m.calibration_error;
    if (one.matched_accuracy) out["matched_accuracy"] = *one.matched_accuracy;
  }
  if (one.proportions) {
    const ProportionMetrics& m = *one.proportions;
    out["bags"] = m.bags.size();
    out["proportion_error"] = m.mean_error;
    out["soft_proportion_error"] = m.mean_soft_error;
    out["miscount"] = m.miscount;
    out["worst_bags"] = Json::array();
    for (const BagError& bag : worst_bags(m, worst)) {
      out["worst_bags"].push_back({{"bag", bag.bag},
                                   {"rows", bag.rows},
                                   {"known", bag.known},
                                   {"predicted", bag.hard},
                                   {"mean_probability", bag.soft}});
    }
  }
  return out;
}

std::string shown(const std::optional<double>& value) { return value ? share(*value) : "-"; }

// One row per model, one column per measure; or, for one model, the other way round.
std::string measures(const std::vector<Evaluation>& all) {
  std::vector<std::string> titles = {"model"};
  std::vector<std::vector<std::string>> rows;
  for (const Evaluation& one : all) rows.push_back({one.file});
  const auto column = [&](const char* title, auto value) {
    titles.push_back(title);
    for (std::size_t i = 0; i < all.size(); ++i) rows[i].push_back(value(all[i]));
  };
  if (all[0].labels) {
    column("accuracy", [](const Evaluation& e) { return share(e.labels->accuracy); });
    if (all[0].matched_accuracy)
      column("accuracy, matched", [](const Evaluation& e) { return shown(e.matched_accuracy); });
    column("balanced accuracy", [](const Evaluation& e) { return shown(e.labels->balanced_accuracy); });
    column("F1", [](const Evaluation& e) { return shown(e.labels->f1); });
    column("AUC", [](const Evaluation& e) { return shown(e.labels->auc); });
    column("log loss", [](const Evaluation& e) { return share(e.labels->log_loss); });
    column("Brier score", [](const Evaluation& e) { return share(e.labels->brier); });
    column("calibration error", [](const Evaluation& e) { return share(e.labels->calibration_error); });
  }
  if (all[0].proportions) {
    column("proportion error", [](const Evaluation& e) { return share(e.proportions->mean_error); });
    column("by probability", [](const Evaluation& e) { return share(e.proportions->mean_soft_error); });
    column("miscounted rows", [](const Evaluation& e) { return short_number(e.proportions->miscount); });
  }
  if (all.size() == 1) {
    TextTable table({"measure", ">value"});
    for (std::size_t c = 1; c < titles.size(); ++c) table.add({titles[c], rows[0][c]});
    return table.text(2);
  }
  for (std::size_t c = 1; c < titles.size(); ++c) titles[c].insert(0, 1, '>');
  TextTable table(titles);
  for (auto& row : rows) table.add(std::move(row));
  return table.text(2);
}

std::string evaluation_text(const std::vector<Evaluation>& all, const std::string& input, std::size_t worst) {
  const Evaluation& first = all[0];
  std::string out =
      fmt::format("{} on {}", all.size() == 1 ? printable(first.file) : fmt::format("{} models", all.size()),
                  printable(input));
  out += fmt::format(": {}", count_of(first.rows, "row", "rows"));
  if (first.labels)
    out += fmt::format(", {} with labels ({} positive)", first.labels->rows, first.labels->positives);
  if (first.proportions) out += fmt::format(", {}", count_of(first.proportions->bags.size(), "bag", "bags"));
  out += "\n\n" + measures(all);
  if (all.size() == 1 && first.proportions && worst > 0) {
    TextTable table({"bag", ">rows", ">known share", ">predicted", ">mean probability"});
    for (const BagError& bag : worst_bags(*first.proportions, worst)) {
      table.add({short_name(bag.bag), fmt::format("{}", bag.rows), share(bag.known), share(bag.hard),
                 share(bag.soft)});
    }
    out += "\nBags with the largest error:\n\n" + table.text(2);
  }
  return out;
}

Result<int> run_evaluate(const Arguments& arguments) {
  std::optional<ProportionTable> proportions;
  if (arguments.has("proportions")) {
    auto read = read_proportions(arguments.text("proportions"));
    if (!read) return read.error();
    proportions = std::move(*read);
  }
  const auto models = arguments.texts("model");
  if (const std::string input = arguments.text("input"); models.size() > 1 && is_special(input)) {
    return Error{
        "is a pipe, which can be read once; several models need a file that can be read more than once",
        input};
  }
  std::vector<Evaluation> all;
  for (const std::string& model : models) {
    auto one = evaluate(arguments, model, proportions);
    if (!one) return one.error();
    all.push_back(std::move(*one));
  }
  const std::size_t worst = arguments.whole("worst");
  if (!arguments.flag("json")) {
    print(evaluation_text(all, arguments.text("input"), worst));
  } else if (all.size() == 1) {
    print(to_text(evaluation_json(all[0], worst), 2) + "\n");
  } else {
    Json out = {{"models", Json::array()}};
    for (const Evaluation& one : all) out["models"].push_back(evaluation_json(one, worst));
    print(to_text(out, 2) + "\n");
  }
  return 0;
}

}  // namespace

Command evaluate_command() {
  std::vector<Option> options = {
      {.name = "model",
       .value = "FILE",
       .help = "a model that bagwise train wrote; given several times, the models are compared",
       .required = true,
       .repeatable = true},
      {.name = "input",
       .value = "FILE",
       .help = "the table of rows, with a label column, or bags whose proportions are known",
       .required = true},
      {.name = "proportions",
       .value = "FILE",
       .help = "the known share of positives of each bag",
       .shown = "the proportion column, if there is one"},
      {.name = "task",
       .value = "TASK",
       .help = "whose plane: target, source, a task's name, or its number from 1",
       .fallback = "target"},
      {.name = "align-features",
       .help = "take a feature of the model that the table lacks as 0 in every row",
       .kind = Kind::kFlag},
      {.name = "worst",
       .value = "N",
       .help = "how many of the bags with the largest error to show",
       .fallback = "10",
       .kind = Kind::kWhole},
  };
  Option quiet = quiet_option();
  quiet.help = "no progress";
  append(options, {threads_option(), quiet, json_option()});
  append(options, column_options());
  return {"evaluate",
          "measure a model's predictions against labels or known proportions",
          "--model model.json --input X.csv [--proportions P.csv] [OPTION]...",
          "With labels: accuracy, balanced accuracy, F1, AUC, log loss (of probabilities clipped to\n"
          "[1e-15, 1 - 1e-15]), Brier score, calibration error (ten bins).\n"
          "With proportions: the mean over bags of |predicted share - known share|, with shares of scores "
          "above 0 and\n"
          "with mean probabilities, and the number of rows miscounted. With both: both, and the\n"
          "accuracy of labels that match the known shares (predict --proportions).",
          std::move(options),
          run_evaluate};
}

}  // namespace bagwise::cli
