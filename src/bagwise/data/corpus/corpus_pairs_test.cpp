#include "bagwise/data/corpus/corpus_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "support/temp_dir.h"
#include "support/tf_idf_twin.h"
#include "support/tiny_corpora.h"

namespace bagwise {
namespace {

namespace fs = std::filesystem;

Corpus read(CorpusKind kind, const std::string& path, MissingBody missing_body = MissingBody::kTitle) {
  auto corpus = read_corpus(kind, path, {.missing_body = missing_body});
  INFO((corpus ? "" : corpus.error().text()));
  REQUIRE(corpus);
  return *corpus;
}

Corpus tiny(CorpusKind kind, std::uint64_t seed, std::size_t documents) {
  const test::TempDir folder;
  const bool newsgroups = kind == CorpusKind::kNewsgroups;
  test::write_corpus(
      newsgroups ? test::tiny_newsgroups(seed, documents) : test::tiny_reuters(seed, documents), folder.path);
  return read(kind, folder.path.string());
}

CorpusTables must(const Corpus& corpus, const CorpusPair& pair, std::uint64_t seed = 1) {
  auto made = make_corpus_pair(corpus, pair, seed);
  INFO((made ? "" : made.error().text()));
  REQUIRE(made);
  return *made;
}

// The parts of a tag by plain loops: again and again the value of most documents, of equals the first.
std::map<std::string, int> dealt_twin(const Corpus& corpus, std::string_view tag) {
  std::map<std::string, int> counts, out;
  for (const Document& d : corpus.documents) {
    for (const auto& c : d.categories) {
      if (c.tag == tag) ++counts[c.value];
    }
  }
  for (int turn = 0; !counts.empty(); ++turn) {
    auto best = counts.begin();
    for (auto at = counts.begin(); at != counts.end(); ++at) {
      if (at->second > best->second) best = at;
    }
    out[best->first] = 1 + turn % 2;
    counts.erase(best);
  }
  return out;
}

std::string top(const std::string& group) { return group.substr(0, group.find('.')); }

// What a document is to a task, by SPEC's words: +1, -1, or 0 for neither.
int side_twin(const Document& d, const CorpusTask& task, const std::map<std::string, int>& parts) {
  std::set<std::string> values;
  for (const auto& c : d.categories) {
    if (c.tag == task.tag) values.insert(c.value);
  }
  if (task.part == 0) {
    if (values.contains(std::string(task.value))) return 1;
    return top(*values.begin()) == top(std::string(task.value)) ? 0 : -1;
  }
  if (values.empty()) return -1;
  for (const std::string& value : values) {
    if (parts.at(value) != task.part) return 0;
  }
  return 1;
}

// All rules of a pair, checked on its tables by loops of their own.
void check_pair(const Corpus& corpus, const CorpusPair& pair, const CorpusTables& made) {
  INFO("pair " << pair.number);
  std::map<std::string, const Document*> by_id;
  std::map<std::string, std::vector<const Document*>> by_words;
  for (const Document& d : corpus.documents) {
    by_id[d.id] = &d;
    if (!d.words.empty()) by_words[d.words].push_back(&d);
  }
  std::set<std::string> used;  // the words of all rows of both tasks
  std::vector<std::string> texts;
  const auto check_task = [&](const CorpusTask& task, const Dataset& table, const CorpusTaskTally& tally) {
    INFO(task.name());
    const auto parts = dealt_twin(corpus, task.tag);
    REQUIRE(table.ids.size() == table.rows());
    REQUIRE(table.labels.size() == table.rows());
    std::size_t positives = 0, wrong = 0, repeated = 0, mixed = 0;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const Document& d = *by_id.at(table.ids[i]);
      if (side_twin(d, task, parts) != table.labels[i]) ++wrong;
      for (const Document* same : by_words.at(d.words)) {  // no copy of it is filed on the other side
        if (side_twin(*same, task, parts) == -table.labels[i] && table.labels[i] < 0) ++mixed;
      }
      if (!used.insert(d.words).second) ++repeated;
      if (table.labels[i] > 0) ++positives;
      texts.push_back(d.words);
    }
    CHECK(wrong == 0);
    CHECK(repeated == 0);
    CHECK(mixed == 0);
    CHECK(2 * positives == table.rows());
    CHECK(positives == std::min({task.rows / 2, tally.positives_found, tally.negatives_found}));
    CHECK_FALSE(table.groups.present());
    CHECK(table.feature_names.size() <= pair.features);
  };
  check_task(pair.source, made.source, made.source_tally);
  check_task(pair.target, made.target, made.target_tally);
  CHECK(made.source.feature_names == made.target.feature_names);

  const test::TfIdfTwin twin = test::tf_idf_twin(texts, pair.features);
  std::vector<std::string> names;
  for (const std::string& word : twin.words) {
    const bool taken = std::set<std::string>{"bag", "proportion", "label", "delta", "id"}.contains(word);
    names.push_back(taken ? "word-" + word : word);
  }
  CHECK(made.source.feature_names == names);
  const auto middle = twin.rows.begin() + static_cast<std::ptrdiff_t>(made.source.rows());
  test::check_rows(std::get<CsrView>(made.source.features.view()), {twin.rows.begin(), middle});
  test::check_rows(std::get<CsrView>(made.target.features.view()), {middle, twin.rows.end()});
}

// A pair of the list with other sizes.
CorpusPair sized(int number, std::size_t source_rows, std::size_t target_rows, std::size_t features) {
  CorpusPair pair = corpus_pairs()[static_cast<std::size_t>(number - 1)];
  pair.source.rows = source_rows;
  pair.target.rows = target_rows;
  pair.features = features;
  return pair;
}

bool same(const Dataset& a, const Dataset& b) {
  const auto va = stored_values(a.features.view()), vb = stored_values(b.features.view());
  return a.ids == b.ids && a.labels == b.labels && a.feature_names == b.feature_names &&
         std::equal(va.begin(), va.end(), vb.begin(), vb.end());
}

Document filed(const std::string& id, const std::string& words, std::vector<Document::Category> under) {
  Document out;
  out.id = id;
  out.words = words;
  out.categories = std::move(under);
  return out;
}

}  // namespace

TEST_CASE("corpus_pairs: nine pairs as the reference experiment has them", "[data][corpus_pairs]") {
  const auto pairs = corpus_pairs();
  REQUIRE(pairs.size() == 9);
  std::string all;
  for (const CorpusPair& pair : pairs) {
    all += fmt::format("{} {} {} {} {} {}\n", pair.number, pair.source.name(), pair.source.rows,
                       pair.target.name(), pair.target.rows, pair.features);
    CHECK((pair.corpus == CorpusKind::kNewsgroups) == (pair.number <= 6));
  }
  CHECK(all ==
        "1 comp.os.ms-windows.misc 2000 comp.windows.x 800 200\n"
        "2 comp.sys.ibm.pc.hardware 2000 comp.sys.mac.hardware 800 200\n"
        "3 sci.electronics 2000 sci.med 800 200\n"
        "4 rec.sport.baseball 2000 rec.sport.hockey 800 200\n"
        "5 rec.autos 2000 rec.motorcycles 800 200\n"
        "6 talk.politics.misc 2000 talk.politics.guns 800 200\n"
        "7 people, group 1 1800 people, group 2 600 240\n"
        "8 orgs, group 1 1800 orgs, group 2 600 240\n"
        "9 people, group 1 1800 places, group 1 600 240\n");
}

TEST_CASE("corpus_pairs: values are dealt by count, equals by name", "[data][corpus_pairs]") {
  Corpus corpus{CorpusKind::kReuters, {}, 0, 0};
  const auto add = [&](const std::string& value, int count) {
    for (int i = 0; i < count; ++i)
      corpus.documents.push_back(
          filed(fmt::format("{}{}", value, i), "w", {{"people", value}, {"orgs", "o"}}));
  };
  add("d", 2);
  add("c", 2);
  add("b", 5);
  add("a", 1);
  add("e", 2);
  const auto dealt = deal_values(corpus, "people");
  CHECK(std::map<std::string, int>(dealt.begin(), dealt.end()) ==
        std::map<std::string, int>{{"b", 1}, {"c", 2}, {"d", 1}, {"e", 2}, {"a", 1}});
  CHECK(deal_values(corpus, "places").empty());
}

TEST_CASE("corpus_pairs: tiny newsgroups keep every rule", "[data][corpus_pairs]") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Corpus corpus = tiny(CorpusKind::kNewsgroups, seed, 12);
    for (int number = 1; number <= 6; ++number) {
      for (const CorpusPair& pair : {sized(number, 2000, 800, 200), sized(number, 10, 4, 8)})
        check_pair(corpus, pair, must(corpus, pair, seed));
    }
  }
}

TEST_CASE("corpus_pairs: tiny Reuters keeps every rule", "[data][corpus_pairs]") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Corpus corpus = tiny(CorpusKind::kReuters, seed, 12);
    for (const char* tag : {"people", "orgs", "places"}) {
      const auto dealt = deal_values(corpus, tag);
      CHECK(std::map<std::string, int>(dealt.begin(), dealt.end()) == dealt_twin(corpus, tag));
    }
    for (int number = 7; number <= 9; ++number) {
      for (const CorpusPair& pair : {sized(number, 1800, 600, 240), sized(number, 10, 4, 8)})
        check_pair(corpus, pair, must(corpus, pair, seed));
    }
  }
}

TEST_CASE("corpus_pairs: the same seed gives the same tables, another others", "[data][corpus_pairs]") {
  const Corpus corpus = tiny(CorpusKind::kNewsgroups, 1, 12);
  const CorpusPair pair = sized(1, 10, 4, 8);
  const CorpusTables a = must(corpus, pair, 5), b = must(corpus, pair, 5), c = must(corpus, pair, 6);
  CHECK(same(a.source, b.source));
  CHECK(same(a.target, b.target));
  CHECK_FALSE(same(a.source, c.source));
  CHECK_FALSE(same(a.target, c.target));
}

TEST_CASE("corpus_pairs: a text is filed under all that its documents are", "[data][corpus_pairs]") {
  const auto group = [](const char* name) { return std::vector<Document::Category>{{"group", name}}; };
  Corpus corpus{CorpusKind::kNewsgroups, {}, 0, 0};
  // Also in misc.forsale: a positive of the source, and no negative. The word-for-word copy of a message in
  // another group of the same top category makes a negative unfit.
  corpus.documents = {filed("misc.forsale/1", "cross posted", group("misc.forsale")),
                      filed("misc.forsale/2", "sold by sci", group("misc.forsale")),
                      filed("misc.forsale/3", "plain sale", group("misc.forsale")),
                      filed("misc.forsale/4", "other sale", group("misc.forsale")),
                      filed("sci.electronics/1", "cross posted", group("sci.electronics")),
                      filed("sci.med/1", "medicine", group("sci.med")),
                      filed("sci.med/2", "cross posted", group("sci.med")),
                      filed("sci.space/1", "sold by sci", group("sci.space"))};
  const CorpusTables made = must(corpus, sized(3, 2000, 800, 200));
  auto ids = made.source.ids;
  ids.insert(ids.end(), made.target.ids.begin(), made.target.ids.end());
  std::sort(ids.begin(), ids.end());
  CHECK(ids ==
        std::vector<std::string>{"misc.forsale/3", "misc.forsale/4", "sci.electronics/1", "sci.med/1"});
  CHECK(made.source_tally.positives_found == 1);
  CHECK(made.target_tally.positives_found == 1);
  CHECK(made.source_tally.negatives_found == 2);
}

TEST_CASE("corpus_pairs: words that name columns with a meaning are renamed", "[data][corpus_pairs]") {
  Corpus corpus = tiny(CorpusKind::kNewsgroups, 2, 3);
  for (std::size_t i = 0; i < corpus.documents.size(); ++i)
    append_words(fmt::format("label id bag delta proportion size unique{}", i), corpus.documents[i].words);
  const CorpusPair pair = sized(1, 2000, 800, 200);
  const CorpusTables made = must(corpus, pair);
  const auto& names = made.source.feature_names;
  for (const char* name : {"word-label", "word-id", "word-bag", "word-delta", "word-proportion", "size"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(std::count(names.begin(), names.end(), "label") == 0);
  check_pair(corpus, pair, made);
}

TEST_CASE("corpus_pairs: what cannot be made is an error", "[data][corpus_pairs][badargs]") {
  Corpus corpus = tiny(CorpusKind::kReuters, 1, 2);
  CHECK_FALSE(make_corpus_pair(corpus, corpus_pairs()[0], 1));
  for (Document& d : corpus.documents) d.categories.clear();
  const auto without = make_corpus_pair(corpus, corpus_pairs()[7], 1);
  REQUIRE_FALSE(without);
  CHECK_THAT(without.error().text(), Catch::Contains("orgs, group 1: 0 documents of it are left and "));
  Corpus stops = tiny(CorpusKind::kNewsgroups, 1, 2);
  const char* only[] = {"the", "of", "and", "or", "if", "but", "so", "by"};
  for (std::size_t i = 0; i < stops.documents.size(); ++i)
    stops.documents[i].words = fmt::format("{} {}", only[i % 8], only[i / 8]);
  const auto no_words = make_corpus_pair(stops, corpus_pairs()[0], 1);
  REQUIRE_FALSE(no_words);
  CHECK_THAT(no_words.error().text(), Catch::Contains("no words but stop words"));
}

// With the originals: BAGWISE_CORPORA is a folder that has 20news-19997 and reuters21578, unpacked or as
// .tar.gz or .tar.xz. Without it there is nothing to do.
TEST_CASE("corpus_pairs: the real corpora keep every rule", "[data][corpus_pairs][real]") {
  const char* folder = std::getenv("BAGWISE_CORPORA");
  if (folder == nullptr) return;
  const auto find = [&](const std::string& name) {
    for (const char* ending : {"", ".tar", ".tar.gz", ".tar.xz"}) {
      if (const fs::path path = fs::path(folder) / (name + ending); fs::exists(path)) return path.string();
    }
    return std::string();
  };
  if (const std::string path = find("20news-19997"); !path.empty()) {
    const Corpus corpus = read(CorpusKind::kNewsgroups, path);
    const CorpusTally found = tally(corpus);
    CHECK(found.documents == 19997);
    CHECK(found.same_bytes == 531);
    for (int i = 0; i < 6; ++i) {
      const CorpusPair& pair = corpus_pairs()[static_cast<std::size_t>(i)];
      const CorpusTables made = must(corpus, pair);
      check_pair(corpus, pair, made);
      CHECK(made.source.rows() >= 1900);
      CHECK(made.target.rows() == 800);
      CHECK(made.source.feature_names.size() == 200);
    }
  }
  if (const std::string path = find("reuters21578"); !path.empty()) {
    const Corpus corpus = read(CorpusKind::kReuters, path);
    CHECK(tally(corpus).documents == 21578);
    CHECK(tally(corpus).without_body == 2535);
    std::map<std::string, int> tagged;
    for (const Document& d : corpus.documents) {
      std::set<std::string> tags;
      for (const auto& c : d.categories) tags.insert(c.tag);
      for (const std::string& tag : tags) ++tagged[tag];
    }
    CHECK(tagged == std::map<std::string, int>{{"people", 1156}, {"orgs", 881}, {"places", 18798}});
    const Corpus with_bodies = read(CorpusKind::kReuters, path, MissingBody::kOmit);
    CHECK(tally(with_bodies).left_out == 2535);
    for (std::size_t i = 6; i < 9; ++i) {
      check_pair(corpus, corpus_pairs()[i], must(corpus, corpus_pairs()[i]));
      check_pair(with_bodies, corpus_pairs()[i], must(with_bodies, corpus_pairs()[i]));
    }
  }
}

}  // namespace bagwise
