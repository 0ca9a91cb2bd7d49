#include "bagwise/report/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/table.h"

namespace bagwise {
namespace {

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
    out += fmt::format("\n{}", model_table(model).text(2));
    if (shown.worst > 0)
      out += fmt::format("\nBags that fit worst:\n\n{}", worst_bags_table(model, shown.worst).text(2));
    if (shown.top > 0 && model.bootstrap) {
      out += fmt::format("\n{}:\n\n{}", bootstrap_line(*model.bootstrap),
                         bootstrap_table(*model.bootstrap, shown.top).text(2));
    }
    return out;
  }
  out += fmt::format("\n{}", diagnosis_table(diagnosis.tasks).text(2));
  if (!diagnosis.transfers.empty()) out += fmt::format("\n{}", transfer_table(diagnosis.transfers).text(2));
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

}  // namespace bagwise
