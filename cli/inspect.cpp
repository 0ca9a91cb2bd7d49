// bagwise inspect: what is in a model file, or in one of bag sums.
#include <fmt/format.h>

#include <algorithm>

#include "bagwise/bags/sums_file.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/model_parts.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "bagwise/report/training_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

Json weights_json(const Model& model, std::size_t task, std::size_t top) {
  Json out = Json::array();
  for (const WeightParts& one : largest_weights(model, task, top)) {
    out.push_back({{"feature", model.features[one.feature]}, {"weight", one.weight}});
    if (!has_shared_part(model)) continue;
    out.back()["shared"] = one.shared;
    out.back()["own"] = one.own;
  }
  return out;
}

std::string weights_text(const Model& model, std::size_t task, std::size_t top) {
  std::vector<std::string> titles = {"feature", ">weight"};
  if (has_shared_part(model)) titles.insert(titles.end(), {">shared", ">own"});
  TextTable table(titles);
  const auto weights = largest_weights(model, task, top);
  for (const WeightParts& one : weights) {
    std::vector<std::string> cells = {short_name(model.features[one.feature]), short_number(one.weight)};
    if (has_shared_part(model)) cells.insert(cells.end(), {short_number(one.shared), short_number(one.own)});
    table.add(std::move(cells));
  }
  return fmt::format("the {} largest of {} weights, on raw values\n\n{}", weights.size(),
                     model.features.size(), table.text(2));
}

std::string committee_text(const Committee& committee, std::size_t top) {
  const auto shares = setting_shares(committee);
  std::string out = fmt::format(
      "\nThe model averages the probabilities of {} of {}; weights and biases below are those of their mean\n"
      "plane.\n\n",
      count_of(committee.size(), "plane", "planes"), count_of(shares.size(), "setting", "settings"));
  TextTable table({">share", ">planes", "setting"});
  for (std::size_t i = 0; i < std::min(top, shares.size()); ++i) {
    table.add({share(shares[i].share), fmt::format("{}", shares[i].planes), printable(shares[i].setting)});
  }
  return out + table.text(2);
}

std::string model_json(const Model& model, std::size_t top) {
  Json out = {{"format_version", kModelFormatVersion}, {"method", model.method}};
  out["options"] = to_json(model.options);
  out["features"] = model.features.size();
  out["one_hot"] = model.one_hot;
  out["missing"] = model.missing;
  out["scaling"] = model.scaling.kind;
  out["metric"] = {{"kind", model.metric.kind}};
  if (model.metric.kind != "none") {
    out["metric"]["rank"] = model.metric.rank;
    out["metric"]["variance_kept"] = model.metric.variance_kept;
  }
  if (model.expansion) out["expansion_rows"] = model.expansion->rows.rows();
  if (model.selection) out["selection"] = to_json(*model.selection);
  if (model.committee) {
    out["committee"] = {{"members", model.committee->size()}, {"settings", Json::array()}};
    for (const SettingShare& one : setting_shares(*model.committee)) {
      out["committee"]["settings"].push_back(
          {{"setting", one.setting}, {"share", one.share}, {"planes", one.planes}});
    }
  }
  out["tasks"] = Json::array();
  for (std::size_t t = 0; t < model.tasks.size(); ++t) {
    const Plane plane = raw_plane(model, t);
    const TaskModel& task = model.tasks[t];
    out["tasks"].push_back(
        {{"name", task.name},
         {"bias", plane.bias},
         {"probability", {{"slope", task.probability.slope}, {"offset", task.probability.offset}}},
         {"cosine_to_target", cosine_to_target(model, t)},
         {"largest_weights", weights_json(model, t, top)}});
  }
  out["training"] = to_json(model.training);
  return to_text(out, 2) + "\n";
}

std::string model_text(const Model& model, const std::string& file, std::size_t top) {
  std::string out = fmt::format("{}: a model of {}\n\nOptions\n", printable(file), printable(model.method));
  for (const auto& [name, value] : model.options) out += fmt::format("  {:<13}  {}\n", name, to_text(value));
  std::vector<std::string> one_hot;
  for (const std::string& column : model.one_hot) one_hot.push_back(short_name(column));
  if (!one_hot.empty()) out += fmt::format("  {:<13}  {}\n", "one-hot", fmt::join(one_hot, ", "));
  out += fmt::format("  {:<13}  {}\n\nTraining\n", "missing", model.missing);
  for (const auto& [name, text] : training_lines(model)) out += fmt::format("  {:<12}  {}\n", name, text);
  for (const std::string& warning : model.training.warnings)
    out += fmt::format("  warning: {}\n", printable(warning));
  if (!model.training.tasks.empty()) out += "\nTasks\n" + task_table(model.training).text(2);
  if (const std::string line = transfer_line(model.training); !line.empty()) {
    out += fmt::format("\n  The common plane w_0 has length {}: {}.\n",
                       short_number(*model.training.shared_norm), line);
  }
  if (model.expansion) out += fmt::format("\nThe model is {}.\n", kernel_text(*model.expansion));
  if (model.committee) out += committee_text(*model.committee, top);
  for (std::size_t t = model.tasks.size(); t-- > 0;) {
    const Plane plane = raw_plane(model, t);
    out += fmt::format("\nTask {}: bias {}", short_name(model.tasks[t].name), short_number(plane.bias));
    if (t + 1 < model.tasks.size())
      out += fmt::format(", cosine to the target {}", share(cosine_to_target(model, t)));
    out += "\n";
    if (top == 0 || model.features.empty() || model.expansion) continue;
    out += weights_text(model, t, top);
  }
  return out;
}

// What a file of sums has, and how its rows were read.
int show_sums(const GroupedSums& sums, const std::string& file, bool as_json) {
  const TableSchema& schema = sums.schema;
  if (as_json) {
    print(to_text(Json{{"kind", "sums"},
                       {"rows", sums.rows},
                       {"bags", sums.names.size()},
                       {"features", schema.feature_names.size()},
                       {"sparse", schema.sparse},
                       {"proportions", schema.has_shares},
                       {"deltas", schema.has_bounds},
                       {"moments", sums.has_moments},
                       {"one_hot", sums.one_hot}},
                  2) +
          "\n");
    return 0;
  }
  const auto line = [](const char* name, const std::string& text) {
    return fmt::format("  {:<12}  {}\n", name, text);
  };
  std::string out = fmt::format("{}: sums per bag\n\n", printable(file));
  out += line("rows", fmt::format("{}", sums.rows));
  out += line("bags", fmt::format("{}", sums.names.size()));
  out += line("features",
              fmt::format("{}{}", schema.feature_names.size(), schema.sparse ? ", of a sparse table" : ""));
  std::vector<std::string> one_hot;
  for (const std::string& column : sums.one_hot) one_hot.push_back(short_name(column));
  if (!one_hot.empty()) out += line("one-hot", fmt::format("{}", fmt::join(one_hot, ", ")));
  out += line("proportions", schema.has_shares ? "yes" : "no; train needs --target-proportions");
  out += line("deltas", schema.has_bounds ? "yes" : "no");
  out += line("moments", sums.has_moments ? "yes" : "no; train cannot scale the features");
  print(out);
  return 0;
}

Result<int> run_inspect(const Arguments& arguments) {
  const std::string file = arguments.text("model");
  if (is_sums_file(file)) {
    const auto sums = read_sums(file);
    if (!sums) return sums.error();
    return show_sums(*sums, file, arguments.flag("json"));
  }
  const auto model = load_model(file);
  if (!model) return model.error();
  const std::size_t top = arguments.whole("top");
  print(arguments.flag("json") ? model_json(*model, top) : model_text(*model, file, top));
  return 0;
}

}  // namespace

Command inspect_command() {
  return {
      "inspect",
      "show what is in a model or in a file of sums",
      "model.json|part.sums [--top N] [--json]",
      "The method with the options it used, the certificate of its training, warnings, how each task's bags\n"
      "were met and how its plane stands to the others', and per task the bias and the largest weights with\n"
      "their shared and own part. Weights and bias are those on raw values, with the model's scaling folded "
      "in.",
      {{.name = "model",
        .value = "FILE",
        .help = "a model that bagwise train wrote, or sums of bagwise reduce",
        .required = true,
        .positional = true},
       {.name = "top",
        .value = "N",
        .help = "how many weights to show, the largest first",
        .fallback = "10",
        .kind = Kind::kWhole},
       json_option()},
      run_inspect};
}

}  // namespace bagwise::cli
