#include "bagwise/solver/internal/tube_rows.h"

#include <algorithm>
#include <cmath>

#include "bagwise/linalg/kernels.h"

namespace bagwise::internal {
namespace {

RowsView slice(const DenseView& rows, std::size_t from, std::size_t count) {
  return DenseView{rows.values + from * rows.columns, count, rows.columns};
}

RowsView slice(const CsrView& rows, std::size_t from, std::size_t count) {
  return CsrView{rows.start.subspan(from, count + 1), rows.index, rows.values, count, rows.columns};
}

void copy_row(const DenseView& rows, std::size_t i, double factor, double* out) {
  const auto from = rows.row(i);
  for (std::size_t j = 0; j < from.size(); ++j) out[j] = factor * from[j];
}

void copy_row(const CsrView& rows, std::size_t i, double factor, double* out) {
  std::fill_n(out, rows.columns, 0.0);
  const auto end = static_cast<std::size_t>(rows.start[i + 1]);
  for (auto k = static_cast<std::size_t>(rows.start[i]); k < end; ++k) {
    out[rows.index[k]] = factor * rows.values[k];
  }
}

}  // namespace

TubeRows::TubeRows(const TubeProblem& problem, unsigned threads) : problem_(problem), threads_(threads) {
  const std::size_t n = problem.size();
  for (std::size_t from = 0; from < n;) {
    const std::size_t task = problem.task_of(from);
    std::size_t to = problem.task.empty() ? n : from + 1;
    while (to < n && problem.task_of(to) == task) ++to;
    auto rows = std::visit([&](const auto& view) { return slice(view, from, to - from); }, problem.rows);
    segments_.push_back({from, to - from, task, rows});
    from = to;
  }
}

void TubeRows::multiply(const std::vector<Vector>& w, Vector& out) const {
  out.resize(static_cast<Eigen::Index>(problem_.size()));
  for (const Segment& s : segments_) {
    if (w[s.task].isZero(0)) {
      out.segment(static_cast<Eigen::Index>(s.from), static_cast<Eigen::Index>(s.count)).setZero();
      continue;
    }
    bagwise::multiply(s.rows, w[s.task], std::span(out.data() + s.from, s.count), threads_);
  }
}

std::vector<Vector> TubeRows::multiply_transposed(const Vector& c) const {
  std::vector<Vector> out(problem_.tasks(), Vector::Zero(static_cast<Eigen::Index>(problem_.features())));
  if (c.isZero(0)) return out;
  for (const Segment& s : segments_) {
    out[s.task] += bagwise::multiply_transposed(s.rows, std::span(c.data() + s.from, s.count), threads_);
  }
  return out;
}

void TubeRows::gather(std::span<const Side> sides, bool scaled, std::size_t extra, double* out) const {
  const std::size_t d = problem_.features();
  for (const Side& side : sides) {
    const double factor = scaled ? std::sqrt(side.weight) : 1.0;
    std::visit([&](const auto& view) { copy_row(view, side.row, factor * side.sign, out); }, problem_.rows);
    if (side.shift != 0) {
      Eigen::Map<Vector>(out, static_cast<Eigen::Index>(d)) +=
          factor * side.shift * problem_.direction[side.task];
    }
    if (extra == 1) out[d] = factor * side.sign;
    out += d + extra;
  }
}

}  // namespace bagwise::internal
