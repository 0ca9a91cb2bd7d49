// The files of a corpus, from a folder or a tar archive alike, parsed on all cores; nothing is unpacked to
// disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/corpus/corpus.h"

namespace bagwise::internal {

// What to do with the files below a path. Names are relative to it, with / between folders.
struct CorpusReader {
  std::function<bool(std::string_view name)> wanted;
  std::uint64_t largest = 0;  // bytes that a wanted file may have
  // On any thread. The errors of a file have no file name: it is filled in.
  std::function<Result<std::vector<Document>>(std::string_view name, std::string_view bytes)> parse;
};

struct CorpusFile {
  std::string name;
  std::vector<Document> documents;
};

struct CorpusFiles {
  std::vector<CorpusFile> files;  // the wanted ones, by name
  std::size_t passed_over = 0;    // members of an archive that are links, devices or lead out of it
};

// How a file is called in errors.
std::string corpus_file_name(const std::string& path, std::string_view name);

// Folders are walked four levels down; links to files are read, links to folders are not followed, and names
// that start with a dot are passed over. Of an archive only plain members are read, whose names do not start
// with / and have no part "..". A file that fails ends the reading; of several the first by its place.
Result<CorpusFiles> read_corpus_files(const std::string& path, const CorpusReader& reader, unsigned threads,
                                      const Observer& observer);

}  // namespace bagwise::internal
