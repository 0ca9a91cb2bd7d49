#include "bagwise/data/internal/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "bagwise/data/internal/csv_cell.h"

namespace bagwise::internal {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> some;
  for (const auto& name : std::span(names).first(std::min(kMost, names.size()))) some.push_back(cut(name));
  return fmt::format("{}{}", fmt::join(some, ", "), names.size() > kMost ? ", ..." : "");
}

// Builds a layout from a header, step by step; the first fault ends it.
class Planner {
 public:
  Planner(const std::string& file, const std::vector<std::string>& header, const TableOptions& options)
      : file_(file), header_(header), options_(options) {}

  Result<CsvLayout> plan() {
    layout_.missing = options_.missing;
    if (auto done = name_columns(); !done) return done.error();
    const bool for_model = !options_.expected_features.empty() || options_.settled;
    auto chosen = options_.settled ? choose_settled() : for_model ? choose_expected() : choose_features();
    if (!chosen) return chosen.error();
    if (auto done = check_groups(); !done) return done.error();
    if (layout_.sources.empty()) return fault("there is no feature column here; expected at least one");
    const bool mean = options_.missing == Missing::kMean;
    const bool fill_given = mean && for_model && !options_.fill.empty();
    if (fill_given) {
      if (options_.fill.size() != options_.expected_features.size()) {
        return Error{
            fmt::format(
                "there {} to fill empty cells of {} features; expected one each",
                options_.fill.size() == 1 ? "is 1 value" : fmt::format("are {} values", options_.fill.size()),
                options_.expected_features.size()),
            file_};
      }
      layout_.schema.fill = options_.fill;
    }
    layout_.needs_scout = (!for_model && !layout_.one_hots.empty()) || (mean && !fill_given);
    return std::move(layout_);
  }

 private:
  Error fault(std::string message, std::string column = {}) const {
    return {std::move(message), file_, 1, std::move(column)};
  }

  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) return {};
    return found->second;
  }

  Result<void> name_columns() {
    for (std::size_t c = 0; c < header_.size(); ++c) {
      layout_.columns.push_back({header_[c]});
      if (header_[c].empty()) {
        return fault("has no name; expected every column to have one", fmt::format("{}", c + 1));
      }
      const auto [at, fresh] = index_.emplace(header_[c], c);
      if (!fresh) {
        return fault(fmt::format("is the name of column {} too; expected every name once", at->second + 1),
                     layout_.column_text(c));
      }
    }
    return {};
  }

  // Columns that are something else than features. What was asked for by name must be there and free; only
  // then come the defaults, which take what is left of them.
  Result<void> give_roles() {
    TableSchema& schema = layout_.schema;
    struct Given {
      Role role;
      bool& present;
      bool wanted;
    };
    const std::array<Given, 5> given = {{{Role::kGroup, schema.has_groups, true},
                                         {Role::kShare, schema.has_shares, true},
                                         {Role::kBound, schema.has_bounds, true},
                                         {Role::kLabel, schema.has_labels, options_.want_labels},
                                         {Role::kId, schema.has_ids, options_.want_ids}}};
    const auto names = role_names(options_);
    std::map<std::size_t, const char*> asked;  // columns, and the option that named them
    for (const bool by_name : {true, false}) {
      for (std::size_t r = 0; r < given.size(); ++r) {
        if (names[r].is_default == by_name) continue;
        const std::string& name = *names[r].name;
        const auto at = find(name);
        if (by_name) {
          if (!at) return existing(name, names[r].option).error();
          if (auto free = check_free(*at, names[r].option, asked); !free) return free;
          asked.emplace(*at, names[r].option);
        } else if (!at || layout_.columns[*at].role != Role::kSkip || named_.contains(*at)) {
          continue;
        }
        given[r].present = true;
        named_.insert(*at);
        if (given[r].wanted) layout_.columns[*at].role = given[r].role;
      }
    }
    return {};
  }

  Result<void> check_free(std::size_t column, const char* option,
                          const std::map<std::size_t, const char*>& asked) const {
    const std::string name = shown(header_[column]);
    if (const auto other = asked.find(column); other != asked.end()) {
      return fault(fmt::format("{} and {} both name {}; expected one meaning for a column", other->second,
                               option, name));
    }
    if (named_.contains(column)) {
      return fault(
          fmt::format("{} and --exclude both name {}; expected one meaning for a column", option, name));
    }
    if (layout_.columns[column].role != Role::kSkip) {
      return fault(fmt::format(
          "{} names {}, which is a feature of the model; expected one meaning for a column", option, name));
    }
    return {};
  }

  Result<std::size_t> existing(const std::string& name, const char* asked_by) const {
    if (const auto at = find(name)) return *at;
    return fault(fmt::format("there is no column {}, which {} names{}", shown(name), asked_by,
                             suggestion(name, header_)));
  }

  // Columns that the user wants nothing of get no role either.
  Result<void> leave_out_excluded() {
    for (const auto& name : options_.exclude) {
      auto at = existing(name, "--exclude");
      if (!at) return at.error();
      named_.insert(*at);
    }
    return {};
  }

  // Training on a table of which all was looked at before: what was found, wherever it stands here.
  Result<void> choose_settled() {
    if (auto done = leave_out_excluded(); !done) return done;
    if (auto done = give_roles(); !done) return done;
    layout_.schema.feature_names = options_.expected_features;
    const std::set<std::string_view> asked(options_.features.begin(), options_.features.end());
    const std::set<std::string_view> one_hot(options_.one_hot.begin(), options_.one_hot.end());
    for (std::size_t f = 0; f < options_.expected_features.size(); ++f) {
      const std::string& name = options_.expected_features[f];
      const auto slot = static_cast<std::uint32_t>(f);
      const auto at = find(name);
      const bool plain =
          at && !named_.contains(*at) && !one_hot.contains(name) && (asked.empty() || asked.contains(name));
      if (plain) {
        layout_.columns[*at].role = Role::kFeature;
        layout_.columns[*at].slot = slot;
        layout_.sources.push_back(*at);
      } else if (!take_one_hot(name, slot, &one_hot)) {
        return fault(fmt::format("there is no column {}, which other files of the table have{}", shown(name),
                                 suggestion(name, header_)));
      }
    }
    return {};
  }

  // Training: what the user asked for, else every column that is nothing else.
  Result<void> choose_features() {
    if (auto done = leave_out_excluded(); !done) return done;
    const std::set<std::size_t> excluded = named_;
    if (auto done = give_roles(); !done) return done;

    std::set<std::size_t> one_hot;
    for (const auto& name : options_.one_hot) {
      auto at = existing(name, "--one-hot");
      if (!at) return at.error();
      one_hot.insert(*at);
    }
    std::vector<std::size_t> chosen;
    for (const auto& name : options_.features) {
      auto at = existing(name, "--features");
      if (!at) return at.error();
      if (std::count(chosen.begin(), chosen.end(), *at) > 0) {
        return fault(fmt::format("--features names {} twice; expected every name once", shown(name)));
      }
      if (excluded.contains(*at))
        return fault(fmt::format("--features and --exclude both name {}", shown(name)));
      chosen.push_back(*at);
    }
    if (options_.features.empty()) {
      for (std::size_t c = 0; c < header_.size(); ++c) {
        if (!named_.contains(c)) chosen.push_back(c);
      }
    }
    for (const std::size_t c : chosen) {
      if (named_.contains(c)) {
        return fault("has another meaning by its name and cannot be a feature too; expected it to be renamed",
                     layout_.column_text(c));
      }
      add_source(c, one_hot.contains(c));
      one_hot.erase(c);
    }
    if (!one_hot.empty()) {
      return fault("is named by --one-hot but is not a feature here", layout_.column_text(*one_hot.begin()));
    }
    if (layout_.one_hots.empty()) {
      for (const std::size_t c : layout_.sources) layout_.schema.feature_names.push_back(header_[c]);
    }
    return {};
  }

  void add_source(std::size_t c, bool one_hot) {
    CsvColumn& column = layout_.columns[c];
    column.role = one_hot ? Role::kOneHot : Role::kFeature;
    column.slot = static_cast<std::uint32_t>(one_hot ? layout_.one_hots.size() : layout_.sources.size());
    if (one_hot) layout_.one_hots.push_back({c, {}, {}});
    layout_.sources.push_back(c);
  }

  // Prediction: the model's features, each from its column.
  Result<void> choose_expected() {
    layout_.schema.feature_names = options_.expected_features;
    for (std::size_t f = 0; f < options_.expected_features.size(); ++f) {
      const std::string& name = options_.expected_features[f];
      const auto slot = static_cast<std::uint32_t>(f);
      if (const auto at = find(name)) {
        layout_.columns[*at].role = Role::kFeature;
        layout_.columns[*at].slot = slot;
        layout_.sources.push_back(*at);
      } else if (!take_one_hot(name, slot) && !options_.absent_as_zero) {
        return fault(fmt::format("there is no column {}, which the model needs{}", shown(name),
                                 suggestion(name, header_)));
      }
    }
    return give_roles();
  }

  // "column=value" where the file has such a column (among `only`, if given); either side may have further
  // "=".
  bool take_one_hot(const std::string& name, std::uint32_t slot,
                    const std::set<std::string_view>* only = nullptr) {
    for (std::size_t cut = name.find('='); cut != std::string::npos; cut = name.find('=', cut + 1)) {
      const auto at = find(name.substr(0, cut));
      if (only != nullptr && !only->contains(std::string_view(name).substr(0, cut))) continue;
      if (!at || layout_.columns[*at].role == Role::kFeature) continue;
      CsvColumn& column = layout_.columns[*at];
      if (column.role != Role::kOneHot) {
        column.role = Role::kOneHot;
        column.slot = static_cast<std::uint32_t>(layout_.one_hots.size());
        layout_.one_hots.push_back({*at, {}, {}});
        layout_.sources.push_back(*at);
      }
      OneHot& one_hot = layout_.one_hots[column.slot];
      one_hot.values.number(std::string_view(name).substr(cut + 1));
      one_hot.slots.push_back(slot);
      return true;
    }
    return false;
  }

  Result<void> check_groups() const {
    if (!options_.want_groups || layout_.schema.has_groups) return {};
    return fault(
        fmt::format("there is no column {} to tell the bag of a row; the columns are {} "
                    "(--bag-column NAME takes another)",
                    shown(options_.group_column), list_of(header_)));
  }

  const std::string& file_;
  const std::vector<std::string>& header_;
  const TableOptions& options_;
  CsvLayout layout_;
  std::map<std::string, std::size_t> index_;
  std::set<std::size_t> named_;  // columns that are something else than features
};

}  // namespace

std::string CsvLayout::column_text(std::size_t column) const {
  return fmt::format("{} ({})", column + 1, cut(columns[column].name));
}

std::array<RoleName, 5> role_names(const TableOptions& options) {
  const TableOptions defaults;
  const auto name = [&](std::string TableOptions::*member, const char* option) {
    return RoleName{&(options.*member), option, options.*member == defaults.*member};
  };
  return {name(&TableOptions::group_column, "--bag-column"),
          name(&TableOptions::share_column, "--proportion-column"),
          name(&TableOptions::bound_column, "--delta-column"),
          name(&TableOptions::label_column, "--label-column"), name(&TableOptions::id_column, "--id-column")};
}

std::string suggestion(const std::string& wanted, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 2) + 1;  // farther is no likeness
  for (const auto& name : names) {
    const std::size_t longer = std::max(name.size(), wanted.size());
    if (longer - std::min(name.size(), wanted.size()) >= least) continue;
    const std::size_t distance = edit_distance(wanted, name);
    if (distance < least && distance < longer) {
      least = distance;
      best = &name;
    }
  }
  return best == nullptr ? fmt::format("; the columns are {}", list_of(names))
                         : fmt::format("; did you mean {}?", shown(*best));
}

Result<std::vector<std::string>> read_csv_header(const std::string& file, Chunk& chunk,
                                                 std::uint64_t& lines) {
  char* p = chunk.begin;
  if (chunk.end - p >= 3 && std::string_view(p, 3) == "\xEF\xBB\xBF") p += 3;
  if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
    return Error{"the first line is blank; expected a header line with the names of the columns", file, 1};
  }
  std::vector<std::string> header;
  lines = 0;
  for (;;) {
    const Cell cell = scan_cell(p, chunk.end);
    if (cell.fault != CellFault::kNone) {
      return Error{describe(cell.fault, chunk.cut_off), file, lines + 1,
                   fmt::format("{}", header.size() + 1)};
    }
    header.emplace_back(cell.text);
    lines += cell.newlines;
    p = cell.stop + 1;
    if (*cell.stop == '\n') break;
  }
  ++lines;
  if (chunk.cut_off && p == chunk.end) {
    return Error{"the line is longer than 64 MiB; expected a line end before that", file, 1};
  }
  chunk.begin = p;
  return header;
}

Result<CsvLayout> plan_csv(const std::string& file, const std::vector<std::string>& header,
                           const TableOptions& options) {
  return Planner(file, header, options).plan();
}

}  // namespace bagwise::internal
