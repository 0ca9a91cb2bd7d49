// Bags and made-up data for Python, and how far predictions are from known shares.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bagwise/bags/deal.h"
#include "bagwise/bags/folds.h"
#include "bagwise/core/random.h"
#include "bagwise/data/generate.h"
#include "bagwise/evaluate/matched_labels.h"
#include "bagwise/evaluate/metrics.h"
#include "python/bind.h"
#include "python/choice.h"
#include "python/result.h"
#include "python/rows.h"
#include "python/watch.h"

namespace bagwise::python {
namespace {

py::list folds_of_bags(const py::array& sizes, const py::array& proportions, std::size_t folds,
                       std::uint64_t seed) {
  const auto rows = numbers_of<std::int64_t>(sizes, 1, "sizes");
  const auto shares = numbers_of<double>(proportions, 1, "proportions");
  if (rows.size() != shares.size()) throw py::value_error("sizes and proportions differ in length");
  if (folds < 2 || folds > rows.size()) {
    throw py::value_error(
        fmt::format("there are {} bags for {} folds; expected at least as many bags as folds, and 2 folds",
                    rows.size(), folds));
  }
  Rng rng(seed, 0);  // as the first repeat of a tuning
  const std::vector<std::uint64_t> counts(rows.begin(), rows.end());
  py::list out;
  for (const auto& fold : bag_folds(counts, shares, folds, rng))
    out.append(to_array(std::vector<std::int64_t>(fold.begin(), fold.end())));
  return out;
}

py::object deal(const py::array& labels, std::uint64_t size, std::uint64_t seed) {
  const auto given = numbers_of<std::int8_t>(labels, 1, "labels");
  Dataset rows;
  rows.features = Features::in_place(DenseView{nullptr, given.size(), 0});
  rows.labels.assign(given.begin(), given.end());
  Rng rng(seed);
  const DealtBags dealt = value_or_raise(deal_bags(std::move(rows), size, rng));
  std::vector<std::string> names;
  std::vector<double> shares;
  std::map<std::string, std::uint32_t> number;
  for (const auto& [name, known] : dealt.proportions.bags) {
    number.emplace(name, static_cast<std::uint32_t>(names.size()));
    names.push_back(name);
    shares.push_back(known.proportion);
  }
  const TextColumn& groups = dealt.instances.groups;
  std::vector<std::uint32_t> codes;
  codes.reserve(groups.codes.size());
  for (const std::uint32_t code : groups.codes) codes.push_back(number.at(groups.values[code]));
  return py::make_tuple(to_array(codes), names, to_array(shares));
}

// Rows and labels; sparse rows as indptr, indices, data and the number of columns.
py::tuple to_tuple(const Dataset& data) {
  const auto labels = to_array(data.labels);
  const RowsView view = data.features.view();
  if (const auto* dense = std::get_if<DenseView>(&view)) {
    return py::make_tuple(py::array_t<double>({dense->rows, dense->columns}, dense->values), labels);
  }
  const auto& sparse = std::get<CsrView>(view);
  const auto array = [](auto span) {
    return to_array(std::vector<typename decltype(span)::value_type>(span.begin(), span.end()));
  };
  return py::make_tuple(
      py::make_tuple(array(sparse.start), array(sparse.index), array(sparse.values), sparse.columns), labels);
}

py::dict generate_tasks(const std::string& kind, const std::string& preset,
                        std::optional<std::uint64_t> source_rows, std::optional<std::uint64_t> target_rows,
                        std::optional<std::uint64_t> test_rows, std::optional<std::uint64_t> features,
                        std::optional<double> best_accuracy, std::optional<double> angle_degrees,
                        std::uint64_t seed) {
  GeneratorOptions options =
      generator_preset(choice<GeneratorKind>("kind", kind), choice<GeneratorPreset>("preset", preset), seed);
  options.source_rows = source_rows.value_or(options.source_rows);
  options.target_rows = target_rows.value_or(options.target_rows);
  options.test_rows = test_rows.value_or(options.test_rows);
  options.features = features.value_or(options.features);
  options.best_accuracy = best_accuracy.value_or(options.best_accuracy);
  options.angle_degrees = angle_degrees.value_or(options.angle_degrees);
  const auto data = [&] {
    const WithoutLock without_lock;
    return generate(options);
  }();
  if (!data) raise(data.error());
  return py::dict(py::arg("source") = to_tuple(data->source), py::arg("target") = to_tuple(data->target),
                  py::arg("test") = to_tuple(data->test), py::arg("best_accuracy") = data->best_accuracy,
                  py::arg("angle_degrees") = data->angle_degrees,
                  py::arg("names") = data->target.feature_names);
}

void check_bags(std::span<const std::uint32_t> bag_of_row, std::size_t bags) {
  for (const std::uint32_t bag : bag_of_row) {
    if (bag >= bags) throw py::index_error(fmt::format("there is no bag {}", bag));
  }
}

py::dict metrics_of_bags(const py::array& scores, const py::array& probabilities, const py::array& codes,
                         const py::array& known) {
  const auto f = numbers_of<double>(scores, 1, "scores");
  const auto q = numbers_of<double>(probabilities, 1, "probabilities");
  const auto bag = numbers_of<std::uint32_t>(codes, 1, "codes");
  const auto p = numbers_of<double>(known, 1, "known");
  if (f.size() != q.size() || f.size() != bag.size())
    throw py::value_error("one score, probability and bag per row");
  check_bags(bag, p.size());
  std::vector<BagError> bags = bag_errors(f, q, bag, p);
  if (!std::all_of(bags.begin(), bags.end(), [](const BagError& one) { return one.rows > 0; }))
    throw py::value_error("a bag has no row; expected at least one");
  const ProportionMetrics metrics = proportion_metrics(std::move(bags));
  std::vector<double> hard, soft;
  for (const BagError& one : metrics.bags) {
    hard.push_back(one.hard);
    soft.push_back(one.soft);
  }
  return py::dict(py::arg("mean_error") = metrics.mean_error,
                  py::arg("mean_soft_error") = metrics.mean_soft_error,
                  py::arg("miscount") = metrics.miscount, py::arg("hard") = to_array(hard),
                  py::arg("soft") = to_array(soft));
}

py::array labels_of_shares(const py::array& scores, const py::array& codes, const py::array& shares) {
  const auto f = numbers_of<double>(scores, 1, "scores");
  const auto bag = numbers_of<std::uint32_t>(codes, 1, "codes");
  const auto p = numbers_of<double>(shares, 1, "shares");
  if (f.size() != bag.size()) throw py::value_error("one score and bag per row");
  check_bags(bag, p.size());
  const std::vector<bool> labels = matched_labels(f, bag, p);
  return to_array(std::vector<std::int64_t>(labels.begin(), labels.end()));
}

}  // namespace

void bind_datasets(py::module_& module) {
  module.def("bag_folds", &folds_of_bags, py::arg("sizes"), py::arg("proportions"), py::arg("folds"),
             py::arg("seed"));
  module.def("deal_bags", &deal, py::arg("labels"), py::arg("size"), py::arg("seed"));
  module.def("generate", &generate_tasks, py::arg("kind"), py::arg("preset"), py::kw_only(),
             py::arg("source_rows"), py::arg("target_rows"), py::arg("test_rows"), py::arg("features"),
             py::arg("best_accuracy"), py::arg("angle_degrees"), py::arg("seed"));
  module.def("proportion_metrics", &metrics_of_bags, py::arg("scores"), py::arg("probabilities"),
             py::arg("codes"), py::arg("known"));
  module.def("matched_labels", &labels_of_shares, py::arg("scores"), py::arg("codes"), py::arg("shares"));
}

}  // namespace bagwise::python
