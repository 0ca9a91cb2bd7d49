#include "bagwise/solver/internal/sample.h"

#include <algorithm>
#include <cmath>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/core/random.h"
#include "bagwise/solver/internal/blocks.h"
#include "bagwise/solver/internal/side_products.h"

namespace bagwise::internal {
namespace {

std::vector<std::size_t> rows_of_tasks(const TubeProblem& p) {
  std::vector<std::size_t> count(p.tasks(), 0);
  for (std::size_t i = 0; i < p.size(); ++i) ++count[p.task_of(i)];
  return count;
}

std::vector<std::size_t> over_ranks(const TubeProblem& p, std::vector<std::size_t> count) {
  for (std::size_t& rows : count) rows = sum_over_ranks(p.comm, rows);
  return count;
}

// Tasks with fewer rows per feature than this, once drawn from, are taken whole.
constexpr std::size_t kRowsPerFeature = 8;
bool taken_whole(const TubeProblem& p, std::size_t rows, std::size_t every) {
  return rows / every < kRowsPerFeature * (p.features() + 1);
}

// The rows drawn, ascending, and how many rows of its task each stands for.
struct Drawn {
  std::vector<std::size_t> rows;
  std::vector<double> weight;  // per task
};
Drawn draw_rows(const TubeProblem& p, std::size_t every) {
  struct Course {  // through the rows of a task
    std::size_t met = 0, next = 0, taken = 0;
  };
  const std::vector<std::size_t> count = rows_of_tasks(p), all = over_ranks(p, count);
  std::vector<Course> courses(p.tasks());
  Rng rng(1);
  Drawn out;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task_of(i);
    Course& course = courses[t];
    const std::size_t group = course.met / every * every;
    if (course.met == group) course.next = group + rng.below(std::min(every, count[t] - group));
    if (taken_whole(p, all[t], every) || course.met == course.next) {
      out.rows.push_back(i);
      ++course.taken;
    }
    ++course.met;
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const std::size_t taken = sum_over_ranks(p.comm, courses[t].taken);
    out.weight.push_back(static_cast<double>(all[t]) / static_cast<double>(std::max<std::size_t>(taken, 1)));
  }
  return out;
}

DenseRows copy_rows(const DenseView& from, const std::vector<std::size_t>& rows, unsigned threads) {
  DenseRows out(from.columns);
  double* to = out.append(rows.size());
  over_blocks(rows.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k)
      std::copy_n(from.row(rows[k]).data(), from.columns, to + k * from.columns);
  });
  return out;
}

Csr copy_rows(const CsrView& from, const std::vector<std::size_t>& rows, unsigned /*threads*/) {
  Csr out;
  out.columns = from.columns;
  for (const std::size_t i : rows) {
    const auto first = from.start[i], last = from.start[i + 1];
    out.index.insert(out.index.end(), from.index.begin() + first, from.index.begin() + last);
    out.values.insert(out.values.end(), from.values.begin() + first, from.values.begin() + last);
    out.start.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

}  // namespace

bool RowSample::worthwhile(const TubeProblem& p, std::size_t every) {
  std::size_t drawn = 0;
  std::size_t all = 0;
  for (const std::size_t rows : over_ranks(p, rows_of_tasks(p))) {
    drawn += taken_whole(p, rows, every) ? rows : rows / every;
    all += rows;
  }
  return 2 * drawn < all;
}

RowSample::RowSample(const TubeProblem& p, std::size_t every, unsigned threads) {
  const Drawn drawn = draw_rows(p, every);
  TubeProblem& q = problem_;
  q.lambda = p.lambda;
  q.direction = p.direction;
  q.comm = p.comm;
  for (const std::size_t i : drawn.rows) {
    const double weight = drawn.weight[p.task_of(i)];
    if (!p.task.empty()) q.task.push_back(p.task[i]);
    q.target.push_back(p.target[i]);
    q.tube.push_back(p.tube[i]);
    q.cost_above.push_back(weight * p.cost_above[i]);
    q.cost_below.push_back(weight * p.cost_below[i]);
    if (!p.shifted()) continue;
    q.shift_above.push_back(p.shift_above[i]);
    q.shift_below.push_back(p.shift_below[i]);
  }
  if (const auto* dense = std::get_if<DenseView>(&p.rows)) {
    dense_ = copy_rows(*dense, drawn.rows, threads);
    q.rows = dense_.view();
  } else {
    sparse_ = copy_rows(std::get<CsrView>(p.rows), drawn.rows, threads);
    q.rows = sparse_.view();
  }
}

std::vector<double> RowSample::band_width(const TubePlanes& planes, unsigned threads) const {
  const TubeProblem& q = problem_;
  const Eigen::ArrayXd h = side_products(TubeRows(q, threads), planes) - side_losses(q).constant;
  std::vector<std::vector<double>> distance(q.tasks());
  for (Eigen::Index j = 0; j < h.size(); ++j) {
    const auto i = static_cast<std::size_t>(j) % q.size();
    distance[q.task_of(i)].push_back(std::abs(h[j]));
  }
  // Rows that change sides: their share is about sqrt(features / rows), whatever the density of the
  // residuals.
  std::vector<double> width;
  for (auto& values : distance) {
    values = gather_over_ranks(q.comm, std::move(values));
    if (values.empty()) {
      width.push_back(1);
      continue;
    }
    const double rows = static_cast<double>(values.size()) / 2;
    const double share = std::min(0.5, 2 * std::sqrt(static_cast<double>(q.features() + 1) / rows));
    const auto k = static_cast<std::ptrdiff_t>(share * rows);
    std::nth_element(values.begin(), values.begin() + k, values.end());
    width.push_back(2 * std::max(values[static_cast<std::size_t>(k)], 1e-9));
  }
  return width;
}

}  // namespace bagwise::internal
