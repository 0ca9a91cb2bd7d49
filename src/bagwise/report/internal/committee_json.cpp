#include "bagwise/report/internal/committee_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace bagwise {
namespace {

std::vector<double> row_of(const RowMatrix& matrix, Eigen::Index i) {
  return {matrix.row(i).data(), matrix.row(i).data() + matrix.cols()};
}

Committee::Planes planes_from(const Section& from) {
  Committee::Planes out;
  std::vector<std::vector<double>> rows;
  for (const Json& row : from.array("weights")) {
    const Json one = {{"weights", row}};
    rows.push_back(Section(one, "committee.tasks", from.fault()).numbers("weights"));
    if (rows.back().size() != rows[0].size())
      from.fault().add("\"committee.tasks.weights\" has rows of different lengths");
  }
  if (!from.fault().none()) return out;
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  out.weights.resize(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns));
  for (std::size_t m = 0; m < rows.size(); ++m) {
    for (std::size_t j = 0; j < columns; ++j)
      out.weights(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(j)) = rows[m][j];
  }
  out.bias = from.numbers("bias");
  const std::vector<double> slope = from.numbers("slope"), offset = from.numbers("offset");
  if (slope.size() != offset.size()) from.fault().add("\"committee.tasks\" has a slope without an offset");
  for (std::size_t m = 0; m < std::min(slope.size(), offset.size()); ++m)
    out.probability.push_back({slope[m], offset[m]});
  return out;
}

std::vector<std::uint32_t> small_counts(const Section& from, const char* key) {
  std::vector<std::uint32_t> out;
  for (const std::uint64_t value : from.counts(key)) {
    if (value > std::numeric_limits<std::uint32_t>::max())
      from.fault().add(fmt::format("\"committee.{}\" has {}; too large", key, value));
    out.push_back(static_cast<std::uint32_t>(value));
  }
  return out;
}

bool is_finite(const Committee::Planes& planes) {
  bool out = planes.weights.allFinite() && all_finite(planes.bias);
  for (const Probability& p : planes.probability)
    out = out && std::isfinite(p.slope) && std::isfinite(p.offset);
  return out;
}

}  // namespace

Json committee_json(const Committee& committee) {
  Json out = {{"settings", committee.settings},
              {"setting", committee.setting},
              {"fold", committee.fold},
              {"share", committee.share}};
  out["tasks"] = Json::array();
  for (const Committee::Planes& planes : committee.tasks) {
    Json weights = Json::array(), slope = Json::array(), offset = Json::array();
    for (Eigen::Index m = 0; m < planes.weights.rows(); ++m) weights.push_back(row_of(planes.weights, m));
    for (const Probability& p : planes.probability) {
      slope.push_back(p.slope);
      offset.push_back(p.offset);
    }
    out["tasks"].push_back({{"weights", std::move(weights)},
                            {"bias", planes.bias},
                            {"slope", std::move(slope)},
                            {"offset", std::move(offset)}});
  }
  return out;
}

Committee committee_from(const Section& from) {
  Committee out;
  out.settings = from.texts("settings");
  out.setting = small_counts(from, "setting");
  out.fold = small_counts(from, "fold");
  out.share = from.numbers("share");
  for (const Json& task : from.array("tasks"))
    out.tasks.push_back(
        planes_from({task, fmt::format("committee.tasks[{}]", out.tasks.size()), from.fault()}));
  return out;
}

void check_committee(const Committee& committee, std::size_t tasks, std::size_t features, FirstFault& fault) {
  const std::size_t members = committee.size();
  if (members == 0) fault.add("\"committee\" has no members; expected at least one");
  if (committee.setting.size() != members || committee.fold.size() != members)
    fault.add("\"committee\" does not have one setting and one fold per member");
  for (const std::uint32_t s : committee.setting) {
    if (s >= committee.settings.size())
      fault.add(fmt::format("\"committee.setting\" has {}; there is none", s));
  }
  double sum = 0;
  for (const double share : committee.share) {
    if (!(share >= 0 && share <= 1)) fault.add("\"committee.share\" has a share outside 0 to 1");
    sum += share;
  }
  if (!(std::abs(sum - 1) <= 1e-6))
    fault.add(fmt::format("the shares of \"committee\" add up to {}, not 1", sum));
  if (committee.tasks.size() != tasks) fault.add("\"committee.tasks\" is not one for each task");
  for (const Committee::Planes& planes : committee.tasks) {
    if (static_cast<std::size_t>(planes.weights.rows()) != members ||
        static_cast<std::size_t>(planes.weights.cols()) != features || planes.bias.size() != members ||
        planes.probability.size() != members) {
      fault.add(fmt::format("\"committee\" does not have a plane of {} weights per member", features));
    }
    if (!is_finite(planes)) fault.add("\"committee\" has a number that is not finite");
  }
}

Selection selection_from(const Section& from) {
  return {.criterion = from.text("criterion"),
          .combine = from.text("combine"),
          .search = from.text("search"),
          .folds = from.count("folds"),
          .repeats = from.count("repeats"),
          .seed = from.count("seed"),
          .settings = from.count("settings"),
          .best = from.text("best"),
          .value = from.number("value")};
}

}  // namespace bagwise
