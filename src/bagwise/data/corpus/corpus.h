// Corpus: the documents of 20 Newsgroups or Reuters-21578 as words, and how they are read.
//
// Which of them make up the tables of the reference experiment is decided in corpus_pairs.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"

namespace bagwise {

enum class CorpusKind { kNewsgroups, kReuters };
inline std::vector<std::pair<std::string_view, CorpusKind>> names(CorpusKind) {
  return {{"newsgroups", CorpusKind::kNewsgroups}, {"reuters", CorpusKind::kReuters}};
}

struct Document {
  // What it is filed under: in newsgroups one {"group", "comp.windows.x"}, in Reuters-21578 the values of its
  // tags: {"people", "reagan"}, {"orgs", "imf"}, {"places", "usa"}, each once.
  struct Category {
    std::string tag, value;
  };

  std::string id;  // "comp.windows.x/66400", or the NEWID of Reuters
  std::vector<Category> categories;
  std::string words;                  // of its text (text/words.h); empty: it is never used
  bool has_body = true;               // false: of Reuters, and all that it has is a title or a few lines
  std::uint64_t bytes = 0, hash = 0;  // of the text as it was stored: how many bytes, and their hash
};

struct Corpus {
  CorpusKind kind = CorpusKind::kNewsgroups;
  std::vector<Document> documents;  // by id: newsgroups in the order of bytes, Reuters by number
  std::size_t files = 0;            // that were read
  std::size_t passed_over = 0;      // members of an archive: links, devices, names that lead out of it
};

// What becomes of the documents of Reuters-21578 that have no BODY: the text is their TITLE, or all there is
// where even that is missing; or they are never used.
enum class MissingBody { kTitle, kOmit };
inline std::vector<std::pair<std::string_view, MissingBody>> names(MissingBody) {
  return {{"title", MissingBody::kTitle}, {"omit", MissingBody::kOmit}};
}

struct CorpusOptions {
  MissingBody missing_body = MissingBody::kTitle;
  unsigned threads = 0;  // 0: one per core
};

// Reads a corpus from a folder, or from a tar archive of it, plain or packed by gzip, xz, bzip2 or zstd.
//
// 20 Newsgroups: the 20 folders of the groups, with a file per message, at most three levels down. Of a
// message the headers are dropped: all up to the first empty line, if it starts with a header. Reuters-21578:
// the 22 files reut2-000.sgm to reut2-021.sgm. A document's text is its TITLE and its BODY.
//
// Errors: a group or file that is not there, a message of more than 16 MB or a file of Reuters of more than
// 64 MB, a document that is there twice, without its end or without a NEWID, an archive that is damaged or
// cut short, a file that cannot be read; or the observer said stop.
Result<Corpus> read_corpus(CorpusKind kind, const std::string& path, const CorpusOptions& options = {},
                           const Observer& observer = {});

// Documents of the same words, as their places in `documents`, ascending: one list per text, by its first
// document. Those without words are in none. Documents of the same bytes are of the same words.
std::vector<std::vector<std::size_t>> distinct_texts(const Corpus& corpus);

// What there is in a corpus.
struct CorpusTally {
  std::size_t documents = 0;
  std::size_t without_body = 0;  // in Reuters
  std::size_t left_out = 0;      // that have no words, hence are never used
  std::size_t same_bytes = 0;    // documents whose text is that of an earlier one, byte for byte
  std::size_t same_words = 0;    // ... word for word; those without words do not count
};
CorpusTally tally(const Corpus& corpus);

}  // namespace bagwise
