// The nine source/target pairs of the reference experiment, made from the documents of a corpus.
//
// Rules, the same for every pair:
// * Half of a task is positive: documents of its category. The other half is drawn from documents of other
// top
//   categories ("comp" of comp.windows.x), or without that tag at all (Reuters). Where documents are short of
//   what is wanted, both halves are as large as the smaller can be.
// * Parts 1 and 2 of a Reuters tag: its values by the number of documents that have them, descending, equals
// in
//   the order of bytes, dealt alternately. A document with values of both parts is in neither half.
// * Documents of the same words are one text, and a text is used at most once in a pair. It is filed under
// all
//   that its documents are filed under: it is positive if one of them is, and negative only if all are.
// * The order of filling: positives of the source, of the target, negatives of the source, of the target;
// each
//   drawn at random from what is left.
// * Features: text/tf_idf.h over the rows of both tasks. A word that would be taken for a column with a
// meaning
//   ("label") is called "word-label".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bagwise/core/result.h"
#include "bagwise/data/corpus/corpus.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

// The positives of a task, and how many rows it should have.
struct CorpusTask {
  std::string_view tag;    // "group", or a tag of Reuters
  std::string_view value;  // of a group; empty in Reuters
  int part = 0;            // of a tag of Reuters: 1 or 2
  std::size_t rows = 0;

  [[nodiscard]] std::string name() const;  // "comp.windows.x"; "people, group 1"
};

struct CorpusPair {
  int number = 0;  // 1 to 9
  CorpusKind corpus = CorpusKind::kNewsgroups;
  CorpusTask source, target;
  std::size_t features = 0;
};

// All nine, by number.
std::span<const CorpusPair> corpus_pairs();

// Per value of a tag of Reuters the part it is in, 1 or 2.
std::unordered_map<std::string, int> deal_values(const Corpus& corpus, std::string_view tag);

// How a task came about.
struct CorpusTaskTally {
  std::size_t positives_found = 0, negatives_found = 0;  // texts that there were to draw from
  std::size_t empty_rows = 0;                            // that have none of the chosen words
};

struct CorpusTables {
  Dataset source, target;  // labelled, in random order, with the ids of their documents, sparse
  CorpusTaskTally source_tally, target_tally;
};

// The same seed gives the same tables. Errors: the corpus is not the pair's, a half would be empty, or there
// is no word to be a feature.
Result<CorpusTables> make_corpus_pair(const Corpus& corpus, const CorpusPair& pair, std::uint64_t seed);

}  // namespace bagwise
