#include "bagwise/data/corpus/corpus_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "bagwise/core/random.h"
#include "bagwise/data/text/tf_idf.h"

namespace bagwise {
namespace {

using Texts = std::vector<std::vector<std::size_t>>;  // as distinct_texts() gives them

constexpr CorpusPair newsgroups(int number, std::string_view source, std::string_view target) {
  return {number, CorpusKind::kNewsgroups, {"group", source, 0, 2000}, {"group", target, 0, 800}, 200};
}
constexpr CorpusPair reuters(int number, std::string_view source, std::string_view target, int target_part) {
  return {number, CorpusKind::kReuters, {source, {}, 1, 1800}, {target, {}, target_part, 600}, 240};
}
constexpr std::array<CorpusPair, 9> kPairs = {
    newsgroups(1, "comp.os.ms-windows.misc", "comp.windows.x"),
    newsgroups(2, "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    newsgroups(3, "sci.electronics", "sci.med"),
    newsgroups(4, "rec.sport.baseball", "rec.sport.hockey"),
    newsgroups(5, "rec.autos", "rec.motorcycles"),
    newsgroups(6, "talk.politics.misc", "talk.politics.guns"),
    reuters(7, "people", "people", 2),
    reuters(8, "orgs", "orgs", 2),
    reuters(9, "people", "places", 1),
};

enum class Side : std::uint8_t { kNeither, kPositive, kNegative };

std::string_view top_of(std::string_view group) { return group.substr(0, group.find('.')); }

// Which side of a task each text is on.
std::vector<Side> sides_of(const Corpus& corpus, const Texts& texts, const CorpusTask& task) {
  const auto parts = task.part == 0 ? std::unordered_map<std::string, int>() : deal_values(corpus, task.tag);
  std::vector<Side> out;
  for (const auto& text : texts) {
    bool ours = false, near = false;  // of the category; of the same top category or with the same tag
    bool other_part = false;
    for (const std::size_t i : text) {
      for (const Document::Category& c : corpus.documents[i].categories) {
        if (c.tag != task.tag) continue;
        if (task.part == 0) {
          ours = ours || c.value == task.value;
          near = near || top_of(c.value) == top_of(task.value);
        } else {
          near = true;
          (parts.at(c.value) == task.part ? ours : other_part) = true;
        }
      }
    }
    out.push_back(ours && !other_part ? Side::kPositive : near ? Side::kNeither : Side::kNegative);
  }
  return out;
}

// The document that stands for a text in a task: the first that is filed where the task's positives are; of a
// negative text, which has none, the first.
std::size_t representative(const Corpus& corpus, const std::vector<std::size_t>& text,
                           const CorpusTask& task) {
  for (const std::size_t i : text) {
    for (const Document::Category& c : corpus.documents[i].categories) {
      if (c.tag == task.tag && (task.part != 0 || c.value == task.value)) return i;
    }
  }
  return text[0];
}

// Draws texts, none twice.
class Draw {
 public:
  Draw(std::size_t texts, std::uint64_t seed, int pair) : used_(texts, false), seed_(seed), pair_(pair) {}

  // Up to `count` texts of a side that were not drawn before, in random order; `found` is how many there
  // were.
  std::vector<std::size_t> texts(const std::vector<Side>& sides, Side side, std::size_t count,
                                 std::size_t& found) {
    std::vector<std::size_t> out;
    for (std::size_t t = 0; t < sides.size(); ++t) {
      if (sides[t] == side && !used_[t]) out.push_back(t);
    }
    found = out.size();
    mix(out);
    out.resize(std::min(count, out.size()));
    for (const std::size_t t : out) used_[t] = true;
    return out;
  }

  template <class T>
  void mix(std::vector<T>& items) {
    constexpr std::uint64_t kStreamsOfPair = 16;
    Rng rng(seed_, static_cast<std::uint64_t>(pair_) * kStreamsOfPair + stream_++);
    shuffle(std::span<T>(items), rng);
  }

 private:
  std::vector<bool> used_;
  std::uint64_t seed_;
  int pair_;
  std::uint64_t stream_ = 0;  // each draw has random numbers of its own
};

struct Row {
  std::size_t document;
  std::int8_t label;
};

// Equal halves in random order.
std::vector<Row> mixed_rows(const Corpus& corpus, const Texts& texts, const CorpusTask& task,
                            const std::vector<std::size_t>& positives,
                            const std::vector<std::size_t>& negatives, Draw& draw) {
  const std::size_t half = std::min(positives.size(), negatives.size());
  std::vector<Row> rows;
  for (std::size_t i = 0; i < half; ++i) {
    rows.push_back({representative(corpus, texts[positives[i]], task), 1});
    rows.push_back({representative(corpus, texts[negatives[i]], task), -1});
  }
  draw.mix(rows);
  return rows;
}

std::string column_name(const std::string& word) {
  for (const char* taken : {"bag", "proportion", "label", "delta", "id"}) {
    if (word == taken) return fmt::format("word-{}", word);
  }
  return word;
}

// Rows [first, first + rows.size()) of the features as a table.
Dataset table_of(const Corpus& corpus, const std::vector<Row>& rows, const WordFeatures& features,
                 std::size_t first, CorpusTaskTally& tally) {
  Dataset out;
  Csr part;
  part.columns = features.rows.columns;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto from = features.rows.start[first + i], to = features.rows.start[first + i + 1];
    part.index.insert(part.index.end(), features.rows.index.begin() + from, features.rows.index.begin() + to);
    part.values.insert(part.values.end(), features.rows.values.begin() + from,
                       features.rows.values.begin() + to);
    part.start.push_back(static_cast<std::int64_t>(part.values.size()));
    if (from == to) ++tally.empty_rows;
    out.ids.push_back(corpus.documents[rows[i].document].id);
    out.labels.push_back(rows[i].label);
  }
  out.features = std::move(part);
  for (const std::string& word : features.words) out.feature_names.push_back(column_name(word));
  return out;
}

Error too_few(const CorpusTask& task, const CorpusTaskTally& found) {
  return {
      fmt::format("no rows can be made of {}: {} documents of it are left and {} that are not of it; "
                  "expected at least one of each",
                  task.name(), found.positives_found, found.negatives_found)};
}

}  // namespace

std::string CorpusTask::name() const {
  return part == 0 ? std::string(value) : fmt::format("{}, group {}", tag, part);
}

std::span<const CorpusPair> corpus_pairs() { return kPairs; }

std::unordered_map<std::string, int> deal_values(const Corpus& corpus, std::string_view tag) {
  std::map<std::string, std::size_t> counts;  // in the order of bytes
  for (const Document& document : corpus.documents) {
    for (const Document::Category& c : document.categories) counts[c.value] += c.tag == tag ? 1 : 0;
  }
  std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::unordered_map<std::string, int> out;
  for (std::size_t i = 0; i < order.size() && order[i].second > 0; ++i)
    out[order[i].first] = i % 2 == 0 ? 1 : 2;
  return out;
}

Result<CorpusTables> make_corpus_pair(const Corpus& corpus, const CorpusPair& pair, std::uint64_t seed) {
  if (corpus.kind != pair.corpus) {
    return Error{
        fmt::format("pair {} is not made of this corpus; expected that of its documents", pair.number)};
  }
  CorpusTables out;
  const Texts texts = distinct_texts(corpus);
  const auto source_sides = sides_of(corpus, texts, pair.source);
  const auto target_sides = sides_of(corpus, texts, pair.target);
  CorpusTaskTally &source = out.source_tally, &target = out.target_tally;
  Draw draw(texts.size(), seed, pair.number);
  const auto source_positives =
      draw.texts(source_sides, Side::kPositive, pair.source.rows / 2, source.positives_found);
  const auto target_positives =
      draw.texts(target_sides, Side::kPositive, pair.target.rows / 2, target.positives_found);
  const auto source_negatives =
      draw.texts(source_sides, Side::kNegative, source_positives.size(), source.negatives_found);
  const auto target_negatives =
      draw.texts(target_sides, Side::kNegative, target_positives.size(), target.negatives_found);
  const auto source_rows = mixed_rows(corpus, texts, pair.source, source_positives, source_negatives, draw);
  const auto target_rows = mixed_rows(corpus, texts, pair.target, target_positives, target_negatives, draw);
  if (source_rows.empty()) return too_few(pair.source, source);
  if (target_rows.empty()) return too_few(pair.target, target);

  std::vector<std::string_view> words;
  for (const auto* rows : {&source_rows, &target_rows}) {
    for (const Row& row : *rows) words.emplace_back(corpus.documents[row.document].words);
  }
  const WordFeatures features = tf_idf(words, pair.features);
  if (features.words.empty()) return Error{"the documents have no words but stop words; expected others"};
  out.source = table_of(corpus, source_rows, features, 0, source);
  out.target = table_of(corpus, target_rows, features, source_rows.size(), target);
  return out;
}

}  // namespace bagwise
