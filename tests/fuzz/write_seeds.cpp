// Writes the seeds of all harnesses, a folder for each: small files of every kind that the readers take, made
// by our own writers where there are any. usage: fuzz_write_seeds FOLDER
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/bags/reduce_table.h"
#include "bagwise/bags/sums_file.h"
#include "bagwise/core/atomic_file.h"
#include "bagwise/data/binary_table.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/write_table.h"
#include "bagwise/methods/saved_state.h"
#include "bagwise/methods/tl_llp/rounds_state.h"
#include "bagwise/report/experiment_journal.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/tuning_journal.h"
#include "support/packing.h"
#include "support/tar.h"
#include "support/temp_dir.h"
#include "support/tiny_corpora.h"

namespace bagwise {
namespace {

namespace fs = std::filesystem;

// Seeds by "harness/name".
using Seeds = std::map<std::string, std::string>;

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}
void done(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().text());
}
std::string bytes_of(const std::string& path) { return value_of(read_file(path, std::uint64_t{1} << 20)); }

constexpr std::string_view kTable =
    "id,bag,proportion,label,delta,x,y,c\n"
    "a1,b1,0.5,1,0,1.5,-2e-3,3\n"
    "\"a,2\",b1,0.5,0,0.25,-0,7,4\r\n"
    "\"a\"\"3\",\"b\n2\",1,1,1e-3,+4.25,1e300,5\n"
    "\n"
    " a4 ,b3,0,1,0, 12345678901234567890 ,.5,6\n";
constexpr std::string_view kTextTable =
    "bag,label,x,c\n"
    "1,1,0.5,red\n"
    "1,-1,,blue\n"
    "2,1,2,\n"
    "2,1,3,red\n";
constexpr std::string_view kSparseTable =
    "1 qid:1 1:0.5 3:-2 # first\n"
    "-1 qid:1 2:1e-3\n"
    "# a comment\n"
    "0 qid:22 1:7 2:8 5:9\n";

void add_text_tables(Seeds& out) {
  out["csv/all"] = kTable;
  out["csv/text"] = kTextTable;
  out["csv/mark"] = "\xEF\xBB\xBFx,y\r\n1,2\r\n";
  out["csv/wrong"] = "x,x\n1,nan\n2\n\"3,4\n";
  out["svmlight/all"] = kSparseTable;
  out["svmlight/plain"] = "1 1:1\n-1 4:2\n";
  out["svmlight/wrong"] = "1 qid:2 2:1 1:3\n2 0:1\n1 3:inf\n";
  out["proportions/shares"] = "bag,proportion,size\nb1,0.25,4\n\"b,2\",1,1\n";
  out["proportions/counts"] = "size,positives,bag\n4,1,b1\n9,9,b2\n";
  out["proportions/errors"] = "bag,proportion,stderr\nb1,1.01,0.1\nb2,-0.02,0\n";
  out["proportions/private"] = "bag,positives,size,epsilon_dp\nb1,-1.5,4,0.5\nb2,9,8,2\n";
  out["bag_means/all"] = "bag,size,proportion,delta,x,y\nb1,3,0.5,0.1,1,2e5\nb2,1,0,0,-1,0\nb1,2,0.5,0,4,5\n";
  out["bag_means/plain"] = "x,size,bag\n0.1,10,1\n0.2,9007199254740992,2\n";
  for (const auto& [name, text] : {std::pair{"all", kTable}, {"text", kTextTable}}) {
    out[fmt::format("packed/{}.gz", name)] = test::gzip(std::string(text));
    out[fmt::format("packed/{}.zst", name)] = test::zstd(std::string(text));
  }
  out["packed/members.gz"] = test::gzip("x,y\n1,2\n") + test::gzip("3,4\n") + std::string(8, '\0');
  out["packed/frames.zst"] =
      std::string("\x50\x2A\x4D\x18\x02\0\0\0ab", 10) + test::zstd("x\n1\n") + test::zstd("2\n");
}

std::string npy(const std::string& header, const std::string& data) {
  std::string text = header + std::string((128 - (10 + header.size() + 1) % 64) % 64, ' ') + "\n";
  std::string out = "\x93NUMPY";
  out += '\x01', out += '\0';
  out += static_cast<char>(text.size() % 256), out += static_cast<char>(text.size() / 256);
  return out + text + data;
}
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void add_npy(Seeds& out) {
  out["npy/plain"] = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }",
                         raw<double>({1, 2, 3, -4.5, 1e300, 0}));
  out["npy/columns"] =
      npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", raw<float>({1, 2, 3, 4}));
  out["npy/whole"] =
      npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2), }", raw<std::int16_t>({1, 2, 3, 4}));
  std::string rows;
  for (int i = 0; i < 3; ++i) {
    rows += std::string(i < 2 ? "b1" : "b2") + std::string("\0", 1);
    rows +=
        raw<std::uint32_t>({'r', 'e', 'd', 0xE9}) + static_cast<char>(i % 2) + raw<double>({0.5, i / 2.0});
  }
  out["npy/records"] =
      npy("{'descr': [('bag', '|S3'), ('c', '<U4'), ('label', '|b1'), ('proportion', '<f8'), ('x', '<f8')], "
          "'fortran_order': False, 'shape': (3,), }",
          rows);
}

// The binary table and the sums of a table in text.
void add_made_of(const std::string& name, std::string_view text, const std::string& file,
                 const TableOptions& options, Seeds& out) {
  const test::TempDir folder;
  const std::string path = folder.file(file), made = folder.file("made.bw");
  test::write_bytes(path, std::string(text));
  const Dataset table = value_of(read_table(path, options));
  const TableSchema schema =
      value_of(stream_table(path, options, [](TableBlock&&) -> Result<void> { return {}; }));
  auto writer = value_of(BinaryTableWriter::create(made, schema));
  done(writer.add(table));
  done(writer.add(table));
  done(writer.commit());
  out["binary_table/" + name] = bytes_of(made);
  if (!schema.has_groups) return;
  out["sums/" + name] = value_of(reduce_table(path, options, {.moments = true})).to_bytes();
}

void add_binary(Seeds& out) {
  add_made_of("all", kTable, "t.csv", {.want_labels = true, .want_ids = true}, out);
  add_made_of("text", kTextTable, "t.csv", {.want_labels = true, .one_hot = {"c"}, .missing = Missing::kMean},
              out);
  add_made_of("sparse", kSparseTable, "t.svm", {.want_labels = true}, out);
  add_made_of("plain", "x,y\n1,2\n3,4\n", "t.csv", {}, out);
  add_made_of("wide", "1 qid:1 1:0.5 1030:2\n-1 qid:2 7:1\n", "t.svm",
              {.want_labels = true, .features = {"1", "7", "1030"}}, out);
  // Sums that are kept by entry: of a sparse table with many features.
  GroupedSums wide;
  wide.schema.sparse = wide.schema.has_groups = true;
  for (int j = 1; j <= 3; ++j) wide.schema.feature_names.push_back(fmt::format("{}", j));
  wide.names = {"a", "b"};
  wide.sums = BagSums(2, 3, BagSums::Layout::kSparse);
  wide.sums.add_sparse_row(0, std::vector<std::int32_t>{0, 2}, std::vector<double>{1, -2}, 0.5);
  wide.sums.add_sparse_row(1, std::vector<std::int32_t>{1}, std::vector<double>{4}, 0);
  wide.rows = 2;
  out["sums/entries"] = wide.to_bytes();
}

Model linear_model() {
  Model out;
  out.method = "tl-llp";
  out.features = {"x", "c=red", "y\"<>\n"};
  out.one_hot = {"c"};
  out.missing = "mean";
  out.fill = {0.5, 0.25, -1};
  out.scaling = {"standard", {0, 1, 2}, {1, 0.5, 4}};
  out.tasks = {{"source", {1, 2, 3}, 0.5, {1, 0}}, {"target", {-1, 1e-300, 2.5}, -0.0, {2, -0.5}}};
  out.shared_weights = {0, 1.5, 2.75};
  out.options = {{"C", 1.5}, {"kernel", std::string("linear")}, {"rounds", std::int64_t{3}}, {"off", true}};
  out.training.termination = "converged";
  out.training.dual_objective = 1;
  out.training.objective_history = {3, 2, 1};
  out.training.tasks = {{.name = "source", .angles = {0, 30}, .bag_names = {"b"}, .residual = {0.5}},
                        {.name = "target", .angles = {30, 0}, .bag_names = {}, .residual = {}}};
  return out;
}

void add_models(Seeds& out) {
  out["model/linear"] = model_to_json(linear_model());
  Model kernel = linear_model();
  kernel.shared_weights = {};
  DenseRows rows(2, 3);
  rows(0, 1) = 4;
  kernel.expansion = Expansion{{KernelKind::kRbf, 0.5, 3}, Features(std::move(rows))};
  for (TaskModel& task : kernel.tasks) task.weights = {0.5, -1};
  out["model/kernel"] = model_to_json(kernel);
  Model committee = linear_model();
  Committee members{{"inv-cal C=1"}, {0, 0}, {0, 1}, {0.25, 0.75}, {}};
  for (int t = 0; t < 2; ++t)
    members.tasks.push_back({RowMatrix::Constant(2, 3, 0.5), {0, 1}, {{1, 0}, {2, 1}}});
  committee.committee = members;
  committee.selection = Selection{"miscount", "average", "grid", 5, 1, 7, 4, "inv-cal C=1", 0.5};
  out["model/committee"] = model_to_json(committee);
}

void add_json(Seeds& out) {
  out["grid/object"] = R"({"C": [0.5, 1, 2], "epsilon": 0.01, "kernel": "rbf"})";
  out["grid/list"] = R"([{"C": [1, 2]}, {"C": [4], "lambda-source": [[1, 2], [3, 4]], "x": true}])";
  out["grid/methods"] = R"({"inv-cal": {"C": [1]}, "tl-llp": [{"C": [2]}]})";
  out["experiment/generated"] =
      R"({"name": "quick", "title": "A", "data": [{"name": "a", "kind": "documents", "preset": "related", "seed": 3,
 "source_rows": 100, "target_rows": 50, "features": 20}], "methods": [{"name": "tl-llp"}, {"name": "pca",
 "method": "tl-llp", "set": {"metric": "pca"}, "selection": {"folds": 3}}], "bag_sizes": [2, 8], "noise": [0, 0.32],
 "folds": 5, "seed": 1, "selection": {"combine": "best", "search": "halving"}})";
  out["experiment/tables"] =
      R"({"name": "t", "data": [{"name": "c", "target": "t.csv", "source": "s.csv"}, {"name": "p", "pair": 1}],
 "methods": [{"name": "inv-cal", "grid": {"C": [1, 2]}, "sources": false}, {"name": "one", "method": "mean-map",
 "options": {"lambda": 1}}], "bag_sizes": [4], "run_folds": 1, "published": {"cite": "Someone, 2000", "figures":
 [{"data": "c", "method": "inv-cal", "bag_size": 4, "accuracy": 0.5, "deviation": 0.1}]}})";
}

void add_journals(Seeds& out) {
  const test::TempDir folder;
  const auto plan = value_of(experiment_from_json(
      R"({"name": "a", "data": [{"name": "d", "kind": "gaussian"}], "methods": [{"name": "inv-cal"}], "bag_sizes": [2],
          "folds": 2})",
      folder.file("e.json")));
  auto journal = value_of(ExperimentJournal::open(folder.path.string(), plan, {{"d", "print"}}));
  for (std::uint64_t fold = 0; fold < 2; ++fold) {
    const ExperimentKey key{"d", "inv-cal", 2, 0.25, fold};
    CellOutcome cell;
    cell.result = {key, 0.75, 0.5, std::nullopt, 0.125, {{"C", "0.5"}}};
    cell.times = {key, 1.5, 0.25, 2, 16, 2};
    done(journal.append(cell));
  }
  out["results/results"] = bytes_of(folder.file("results.jsonl"));
  out["results/timings"] = bytes_of(folder.file("timings.jsonl"));
  out["results/cut"] = bytes_of(folder.file("results.jsonl")).substr(0, 250);

  auto tuning = value_of(TuningJournal::open(folder.file("t.jsonl"), "0123456789abcdef"));
  const Memory memory = tuning->memory();
  memory.keep("inv-cal 1", {{0.5, {{"target", {1, 2}, 0.25, {1, 0}}}}, {0.75, {}}});
  memory.keep("inv-cal 2", {});
  const std::string text = bytes_of(folder.file("t.jsonl"));
  out["tuning_journal/all"] = text;
  out["tuning_journal/lines"] = text.substr(text.find('\n') + 1);
}

void add_state(Seeds& out) {
  RoundsState state;
  TubeSolution& solution = state.result.solution;
  solution.planes.shared = Vector::Constant(2, 0.5);
  solution.planes.own = {Vector::Constant(2, 1), Vector::Constant(2, -1)};
  solution.planes.bias = {0.25, 0.5};
  solution.multipliers.above = {0, 1};
  solution.multipliers.below = {1, 0};
  state.result.history = {2, 1};
  state.result.steps = {5, 3};
  state.result.move = {0.125};
  state.now = solution;
  state.visited.push_back({{0.5}, {Vector::Constant(2, 1)}});
  out["state/rounds"] = state.to_bytes();
}

void add_corpora(Seeds& out) {
  out["reuters/two"] =
      "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n<REUTERS TOPICS=\"YES\" "
      "NEWID=\"7\">\n<PLACES><D>usa</D><D>usa</D></PLACES>\n"
      "<PEOPLE></PEOPLE><ORGS><D>a&amp;b</D></ORGS>\n<TEXT>&#2;\n<TITLE>Some words</TITLE><BODY>Other words, "
      "&lt;here>"
      "\n&#3;</BODY></TEXT>\n</REUTERS>\n<REUTERS NEWID='8'>\n<TEXT TYPE=\"BRIEF\">It's "
      "brief</TEXT></REUTERS>\n";
  out["reuters/wrong"] = "<REUTERS NEWID=\"x\"><TEXT><BODY>no end</TEXT></REUTERS>\n";
  out["newsgroups/message"] =
      "20_newsgroups/sci.space/60000\nFrom: someone\nSubject: words\n more\n\nIt's a body, Baker's.\n";
  out["newsgroups/bare"] = "x/.hidden\nno headers \xE9\n\n-- \n";
  test::CorpusFiles files;
  for (const auto& group : test::kGroups)
    files[group + "/1"] = group.starts_with("sci") ? "From: a\n\nwords here\n" : "w\n";
  const std::string tar = test::tar_of(files, "20_newsgroups");
  out["tar/newsgroups.gz"] = test::gzip(tar);
  out["tar/odd"] = test::tar_member("sci.med/1", "words") + test::tar_member("a/../b", "out") +
                   test::tar_member("link", "", '2', "/etc/hostname") +
                   test::tar_member("long", "x", '0', {}, 3000) + test::tar_end();
}

}  // namespace
}  // namespace bagwise

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: fuzz_write_seeds FOLDER\n");
    return 2;
  }
  try {
    bagwise::Seeds seeds;
    bagwise::add_text_tables(seeds);
    bagwise::add_npy(seeds);
    bagwise::add_binary(seeds);
    bagwise::add_models(seeds);
    bagwise::add_json(seeds);
    bagwise::add_journals(seeds);
    bagwise::add_state(seeds);
    bagwise::add_corpora(seeds);
    for (const auto& [name, bytes] : seeds) {
      const auto path = std::filesystem::path(words[1]) / name;
      std::filesystem::create_directories(path.parent_path());
      bagwise::test::write_bytes(path.string(), bytes);
    }
    fmt::print("{} seeds\n", seeds.size());
    return 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "fuzz_write_seeds: {}\n", fault.what());
    return 1;
  }
}
