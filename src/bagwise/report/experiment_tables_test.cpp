#include "bagwise/report/experiment_tables.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <sstream>

#include "bagwise/report/experiment_figures.h"
#include "bagwise/report/experiment_page.h"
#include "support/experiment_runs.h"

namespace bagwise {
namespace {

using test::finished_run;
using test::planned_run;
using test::random_run;

// The rows of a CSV without quotes, by the names of its columns.
std::vector<std::map<std::string, std::string>> rows_of(const ReportTable& table) {
  std::vector<std::map<std::string, std::string>> out;
  std::istringstream in(to_csv(table));
  const auto split = [](const std::string& line) {
    std::vector<std::string> parts(1);
    for (const char c : line) c == ',' ? parts.emplace_back() : parts.back() += c;
    return parts;
  };
  std::string line;
  std::getline(in, line);
  const auto names = split(line);
  while (std::getline(in, line)) {
    const auto parts = split(line);
    REQUIRE(parts.size() == names.size());
    auto& row = out.emplace_back();
    for (std::size_t i = 0; i < parts.size(); ++i) row[names[i]] = parts[i];
  }
  return out;
}

double number(const std::string& text) { return std::stod(text); }

// The mean of the accuracies whose keys fit, straight from the results.
template <class Fits>
double plain_mean(const ExperimentRun& run, const Fits& fits) {
  double sum = 0, count = 0;
  for (const ExperimentResult& result : run.results) {
    if (!fits(result.key)) continue;
    sum += result.accuracy;
    ++count;
  }
  return sum / count;
}

}  // namespace

TEST_CASE("experiment_tables: every mean is that of the results it is of", "[report][experiment_tables]") {
  const ExperimentRun run = random_run(5, 3, 4, {2, 8}, 3, {0, 0.25});
  const ExperimentScores scores = score_experiment(run);
  CHECK(scores.done == 3 * 4 * 2 * 3 * 2);
  CHECK(scores.planned == scores.done);
  REQUIRE(scores.common.size() == 12);
  const auto accuracy = rows_of(accuracy_table(scores));
  REQUIRE(accuracy.size() == 12);
  for (const auto& row : accuracy) {
    for (const std::string method : {"a", "b", "c", "d"}) {
      const auto fits = [&](const ExperimentKey& key) {
        return key.method == method && key.data == row.at("data") &&
               static_cast<double>(key.bag_size) == number(row.at("bag_size")) &&
               key.noise == number(row.at("noise"));
      };
      const double mean = plain_mean(run, fits);
      CHECK(number(row.at(method + "_accuracy")) == Approx(mean));
      double squares = 0;
      for (const ExperimentResult& result : run.results) {
        if (fits(result.key)) squares += (result.accuracy - mean) * (result.accuracy - mean);
      }
      CHECK(number(row.at(method + "_deviation")) == Approx(std::sqrt(squares / 2)));
    }
  }
  const auto sizes = rows_of(bag_size_table(scores));
  REQUIRE(sizes.size() == 3);
  CHECK(sizes[2].at("bag_size") == "all");
  CHECK(sizes[2].at("cases") == "12");
  CHECK(number(sizes[1].at("b_accuracy")) ==
        Approx(plain_mean(run, [](const auto& key) { return key.method == "b" && key.bag_size == 8; })));
  CHECK(number(sizes[2].at("c_accuracy")) ==
        Approx(plain_mean(run, [](const auto& key) { return key.method == "c"; })));
  const auto noise = rows_of(noise_table(scores));
  REQUIRE(noise.size() == 8);  // all and three sets, two levels each
  CHECK(number(noise[1].at("a_accuracy")) ==
        Approx(plain_mean(run, [](const auto& key) { return key.method == "a" && key.noise > 0; })));
  CHECK(noise[5].at("data") == "2");
  CHECK(number(noise[5].at("d_accuracy")) == Approx(plain_mean(run, [](const auto& key) {
          return key.method == "d" && key.noise > 0 && key.data == "2";
        })));
}

TEST_CASE("experiment_tables: wins count every tie, and say how many there are",
          "[report][experiment_tables]") {
  // Set 1: a and b tie before c; set 2: c alone.
  const ExperimentRun run = finished_run(planned_run(2, 3, {4}, 2), [](const ExperimentKey& key) {
    if (key.data == "1") return key.method == "c" ? 0.5 : key.fold == 0 ? 0.7 : 0.8;
    return key.method == "c" ? 0.9 : key.method == "b" ? 0.6 : 0.5;
  });
  const auto summary = rows_of(summary_table(score_experiment(run)));
  REQUIRE(summary.size() == 3);
  std::map<std::string, std::map<std::string, std::string>> of;
  for (const auto& row : summary) of[row.at("method")] = row;
  CHECK(of["a"]["best"] == "1");
  CHECK(of["a"]["tied"] == "1");
  CHECK(of["b"]["best"] == "1");
  CHECK(of["c"]["best"] == "1");
  CHECK(of["c"]["tied"] == "0");
  CHECK(number(of["a"]["mean_rank"]) == Approx((1.5 + 3) / 2));
  CHECK(number(of["b"]["mean_rank"]) == Approx((1.5 + 2) / 2));
  CHECK(number(of["c"]["mean_rank"]) == Approx((3 + 1) / 2.0));
  CHECK(summary[0].at("method") == "c");  // .7, the highest mean
  // Both that tie are bold.
  const ReportTable accuracy = accuracy_table(score_experiment(run));
  CHECK(accuracy.rows[0][2].bold);
  CHECK(accuracy.rows[0][3].bold);
  CHECK_FALSE(accuracy.rows[0][4].bold);
}

TEST_CASE("experiment_tables: pairs tell differences and where they are clear",
          "[report][experiment_tables]") {
  // a is clearly above b on sets 1 and 4, clearly below on set 2, and wavers on set 3.
  const ExperimentRun run = finished_run(planned_run(4, 2, {4}, 3), [](const ExperimentKey& key) {
    if (key.method == "b") return 0.7;
    const double wave = static_cast<double>(key.fold) / 100;
    if (key.data == "1" || key.data == "4") return 0.8 + wave;
    if (key.data == "2") return 0.66 + wave;
    return 0.6 + 10 * wave;
  });
  const ExperimentScores scores = score_experiment(run);
  const auto pairs = rows_of(pairs_table(scores));
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].at("method") == "a");
  CHECK(pairs[0].at("less") == "b");
  const double differences[] = {0.11, -0.03, 0.0, 0.11};
  const SampleMean over = sample_mean(differences);
  CHECK(number(pairs[0].at("difference")) == Approx(over.mean));
  CHECK(number(pairs[0].at("standard_error")) == Approx(over.error()));
  CHECK(pairs[0].at("above") == "2");
  CHECK(pairs[0].at("level") == "1");
  CHECK(pairs[0].at("below") == "1");
  CHECK(pairs[0].at("clearly_above") == "2");
  CHECK(pairs[0].at("clearly_below") == "1");
  const ReportTable by_case = differences_table(scores);
  CHECK(by_case.rows[0][2].bold);
  CHECK(by_case.rows[1][2].kind == "bad");
  CHECK(number(rows_of(by_case)[0].at("b_difference")) == Approx(0.11));
  CHECK(number(rows_of(by_case)[0].at("b_standard_error")) == Approx(0.01 / std::sqrt(3.0)));
}

TEST_CASE("experiment_tables: what was published stands beside what came out",
          "[report][experiment_tables]") {
  ExperimentRun run = random_run(2, 2, 2, {2, 4}, 2, {0, 0.5});
  run.plan.published_in = "A journal";
  for (const char* data : {"1", "2"}) {
    for (const std::uint64_t size : {2U, 4U})
      run.plan.published.push_back({data, "b", size, data[0] == '1' ? 0.6 : 0.8, 0.01});
  }
  const ExperimentScores scores = score_experiment(run);
  const auto accuracy = rows_of(accuracy_table(scores));
  CHECK(accuracy[0].at("b_published") == "0.6");
  CHECK(accuracy[0].at("b_published_deviation") == "0.01");
  CHECK(accuracy[1].at("noise") == "0.5");
  CHECK(accuracy[1].at("b_published").empty());  // it is for data without noise
  CHECK(accuracy[0].count("a_published") == 0);
  run.plan.noise = {0};
  const ExperimentScores plain = score_experiment(run);
  const auto sizes = rows_of(bag_size_table(plain));
  CHECK(number(sizes[0].at("b_published")) == Approx(0.7));
  CHECK(number(sizes[2].at("b_published")) == Approx(0.7));
  run.plan.published.pop_back();
  CHECK(rows_of(bag_size_table(score_experiment(run)))[2].at("b_published").empty());  // not for all cases
}

TEST_CASE("experiment_tables: an unfinished run compares what all methods have",
          "[report][experiment_tables]") {
  ExperimentRun run = random_run(3, 3, 3, {2, 4}, 2);
  // c has not begun; b lacks one fold of its last case.
  std::erase_if(run.results, [](const ExperimentResult& result) {
    return result.key.method == "c" || (result.key.method == "b" && result.key.data == "3" &&
                                        result.key.bag_size == 4 && result.key.fold == 1);
  });
  const ExperimentScores scores = score_experiment(run);
  CHECK(scores.planned == 36);
  CHECK(scores.done == 23);
  CHECK(scores.tried == std::vector<std::size_t>{0, 1});
  CHECK(scores.common.size() == 5);
  CHECK(scores.ranks.cases == 5);
  CHECK(scores.ranks.left_out == 1);
  const ReportTable accuracy = accuracy_table(scores);
  REQUIRE(accuracy.rows.size() == 6);
  CHECK(accuracy.rows[0][4].text == kEnDash);
  CHECK(accuracy.rows[5][3].text == kEnDash);
  CHECK(accuracy.rows[5][2].text != kEnDash);
  CHECK(rows_of(accuracy)[5].at("b_accuracy").empty());
  const auto sizes = rows_of(bag_size_table(scores));
  CHECK(sizes[1].at("cases") == "2");
  CHECK(number(sizes[1].at("a_accuracy")) == Approx(plain_mean(run, [](const auto& key) {
          return key.method == "a" && key.bag_size == 4 && key.data != "3";
        })));
  CHECK_THAT(experiment_page(scores), Catch::Contains("23 of 36 cells done"));
}

TEST_CASE("experiment_tables: times and options are told of what ran", "[report][experiment_tables]") {
  const ExperimentRun run = random_run(4, 2, 2, {2}, 5);
  const ExperimentScores scores = score_experiment(run);
  const auto times = rows_of(times_table(scores));
  CHECK(times[0].at("choose_seconds") == "2");
  CHECK(times[0].at("fit_seconds") == "1");
  CHECK(times[0].at("total_seconds") == "3");
  CHECK(times[0].at("settings") == "2");
  CHECK(rows_of(data_times_table(scores))[1].at("b_total_seconds") == "3");
  const auto options = rows_of(options_table(scores));
  REQUIRE(options.size() == 2);
  CHECK(options[0].at("option") == "C");
  CHECK(options[0].at("runs") == "10");
  CHECK(options[0].at("first") == "1");
  CHECK(options[0].at("first_runs") == "8");
  CHECK(options[0].at("second_runs") == "2");
  CHECK(options[0].at("third").empty());
  const auto measures = rows_of(measures_table(scores));
  CHECK(measures[0].at("balanced_accuracy") == "0.5");
  CHECK(measures[0].at("auc").empty());
  CHECK(measures[0].at("proportion_error") == "0.25");
  const auto methods = rows_of(methods_table(scores));
  CHECK(methods[0].at("learner") == "inv-cal");
  CHECK(methods[0].at("settings") == "2");
}

TEST_CASE("experiment_tables: a page has what there is to see, and no more", "[report][experiment_page]") {
  const auto names = [](const ExperimentScores& scores) {
    std::vector<std::string> out;
    for (const ReportFigure& figure : experiment_figures(scores)) {
      out.push_back(figure.name);
      CHECK_THAT(figure.svg, Catch::StartsWith("<svg"));
      CHECK_FALSE(figure.csv.empty());
    }
    return out;
  };
  using Names = std::vector<std::string>;
  const ExperimentRun full = random_run(1, 3, 3, {2, 4}, 2, {0, 0.1});
  CHECK(names(score_experiment(full)) ==
        Names{"bag_sizes", "ranks", "noise_mean", "noise", "times", "fit_times"});
  CHECK(experiment_tables(score_experiment(full)).size() == 11);
  ExperimentRun plain = random_run(1, 3, 3, {2}, 2);
  plain.times.clear();
  CHECK(names(score_experiment(plain)) == Names{"ranks"});
  CHECK(experiment_tables(score_experiment(plain)).size() == 7);
  const ExperimentRun one_method = random_run(1, 3, 1, {2, 4}, 2);
  CHECK(names(score_experiment(one_method)) == Names{"bag_sizes", "times", "fit_times"});
  const ExperimentRun one_case = random_run(1, 1, 2, {2}, 1);
  CHECK(names(score_experiment(one_case)) == Names{"times", "fit_times"});
  CHECK_THAT(experiment_page(score_experiment(one_case)), Catch::Contains("in the only case there is"));
  const ExperimentRun none = planned_run(2, 2, {2}, 2);
  CHECK(names(score_experiment(none)).empty());
  const std::string page = experiment_page(score_experiment(none));
  CHECK_THAT(page, Catch::Contains("0 of 8 cells done") && Catch::Contains("nothing can be compared yet"));
  CHECK_THAT(experiment_page(score_experiment(full)),
             !Catch::Contains("nan") && !Catch::Contains("Unfinished"));
}

TEST_CASE("experiment_tables: a page says who is ahead, and whether that is clear",
          "[report][experiment_page]") {
  const auto verdict = [](double lead_of_first, double lead_of_second) {
    const ExperimentRun run = finished_run(planned_run(2, 2, {2}, 2), [&](const ExperimentKey& key) {
      return key.method == "a" ? 0.7 : 0.7 + (key.data == "1" ? lead_of_first : lead_of_second);
    });
    return experiment_verdict(score_experiment(run));
  };
  CHECK_THAT(verdict(0.02, 0.03),
             Catch::Contains("Method B has the highest mean accuracy: 72.50\xC2\xA0% over 2 cases") &&
                 Catch::Contains("ahead of Method A, the next, by 2.50 \xC2\xB1 0.50 points") &&
                 Catch::Contains("Method B is the best in 2 of 2 cases") &&
                 !Catch::Contains("no clear lead"));
  CHECK_THAT(verdict(0.03, -0.01), Catch::Contains("no clear lead"));
}

TEST_CASE("experiment_tables: names are escaped in a page", "[report][experiment_page]") {
  ExperimentRun run = random_run(1, 2, 2, {2, 4}, 2, {0, 0.1});
  for (ExperimentData& data : run.plan.data) data.title = "<script>alert(1)</script>";
  run.plan.methods[0].title = "<img src=x onerror=alert(1)> & \"co\"";
  run.plan.title = "</title><script>";
  run.plan.published_in = "<b>bold</b>";
  run.plan.published = {{"1", "a", 2, 0.5, 0.1}};
  for (ExperimentResult& result : run.results) result.options["<i>"] = "<u>";
  const std::string page = experiment_page(score_experiment(run));
  for (const char* tag : {"<script", "<img", "<b>", "<i>", "<u>"}) {
    INFO(tag);
    CHECK(page.find(tag) == std::string::npos);
  }
  CHECK_THAT(page, Catch::Contains("&lt;script&gt;"));
}

}  // namespace bagwise
