// The objective that tl-llp reports, recomputed from the model file and the tables by plain loops.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

// The bags of a task as its files tell them, by plain loops.
struct PlainBags {
  std::vector<Numbers> mean;
  Numbers bound, size, proportion;
};

Numbers numbers(const std::vector<std::string>& cells) {
  Numbers out;
  for (const std::string& cell : cells) out.push_back(std::stod(cell));
  return out;
}

// Tables as `bag` writes them: bag, features, and perhaps a delta at the end.
PlainBags plain_bags(const Workplace& place, const std::string& table, const std::string& proportions,
                     double delta) {
  std::map<std::string, double> known;
  const auto lines = split(place.read(proportions), '\n');
  for (std::size_t i = 1; i < lines.size(); ++i)
    known[split(lines[i], ',')[0]] = std::stod(split(lines[i], ',')[1]);
  PlainBags out;
  std::map<std::string, std::size_t> bags;
  const auto rows = split(place.read(table), '\n');
  const bool has_bounds = rows[0].ends_with(",delta");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    auto cells = split(rows[i], ',');
    const std::string bag = cells[0];
    cells.erase(cells.begin());
    Numbers x = numbers(cells);
    const double bound = has_bounds ? x.back() : delta;
    if (has_bounds) x.pop_back();
    const auto [at, fresh] = bags.try_emplace(bag, out.mean.size());
    if (fresh) {
      out.mean.emplace_back(x.size(), 0.0);
      out.bound.push_back(0);
      out.size.push_back(0);
      out.proportion.push_back(known.at(bag));
    }
    const std::size_t k = at->second;
    for (std::size_t j = 0; j < x.size(); ++j) out.mean[k][j] += x[j];
    out.bound[k] += bound;
    out.size[k] += 1;
  }
  for (std::size_t k = 0; k < out.mean.size(); ++k) {
    for (double& m : out.mean[k]) m /= out.size[k];
    out.bound[k] /= out.size[k];
  }
  return out;
}

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// F of (P') as docs/methods/tl-llp.md states it, from a model file and the data it was trained on. The common
// plane is the one that suits the tasks' planes best: w_0 = sum_t lambda_t w_t / (1 + sum_t lambda_t).
double plain_objective(const json& model, const std::vector<PlainBags>& tasks) {
  const json& options = model["options"];
  const std::size_t last = tasks.size() - 1;
  const auto value = [&](const std::string& name, std::size_t t) {
    const json& given = options[t == last ? name : name + "-source"];
    if (!given.is_array()) return given.get<double>();
    return given[given.size() == 1 ? 0 : t].get<double>();
  };
  const auto scale = model["scaling"];
  const bool scaled = scale["kind"] != "none";
  std::vector<Numbers> w;
  Numbers common;
  double weight_sum = 1, out = 0;
  for (std::size_t t = 0; t <= last; ++t) {
    w.push_back(model["tasks"][t]["weights"].get<Numbers>());
    common.resize(w[t].size());
    for (std::size_t j = 0; j < common.size(); ++j) common[j] += value("lambda", t) * w[t][j];
    weight_sum += value("lambda", t);
  }
  for (double& c : common) c /= weight_sum;
  out += dot(common, common) / 2;
  for (std::size_t t = 0; t <= last; ++t) {
    const PlainBags& bags = tasks[t];
    Numbers own = w[t], raw = w[t];
    for (std::size_t j = 0; j < own.size(); ++j) {
      own[j] -= common[j];
      if (scaled) raw[j] *= scale["factor"][j].get<double>();
    }
    out += value("lambda", t) / 2 * dot(own, own);
    const double mean_size =
        std::accumulate(bags.size.begin(), bags.size.end(), 0.0) / static_cast<double>(bags.size.size());
    for (std::size_t k = 0; k < bags.mean.size(); ++k) {
      const double clip = 1 / (2 * bags.size[k] + 2);
      const double p = std::clamp(bags.proportion[k], clip, 1 - clip);
      double f = model["tasks"][t]["bias"].get<double>();
      for (std::size_t j = 0; j < raw.size(); ++j)
        f += raw[j] * (bags.mean[k][j] - (scaled ? scale["shift"][j].get<double>() : 0));
      const double epsilon = options["epsilon"].get<double>();
      const double tube = options["tube"] == "constant" ? epsilon : epsilon / (p * (1 - p));
      const double bound = options["uncertainty"] == "off" ? 0 : bags.bound[k];
      const double excess = std::abs(f + std::log(1 / p - 1)) - tube - bound * std::sqrt(dot(raw, raw));
      const double cost = value("C", t) * (options["bag-weight"] == "size" ? bags.size[k] / mean_size : 1);
      out += cost * std::max(0.0, excess);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("transfer: the objective is F of the written model, by plain loops over the tables",
          "[cli][transfer]") {
  const GeneratedTasks place;
  std::string bounded;  // the target with a bound per row
  int row = 0;
  for (const std::string& line : split(place.read("t.csv"), '\n')) {
    bounded += row == 0 ? line + ",delta\n" : fmt::format("{},{}\n", line, 0.02 * (row % 5));
    ++row;
  }
  place.write("b.csv", bounded);
  struct Case {
    const char* options;
    const char* target;
    double delta;
  };
  for (const Case& one :
       {Case{"", "t.csv", 0.01}, Case{" --uncertainty off", "t.csv", 0.01},
        Case{" --delta 0.1 --C 8 --C-source 2 --lambda 0.3", "t.csv", 0.1},
        Case{" --scale standard --delta 0.05", "t.csv", 0.05}, Case{" --C 4", "b.csv", 0.01},
        Case{" --tube calibrated --bag-weight size", "t.csv", 0.01},
        Case{" --C-source 1 --C-source 2 --C-source 0.5 --lambda-source 1 --lambda-source 5 "
             "--lambda-source 25",
             "t.csv", 0.01}}) {
    for (const bool three : {false, true}) {
      if (!three && std::string(one.options).find("-source 5") != std::string::npos) continue;
      const std::string command = fmt::format(
          "train --method tl-llp --target {} --target-proportions p.csv -o m.json{}{}", one.target,
          three ? kFromThree : " --source s1.csv --source-proportions q1.csv", one.options);
      INFO(command);
      const json report = told(place, command);
      std::vector<PlainBags> tasks;
      for (int s = 1; s <= (three ? 3 : 1); ++s)
        tasks.push_back(plain_bags(place, fmt::format("s{}.csv", s), fmt::format("q{}.csv", s), one.delta));
      tasks.push_back(plain_bags(place, one.target, "p.csv", one.delta));
      const double objective = report["objective"];
      CHECK(std::abs(plain_objective(model_in(place), tasks) - objective) <= 1e-9 * objective);
    }
  }
}

}  // namespace bagwise::test
