#include "bagwise/evaluate/diagnosis_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bagwise {
namespace {

constexpr double kRare = 0.02;   // share of a class that is nearly absent
constexpr double kFewRows = 10;  // of a class of less than kSmall, likewise
constexpr double kSmall = 0.2;

std::string in_interval(double value, const Interval& interval) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, interval.low, interval.high);
}

// The first few names of many.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  for (std::string& name : shown) name = fmt::format("\"{}\"", name);
  std::string out = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
  return out;
}

Finding verdict_on(const TaskDiagnosis& task) {
  const std::string worth = fmt::format("its {} bags are worth about {:.0f} labelled rows", task.bags,
                                        std::round(task.effective_size));
  const std::string signal = fmt::format(
      "a direction learnt from part of the bags has the correlation {} "
      "with the classes in the rest",
      in_interval(task.signal.correlation, task.signal.interval));
  switch (learnable(task)) {
    case Learnable::kYes:
      return {Severity::kVerdict, fmt::format("the {} can be learnt from: {}; {}", task.name, signal, worth)};
    case Learnable::kNo:
      return {Severity::kVerdict,
              fmt::format("the {} cannot be learnt from: {}", task.name,
                          task.bags < 3 ? "fewer than three bags"
                                        : "all bags have the same proportion; make bags that differ in it")};
    case Learnable::kUnclear:
      break;
  }
  return {Severity::kVerdict, fmt::format("whether the {} can be learnt from is unclear: {}, which chance "
                                          "alone may give; {}: more bags, smaller bags or bags of more "
                                          "different proportions would tell",
                                          task.name, signal, worth)};
}

Finding verdict_on(const TransferDiagnosis& transfer) {
  const std::string across = in_interval(transfer.across.correlation, transfer.across.interval);
  const std::string own = fmt::format("{:.2f}", transfer.own.correlation);
  const std::string what = fmt::format(
      "its direction has the correlation {} with the target's classes ({} "
      "with its own)",
      across, own);
  std::string advice;
  switch (transfer.verdict) {
    case TransferVerdict::kHelps:
      advice = "train with --method tl-llp and this source";
      break;
    case TransferVerdict::kHurts:
      advice = "leave this source out";
      break;
    case TransferVerdict::kUnclear:
      advice = "train with and without it, and compare held-out bags";
      break;
  }
  return {Severity::kVerdict, fmt::format("transfer from the {} is {}: {}; {}", transfer.source,
                                          to_text(transfer.verdict), what, advice)};
}

void check_classes(const TaskDiagnosis& task, std::vector<Finding>& out) {
  const double rare = std::min(task.share, 1 - task.share);
  const double rows = rare * static_cast<double>(task.instances);
  if (rare == 0) {
    out.push_back({Severity::kFault, fmt::format("the {} has rows of one class only", task.name)});
  } else if (rare < kRare || (rare < kSmall && rows < kFewRows)) {
    out.push_back(
        {Severity::kWarning,
         fmt::format("the {} has {} class nearly absent: about {:.0f} of {} rows; accuracy says "
                     "little there, look at balanced accuracy",
                     task.name, task.share < 0.5 ? "its positive" : "its negative", rows, task.instances)});
  }
}

void check_spread(const TaskDiagnosis& task, std::vector<Finding>& out) {
  if (task.pure_bags == task.bags) {
    out.push_back(
        {Severity::kRemark, fmt::format("all bags of the {} are of one class: these are labels", task.name)});
  } else if (task.chance_tail < 0.001) {
    out.push_back({Severity::kRemark,
                   fmt::format("the proportions of the {} spread by {:.3f}, more than the {:.3f} of rows "
                               "dealt at random: bags differ, which helps, unless they also differ in what "
                               "has nothing to do with the classes",
                               task.name, task.proportions.deviation, task.chance_deviation)});
  }
  if (task.condition > 100 && std::isfinite(task.condition)) {
    out.push_back(
        {Severity::kWarning, fmt::format("the proportions of the {} differ little: the class means are "
                                         "ill-conditioned (condition number {:.3g})",
                                         task.name, task.condition)});
  }
}

void check_features(const TaskDiagnosis& task, std::vector<Finding>& out) {
  if (!task.leaks.empty()) {
    out.push_back({Severity::kFault,
                   fmt::format("the {} has each bag's proportion as the bag's mean of {}: the label under "
                               "another name; leave it out with --exclude",
                               task.name, some_of(task.leaks))});
  }
  if (!task.near_leaks.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, correlation] : task.near_leaks) names.push_back(name);
    out.push_back({Severity::kWarning,
                   fmt::format("the {} has a feature whose bag means follow the proportions almost exactly "
                               "(correlation beyond 0.999): {}; if it was made from the labels, leave it out "
                               "with --exclude",
                               task.name, some_of(names))});
  }
  if (!task.constant_features.empty()) {
    out.push_back(
        {Severity::kRemark,
         fmt::format("{} of {} features of the {} {} constant and can be left out: {}",
                     task.constant_features.size(), task.features, task.name,
                     task.constant_features.size() == 1 ? "is" : "are", some_of(task.constant_features))});
  }
  if (task.scales.unlike()) {
    out.push_back({Severity::kWarning,
                   fmt::format("the feature \"{}\" of the {} has the standard deviation {:.3g} where half "
                               "of the features have at most {:.3g}: it will drown the others; use --scale "
                               "standard",
                               task.largest_feature, task.name, task.scales.largest, task.scales.median)});
  }
}

void check_duplicates(const TaskDiagnosis& task, std::vector<Finding>& out) {
  const Duplicates& d = task.duplicates;
  if (d.copies == 0) return;
  const double share = static_cast<double>(d.copies) / static_cast<double>(task.instances);
  out.push_back({share > 0.01 ? Severity::kWarning : Severity::kRemark,
                 fmt::format("{} of {} rows of the {} {} of another row ({:.1f} %), and {} have an equal row "
                             "in another bag: held-out bags are then not quite held out",
                             d.copies, task.instances, task.name, d.copies == 1 ? "is a copy" : "are copies",
                             100 * share, d.rows_in_bags)});
}

void check_distance(const TransferDiagnosis& transfer, std::vector<Finding>& out) {
  if (transfer.shared_rows > 0) {
    out.push_back({Severity::kWarning, fmt::format("{} rows of the {} are rows of the target, too",
                                                   transfer.shared_rows, transfer.source)});
  }
  if (transfer.energy.p_value < 0.01 && transfer.energy.distance > 0.2) {
    out.push_back({Severity::kRemark,
                   fmt::format("the {} lies apart from the target (energy distance {:.2f}, {:.2f} standard "
                               "deviations a feature)",
                               transfer.source, transfer.energy.distance, transfer.mean_shift)});
  }
}

void by_severity(std::vector<Finding>& out) {
  const auto rank = [](Severity s) {
    return s == Severity::kVerdict ? 0 : s == Severity::kFault ? 1 : s == Severity::kWarning ? 2 : 3;
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a.severity) < rank(b.severity); });
}

// How right single labels are, as far as the bags tell.
Finding verdict_on_accuracy(const ModelDiagnosis& model) {
  if (!model.held_out)
    return {Severity::kVerdict, "how often single rows are labelled right was not looked at"};
  if (!model.held_out->accuracy) {
    return {Severity::kVerdict, "how often single rows are labelled right, these bags do not tell"};
  }
  const BagAccuracy& found = *model.held_out->accuracy;
  const double guess = std::max(model.known_share, 1 - model.known_share);
  const std::string figure = fmt::format(
      "about {:.0f} % of single rows are labelled right ({:.0f} to {:.0f} %, from held-out bags "
      "alone)",
      100 * found.accuracy, 100 * found.interval.low, 100 * found.interval.high);
  if (found.interval.low > guess) return {Severity::kVerdict, figure};
  return {Severity::kVerdict,
          fmt::format("{}; that is not surely better than always saying the larger class ({:.0f} %): {}",
                      figure, 100 * guess,
                      found.accuracy > guess ? "the interval is wide, more or smaller bags would tell"
                                             : "choose other options, or another method")};
}

}  // namespace

std::string_view to_text(Severity severity) {
  switch (severity) {
    case Severity::kVerdict:
      return "verdict";
    case Severity::kWarning:
      return "warning";
    case Severity::kFault:
      return "fault";
    case Severity::kRemark:
      break;
  }
  return "remark";
}

std::string_view to_text(Learnable learnable) {
  return learnable == Learnable::kYes ? "yes" : learnable == Learnable::kNo ? "no" : "unclear";
}

Learnable learnable(const TaskDiagnosis& task) {
  if (task.bags < 3 || !(task.effective_size > 0)) return Learnable::kNo;
  return task.signal.interval.low > 0 ? Learnable::kYes : Learnable::kUnclear;
}

std::vector<Finding> findings(std::span<const TaskDiagnosis> tasks,
                              std::span<const TransferDiagnosis> transfers) {
  std::vector<Finding> out = {verdict_on(tasks.back())};
  for (const TransferDiagnosis& transfer : transfers) {
    out.push_back(verdict_on(transfer));
    check_distance(transfer, out);
  }
  for (std::size_t i = tasks.size(); i-- > 0;) {
    check_classes(tasks[i], out);
    check_spread(tasks[i], out);
    check_features(tasks[i], out);
    check_duplicates(tasks[i], out);
  }
  by_severity(out);
  return out;
}

std::vector<Finding> findings(const ModelDiagnosis& model) {
  std::vector<Finding> out = {verdict_on_accuracy(model)};
  const auto bad = std::count_if(model.bags.begin(), model.bags.end(), [](const auto& b) { return !b.fits; });
  if (bad > 0) {
    out.push_back({Severity::kWarning,
                   fmt::format("{} of {} bags {} a known share that the model's probabilities rule out, many "
                               "looks allowed for: look at these bags, or the probabilities are too sure",
                               bad, model.bags.size(), bad == 1 ? "has" : "have")});
  }
  const double off = model.predicted_share - model.known_share;
  if (model.predicted_share == 0 || model.predicted_share == 1) {
    out.push_back(
        {Severity::kWarning, fmt::format("every row is called {}: the model tells the rows nothing apart",
                                         model.predicted_share == 0 ? "negative" : "positive")});
  } else if (std::abs(off) > 0.1) {
    out.push_back({Severity::kWarning,
                   fmt::format("{:.0f} % of the rows are called positive and {:.0f} % are known to be: "
                               "predict --threshold or --proportions sets this right",
                               100 * model.predicted_share, 100 * model.known_share)});
  }
  if (model.held_out && model.held_out->proportion_error.value > 2 * model.proportion_error.value) {
    out.push_back({Severity::kRemark,
                   fmt::format("the error of the proportions is {:.3f} on held-out bags and {:.3f} on those "
                               "the model was fitted to: it has learnt them by heart, a smaller C or "
                               "(mean-map) a larger lambda may do better",
                               model.held_out->proportion_error.value, model.proportion_error.value)});
  }
  if (model.bootstrap && model.bootstrap->failed > 0) {
    out.push_back({Severity::kRemark, fmt::format("{} of {} bootstraps could not be fitted and are left out",
                                                  model.bootstrap->failed, model.bootstrap->draws)});
  }
  for (const std::string& remark : model.remarks) out.push_back({Severity::kRemark, remark});
  by_severity(out);
  return out;
}

}  // namespace bagwise
