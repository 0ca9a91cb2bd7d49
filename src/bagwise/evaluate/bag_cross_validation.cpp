#include "bagwise/evaluate/bag_cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "bagwise/bags/take_bags.h"
#include "bagwise/comm/deal_over_ranks.h"
#include "bagwise/comm/packed.h"
#include "bagwise/core/watched.h"
#include "bagwise/evaluate/committee.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/metric.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {
namespace {

// Scores of the target by every fit, one column each: of planes, one product for all of them.
ColMatrix scores_of(const std::vector<Fit>& fits, const std::vector<std::vector<TaskModel>>& planes,
                    const RowsView& rows) {
  const auto n = static_cast<Eigen::Index>(row_count(rows));
  ColMatrix out(n, static_cast<Eigen::Index>(fits.size()));
  RowMatrix weights(out.cols(), static_cast<Eigen::Index>(column_count(rows)));
  for (std::size_t s = 0; s < fits.size(); ++s) {
    const auto column = static_cast<Eigen::Index>(s);
    if (planes[s].empty()) {
      const Model& model = fits[s].model;
      const auto f = Scorer(model, model.tasks.size() - 1).scores(rows, 1);
      out.col(column) = Eigen::Map<const Vector>(f.data(), n);
      weights.row(column).setZero();
    } else {
      const std::vector<double>& w = planes[s].back().weights;
      weights.row(column) = Eigen::Map<const Vector>(w.data(), static_cast<Eigen::Index>(w.size()));
    }
  }
  const RowMatrix products = products_with(rows, weights, 1);
  for (std::size_t s = 0; s < fits.size(); ++s) {
    const auto column = static_cast<Eigen::Index>(s);
    if (!planes[s].empty()) out.col(column) = products.col(column).array() + planes[s].back().bias;
  }
  return out;
}

// Whether what was recalled is what a path of so many settings leaves: it may come from a file.
// A method may keep planes of all tasks or of the target alone.
bool is_whole(const PathOutcome& outcome, std::size_t settings, std::size_t tasks, std::size_t features) {
  const auto is_plane = [&](const TaskModel& plane) { return plane.weights.size() == features; };
  return outcome.size() == settings && std::all_of(outcome.begin(), outcome.end(), [&](const auto& one) {
           return one.planes.size() <= tasks && one.planes.empty() == (tasks == 0) &&
                  std::all_of(one.planes.begin(), one.planes.end(), is_plane);
         });
}

void pack(Packing& to, const PathOutcome& outcome) {
  to.count(outcome.size());
  for (const FoldOutcome& one : outcome) {
    to.number(one.value).count(one.planes.size());
    for (const TaskModel& plane : one.planes) {
      to.text(plane.name).numbers(plane.weights).number(plane.bias);
      to.number(plane.probability.slope).number(plane.probability.offset);
    }
  }
}

PathOutcome unpack(Unpacking& from) {
  PathOutcome out(from.count());
  for (FoldOutcome& one : out) {
    one.value = from.number();
    one.planes.resize(from.count());
    for (TaskModel& plane : one.planes) {
      plane.name = from.text();
      plane.weights = from.numbers();
      plane.bias = from.number();
      plane.probability.slope = from.number();
      plane.probability.offset = from.number();
    }
  }
  return out;
}

}  // namespace

// The tasks as the arm's method is given them, with each fold left out.
struct BagCrossValidation::Mapped {
  std::optional<MappedTasks> metric;
  struct Fold {
    BaggedData rows;
    std::vector<TrainingTask> tasks;
  };
  std::vector<std::unique_ptr<Fold>> folds;
};

BagCrossValidation::BagCrossValidation(std::span<const TrainingTask> tasks,
                                       const std::vector<std::vector<std::uint32_t>>& folds,
                                       Criterion criterion, bool keep_planes, Context context, Memory memory,
                                       Communicator* ranks)
    : tasks_(tasks),
      criterion_(criterion),
      keep_planes_(keep_planes),
      context_(std::move(context)),
      memory_(std::move(memory)),
      ranks_(ranks) {
  const BaggedData& target = *tasks.back().rows;
  for (const auto& fold : folds) {
    BaggedData held_out = take_bags(target, fold);
    HeldOut out{other_bags(target.bags.size(), fold), std::move(held_out.bags), {}, {}};
    out.bag_start.assign(fold.size() + 1, 0);
    for (const std::uint32_t k : held_out.bag_of_row) ++out.bag_start[k + 1];
    std::partial_sum(out.bag_start.begin(), out.bag_start.end(), out.bag_start.begin());
    out.rows = std::move(held_out.features);
    folds_.push_back(std::move(out));
  }
}

std::string piece_key(const Arm& arm, const SettingsPath& path, std::size_t fold) {
  std::string out = fmt::format("{} metric={} fold={}", arm.method->name, arm.metric, fold);
  for (const OptionTexts& setting : path) out += fmt::format("|{}", setting_text(setting));
  return out;
}

Result<PathOutcome> BagCrossValidation::run_piece(const Arm& arm, const Mapped& mapped,
                                                  const SettingsPath& path, std::size_t fold,
                                                  const Observer& observer) const {
  Context context = context_;
  context.threads = 1;
  context.observer = observer;
  if (mapped.metric) context = mapped.metric->context(std::move(context));
  auto fits = arm.method->fit_path(mapped.folds[fold]->tasks, path, context);
  if (!fits) return fits.error();
  if (tell(observer, {"choosing"}) == Next::kStop) return stopped_error();
  std::vector<std::vector<TaskModel>> planes;
  for (Fit& fit : *fits) {
    if (mapped.metric) fold_back(*mapped.metric, fit.model);
    planes.push_back(raw_planes(fit.model));
    // Told by the first of all fits rather than after the last.
    if (keep_planes_ && planes.back().empty()) {
      return Error{fmt::format(
          "combine = average or plane needs planes, and {} {} has none; expected best with kernels other "
          "than linear",
          arm.method->name, setting_text(path[planes.size() - 1]))};
    }
  }
  const HeldOut& out = folds_[fold];
  const ColMatrix scores = scores_of(*fits, planes, out.rows.view());
  PathOutcome outcome;
  for (std::size_t s = 0; s < fits->size(); ++s) {
    const std::span<const double> f(scores.col(static_cast<Eigen::Index>(s)).data(), out.rows.rows());
    const Probability& probability = (*fits)[s].model.tasks.back().probability;
    outcome.push_back({criterion_value(criterion_, f, probability, out.bag_start, out.bags), {}});
    if (keep_planes_) outcome.back().planes = std::move(planes[s]);
  }
  return outcome;
}

Result<BagCrossValidation::Mapped> BagCrossValidation::map_arm(const Arm& arm,
                                                               std::span<const TrainingTask> tasks,
                                                               std::size_t from, std::size_t count) const {
  const auto needs_rows = [&](const OptionTexts& setting) { return arm.method->needs_instances(setting); };
  const std::vector<OptionTexts> settings = settings_of(arm.paths);
  const bool rows = std::any_of(settings.begin(), settings.end(), needs_rows);
  Mapped out;
  if (arm.metric != "none") {
    auto metric = map_tasks(tasks, context_, rows);
    if (!metric) return metric.error();
    out.metric = std::move(*metric);
    tasks = out.metric->tasks;
  }
  out.folds.resize(folds_.size());
  for (std::size_t f = from; f < from + count; ++f) {
    out.folds[f] = std::make_unique<Mapped::Fold>();
    auto& fold = *out.folds[f];
    fold.tasks.assign(tasks.begin(), tasks.end());
    fold.tasks.back().reduced = take_bags(tasks.back().reduced, folds_[f].rest);
    if (rows) fold.rows = take_bags(*tasks.back().rows, folds_[f].rest);
    fold.tasks.back().rows = rows ? &fold.rows : nullptr;
  }
  return out;
}

Result<void> BagCrossValidation::run_over_ranks(const Arm& arm, const std::map<std::size_t, Mapped>& mapped,
                                                std::span<const std::size_t> given, std::size_t from,
                                                const Observer& observer, std::size_t total, Outcomes& out) {
  const bool first = ranks_->rank() == 0;
  const std::size_t count = out.empty() ? 0 : out[0].size();
  const std::size_t features = tasks_.back().rows->features.columns();
  const auto key_of = [&](std::size_t piece) {
    return piece_key(arm, arm.paths[piece / count], from + piece % count);
  };
  // Which pieces rank 0 has from before: '1' for each.
  std::string known(out.size() * count, '0');
  for (std::size_t piece = 0; first && memory_.recall && piece < known.size(); ++piece) {
    auto recalled = memory_.recall(key_of(piece));
    const std::size_t tasks = keep_planes_ ? given[piece / count] : 0;
    if (!recalled || !is_whole(*recalled, arm.paths[piece / count].size(), tasks, features)) continue;
    known[piece] = '1';
    out[piece / count][piece % count] = std::move(*recalled);
  }
  known = ranks_->gather(first ? known : "")[0];
  std::vector<std::size_t> left;
  std::size_t before = 0;  // settings that were recalled
  for (std::size_t piece = 0; piece < known.size(); ++piece) {
    if (known[piece] == '0')
      left.push_back(piece);
    else
      before += arm.paths[piece / count].size();
  }
  const Observer watch = [&](const Progress& p) {
    return tell(observer, {p.phase, p.done + static_cast<double>(before), p.total, p.value});
  };
  std::map<std::size_t, std::string> faults;  // by piece; of rank 0
  const DealtWork work{.run = [&](std::size_t i, Watched& watched) -> std::optional<std::string> {
                         const std::size_t piece = left[i];
                         const SettingsPath& path = arm.paths[piece / count];
                         if (watched.stop) return std::nullopt;
                         auto found = run_piece(arm, mapped.at(given[piece / count]), path,
                                                from + piece % count, watched.inside());
                         if (!found && watched.stop) return std::nullopt;
                         Packing bytes;
                         bytes.text(found ? "" : found.error().message);
                         if (found) pack(bytes, *found);
                         watched.steps += path.size();
                         return bytes.bytes();
                       },
                       .take =
                           [&](std::size_t i, const std::string& bytes) {
                             const std::size_t piece = left[i];
                             Unpacking in(bytes);
                             if (std::string fault = in.text(); !fault.empty()) {
                               faults[piece] = std::move(fault);
                               return false;
                             }
                             PathOutcome& place = out[piece / count][piece % count];
                             place = unpack(in);
                             if (memory_.keep) memory_.keep(key_of(piece), place);
                             return true;
                           }};
  const bool whole = deal_over_ranks(*ranks_, left.size(), context_.threads, "choosing", total,
                                     observer ? watch : Observer(), work);
  const std::string fault = ranks_->gather(faults.empty() ? "" : faults.begin()->second)[0];
  if (!fault.empty()) return Error{fault};
  if (!whole) return stopped_error();
  Packing all;
  for (const auto& folds : out) {
    for (const PathOutcome& outcome : folds) {
      if (first) pack(all, outcome);
    }
  }
  const std::string bytes = ranks_->gather(all.bytes())[0];
  Unpacking in(bytes);
  for (auto& folds : out) {
    for (PathOutcome& outcome : folds) outcome = unpack(in);
  }
  return {};
}

Result<std::vector<std::vector<PathOutcome>>> BagCrossValidation::run(const Arm& arm, std::size_t from,
                                                                      std::size_t count, double done,
                                                                      double total) {
  // Paths of settings that take no sources see the target in a metric of its own.
  std::vector<std::size_t> given;  // per path, so many of the tasks
  for (const SettingsPath& path : arm.paths) {
    given.push_back(1);
    for (const OptionTexts& setting : path)
      given.back() = std::max(given.back(), tasks_for(*arm.method, setting, tasks_).size());
  }
  std::map<std::size_t, Mapped> mapped;
  for (const std::size_t tasks : given) {
    if (mapped.contains(tasks)) continue;
    auto made = map_arm(arm, tasks_.last(tasks), from, count);
    if (!made) return made.error();
    mapped.emplace(tasks, std::move(*made));
  }

  const std::size_t features = tasks_.back().rows->features.columns();
  std::vector<std::vector<PathOutcome>> out(arm.paths.size(), std::vector<PathOutcome>(count));
  const std::size_t pieces = arm.paths.size() * count;
  std::vector<std::optional<Error>> faults(pieces);
  std::mutex keeping;
  const Observer shifted = [&](const Progress& p) {
    return tell(context_.observer, {p.phase, done + p.done, total, 0});
  };
  if (ranks_ != nullptr && ranks_->size() > 1) {
    const Observer over_ranks = context_.observer ? Observer(shifted) : Observer();
    auto ran = run_over_ranks(arm, mapped, given, from, over_ranks, static_cast<std::size_t>(total), out);
    if (!ran) return ran.error();
    return out;
  }
  watched_for(pieces, context_.threads, "choosing", static_cast<std::size_t>(total),
              context_.observer ? Observer(shifted) : Observer(), [&](std::size_t piece, Watched& watched) {
                const SettingsPath& path = arm.paths[piece / count];
                const std::size_t fold = from + piece % count;
                const std::size_t tasks = given[piece / count];
                PathOutcome& place = out[piece / count][piece % count];
                const std::string key = piece_key(arm, path, fold);
                std::optional<PathOutcome> known;
                if (memory_.recall) known = memory_.recall(key);
                if (known && is_whole(*known, path.size(), keep_planes_ ? tasks : 0, features)) {
                  place = std::move(*known);
                } else if (watched.stop) {
                  faults[piece] = stopped_error();
                } else if (auto found = run_piece(arm, mapped.at(tasks), path, fold, watched.inside());
                           !found) {
                  faults[piece] = found.error();
                  watched.stop = true;
                } else {
                  place = std::move(*found);
                  const std::lock_guard guard(keeping);
                  if (memory_.keep) memory_.keep(key, place);
                }
                watched.steps += path.size();
              });
  // The fault of a fit, rather than that of one it stopped.
  const std::string stopped = stopped_error().message;
  const Error* first = nullptr;
  for (const auto& fault : faults) {
    if (fault && (first == nullptr || (first->message == stopped && fault->message != stopped)))
      first = &*fault;
  }
  if (first != nullptr) return *first;
  return out;
}

}  // namespace bagwise
