// Critical-difference diagrams (Demsar 2006): mean ranks, and what cannot be told apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/chart.h"
#include "bagwise/report/html.h"
#include "bagwise/report/internal/svg.h"

namespace bagwise {

std::vector<std::pair<std::size_t, std::size_t>> joined_ranks(const std::vector<double>& sorted,
                                                              double difference) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t first = 0; first < sorted.size(); ++first) {
    std::size_t last = first;
    while (last + 1 < sorted.size() && sorted[last + 1] - sorted[first] <= difference) ++last;
    if (last > first && (out.empty() || last > out.back().second)) out.emplace_back(first, last);
  }
  return out;
}

std::string svg(const RankChart& chart) {
  using namespace svg_marks;
  constexpr double kNames = 210, kRow = 24, kLeft = kNames + 20, kRight = kWidth - kNames - 20;
  std::vector<RankedName> ranks;
  for (const RankedName& one : chart.ranks) {
    if (std::isfinite(one.rank)) ranks.push_back(one);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankedName& a, const RankedName& b) { return a.rank < b.rank; });
  std::vector<double> sorted;
  for (const RankedName& one : ranks) sorted.push_back(one.rank);
  const double most = std::max<double>(2, std::ceil(sorted.empty() ? 2 : sorted.back()));
  const double all = std::max(most, static_cast<double>(ranks.size()));
  ChartAxis axis{.low = 1, .high = all};
  if (all <= 20) {
    for (double tick = 1; tick <= all; ++tick) axis.ticks.push_back(tick);
  }
  const AxisScale scale(axis, sorted, kLeft, kRight);

  // The length of the critical difference, then the axis, then the bars, then the names.
  std::string marks;
  double y = kBelowTitle + 22;
  const bool has_difference = std::isfinite(chart.critical_difference) && chart.critical_difference > 0;
  if (has_difference) {
    const double end = scale.at(1 + chart.critical_difference);
    const bool whole = 1 + chart.critical_difference <= all;
    marks += line({kLeft, y}, {end, y}, "bw-ink") + line({kLeft, y - 4}, {kLeft, y + 4}, "bw-ink") +
             (whole ? line({end, y - 4}, {end, y + 4}, "bw-ink") : "") +
             text({kLeft, y - 9}, fmt::format("critical difference {:.3f}", chart.critical_difference),
                  Anchor::kStart, "bw-small", fmt::format("{}", chart.critical_difference));
    y += 36;
  }
  const double axis_at = y;
  marks += line({kLeft, axis_at}, {kRight, axis_at}, "bw-axis");
  for (const double tick : scale.ticks()) {
    marks += line({scale.at(tick), axis_at - 5}, {scale.at(tick), axis_at}, "bw-axis") +
             text({scale.at(tick), axis_at - 9}, scale.label(tick), Anchor::kMiddle, "bw-tick");
  }
  y += 14;
  std::string bars;
  for (const auto& [first, last] : has_difference ? joined_ranks(sorted, chart.critical_difference)
                                                  : std::vector<std::pair<std::size_t, std::size_t>>{}) {
    bars += fmt::format("<g>{}<title>{}</title></g>\n",
                        line({scale.at(sorted[first]) - 3, y}, {scale.at(sorted[last]) + 3, y}, "bw-thick"),
                        escape_markup(fmt::format("no difference told between {} and {}", ranks[first].name,
                                                  ranks[last].name)));
    y += 11;
  }
  y += 10;
  // The better half to the left, the rest to the right; lines do not cross.
  const std::size_t left = (ranks.size() + 1) / 2;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const bool at_left = i < left;
    const std::size_t row = at_left ? i : ranks.size() - 1 - i;
    const double x = scale.at(ranks[i].rank), at = y + kRow * static_cast<double>(row);
    const std::string label = fmt::format("{:.2f}", ranks[i].rank);
    const std::string name = fitted(ranks[i].name, kNames - 46);
    marks += line({x, axis_at}, {x, at}, "bw-axis") +
             line({x, at}, {at_left ? kLeft - 12 : kRight + 12, at}, "bw-axis") +
             text({at_left ? kLeft - 16 : kRight + 16, at + 4.5},
                  at_left ? fmt::format("{}  {}", name, label) : fmt::format("{}  {}", label, name),
                  at_left ? Anchor::kEnd : Anchor::kStart, "",
                  fmt::format("{}: mean rank {}", ranks[i].name, ranks[i].rank));
  }
  return document(y + kRow * static_cast<double>(left) + 4, chart.title, chart.description,
                  heading(chart.title) + marks + bars);
}

}  // namespace bagwise
