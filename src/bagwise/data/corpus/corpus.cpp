#include "bagwise/data/corpus/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bagwise/data/internal/corpus_files.h"
#include "bagwise/data/internal/newsgroup_message.h"
#include "bagwise/data/internal/reuters_sgml.h"
#include "bagwise/data/name_table.h"
#include "bagwise/data/text/words.h"

namespace bagwise {
namespace {

using internal::CorpusFile;
using internal::CorpusFiles;
using internal::CorpusReader;
using internal::kNewsgroups;
using internal::kReutersFiles;
using internal::message_id;
using internal::reuters_file;

constexpr std::uint64_t kLargestMessage = std::uint64_t{16} << 20;      // the real ones: 161 kB at most
constexpr std::uint64_t kLargestReutersFile = std::uint64_t{64} << 20;  // the real ones: 1.5 MB at most

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

bool is_reuters_file(std::string_view name) {
  for (int i = 0; i < kReutersFiles; ++i) {
    if (last_part(name) == reuters_file(i)) return true;
  }
  return false;
}

Result<std::vector<Document>> parse_message(std::string_view name, std::string_view bytes) {
  const std::string_view id = message_id(name);
  Document out{.id = std::string(id),
               .categories = {{"group", std::string(id.substr(0, id.find('/')))}},
               .words = {},
               .has_body = true,
               .bytes = bytes.size(),
               .hash = NameTable::hash(bytes)};
  append_words(internal::message_body(bytes), out.words);
  return std::vector<Document>{std::move(out)};
}

// Of the names seen the first in the order of bytes, in whatever order they come.
void keep_first(std::string_view name, std::string& first) {
  if (first.empty() || name < first) first = name;
}

// What is expected and not there. `missing` names what is not; `stranger` is a file of the other corpus, if
// one was seen.
Error incomplete(const std::string& path, std::string_view kind, const std::vector<std::string>& missing,
                 std::string_view expected, const std::string& stranger) {
  std::string what = fmt::format("holds no {} {}", kind, missing[0]);
  if (missing.size() > 1) what += fmt::format(" and lacks {} more", missing.size() - 1);
  what += fmt::format("; expected {}", expected);
  if (!stranger.empty()) what += fmt::format("; found {}, which is of the other corpus", stranger);
  return {std::move(what), path};
}

// All documents of the files in the order of their ids, which differ.
template <class Before>
Result<Corpus> gather(CorpusKind kind, const std::string& path, CorpusFiles files, const Before& before) {
  struct From {
    Document* document;
    const CorpusFile* file;
  };
  std::vector<From> all;
  for (CorpusFile& file : files.files) {
    for (Document& document : file.documents) all.push_back({&document, &file});
  }
  std::stable_sort(all.begin(), all.end(),
                   [&](const From& a, const From& b) { return before(a.document->id, b.document->id); });
  Corpus out{kind, {}, files.files.size(), files.passed_over};
  out.documents.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].document->id == out.documents.back().id) {
      return Error{fmt::format("document {} is there twice, also in {}; expected the corpus once",
                               all[i].document->id, all[i - 1].file->name),
                   internal::corpus_file_name(path, all[i].file->name)};
    }
    out.documents.push_back(std::move(*all[i].document));
  }
  return out;
}

Result<Corpus> read_newsgroups(const std::string& path, const Observer& observer, unsigned threads) {
  std::string stranger;
  const CorpusReader reader{.wanted =
                                [&](std::string_view name) {
                                  if (is_reuters_file(name)) keep_first(name, stranger);
                                  return !message_id(name).empty();
                                },
                            .largest = kLargestMessage,
                            .parse = parse_message};
  auto files = internal::read_corpus_files(path, reader, threads, observer);
  if (!files) return files.error();
  std::unordered_set<std::string_view> there;
  for (const CorpusFile& file : files->files) there.insert(file.documents[0].categories[0].value);
  std::vector<std::string> missing;
  for (const std::string_view group : kNewsgroups) {
    if (!there.contains(group)) missing.emplace_back(group);
  }
  if (!missing.empty()) {
    return incomplete(path, "messages of", missing,
                      "the 20 folders of 20 Newsgroups, alt.atheism to talk.religion.misc, with a file per "
                      "message",
                      stranger);
  }
  return gather(CorpusKind::kNewsgroups, path, std::move(*files), std::less<>());
}

Result<Corpus> read_reuters(const std::string& path, const Observer& observer, unsigned threads) {
  std::string stranger;
  const CorpusReader reader{
      .wanted =
          [&](std::string_view name) {
            if (!message_id(name).empty()) keep_first(name, stranger);
            return is_reuters_file(name);
          },
      .largest = kLargestReutersFile,
      .parse = [](std::string_view, std::string_view bytes) { return internal::parse_reuters(bytes); }};
  auto files = internal::read_corpus_files(path, reader, threads, observer);
  if (!files) return files.error();
  std::unordered_set<std::string_view> there;
  for (const CorpusFile& file : files->files) there.insert(last_part(file.name));
  std::vector<std::string> missing;
  for (int i = 0; i < kReutersFiles; ++i) {
    if (std::string name = reuters_file(i); !there.contains(name)) missing.push_back(std::move(name));
  }
  if (!missing.empty()) {
    return incomplete(path, "file", missing,
                      fmt::format("the {} files of Reuters-21578, {} to {}", kReutersFiles, reuters_file(0),
                                  reuters_file(kReutersFiles - 1)),
                      stranger);
  }
  // Numbers without leading zeros: the shorter is the smaller.
  return gather(CorpusKind::kReuters, path, std::move(*files),
                [](const std::string& a, const std::string& b) {
                  return a.size() != b.size() ? a.size() < b.size() : a < b;
                });
}

}  // namespace

Result<Corpus> read_corpus(CorpusKind kind, const std::string& path, const CorpusOptions& options,
                           const Observer& observer) {
  auto corpus = kind == CorpusKind::kNewsgroups ? read_newsgroups(path, observer, options.threads)
                                                : read_reuters(path, observer, options.threads);
  if (corpus && options.missing_body == MissingBody::kOmit) {
    for (Document& document : corpus->documents) {
      if (!document.has_body) document.words.clear();
    }
  }
  return corpus;
}

std::vector<std::vector<std::size_t>> distinct_texts(const Corpus& corpus) {
  std::vector<std::vector<std::size_t>> out;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < corpus.documents.size(); ++i) {
    const std::string_view words = corpus.documents[i].words;
    if (words.empty()) continue;
    const auto [found, added] = places.try_emplace(words, out.size());
    if (added) out.emplace_back();
    out[found->second].push_back(i);
  }
  return out;
}

CorpusTally tally(const Corpus& corpus) {
  CorpusTally out;
  out.documents = corpus.documents.size();
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> sizes;  // of the texts of one hash
  for (const Document& document : corpus.documents) {
    if (!document.has_body) ++out.without_body;
    if (document.words.empty()) ++out.left_out;
    if (document.bytes == 0) continue;
    auto& same = sizes[document.hash];
    if (std::find(same.begin(), same.end(), document.bytes) != same.end()) {
      ++out.same_bytes;
    } else {
      same.push_back(document.bytes);
    }
  }
  for (const auto& text : distinct_texts(corpus)) out.same_words += text.size() - 1;
  return out;
}

}  // namespace bagwise
