#include "bagwise/report/diagnosis_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bagwise {
namespace {

std::string whole(std::uint64_t n) { return fmt::format("{}", n); }
std::string from_to(const Interval& interval) {
  return fmt::format("{} to {}", short_number(interval.low), short_number(interval.high));
}
std::string with_interval(double value, const Interval& interval) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", value, interval.low, interval.high);
}
std::string chance(double p) { return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p); }

}  // namespace

std::vector<Finding> all_findings(const Diagnosis& diagnosis) {
  std::vector<Finding> out;
  if (diagnosis.model) out = findings(*diagnosis.model);
  for (Finding& finding : findings(diagnosis.tasks, diagnosis.transfers)) out.push_back(std::move(finding));
  for (const std::string& remark : diagnosis.remarks) out.push_back({Severity::kRemark, remark});
  std::stable_partition(out.begin(), out.end(),
                        [](const Finding& f) { return f.severity == Severity::kVerdict; });
  return out;
}

TextTable diagnosis_table(const std::vector<TaskDiagnosis>& tasks) {
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
  return table;
}

TextTable transfer_table(const std::vector<TransferDiagnosis>& transfers) {
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
  return table;
}

TextTable model_table(const ModelDiagnosis& model) {
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
  return table;
}

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

TextTable worst_bags_table(const ModelDiagnosis& model, std::size_t count) {
  TextTable table({"bag", ">rows", ">known", ">predicted", ">mean probability", ">95 % interval", ">p-value",
                   ">after all looks"});
  for (const BagFit* bag : worst_fits(model, count)) {
    table.add({short_name(bag->shares.bag), whole(bag->shares.rows), share(bag->shares.known),
               share(bag->shares.hard), share(bag->shares.soft), from_to(bag->interval),
               short_number(bag->p_value), short_number(bag->adjusted)});
  }
  return table;
}

TextTable bootstrap_table(const BootstrapDiagnosis& bootstrap, std::size_t count) {
  TextTable table({"feature", ">weight", ">95 % interval", ">other sign"});
  for (std::size_t i = 0; i < std::min(count, bootstrap.weights.size()); ++i) {
    const WeightInterval& one = bootstrap.weights[i];
    table.add({short_name(one.feature), short_number(one.weight), from_to(one.interval),
               fmt::format("{:.1f} %", 100 * one.other_sign)});
  }
  return table;
}

std::string bootstrap_line(const BootstrapDiagnosis& bootstrap) {
  const auto steady = std::count_if(bootstrap.weights.begin(), bootstrap.weights.end(),
                                    [](const auto& w) { return !w.interval.holds(0); });
  return fmt::format("The largest weights on raw values, {} bootstraps over bags; {} of {} keep their sign",
                     bootstrap.draws - bootstrap.failed, steady, bootstrap.weights.size());
}

}  // namespace bagwise
