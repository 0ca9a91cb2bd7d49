#include "cli/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/table.h"

namespace bagwise::cli {
namespace {

std::string whole(std::uint64_t n) { return fmt::format("{}", n); }
std::string from_to(const Interval& interval) {
  return fmt::format("{} to {}", short_number(interval.low), short_number(interval.high));
}
std::string with_interval(double value, const Interval& interval) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", value, interval.low, interval.high);
}
std::string chance(double p) { return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p); }

std::vector<Finding> all_findings(const Diagnosis& diagnosis) {
  std::vector<Finding> out;
  if (diagnosis.model) out = findings(*diagnosis.model);
  for (Finding& finding : findings(diagnosis.tasks, diagnosis.transfers)) out.push_back(std::move(finding));
  for (const std::string& remark : diagnosis.remarks) out.push_back({Severity::kRemark, remark});
  std::stable_partition(out.begin(), out.end(),
                        [](const Finding& f) { return f.severity == Severity::kVerdict; });
  return out;
}

// One row per figure, one column per task, the target first.
std::string diagnosis_table(const std::vector<TaskDiagnosis>& tasks) {
  std::vector<std::string> titles = {"before training"};
  for (std::size_t i = tasks.size(); i-- > 0;)
    titles.push_back(fmt::format(">{}", short_name(tasks[i].name)));
  TextTable table(titles);
  const auto row = [&](const char* title, auto value) {
    std::vector<std::string> cells = {title};
    for (std::size_t i = tasks.size(); i-- > 0;) cells.push_back(value(tasks[i]));
    table.add(std::move(cells));
  };
  using Task = const TaskDiagnosis&;
  const auto five = [](const Spread& s) {
    return fmt::format("{:.3g}, {:.3g}, {:.3g}, {:.3g}, {:.3g}", s.least, s.lower_quartile, s.median,
                       s.upper_quartile, s.largest);
  };
  row("instances", [](Task t) { return whole(t.instances); });
  row("bags", [](Task t) { return whole(t.bags); });
  row("features", [](Task t) { return whole(t.features); });
  row("bag sizes: least, quartiles, largest", [&](Task t) { return five(t.sizes); });
  row("share of positives", [](Task t) { return share(t.share); });
  row("proportions: least, quartiles, largest", [&](Task t) { return five(t.proportions); });
  row("  their standard deviation", [](Task t) { return share(t.proportions.deviation); });
  row("  of rows dealt at random", [](Task t) { return share(t.chance_deviation); });
  row("  chance of as much by dealing", [](Task t) { return chance(t.chance_tail); });
  row("bags of one class", [](Task t) { return whole(t.pure_bags); });
  row("condition of the class means", [](Task t) { return short_number(t.condition); });
  row("effective size (labelled rows)", [](Task t) { return fmt::format("{:.1f}", t.effective_size); });
  row("held-out correlation with the classes",
      [](Task t) { return with_interval(t.signal.correlation, t.signal.interval); });
  row("copies of rows", [](Task t) { return whole(t.duplicates.copies); });
  row("  rows with an equal one in another bag", [](Task t) { return whole(t.duplicates.rows_in_bags); });
  row("constant features", [](Task t) { return whole(t.constant_features.size()); });
  row("leaks, near leaks", [](Task t) { return fmt::format("{}, {}", t.leaks.size(), t.near_leaks.size()); });
  row("scales: smallest, median, largest", [](Task t) {
    return fmt::format("{:.3g}, {:.3g}, {:.3g}", t.scales.smallest, t.scales.median, t.scales.largest);
  });
  return table.text(2);
}

std::string transfer_table(const std::vector<TransferDiagnosis>& transfers) {
  std::vector<std::string> titles = {"source against target"};
  for (const auto& transfer : transfers) titles.push_back(fmt::format(">{}", short_name(transfer.source)));
  TextTable table(titles);
  const auto row = [&](const char* title, auto value) {
    std::vector<std::string> cells = {title};
    for (const auto& transfer : transfers) cells.push_back(value(transfer));
    table.add(std::move(cells));
  };
  using Transfer = const TransferDiagnosis&;
  row("transfer", [](Transfer t) { return std::string(to_text(t.verdict)); });
  row("its direction on its own bags, held out",
      [](Transfer t) { return with_interval(t.own.correlation, t.own.interval); });
  row("its direction on the target's bags",
      [](Transfer t) { return with_interval(t.across.correlation, t.across.interval); });
  row("cosine of class-mean differences", [](Transfer t) {
    return t.cosine ? with_interval(t.cosine->cosine, t.cosine->interval) : std::string("lost in noise");
  });
  row("distance of means (standard deviations)", [](Transfer t) { return short_number(t.mean_shift); });
  row("  largest in", [](Transfer t) {
    return t.shifts.empty() ? std::string("-")
                            : fmt::format("{} ({:+.2f})", short_name(t.shifts[0].feature), t.shifts[0].shift);
  });
  row("energy distance, 0 to 1", [](Transfer t) { return share(t.energy.distance); });
  row("  p-value (permutations)", [](Transfer t) { return chance(t.energy.p_value); });
  row("rows that both have", [](Transfer t) { return whole(t.shared_rows); });
  return table.text(2);
}

std::string model_table(const ModelDiagnosis& model) {
  TextTable table({"after training", ">value"});
  table.add({"share of positives, known", share(model.known_share)});
  table.add({"  of rows called positive", share(model.predicted_share)});
  table.add({"  mean probability", share(model.mean_probability)});
  table.add({"bags whose share is in its 95 % interval", fmt::format("{:.1f} %", 100 * model.held)});
  table.add({"proportion error, bags of the fit",
             with_interval(model.proportion_error.value, model.proportion_error.interval)});
  if (model.held_out) {
    const HeldOutDiagnosis& held = *model.held_out;
    table.add({fmt::format("proportion error, held out in {} folds", held.folds),
               with_interval(held.proportion_error.value, held.proportion_error.interval)});
    if (held.accuracy) {
      table.add({"accuracy on rows, estimated from held-out bags",
                 with_interval(held.accuracy->accuracy, held.accuracy->interval)});
      table.add({"  of positives, of negatives", fmt::format("{:.3f}, {:.3f}", held.accuracy->sensitivity,
                                                             1 - held.accuracy->false_positives)});
      table.add({"  dispersion of the counts (1: as chance has it)", share(held.accuracy->dispersion)});
    }
    table.add({"accuracy that the probabilities promise", share(held.mean_confidence)});
  }
  return table.text(2);
}

// The bags that fit worst: by p-value, then by error.
std::vector<const BagFit*> worst_fits(const ModelDiagnosis& model, std::size_t count) {
  std::vector<const BagFit*> out;
  for (const BagFit& bag : model.bags) out.push_back(&bag);
  std::stable_sort(out.begin(), out.end(), [](const BagFit* a, const BagFit* b) {
    const auto miss = [](const BagFit* f) { return std::abs(f->shares.soft - f->shares.known); };
    return a->p_value != b->p_value ? a->p_value < b->p_value : miss(a) > miss(b);
  });
  out.resize(std::min(out.size(), count));
  return out;
}

std::string bags_text(const ModelDiagnosis& model, std::size_t count) {
  TextTable table({"bag", ">rows", ">known", ">predicted", ">mean probability", ">95 % interval", ">p-value",
                   ">after all looks"});
  for (const BagFit* bag : worst_fits(model, count)) {
    table.add({short_name(bag->shares.bag), whole(bag->shares.rows), share(bag->shares.known),
               share(bag->shares.hard), share(bag->shares.soft), from_to(bag->interval),
               short_number(bag->p_value), short_number(bag->adjusted)});
  }
  return fmt::format("Bags that fit worst:\n\n{}", table.text(2));
}

std::string bootstrap_text(const BootstrapDiagnosis& bootstrap, std::size_t count) {
  TextTable table({"feature", ">weight", ">95 % interval", ">other sign"});
  for (std::size_t i = 0; i < std::min(count, bootstrap.weights.size()); ++i) {
    const WeightInterval& one = bootstrap.weights[i];
    table.add({short_name(one.feature), short_number(one.weight), from_to(one.interval),
               fmt::format("{:.1f} %", 100 * one.other_sign)});
  }
  const auto steady = std::count_if(bootstrap.weights.begin(), bootstrap.weights.end(),
                                    [](const auto& w) { return !w.interval.holds(0); });
  return fmt::format(
      "The largest weights on raw values, {} bootstraps over bags; {} of {} keep their sign:\n\n{}",
      bootstrap.draws - bootstrap.failed, steady, bootstrap.weights.size(), table.text(2));
}

Json to_json(const Interval& interval) { return {{"low", interval.low}, {"high", interval.high}}; }
Json to_json(double value, const Interval& interval) {
  return {{"value", value}, {"low", interval.low}, {"high", interval.high}};
}
Json to_json(const Spread& s) {
  return {{"least", s.least},        {"lower_quartile", s.lower_quartile},
          {"median", s.median},      {"upper_quartile", s.upper_quartile},
          {"largest", s.largest},    {"mean", s.mean},
          {"deviation", s.deviation}};
}
Json to_json(const ClassSignal& s) {
  return {{"correlation", s.correlation},
          {"standard_error", s.error},
          {"low", s.interval.low},
          {"high", s.interval.high}};
}
// JSON has no infinity.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const TaskDiagnosis& task) {
  Json near = Json::array();
  for (const auto& [name, correlation] : task.near_leaks)
    near.push_back({{"feature", name}, {"correlation", correlation}});
  return {{"name", task.name},
          {"instances", task.instances},
          {"bags", task.bags},
          {"features", task.features},
          {"bag_sizes", to_json(task.sizes)},
          {"share", task.share},
          {"proportions", to_json(task.proportions)},
          {"chance_deviation", task.chance_deviation},
          {"chance_p_value", task.chance_tail},
          {"pure_bags", task.pure_bags},
          {"condition", finite(task.condition)},
          {"effective_size", task.effective_size},
          {"signal", to_json(task.signal)},
          {"learnable", to_text(learnable(task))},
          {"duplicates",
           {{"copies", task.duplicates.copies},
            {"groups", task.duplicates.groups},
            {"rows_in_other_bags", task.duplicates.rows_in_bags}}},
          {"constant_features", task.constant_features},
          {"leaks", task.leaks},
          {"near_leaks", near},
          {"scales",
           {{"smallest", task.scales.smallest},
            {"median", task.scales.median},
            {"largest", task.scales.largest},
            {"largest_feature", task.largest_feature}}}};
}

Json to_json(const TransferDiagnosis& transfer) {
  Json shifts = Json::array();
  for (const FeatureShift& one : transfer.shifts)
    shifts.push_back({{"feature", one.feature}, {"shift", one.shift}});
  return {{"source", transfer.source},
          {"verdict", to_text(transfer.verdict)},
          {"own_signal", to_json(transfer.own)},
          {"target_signal", to_json(transfer.across)},
          {"cosine", transfer.cosine ? to_json(transfer.cosine->cosine, transfer.cosine->interval) : Json()},
          {"mean_shift", transfer.mean_shift},
          {"largest_shifts", shifts},
          {"energy",
           {{"distance", transfer.energy.distance},
            {"p_value", transfer.energy.p_value},
            {"rows", transfer.energy.rows}}},
          {"shared_rows", transfer.shared_rows}};
}

Json to_json(const HeldOutDiagnosis& held) {
  Json out = {{"folds", held.folds},
              {"proportion_error", to_json(held.proportion_error.value, held.proportion_error.interval)},
              {"accuracy", nullptr},
              {"mean_confidence", held.mean_confidence}};
  if (held.accuracy) {
    out["accuracy"] = to_json(held.accuracy->accuracy, held.accuracy->interval);
    out["accuracy"]["sensitivity"] = held.accuracy->sensitivity;
    out["accuracy"]["specificity"] = 1 - held.accuracy->false_positives;
    out["accuracy"]["dispersion"] = held.accuracy->dispersion;
  }
  return out;
}

Json to_json(const ModelDiagnosis& model) {
  Json bags = Json::array();
  for (const BagFit& bag : model.bags) {
    bags.push_back({{"bag", bag.shares.bag},
                    {"rows", bag.shares.rows},
                    {"known", bag.shares.known},
                    {"predicted", bag.shares.hard},
                    {"mean_probability", bag.shares.soft},
                    {"interval", to_json(bag.interval)},
                    {"p_value", bag.p_value},
                    {"adjusted_p_value", bag.adjusted},
                    {"fits", bag.fits}});
  }
  Json out = {{"method", model.method},
              {"task", model.task},
              {"known_share", model.known_share},
              {"predicted_share", model.predicted_share},
              {"mean_probability", model.mean_probability},
              {"bags_in_interval", model.held},
              {"proportion_error", to_json(model.proportion_error.value, model.proportion_error.interval)},
              {"held_out", model.held_out ? to_json(*model.held_out) : Json()},
              {"bootstrap", nullptr}};
  if (model.bootstrap) {
    Json weights = Json::array();
    for (const WeightInterval& one : model.bootstrap->weights) {
      weights.push_back({{"feature", one.feature},
                         {"weight", one.weight},
                         {"low", one.interval.low},
                         {"high", one.interval.high},
                         {"other_sign", one.other_sign}});
    }
    out["bootstrap"] = {{"draws", model.bootstrap->draws},
                        {"failed", model.bootstrap->failed},
                        {"weights", std::move(weights)}};
  }
  out["bags"] = std::move(bags);
  return out;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, const Shown& shown) {
  std::string out;
  for (const Finding& finding : all_findings(diagnosis)) {
    const std::string message = printable(finding.message);
    out += finding.severity == Severity::kVerdict
               ? fmt::format("{}\n", message)
               : fmt::format("{}: {}\n", to_text(finding.severity), message);
  }
  if (diagnosis.model) {
    const ModelDiagnosis& model = *diagnosis.model;
    out += fmt::format("\n{}", model_table(model));
    if (shown.worst > 0) out += fmt::format("\n{}", bags_text(model, shown.worst));
    if (shown.top > 0 && model.bootstrap)
      out += fmt::format("\n{}", bootstrap_text(*model.bootstrap, shown.top));
    return out;
  }
  out += fmt::format("\n{}", diagnosis_table(diagnosis.tasks));
  if (!diagnosis.transfers.empty()) out += fmt::format("\n{}", transfer_table(diagnosis.transfers));
  return out;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  Json out = {{"findings", Json::array()}, {"tasks", Json::array()}, {"transfer", Json::array()}};
  for (const Finding& finding : all_findings(diagnosis))
    out["findings"].push_back({{"severity", to_text(finding.severity)}, {"message", finding.message}});
  for (const TaskDiagnosis& task : diagnosis.tasks) out["tasks"].push_back(to_json(task));
  for (const TransferDiagnosis& transfer : diagnosis.transfers) out["transfer"].push_back(to_json(transfer));
  if (diagnosis.model) out["model"] = to_json(*diagnosis.model);
  return out;
}

}  // namespace bagwise::cli
