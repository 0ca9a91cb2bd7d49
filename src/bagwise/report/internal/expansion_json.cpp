#include "bagwise/report/internal/expansion_json.h"

#include <limits>

namespace bagwise {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 31;  // rows or columns: more than a file could hold

Features sparse_rows_from(const Section& from, std::uint64_t rows, std::uint64_t columns) {
  Csr out;
  out.columns = columns;
  out.start.clear();
  for (const std::uint64_t place : from.counts("start"))
    out.start.push_back(static_cast<std::int64_t>(place));
  for (const std::uint64_t column : from.counts("index")) {
    if (column >= columns)
      from.fault().add(fmt::format("\"expansion.index\" has {}; expected columns from 0 to {}", column,
                                   static_cast<std::int64_t>(columns) - 1));
    out.index.push_back(static_cast<std::int32_t>(column % (std::uint64_t{1} << 31)));
  }
  out.values = from.numbers("values");
  const auto entries = static_cast<std::int64_t>(out.values.size());
  if (out.start.empty() || out.start.size() - 1 != rows || out.start.front() != 0 ||
      out.start.back() != entries || !std::is_sorted(out.start.begin(), out.start.end())) {
    from.fault().add(fmt::format(
        "\"expansion.start\" does not run from 0 to {} in {} ascending steps, one per row", entries, rows));
    return {};
  }
  if (out.index.size() != out.values.size()) {
    from.fault().add(fmt::format("\"expansion.index\" has {} numbers; expected one per value, {}",
                                 out.index.size(), out.values.size()));
    return {};
  }
  for (std::size_t i = 0; i + 1 < out.start.size(); ++i) {
    for (std::int64_t k = out.start[i] + 1; k < out.start[i + 1]; ++k) {
      if (out.index[static_cast<std::size_t>(k - 1)] < out.index[static_cast<std::size_t>(k)]) continue;
      from.fault().add(fmt::format("\"expansion.index\" does not ascend within row {}", i));
      return {};
    }
  }
  return out;
}

Features dense_rows_from(const Section& from, std::uint64_t rows, std::uint64_t columns) {
  const std::vector<double> values = from.numbers("values");
  if (columns == 0 ? !values.empty() : values.size() / columns != rows || values.size() % columns != 0) {
    from.fault().add(fmt::format("\"expansion.values\" has {} numbers; expected {} rows of {}", values.size(),
                                 rows, columns));
    return {};
  }
  DenseRows out(columns);
  std::copy(values.begin(), values.end(), out.append(rows));
  return out;
}

}  // namespace

Expansion expansion_from(const Section& from) {
  Expansion out;
  const std::string kernel = from.text("kernel");
  const auto kinds = names(KernelKind{});
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kernel; });
  if (kind == kinds.end()) {
    from.fault().add(fmt::format("\"expansion.kernel\" is \"{}\"; expected linear, rbf or poly", kernel));
  } else {
    out.kernel.kind = kind->second;
  }
  out.kernel.gamma = from.number("gamma");
  const std::uint64_t degree = from.count("degree");
  if (degree < 1 || degree > std::numeric_limits<int>::max())
    from.fault().add(fmt::format("\"expansion.degree\" is {}; expected a whole number from 1", degree));
  out.kernel.degree = static_cast<int>(degree % (std::uint64_t{1} << 31));
  const std::uint64_t rows = from.count("rows"), columns = from.count("columns");
  if (columns > kMost || rows > kMost)
    from.fault().add(fmt::format("\"expansion\" has {} rows of {} columns; too large", rows, columns));
  if (!from.fault().none()) return out;
  out.rows = from.has("index") ? sparse_rows_from(from, rows, columns) : dense_rows_from(from, rows, columns);
  return out;
}

Json expansion_json(const Expansion& expansion) {
  Json out = Json::object();
  for (const auto& [name, kind] : names(KernelKind{}))
    if (kind == expansion.kernel.kind) out["kernel"] = name;
  out["gamma"] = expansion.kernel.gamma;
  out["degree"] = expansion.kernel.degree;
  out["rows"] = expansion.rows.rows();
  out["columns"] = expansion.rows.columns();
  const RowsView rows = expansion.rows.view();
  if (const auto* sparse = std::get_if<CsrView>(&rows)) {
    out["start"] = sparse->start;
    out["index"] = sparse->index;
  }
  out["values"] = stored_values(rows);
  return out;
}

void check_expansion(const Expansion& expansion, std::size_t features, FirstFault& fault) {
  const KernelFunction& kernel = expansion.kernel;
  if (!(kernel.gamma > 0) || !std::isfinite(kernel.gamma))
    fault.add(fmt::format("\"expansion.gamma\" is {}; expected a finite number above 0", kernel.gamma));
  if (kernel.degree < 1)
    fault.add(fmt::format("\"expansion.degree\" is {}; expected a whole number from 1", kernel.degree));
  if (expansion.rows.columns() != features) {
    fault.add(fmt::format("\"expansion.columns\" is {}; expected one per feature, {}",
                          expansion.rows.columns(), features));
  }
  if (!all_finite(stored_values(expansion.rows.view())))
    fault.add("\"expansion.values\" has a number that is not finite");
}

}  // namespace bagwise
