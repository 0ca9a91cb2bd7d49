// bagwise inspect: what is in a model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

// The features by falling size of their weight on raw values.
std::vector<std::size_t> largest(const Plane& plane, std::size_t count) {
  std::vector<std::size_t> order(static_cast<std::size_t>(plane.weights.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t j) { return std::abs(plane.weights[static_cast<Eigen::Index>(j)]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  order.resize(std::min(order.size(), count));
  return order;
}

// The cosine of the angle between two tasks' planes: 1 the same direction, 0 nothing in common.
double cosine(const Plane& a, const Plane& b) {
  const double lengths = a.weights.norm() * b.weights.norm();
  return lengths == 0 ? 0 : a.weights.dot(b.weights) / lengths;
}

double weight(const Plane& plane, std::size_t j) { return plane.weights[static_cast<Eigen::Index>(j)]; }

std::string as_json(const Model& model, std::size_t top) {
  Json out = {{"format_version", kModelFormatVersion}, {"method", model.method}};
  out["options"] = to_json(model.options);
  out["features"] = model.features.size();
  out["one_hot"] = model.one_hot;
  out["missing"] = model.missing;
  out["scaling"] = model.scaling.kind;
  out["tasks"] = Json::array();
  const Plane target = raw_plane(model, model.tasks.size() - 1);
  for (std::size_t t = 0; t < model.tasks.size(); ++t) {
    const Plane plane = raw_plane(model, t);
    Json weights = Json::array();
    for (const std::size_t j : largest(plane, top)) {
      weights.push_back({{"feature", model.features[j]}, {"weight", weight(plane, j)}});
    }
    const TaskModel& task = model.tasks[t];
    out["tasks"].push_back(
        {{"name", task.name},
         {"bias", plane.bias},
         {"probability", {{"slope", task.probability.slope}, {"offset", task.probability.offset}}},
         {"cosine_to_target", cosine(plane, target)},
         {"largest_weights", std::move(weights)}});
  }
  out["training"] = to_json(model.training);
  return to_text(out, 2) + "\n";
}

std::string training_text(const TrainingReport& report) {
  std::string out =
      fmt::format("  data          {} in {}, {}\n", count_of(report.instances, "instance", "instances"),
                  count_of(report.bags, "bag", "bags"), count_of(report.features, "feature", "features"));
  out += fmt::format("  objective     {:.9g}\n", report.objective);
  if (report.dual_objective) out += fmt::format("  lower bound   {:.9g}\n", *report.dual_objective);
  if (report.relative_gap) out += fmt::format("  relative gap  {:.2g}\n", *report.relative_gap);
  out += fmt::format("  ended         {}\n  seed          {}\n", report.termination, report.seed);
  for (const std::string& warning : report.warnings)
    out += fmt::format("  warning: {}\n", printable(warning));
  return out;
}

std::string as_text(const Model& model, const std::string& file, std::size_t top) {
  std::string out = fmt::format("{}: a model of {}\n\nOptions\n", printable(file), printable(model.method));
  for (const auto& [name, value] : model.options) out += fmt::format("  {:<12}  {}\n", name, to_text(value));
  std::vector<std::string> one_hot;
  for (const std::string& column : model.one_hot) one_hot.push_back(short_name(column));
  if (!one_hot.empty()) out += fmt::format("  {:<12}  {}\n", "one-hot", fmt::join(one_hot, ", "));
  out += fmt::format("  {:<12}  {}\n\nTraining\n{}", "missing", model.missing, training_text(model.training));
  const Plane target = raw_plane(model, model.tasks.size() - 1);
  for (std::size_t t = model.tasks.size(); t-- > 0;) {
    const Plane plane = raw_plane(model, t);
    out += fmt::format("\nTask {}: bias {}", short_name(model.tasks[t].name), short_number(plane.bias));
    if (t + 1 < model.tasks.size())
      out += fmt::format(", cosine to the target {}", share(cosine(plane, target)));
    out += "\n";
    if (top == 0 || model.features.empty()) continue;
    TextTable table({"feature", ">weight"});
    const auto order = largest(plane, top);
    for (const std::size_t j : order)
      table.add({short_name(model.features[j]), short_number(weight(plane, j))});
    out +=
        fmt::format("the {} largest of {} weights, on raw values\n\n", order.size(), model.features.size());
    out += table.text(2);
  }
  return out;
}

Result<int> run(const Arguments& arguments) {
  const std::string file = arguments.text("model");
  const auto model = load_model(file);
  if (!model) return model.error();
  const std::size_t top = arguments.whole("top");
  print(arguments.flag("json") ? as_json(*model, top) : as_text(*model, file, top));
  return 0;
}

}  // namespace

Command inspect_command() {
  return {
      "inspect",
      "show what is in a model",
      "model.json [--top N] [--json]",
      "The method with the options it used, the certificate of its training, warnings, and per task the bias "
      "and\n"
      "the largest weights. Weights and bias are those on raw values, with the model's scaling folded in.",
      {{.name = "model",
        .value = "FILE",
        .help = "a model that bagwise train wrote",
        .required = true,
        .positional = true},
       {.name = "top",
        .value = "N",
        .help = "how many weights to show, the largest first",
        .fallback = "10",
        .kind = Kind::kWhole},
       json_option()},
      run};
}

}  // namespace bagwise::cli
