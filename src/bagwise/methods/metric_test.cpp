#include "bagwise/methods/metric.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/comm/threads.h"
#include "bagwise/methods/scaling.h"
#include "bagwise/methods/scorer.h"
#include "support/bag_problems.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

using test::random_bags;

const OptionTexts kPca = {{"metric", "pca"}};

TrainingTask task_of(const BaggedData& data, const std::string& name = "target") {
  return {name, reduce(data), &data};
}

RowMatrix matrix_of(const BaggedData& data) { return std::get<DenseView>(data.features.view()).matrix(); }

BaggedData with_rows(const BaggedData& data, const RowMatrix& rows) {
  BaggedData out = data;
  DenseRows table(static_cast<std::size_t>(rows.cols()));
  std::copy_n(rows.data(), rows.size(), table.append(static_cast<std::size_t>(rows.rows())));
  out.features = Features(std::move(table));
  out.feature_names.resize(static_cast<std::size_t>(rows.cols()), "more");
  return out;
}

// Features of very different size, so that the metric differs much from none.
BaggedData uneven_bags(Rng& rng, std::size_t bags, std::size_t features) {
  const BaggedData data = random_bags(rng, bags, features);
  RowMatrix rows = matrix_of(data);
  for (Eigen::Index j = 0; j < rows.cols(); ++j)
    rows.col(j) = rows.col(j) * std::pow(1.7, static_cast<double>(j)) + Vector::Constant(rows.rows(), 3.0);
  return with_rows(data, rows);
}

std::vector<double> scores_of(const Method& method, const BaggedData& data, const Context& context = {}) {
  const TrainingTask task = task_of(data);
  const auto fit = method.fit({&task, 1}, kPca, context);
  REQUIRE(fit.ok());
  return Scorer(fit->model, 0).scores(data.features.view());
}

TEST_CASE("metric: rows are seen as the page states it", "[methods][metric]") {
  Rng rng(1);
  const BaggedData source = uneven_bags(rng, 6, 4), target = uneven_bags(rng, 9, 4);
  const std::vector<TrainingTask> tasks = {task_of(source, "source"), task_of(target)};
  const auto mapped = map_tasks(tasks, {});
  REQUIRE(mapped.ok());

  // The twin: all rows in one table, its singular value decomposition, plain loops.
  const RowMatrix a = matrix_of(source), b = matrix_of(target);
  RowMatrix all(a.rows() + b.rows(), 4);
  all << a, b;
  const Vector mean = all.colwise().mean().transpose();
  const ColMatrix centred = all.rowwise() - mean.transpose();
  const Eigen::JacobiSVD<ColMatrix> svd(centred, Eigen::ComputeThinV);
  RowMatrix seen = centred * svd.matrixV();
  for (Eigen::Index j = 0; j < 4; ++j) seen.col(j) *= svd.singularValues()[j] / svd.singularValues()[0];
  const double length = seen.rowwise().norm().mean();
  seen /= length;

  Eigen::Index at = 0;
  double sum_of_lengths = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    const BaggedData& rows = *mapped->rows[t];
    const BaggedData& raw = t == 0 ? source : target;
    CHECK(mapped->tasks[t].rows == &rows);
    CHECK(rows.bag_of_row == raw.bag_of_row);
    CHECK(rows.bags.proportions == raw.bags.proportions);
    DenseRows scaled(std::get<DenseView>(rows.features.view()).rows, 4);
    std::copy_n(std::get<DenseView>(rows.features.view()).values, scaled.rows() * 4, scaled.row(0).data());
    apply(mapped->metric.scaling, scaled);
    for (std::size_t i = 0; i < scaled.rows(); ++i, ++at) {
      double square = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        // The twin may have an axis the other way round.
        const double sign = svd.matrixV()
                                .col(static_cast<Eigen::Index>(j))
                                .dot(mapped->metric.axes.axes.row(static_cast<Eigen::Index>(j)).transpose());
        CHECK(std::abs(sign) == Approx(1).epsilon(1e-10));
        CHECK(scaled(i, j) == Approx(sign * seen(at, static_cast<Eigen::Index>(j))).margin(1e-10));
        square += scaled(i, j) * scaled(i, j);
      }
      sum_of_lengths += std::sqrt(square);
    }
    // The sums per bag are those of the rows.
    const DenseRows means = mapped->tasks[t].reduced.sums.means(), expected = reduce(rows).sums.means();
    REQUIRE(means.rows() == expected.rows());
    for (std::size_t k = 0; k < means.rows(); ++k) {
      CHECK(mapped->tasks[t].reduced.sums.count(k) == tasks[t].reduced.sums.count(k));
      for (std::size_t j = 0; j < 4; ++j) CHECK(means(k, j) == Approx(expected(k, j)).margin(1e-10));
    }
  }
  CHECK(sum_of_lengths / static_cast<double>(all.rows()) == Approx(1).epsilon(1e-12));
}

TEST_CASE("metric: the model on raw rows is the model of the mapped ones", "[methods][metric]") {
  Rng rng(2);
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    const BaggedData data = uneven_bags(rng, 25, 5);
    const TrainingTask task = task_of(data);
    const auto mapped = map_tasks({&task, 1}, {});
    REQUIRE(mapped.ok());
    const auto inside = method.fit(mapped->tasks, {}, mapped->context({}));
    REQUIRE(inside.ok());
    CHECK(inside->model.scaling.factor == mapped->metric.scaling.factor);
    const auto f = Scorer(inside->model, 0).scores(mapped->rows[0]->features.view());
    Model folded = inside->model;
    fold_back(*mapped, folded);
    const auto g = Scorer(folded, 0).scores(data.features.view());
    for (std::size_t i = 0; i < f.size(); ++i) CHECK(g[i] == Approx(f[i]).epsilon(1e-10).margin(1e-10));
    // And this is what the option does.
    const auto h = scores_of(method, data);
    for (std::size_t i = 0; i < f.size(); ++i) CHECK(g[i] == Approx(h[i]).epsilon(1e-10).margin(1e-10));
    const auto plain = method.fit({&task, 1}, {}, {});
    const auto other = Scorer(plain->model, 0).scores(data.features.view());
    double difference = 0;
    for (std::size_t i = 0; i < f.size(); ++i) difference += std::abs(other[i] - g[i]);
    CHECK(difference > 0.1);  // the metric is no idle option
  }
}

TEST_CASE("metric: rotations, shifts and the order of features do not matter", "[methods][metric]") {
  Rng rng(3);
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    const BaggedData data = uneven_bags(rng, 25, 5);
    const RowMatrix rows = matrix_of(data);
    const auto f = scores_of(method, data);
    RowMatrix gaussian(5, 5);
    for (Eigen::Index i = 0; i < gaussian.size(); ++i) gaussian.data()[i] = rng.normal();
    const RowMatrix turn =
        Eigen::HouseholderQR<RowMatrix>(gaussian).householderQ() * RowMatrix::Identity(5, 5);
    RowMatrix twice(rows.rows(), 6);
    twice << rows, Vector::Constant(rows.rows(), 4.0);
    for (const RowMatrix& same : {RowMatrix(rows * turn), RowMatrix(rows.rowwise().reverse()),
                                  RowMatrix(rows.array() + 100), RowMatrix(rows * 8), twice}) {
      const auto g = scores_of(method, with_rows(data, same));
      for (std::size_t i = 0; i < f.size(); ++i) CHECK(g[i] == Approx(f[i]).margin(0.02));
    }
  }
}

TEST_CASE("metric: sparse rows give the model of dense ones", "[methods][metric]") {
  Rng rng(4);
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    for (const std::size_t features : {std::size_t{5}, std::size_t{300}}) {
      BaggedData data = random_bags(rng, 20, features);
      RowMatrix rows = matrix_of(data);
      for (Eigen::Index i = 0; i < rows.size(); ++i) {
        if (rng.uniform() < 0.5) rows.data()[i] = 0;
      }
      data = with_rows(data, rows);
      BaggedData sparse = data;
      sparse.features = Features(test::sparse_of(std::get<DenseView>(data.features.view())));
      const auto f = scores_of(method, data), g = scores_of(method, sparse);
      for (std::size_t i = 0; i < f.size(); ++i) CHECK(g[i] == Approx(f[i]).margin(0.02));
    }
  }
}

TEST_CASE("metric: bounds and shifts stay in raw units", "[methods][metric]") {
  Rng rng(5);
  const BaggedData source = uneven_bags(rng, 20, 4), target = uneven_bags(rng, 30, 4);
  const std::vector<TrainingTask> tasks = {task_of(source, "source"), task_of(target)};
  const Method& method = *find_method("tl-llp");
  OptionTexts options = {{"metric", "pca"}, {"delta", "3"}, {"epsilon", "0.05"}, {"gap", "1e-9"}};
  const auto fit = method.fit(tasks, options, {});
  REQUIRE(fit.ok());
  std::size_t moved = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    const TaskReport& report = fit->model.training.tasks[t];
    const Vector w = raw_plane(fit->model, t).weights;
    for (std::size_t k = 0; k < report.residual.size(); ++k) {
      CHECK(std::abs(report.shift[k]) <= 3 * (1 + 1e-12));
      if (report.shift[k] == 0 || report.at_bound[k]) continue;
      // Moving the mean by the shift along the raw normal brings it to the edge of its tube.
      CHECK(std::abs(report.residual[k]) - std::abs(report.shift[k]) * w.norm() ==
            Approx(0.05).epsilon(1e-6));
      ++moved;
    }
  }
  CHECK(moved > 0);
  CHECK(fit->model.shared_weights.size() == 4);
  // The literal rounds look at single rows, which then are the mapped ones.
  options["uncertainty"] = "literal";
  const auto literal = method.fit(tasks, options, {});
  REQUIRE(literal.ok());
  const TaskReport& report = literal->model.training.tasks[1];
  for (const double shift : report.shift) CHECK(std::abs(shift) <= 3 * (1 + 1e-12));
}

TEST_CASE("metric: without rows kept, sums per bag are all there is", "[methods][metric]") {
  Rng rng(6);
  const BaggedData data = uneven_bags(rng, 12, 3);
  const TrainingTask task = task_of(data);
  const auto with = map_tasks({&task, 1}, {}), without = map_tasks({&task, 1}, {}, false);
  REQUIRE(with.ok());
  REQUIRE(without.ok());
  CHECK(without->rows.empty());
  CHECK(without->tasks[0].rows == nullptr);
  CHECK(without->tasks[0].reduced.sums.pack() == with->tasks[0].reduced.sums.pack());
  CHECK(without->metric.scaling.factor == with->metric.scaling.factor);
}

TEST_CASE("metric: few rows, few features and few axes are enough", "[methods][metric]") {
  Rng rng(7);
  const Method& method = *find_method("inv-cal");
  scores_of(method, random_bags(rng, 10, 1));  // one feature
  scores_of(method, random_bags(rng, 4, 60));  // more features than rows
  const BaggedData data = random_bags(rng, 10, 3);
  RowMatrix line = matrix_of(data);
  for (Eigen::Index i = 0; i < line.rows(); ++i) line.row(i) = line(i, 0) * Eigen::RowVector3d(1, 2, -2);
  const BaggedData flat = with_rows(data, line);
  const TrainingTask task = task_of(flat);
  const auto fit = method.fit({&task, 1}, kPca, {});
  REQUIRE(fit.ok());
  CHECK(fit->model.metric.rank == 1);
  CHECK(fit->model.metric.variance_kept == Approx(1));
  CHECK(fit->model.tasks[0].weights[1] == Approx(2 * fit->model.tasks[0].weights[0]));
}

TEST_CASE("metric: what it cannot be used on is refused by name", "[methods][metric][badargs]") {
  Rng rng(8);
  const BaggedData data = random_bags(rng, 10, 3);
  const auto message = [](const Method& method, const std::vector<TrainingTask>& tasks, OptionTexts options,
                          const Context& context = {}) {
    options.insert(kPca.begin(), kPca.end());
    const auto fit = method.fit(tasks, options, context);
    return fit.ok() ? std::string("no error") : fit.error().message;
  };
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    CHECK_THAT(message(method, {task_of(data)}, {{"scale", "standard"}}),
               Catch::Equals("metric = pca does not go with scale standard; expected scale none"));
    if (method.name != "mean-map") {
      CHECK_THAT(message(method, {task_of(data)}, {{"kernel", "rbf"}}),
                 Catch::Equals("metric = pca does not go with kernel rbf; expected kernel linear"));
    }
    CHECK_THAT(message(method, {task_of(data)}, {{"metric", "cosine"}}), Catch::Contains("none, pca"));
    CHECK_THAT(message(method, {{"target", reduce(data)}}, {}), Catch::Contains("metric pca needs its rows"));
    const BaggedData same = with_rows(data, RowMatrix::Constant(matrix_of(data).rows(), 3, 0.1));
    CHECK_THAT(message(method, {task_of(same)}, {}), Catch::Contains("all rows are equal"));
    RowMatrix huge = matrix_of(data);
    huge(0, 1) = 1e250;
    CHECK_THAT(message(method, {task_of(with_rows(data, huge))}, {}),
               Catch::Contains("too large") && Catch::Contains("x1"));
    run_thread_ranks(2, [&](Communicator& comm) {
      const std::string told = message(method, {task_of(data)}, {}, {.threads = 1, .comm = &comm});
      CHECK(told.find("one process") != std::string::npos);
    });
  }
  BaggedData other = random_bags(rng, 10, 4);
  CHECK_THAT(message(*find_method("tl-llp"), {task_of(other, "source"), task_of(data)}, {}),
             Catch::Contains("source"));
}

}  // namespace
}  // namespace bagwise
