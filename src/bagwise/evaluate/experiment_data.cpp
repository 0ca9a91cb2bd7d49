#include "bagwise/evaluate/experiment_data.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <system_error>

#include "bagwise/core/hash.h"
#include "bagwise/data/corpus/corpus_pairs.h"
#include "bagwise/data/read_table.h"
#include "bagwise/linalg/hash_places.h"

namespace bagwise {
namespace {

void add_to(Fnv1a& hash, const Dataset& data) {
  for (const std::string& name : data.feature_names) hash.add(name).add(std::uint64_t{name.size()});
  const RowsView rows = data.features.view();
  hash.add(std::uint64_t{data.rows()}).add(stored_values(rows));
  add_places(hash, rows);
  for (const std::int8_t label : data.labels) hash.add(static_cast<std::uint64_t>(label + 1));
}

// The corpus in its folder, under one of the names it is handed out by.
Result<std::string> corpus_in(const std::string& folder, CorpusKind kind) {
  const std::vector<std::string> names = kind == CorpusKind::kNewsgroups
                                             ? std::vector<std::string>{"20news-19997", "20_newsgroups"}
                                             : std::vector<std::string>{"reuters21578"};
  if (folder.empty())
    return Error{
        fmt::format("pairs need the corpora: expected a folder that has {}", fmt::join(names, " or "))};
  std::error_code ignored;
  for (const std::string& name : names) {
    for (const char* ending : {"", ".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst"}) {
      const auto path = std::filesystem::path(folder) / (name + ending);
      if (std::filesystem::exists(path, ignored)) return path.string();
    }
  }
  return Error{
      fmt::format("has no {}; expected the corpus unpacked, or its tar archive", fmt::join(names, " or ")),
      folder};
}

Result<Dataset> labelled_table(const std::string& path, const Observer& observer) {
  TableOptions options;
  options.want_labels = true;
  auto table = read_table(path, options, observer);
  if (!table) return table.error();
  if (table->labels.empty())
    return Error{"has no column \"label\"; expected labelled rows: the experiment makes the bags itself",
                 path};
  return table;
}

Result<LabelledTasks> load_from(const ExperimentTables& files, const Observer& observer) {
  LabelledTasks out;
  auto target = labelled_table(files.target, observer);
  if (!target) return target.error();
  out.target = std::move(*target);
  if (files.source.empty()) return out;
  auto source = labelled_table(files.source, observer);
  if (!source) return source.error();
  out.source = std::move(*source);
  if (out.source.feature_names != out.target.feature_names) {
    return Error{fmt::format("has other features than {}; expected the same in the same order", files.target),
                 files.source};
  }
  return out;
}

Result<LabelledTasks> load_from(const GeneratorOptions& options, const Observer&) {
  auto made = generate(options);
  if (!made) return made.error();
  return LabelledTasks{std::move(made->source), std::move(made->target)};
}

}  // namespace

std::uint64_t fingerprint(const LabelledTasks& tasks) {
  Fnv1a hash;
  add_to(hash, tasks.source);
  add_to(hash, tasks.target);
  return hash.value();
}

Result<LabelledTasks> ExperimentLoader::load_pair(const ExperimentPair& wanted, const Observer& observer) {
  const CorpusPair& pair = corpus_pairs()[static_cast<std::size_t>(wanted.number - 1)];
  const std::pair key{pair.corpus, wanted.missing_body};
  auto corpus = read_.find(key);
  if (corpus == read_.end()) {
    const auto path = corpus_in(corpora_, pair.corpus);
    if (!path) return path.error();
    auto read = read_corpus(pair.corpus, *path, {wanted.missing_body, threads_}, observer);
    if (!read) return read.error();
    corpus = read_.emplace(key, std::move(*read)).first;
  }
  auto tables = make_corpus_pair(corpus->second, pair, wanted.seed);
  if (!tables) return tables.error();
  return LabelledTasks{std::move(tables->source), std::move(tables->target)};
}

Result<LabelledTasks> ExperimentLoader::load(const ExperimentData& data, const Observer& observer) {
  auto loaded = std::holds_alternative<ExperimentPair>(data.origin)
                    ? load_pair(std::get<ExperimentPair>(data.origin), observer)
                : std::holds_alternative<ExperimentTables>(data.origin)
                    ? load_from(std::get<ExperimentTables>(data.origin), observer)
                    : load_from(std::get<GeneratorOptions>(data.origin), observer);
  if (!loaded && loaded.error().file.empty()) {
    Error error = loaded.error();
    error.message = fmt::format("data \"{}\": {}", data.name, error.message);
    return error;
  }
  return loaded;
}

}  // namespace bagwise
