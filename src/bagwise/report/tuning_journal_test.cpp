#include "bagwise/report/tuning_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iterator>

#include "support/sparse_rows.h"
#include "support/temp_dir.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

double any_number(Rng& rng) {
  const double any = std::bit_cast<double>(rng());
  return std::isfinite(any) ? any : -0.0;
}

PathOutcome random_outcome(Rng& rng, std::size_t settings, bool planes) {
  PathOutcome out;
  for (std::size_t s = 0; s < settings; ++s) {
    out.push_back({any_number(rng), {}});
    for (std::size_t t = 0; planes && t < 2; ++t) {
      out.back().planes.push_back({t == 0 ? "source" : "target \"\xC3\xA9\n",
                                   {any_number(rng), any_number(rng), -0.0},
                                   any_number(rng),
                                   {any_number(rng), any_number(rng)}});
    }
  }
  return out;
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same(const PathOutcome& a, const PathOutcome& b) {
  bool out = a.size() == b.size();
  for (std::size_t s = 0; out && s < a.size(); ++s) {
    out = same(a[s].value, b[s].value) && a[s].planes.size() == b[s].planes.size();
    for (std::size_t t = 0; out && t < a[s].planes.size(); ++t) {
      const TaskModel &x = a[s].planes[t], &y = b[s].planes[t];
      out = x.name == y.name && x.weights.size() == y.weights.size() && same(x.bias, y.bias) &&
            same(x.probability.slope, y.probability.slope) &&
            same(x.probability.offset, y.probability.offset);
      for (std::size_t j = 0; out && j < x.weights.size(); ++j) out = same(x.weights[j], y.weights[j]);
    }
  }
  return out;
}

std::unique_ptr<TuningJournal> opened(const std::string& path, const std::string& fingerprint) {
  auto out = TuningJournal::open(path, fingerprint);
  REQUIRE(out.ok());
  return std::move(*out);
}

// A journal with three lines of 2, 1 and 3 settings.
std::vector<PathOutcome> write_three(const std::string& path) {
  Rng rng(3);
  std::vector<PathOutcome> out;
  const auto journal = opened(path, "print");
  const Memory memory = journal->memory();
  for (const std::size_t settings : {2U, 1U, 3U}) {
    out.push_back(random_outcome(rng, settings, settings != 1));
    memory.keep(fmt::format("key {}", out.size()), out.back());
  }
  CHECK(journal->added() == 6);
  CHECK(journal->found() == 0);
  CHECK(journal->fault().empty());
  return out;
}

// How many of the lines a journal still knows, all of them to the bit.
std::size_t lines_known(const TuningJournal& journal, const Memory& memory,
                        const std::vector<PathOutcome>& written) {
  std::size_t out = 0, settings = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto known = memory.recall(fmt::format("key {}", i + 1));
    if (!known) continue;
    ++out;
    settings += known->size();
    CHECK(same(*known, written[i]));
  }
  CHECK(journal.found() == settings);
  return out;
}

std::size_t lines_known(const std::string& path, const std::vector<PathOutcome>& written) {
  const auto journal = opened(path, "print");
  return lines_known(*journal, journal->memory(), written);
}

TEST_CASE("tuning_journal: what was kept is recalled to the bit by the next run", "[report][journal]") {
  const test::TempDir folder;
  const std::string path = folder.file("m.json.tuning");
  const auto written = write_three(path);
  CHECK(lines_known(path, written) == 3);
  CHECK(lines_known(path, written) == 3);  // reading changes nothing
  const auto journal = opened(path, "print");
  CHECK_FALSE(journal->memory().recall("key 4"));
  journal->remove();
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("tuning_journal: cut anywhere, it knows the lines that are whole and goes on after them",
          "[report][journal]") {
  const test::TempDir folder;
  const std::string path = folder.file("j");
  const auto written = write_three(path);
  const std::string text = read_whole(path);
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') ends.push_back(i + 1);
  }
  REQUIRE(ends.size() == 4);
  for (std::size_t size = 0; size <= text.size(); size += size % 16 == 0 ? 7 : 9) {
    write_whole(path, text.substr(0, size));
    const auto whole = static_cast<std::size_t>(
        std::count_if(ends.begin() + 1, ends.end(), [&](std::size_t end) { return end <= size; }));
    CAPTURE(size);
    {
      const auto journal = opened(path, "print");
      const Memory memory = journal->memory();
      CHECK(lines_known(*journal, memory, written) == whole);
      for (std::size_t i = whole; i < 3; ++i) memory.keep(fmt::format("key {}", i + 1), written[i]);
    }
    CHECK(read_whole(path) == text);
  }
}

TEST_CASE("tuning_journal: a line that is damaged ends what is known", "[report][journal]") {
  const test::TempDir folder;
  const std::string path = folder.file("j");
  const auto written = write_three(path);
  const std::string text = read_whole(path);
  const auto second = text.find("key 2");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"key 2\"", "key 2"}, {"\"value\":", "\"values\":"}, {"\"value\":", "\"value\":null,\"v\":"}}) {
    std::string edited = text;
    edited.replace(edited.find(from, second), from.size(), to);
    write_whole(path, edited);
    CHECK(lines_known(path, written) == 1);
  }
  std::string zeros = text;
  std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(second), zeros.end() - 1, '\0');
  write_whole(path, zeros);
  CHECK(lines_known(path, written) == 1);
}

TEST_CASE("tuning_journal: one of other data is replaced", "[report][journal]") {
  const test::TempDir folder;
  const std::string path = folder.file("j");
  const auto written = write_three(path);
  {
    const auto journal = opened(path, "other");
    CHECK(journal->found() == 0);
    CHECK_FALSE(journal->memory().recall("key 1"));
  }
  CHECK(lines_known(path, written) == 0);
}

TEST_CASE("tuning_journal: a place where nothing can be written is named", "[report][journal]") {
  const test::TempDir folder;
  const auto none = TuningJournal::open(folder.file("absent/j"), "print");
  REQUIRE_FALSE(none.ok());
  CHECK_THAT(none.error().text(), Catch::Contains("absent/j") && Catch::Contains("cannot open"));
  // What is no journal is not overwritten.
  write_whole(folder.file("notes"), "my notes\n");
  const auto notes = TuningJournal::open(folder.file("notes"), "print");
  REQUIRE_FALSE(notes.ok());
  CHECK_THAT(notes.error().text(), Catch::Contains("notes: is no journal"));
  CHECK(read_whole(folder.file("notes")) == "my notes\n");
  // A link is not followed: what it points to stays.
  write_whole(folder.file("precious"), "precious");
  std::filesystem::create_symlink(folder.file("precious"), folder.file("link"));
  CHECK_FALSE(TuningJournal::open(folder.file("link"), "print").ok());
  CHECK(read_whole(folder.file("precious")) == "precious");
}

TEST_CASE("tuning_journal: the fingerprint tells apart all that decides a fold's outcome",
          "[report][journal]") {
  Rng rng(7);
  const test::World world = test::random_world(rng, 2, 3, 6, true);
  const TuneOptions options;
  const std::string print = tuning_fingerprint(world.tasks, options, 1);
  CHECK(tuning_fingerprint(world.tasks, options, 1) == print);
  CHECK(tuning_fingerprint(world.tasks, options, 2) != print);
  const auto with = [&](auto change) {
    TuneOptions other;
    change(other);
    return tuning_fingerprint(world.tasks, other, 1);
  };
  CHECK(with([](TuneOptions& o) { o.folds = 6; }) != print);
  CHECK(with([](TuneOptions& o) { o.repeats = 2; }) != print);
  CHECK(with([](TuneOptions& o) { o.criterion = Criterion::kSoftError; }) != print);
  CHECK(with([](TuneOptions& o) { o.combine = Combine::kBest; }) != print);  // no planes are kept
  // These are about what is made of the outcomes.
  CHECK(with([](TuneOptions& o) { o.combine = Combine::kPlane; }) == print);
  CHECK(with([](TuneOptions& o) { o.tau = 1; }) == print);
  CHECK(with([](TuneOptions& o) { o.search = Search::kHalving; }) == print);

  const auto changed = [&](auto change) {
    test::World other;
    other.data = world.data;
    change(other.data);
    for (std::size_t t = 0; t < 2; ++t)
      other.tasks.push_back({world.tasks[t].name, reduce(other.data[t]), &other.data[t]});
    return tuning_fingerprint(other.tasks, options, 1);
  };
  using Data = std::vector<BaggedData>;
  CHECK(changed([](Data&) {}) == print);
  CHECK(changed([](Data& d) { d[0].bags.proportions[1] += 0.01; }) != print);
  CHECK(changed([](Data& d) { d[1].bags.noise.assign(d[1].bags.size(), 0.1); }) != print);
  CHECK(changed([](Data& d) { d[1].bags.names[0] += "x"; }) != print);
  CHECK(changed([](Data& d) { d[1].feature_names[0] += "x"; }) != print);
  CHECK(changed([](Data& d) { d[1].bounds[0] += 0.01; }) != print);
  CHECK(changed([](Data& d) { std::swap(d[1].bounds[0], d[1].bounds[1]); }) != print);
  for (const double factor : {-1.0, 2.0, 0.5, -4.0}) {
    CHECK(changed([&](Data& d) {
            DenseRows rows(d[1].features.rows(), 3);
            const auto view = std::get<DenseView>(d[1].features.view());
            for (std::size_t i = 0; i < rows.rows(); ++i)
              for (std::size_t j = 0; j < 3; ++j) rows(i, j) = factor * view.row(i)[j];
            d[1].features = Features(std::move(rows));
          }) != print);
  }
}

TEST_CASE("tuning_journal: sparse rows that differ in where their values stand are told apart",
          "[report][journal]") {
  const auto print = [](double a, double b) {  // two rows of one bag with one value each
    DenseRows rows(4, 2);
    rows(0, a > b ? 0 : 1) = 1;
    rows(1, a > b ? 1 : 0) = 1;
    rows(2, 0) = 2;
    rows(3, 1) = 3;
    BaggedData data;
    data.features = Features(test::sparse_of(rows.view()));
    data.feature_names = {"x", "y"};
    data.bags = {{"a", "b"}, {0.5, 0}};
    data.bag_of_row = {0, 0, 1, 1};
    const std::vector<TrainingTask> tasks = {{"target", reduce(data), &data}};
    return tuning_fingerprint(tasks, {}, 1);
  };
  CHECK(print(0, 1) == print(0, 1));
  CHECK(print(0, 1) != print(1, 0));
}

}  // namespace
}  // namespace bagwise
