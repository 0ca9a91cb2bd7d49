#include "bagwise/data/generate.h"

#include <Eigen/Dense>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "bagwise/core/portable_math.h"
#include "bagwise/data/internal/generators.h"
#include "bagwise/linalg/kernels.h"

namespace {

using namespace bagwise;
using generators::DocumentWorld;
using generators::GaussianWorld;
using generators::Part;
using generators::TaskPlanes;

GeneratorOptions small(GeneratorKind kind) {
  GeneratorOptions o;
  o.kind = kind;
  o.source_rows = 301;
  o.target_rows = 100;
  o.test_rows = 500;
  o.features = 12;
  return o;
}

GeneratedData must(const GeneratorOptions& options) {
  auto made = generate(options);
  REQUIRE(made);
  return *std::move(made);
}

// FNV-1a over the bits of everything that was generated.
std::uint64_t checksum(const GeneratedData& data) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](std::uint64_t word) {
    for (int k = 0; k < 8; ++k) hash = (hash ^ ((word >> (8 * k)) & 0xff)) * 0x100000001b3ULL;
  };
  for (const Dataset* part : {&data.source, &data.target, &data.test}) {
    const RowsView view = part->features.view();
    if (const auto* dense = std::get_if<DenseView>(&view)) {
      for (std::size_t k = 0; k < dense->rows * dense->columns; ++k)
        add(std::bit_cast<std::uint64_t>(dense->values[k]));
    } else {
      const CsrView& sparse = std::get<CsrView>(view);
      for (const auto s : sparse.start) add(static_cast<std::uint64_t>(s));
      for (const auto j : sparse.index) add(static_cast<std::uint64_t>(j));
      for (const double x : sparse.values) add(std::bit_cast<std::uint64_t>(x));
    }
    for (const auto y : part->labels) add(static_cast<std::uint64_t>(y + 1));
  }
  add(std::bit_cast<std::uint64_t>(data.best_accuracy));
  add(std::bit_cast<std::uint64_t>(data.angle_degrees));
  return hash;
}

RowMatrix dense_copy(const Features& features) {
  RowMatrix out = RowMatrix::Zero(static_cast<Eigen::Index>(features.rows()),
                                  static_cast<Eigen::Index>(features.columns()));
  const RowsView view = features.view();
  if (const auto* dense = std::get_if<DenseView>(&view)) return dense->matrix();
  const CsrView& sparse = std::get<CsrView>(view);
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (auto k = static_cast<std::size_t>(sparse.start[i]);
         k < static_cast<std::size_t>(sparse.start[i + 1]); ++k) {
      out(static_cast<Eigen::Index>(i), sparse.index[k]) = sparse.values[k];
    }
  }
  return out;
}

struct Line {
  Vector weights;
  double bias;
};

// Least squares of the labels on the rows with a constant; for two normal classes its plane is the best one.
Line least_squares(const Dataset& data) {
  const RowMatrix x = dense_copy(data.features);
  Vector y(x.rows());
  for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = data.labels[static_cast<std::size_t>(i)];
  const Vector mean = x.colwise().mean();
  const RowMatrix centred = x.rowwise() - mean.transpose();
  const ColMatrix gram = centred.transpose() * centred;
  const Vector w = (gram + 1e-9 * gram.trace() * ColMatrix::Identity(gram.rows(), gram.cols()))
                       .ldlt()
                       .solve(centred.transpose() * y);
  return {w, y.mean() - w.dot(mean)};
}

double accuracy(const Line& line, const Dataset& data) {
  const Vector f = (dense_copy(data.features) * line.weights).array() + line.bias;
  int right = 0;
  for (Eigen::Index i = 0; i < f.size(); ++i)
    right += (f[i] > 0) == (data.labels[static_cast<std::size_t>(i)] > 0);
  return right / static_cast<double>(f.size());
}

double cosine(const Vector& a, const std::vector<double>& b) {
  const Eigen::Map<const Vector> other(b.data(), static_cast<Eigen::Index>(b.size()));
  return a.dot(other) / a.norm() / other.norm();
}

double four_standard_errors(double accuracy, std::size_t rows) {
  return 4 * std::sqrt(accuracy * (1 - accuracy) / static_cast<double>(rows));
}

}  // namespace

TEST_CASE("generate: the same seed gives the bits it has always given", "[data][generate][known]") {
  // Stored once; a machine, compiler or change that alters a bit of the data shows here.
  CHECK(checksum(must(small(GeneratorKind::kGaussian))) == 0xd8cbb96e90ed2c41ULL);
  CHECK(checksum(must(small(GeneratorKind::kDocuments))) == 0x793dfc01b586b7b6ULL);
}

TEST_CASE("generate: other seeds give other data", "[data][generate]") {
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    std::set<std::uint64_t> seen;
    GeneratorOptions o = small(kind);
    for (o.seed = 0; o.seed < 3; ++o.seed) seen.insert(checksum(must(o)));
    CHECK(seen.size() == 3);
  }
}

TEST_CASE("generate: the rows of one part do not depend on how many others there are", "[data][generate]") {
  GeneratorOptions few = small(GeneratorKind::kGaussian), many = few;
  many.source_rows = 1000;
  CHECK(dense_copy(must(few).target.features) == dense_copy(must(many).target.features));
}

TEST_CASE("generate: presets are 20 and 90 degrees with the sizes promised", "[data][generate]") {
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    const auto related = generator_preset(kind, GeneratorPreset::kRelated, 5);
    const auto unrelated = generator_preset(kind, GeneratorPreset::kUnrelated, 5);
    CHECK(related.angle_degrees == 20);
    CHECK(unrelated.angle_degrees == 90);
    for (const auto& o : {related, unrelated}) {
      CHECK((o.kind == kind && o.seed == 5 && o.source_rows == 2000 && o.target_rows == 800));
      CHECK((o.test_rows == 20000 && o.features == 200 && o.best_accuracy == 0.90));
    }
  }
}

TEST_CASE("generate: parts have their sizes, names, and half their rows positive", "[data][generate]") {
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    const GeneratedData data = must(small(kind));
    CHECK(data.source.rows() == 301);
    CHECK(data.target.rows() == 100);
    CHECK(data.test.rows() == 500);
    CHECK(std::count(data.source.labels.begin(), data.source.labels.end(), 1) == 150);
    CHECK(std::count(data.source.labels.begin(), data.source.labels.end(), -1) == 151);
    CHECK(std::count(data.target.labels.begin(), data.target.labels.end(), 1) == 50);
    for (const Dataset* part : {&data.source, &data.target, &data.test}) {
      CHECK(part->features.columns() == 12);
      CHECK(part->feature_names.size() == 12);
      CHECK(part->feature_names[11] == (kind == GeneratorKind::kGaussian ? "x12" : "w12"));
      CHECK_FALSE(part->groups.present());
      CHECK(dense_copy(part->features).allFinite());
    }
  }
}

TEST_CASE("generate: the planes have the angle asked for", "[data][generate]") {
  for (const double angle : {0.0, 1e-3, 20.0, 90.0, 135.0, 180.0}) {
    CAPTURE(angle);
    GeneratorOptions o = small(GeneratorKind::kGaussian);
    o.angle_degrees = angle;
    CHECK(std::abs(must(o).angle_degrees - angle) < 1e-6);
    const TaskPlanes gaussian = GaussianWorld(o).planes, documents = DocumentWorld(o).planes;
    for (const TaskPlanes& planes : {gaussian, documents}) {
      CHECK(std::abs(generators::angle_between(planes) - angle) < 1e-6);
      CHECK(generators::dot(planes.source, planes.target) ==
            Approx(std::cos(angle * 3.14159265358979323846 / 180)).margin(1e-13));
    }
  }
}

TEST_CASE("generate: a positive stands at its plane from the other topics' middle", "[data][generate]") {
  const DocumentWorld world(small(GeneratorKind::kDocuments));
  for (std::size_t w = 0; w < 12; ++w) {
    double sum = 0;
    for (std::size_t c = 0; c < DocumentWorld::kNegatives; ++c) sum += world.topics[c][w];
    CHECK(std::abs(sum) < 1e-14);
    CHECK(world.topics[DocumentWorld::kTarget][w] == world.planes.target[w]);
    CHECK(world.topics[DocumentWorld::kSource][w] == world.planes.source[w]);
  }
}

TEST_CASE("generate: options out of range are errors", "[data][generate][badargs]") {
  const auto fault = [](auto change) {
    GeneratorOptions o = small(GeneratorKind::kGaussian);
    change(o);
    const auto made = generate(o);
    return made ? std::string() : made.error().text();
  };
  CHECK(fault([](auto& o) { o.source_rows = 0; }) == "source rows = 0 breaks source rows >= 1");
  CHECK(fault([](auto& o) { o.target_rows = 0; }) == "target rows = 0 breaks target rows >= 1");
  CHECK(fault([](auto& o) { o.test_rows = 0; }) == "test rows = 0 breaks test rows >= 1");
  CHECK(fault([](auto& o) { o.features = 100'001; }) == "features = 100001 breaks features <= 100000");
  CHECK(fault([](auto& o) { o.test_rows = 100'000'001; }) == "rows = 100000001 breaks rows <= 100000000");
  CHECK(fault([](auto& o) { o.features = 1; }) == "features = 1 breaks features >= 2");
  CHECK(fault([](auto& o) { o.best_accuracy = 0.5; }) ==
        "best accuracy = 0.5 breaks best accuracy in (0.5, 1)");
  CHECK(fault([](auto& o) { o.best_accuracy = 1; }) == "best accuracy = 1 breaks best accuracy in (0.5, 1)");
  CHECK(fault([](auto& o) { o.best_accuracy = NAN; }) ==
        "best accuracy = nan breaks best accuracy in (0.5, 1)");
  CHECK(fault([](auto& o) { o.angle_degrees = -1; }) == "angle = -1 breaks angle in [0, 180] degrees");
  CHECK(fault([](auto& o) { o.angle_degrees = 181; }) == "angle = 181 breaks angle in [0, 180] degrees");
  CHECK(fault([](auto& o) { o.features = 2; }).empty());
}

TEST_CASE("generate: a best accuracy that documents cannot reach is an error", "[data][generate][badargs]") {
  GeneratorOptions o = small(GeneratorKind::kDocuments);
  o.features = 2;
  o.best_accuracy = 0.9999999;
  const auto made = generate(o);
  REQUIRE_FALSE(made);
  CHECK(made.error().text() == "best accuracy = 0.9999999 cannot be reached by documents of 2 words");
}

TEST_CASE("generate: the true Gaussian rule is as good as stated", "[data][generate]") {
  for (const double best : {0.6, 0.9, 0.99}) {
    GeneratorOptions o = small(GeneratorKind::kGaussian);
    o.test_rows = 20000;
    o.best_accuracy = best;
    const GaussianWorld world(o);
    const GeneratedData data = must(o);
    CHECK(data.best_accuracy == best);
    CHECK(data.best_accuracy_how == "exact");
    const Eigen::Map<const Vector> plane(world.planes.target.data(), 12), centre(world.centre.data(), 12);
    const Line truth{plane, -plane.dot(centre)};
    CHECK(std::abs(truth.bias) > 0.01);
    CHECK(std::abs(accuracy(truth, data.test) - best) < four_standard_errors(best, o.test_rows));
  }
}

TEST_CASE("generate: the Gaussian truth obeys its own formulas", "[data][generate]") {
  // S = H diag(spread^2) H written out in full: the gap's Mahalanobis length and S^-1 gap.
  GeneratorOptions o = small(GeneratorKind::kGaussian);
  const GaussianWorld world(o);
  const Eigen::Map<const Vector> u(world.mirror.data(), 12), spread(world.spread.data(), 12);
  const ColMatrix h = ColMatrix::Identity(12, 12) - 2 * u * u.transpose();
  const ColMatrix s = h * spread.array().square().matrix().asDiagonal() * h;
  for (const auto& [gap, plane] : {std::pair(&world.source_gap, &world.planes.source),
                                   std::pair(&world.target_gap, &world.planes.target)}) {
    const Eigen::Map<const Vector> g(gap->data(), 12);
    const Vector best_plane = s.ldlt().solve(g);
    CHECK(cosine(best_plane, *plane) == Approx(1).epsilon(1e-12));
    CHECK(0.5 * std::erfc(-std::sqrt(g.dot(best_plane)) / 2 / std::sqrt(2.0)) == Approx(0.90).epsilon(1e-12));
  }
}

TEST_CASE("generate: least squares on many Gaussian rows finds plane and accuracy", "[data][generate]") {
  GeneratorOptions o = small(GeneratorKind::kGaussian);
  o.source_rows = o.target_rows = 20000;
  o.test_rows = 20000;
  const GaussianWorld world(o);
  const GeneratedData data = must(o);
  const Line target = least_squares(data.target), source = least_squares(data.source);
  CHECK(cosine(target.weights, world.planes.target) > 0.995);
  CHECK(cosine(source.weights, world.planes.source) > 0.995);
  CHECK(std::abs(accuracy(target, data.test) - 0.90) < four_standard_errors(0.90, o.test_rows) + 0.002);
  CHECK(accuracy(source, data.test) < accuracy(target, data.test));
}

TEST_CASE("generate: the true document rule is as good as stated", "[data][generate]") {
  GeneratorOptions o = small(GeneratorKind::kDocuments);
  o.features = 200;
  const auto world = generators::separated_world(o);
  REQUIRE(world);
  const auto stated =
      generators::estimate_best_accuracy(*world, 65536, generators::seed_of(o.seed, Part::kEstimate));
  CHECK(stated.mean == Approx(0.90).margin(0.005));
  CHECK(stated.standard_error < 0.001);
  std::vector<std::uint32_t> counts;
  int right = 0;
  constexpr int kDocuments = 20000;
  for (int i = 0; i < kDocuments; ++i) {
    Rng rng(12345, static_cast<std::uint64_t>(i));
    const auto label = static_cast<std::int8_t>(i % 2 == 0 ? 1 : -1);
    world->draw(DocumentWorld::kTarget, label, rng, counts);
    right += (world->log_odds(DocumentWorld::kTarget, counts) > 0) == (label > 0);
  }
  CHECK(std::abs(right / static_cast<double>(kDocuments) - stated.mean) <
        four_standard_errors(0.90, kDocuments));
}

TEST_CASE("generate: log-odds are those of the Poisson law", "[data][generate]") {
  GeneratorOptions o = small(GeneratorKind::kDocuments);
  DocumentWorld world(o);
  REQUIRE(world.separate(1.5));
  std::vector<std::uint32_t> counts;
  for (int i = 0; i < 50; ++i) {
    Rng rng(1, static_cast<std::uint64_t>(i));
    world.draw(DocumentWorld::kTarget, static_cast<std::int8_t>(i % 2 == 0 ? 1 : -1), rng, counts);
    const auto log_probability = [&](std::size_t c) {
      double sum = 0;
      for (std::size_t w = 0; w < counts.size(); ++w) {
        const double rate = world.cumulative[c][w] - (w == 0 ? 0 : world.cumulative[c][w - 1]);
        sum += counts[w] * std::log(rate) - rate - std::lgamma(counts[w] + 1.0);
      }
      return sum;
    };
    double negative = 0;
    for (std::size_t c = 0; c < DocumentWorld::kNegatives; ++c) negative += std::exp(log_probability(c)) / 8;
    CHECK(world.log_odds(DocumentWorld::kTarget, counts) ==
          Approx(log_probability(DocumentWorld::kTarget) - std::log(negative)).epsilon(1e-9).margin(1e-9));
  }
}

TEST_CASE("generate: drawn word counts have the means of their rates", "[data][generate]") {
  DocumentWorld world(small(GeneratorKind::kDocuments));
  REQUIRE(world.separate(1.5));
  std::vector<std::uint32_t> counts;
  std::vector<double> sums(12, 0.0), squares(12, 0.0);
  constexpr int kDocuments = 20000;
  for (int i = 0; i < kDocuments; ++i) {
    Rng rng(2, static_cast<std::uint64_t>(i));
    world.draw(DocumentWorld::kSource, 1, rng, counts);
    for (std::size_t w = 0; w < 12; ++w) {
      sums[w] += counts[w];
      squares[w] += static_cast<double>(counts[w]) * counts[w];
    }
  }
  for (std::size_t w = 0; w < 12; ++w) {
    const double rate = world.cumulative[DocumentWorld::kSource][w] -
                        (w == 0 ? 0 : world.cumulative[DocumentWorld::kSource][w - 1]);
    const double mean = sums[w] / kDocuments, variance = squares[w] / kDocuments - mean * mean;
    CHECK(std::abs(mean - rate) < 5 * std::sqrt(rate / kDocuments));
    CHECK(variance == Approx(rate).epsilon(0.08));  // Poisson: variance and mean are one
  }
}

TEST_CASE("generate: documents are rows of length 1 that can be learnt from", "[data][generate]") {
  GeneratorOptions o = small(GeneratorKind::kDocuments);
  o.features = 100;
  o.source_rows = o.target_rows = 8000;
  o.test_rows = 8000;
  const GeneratedData data = must(o);
  CHECK(data.test.features.sparse());
  CHECK(data.best_accuracy_how.starts_with("estimated from 65536 documents, standard error 0.000"));
  CHECK(data.best_accuracy == Approx(0.90).margin(0.006));
  const RowMatrix x = dense_copy(data.test.features);
  CHECK((x.rowwise().norm().array() - 1).abs().maxCoeff() < 1e-5);
  CHECK(x.minCoeff() >= 0);
  const Vector used = (x.array() > 0).cast<double>().colwise().mean();
  CHECK(used.head(10).mean() > 2 * used.tail(10).mean());  // Zipf
  // A linear rule on the features comes near the best there is, and never beats it.
  const Line target = least_squares(data.target), source = least_squares(data.source);
  CHECK(accuracy(target, data.test) > data.best_accuracy - 0.03);
  CHECK(accuracy(target, data.test) < data.best_accuracy + four_standard_errors(0.9, o.test_rows));
  CHECK(accuracy(source, data.test) > 0.75);
  CHECK(accuracy(source, data.test) < accuracy(target, data.test));
}
