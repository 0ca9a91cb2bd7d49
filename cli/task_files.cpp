#include "cli/task_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

constexpr const char* kData = "Data";

// A kind of files as the options name it.
struct KindOptions {
  TaskKind kind;
  const char* target;
  const char* source;
};
constexpr KindOptions kKinds[] = {{TaskKind::kRows, "target", "source"},
                                  {TaskKind::kSums, "target-sums", "source-sums"},
                                  {TaskKind::kMeans, "bag-means", "source-means"}};

Result<TaskFiles> found_files(std::string name, TaskKind kind, const std::vector<std::string>& patterns) {
  auto table = find_tables(patterns);
  if (!table) return table.error();
  return TaskFiles{std::move(name), std::move(*table), "", kind};
}

// What is said of the columns of rows must find rows to say it of.
Result<void> check_table_options(const Arguments& arguments, const std::vector<TaskFiles>& files) {
  if (files.back().kind != TaskKind::kRows && arguments.text("missing") == "mean") {
    return Error{
        "--missing mean: the means are those of the target's rows, which sums or means of bags do not tell; "
        "expected --target"};
  }
  const auto of_kind = [&](TaskKind kind) {
    return std::any_of(files.begin(), files.end(), [&](const TaskFiles& task) { return task.kind == kind; });
  };
  if (of_kind(TaskKind::kRows)) return {};
  for (const char* name : {"one-hot", "missing", "bag-column", "proportion-column", "delta-column",
                           "label-column", "id-column"}) {
    const bool of_means = std::string_view(name).ends_with("-column") && of_kind(TaskKind::kMeans);
    if (arguments.has(name) && !of_means)
      return Error{fmt::format(
          "--{} is about the columns of rows, and there are none; bagwise reduce takes it", name)};
  }
  return {};
}

Result<TaskFiles> target_files(const Arguments& arguments) {
  const KindOptions* chosen = nullptr;
  for (const KindOptions& kind : kKinds) {
    if (!arguments.has(kind.target)) continue;
    if (chosen != nullptr) {
      return Error{fmt::format("--{} and --{} are both given; expected one of them for the target",
                               chosen->target, kind.target)};
    }
    chosen = &kind;
  }
  if (chosen == nullptr) return Error{"there is no target; expected --target, --target-sums or --bag-means"};
  auto out = found_files("target", chosen->kind, arguments.texts(chosen->target));
  if (out) out->proportions = arguments.text("target-proportions");
  return out;
}

}  // namespace

std::vector<std::string> TaskFiles::paths() const {
  std::vector<std::string> out;
  for (const TablePart& part : table.parts) out.push_back(part.path);
  return out;
}

Result<std::vector<TaskFiles>> task_files(const Arguments& arguments, const Method& method) {
  struct Source {
    TaskKind kind;
    const char* option;
    std::string pattern;
  };
  std::vector<Source> sources;
  for (const KindOptions& kind : kKinds) {
    if (!arguments.has(kind.source)) continue;  // nor does every command have it
    for (const std::string& pattern : arguments.texts(kind.source))
      sources.push_back({kind.kind, kind.source, pattern});
  }
  const auto proportions = arguments.texts("source-proportions");
  if (!sources.empty() && !method.uses_sources) {
    return Error{fmt::format("--{} {}: {} learns from the target alone; leave the source out",
                             sources[0].option, sources[0].pattern, method.name)};
  }
  if (!proportions.empty() && proportions.size() != sources.size()) {
    return Error{
        fmt::format("--source-proportions stands {} times and --source {} times; expected one for each",
                    proportions.size(), sources.size())};
  }
  for (const OptionInfo& option : method.options) {
    if (sources.empty() && option.name.ends_with("-source") && arguments.has(option.name))
      return Error{fmt::format("--{} is given, but there is no --source", option.name)};
  }
  std::vector<TaskFiles> out;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto found = found_files(i == 0 ? "source" : fmt::format("source-{}", i + 1), sources[i].kind,
                             {sources[i].pattern});
    if (!found) return found.error();
    if (!proportions.empty()) found->proportions = proportions[i];
    out.push_back(std::move(*found));
  }
  auto target = target_files(arguments);
  if (!target) return target.error();
  out.push_back(std::move(*target));
  if (auto checked = check_table_options(arguments, out); !checked) return checked.error();
  return out;
}

std::vector<Option> task_options() {
  return {
      {.name = "target",
       .value = "FILE",
       .help = "the instances to learn from, one per row; several files or 'parts/*.csv.gz' are one table",
       .group = kData,
       .required = true,
       .repeatable = true},
      {.name = "target-proportions",
       .value = "FILE",
       .help = "the share of positives of each bag: bag,proportion[,size] or bag,positives,size",
       .shown = "the proportion column of the instances",
       .group = kData},
      {.name = "source",
       .value = "FILE",
       .help = "the instances of a related task (or 'parts/*.csv'), for methods that transfer; may be given "
               "several times",
       .shown = "none",
       .group = kData,
       .repeatable = true},
      {.name = "source-proportions",
       .value = "FILE",
       .help = "the proportions of that source's bags; once per --source, in their order",
       .shown = "the proportion column of the source",
       .group = kData,
       .repeatable = true},
      {.name = "output",
       .value = "FILE",
       .help = "where the model goes",
       .group = kData,
       .letter = 'o',
       .required = true},
      {.name = "align-features",
       .help = "where target and sources have different features, take them all: 0 where a table lacks one",
       .group = kData,
       .kind = Kind::kFlag},
      {.name = "allow-leak",
       .help = "accept a feature that tells every bag's proportion exactly",
       .group = kData,
       .kind = Kind::kFlag},
  };
}

std::vector<Option> task_or_sums_options() {
  std::vector<Option> out = task_options();
  for (Option& option : out) {
    if (option.name == "target") option.required = false;
  }
  append(out, {{.name = "target-sums",
                .value = "FILE",
                .help = "the target as sums that bagwise reduce wrote, in place of rows; several files or "
                        "'parts/*.sums' are merged",
                .shown = "none",
                .group = kData,
                .repeatable = true},
               {.name = "bag-means",
                .value = "FILE",
                .help = "the target as one row per bag, in place of rows: bag,size,the means of the "
                        "features[,proportion]",
                .shown = "none",
                .group = kData,
                .repeatable = true},
               {.name = "source-sums",
                .value = "FILE",
                .help = "a source as sums (or 'parts/*.sums'); after those of --source",
                .shown = "none",
                .group = kData,
                .repeatable = true},
               {.name = "source-means",
                .value = "FILE",
                .help = "a source as means of bags; after those of --source and --source-sums",
                .shown = "none",
                .group = kData,
                .repeatable = true}});
  return out;
}

std::vector<std::string> input_files(const std::vector<TaskFiles>& files) {
  std::vector<std::string> out;
  for (const TaskFiles& task : files) {
    for (std::string& path : task.paths()) out.push_back(std::move(path));
    if (!task.proportions.empty()) out.push_back(task.proportions);
  }
  return out;
}

}  // namespace bagwise::cli
