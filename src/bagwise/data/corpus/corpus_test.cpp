#include "bagwise/data/corpus/corpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "support/packing.h"
#include "support/tar.h"
#include "support/temp_dir.h"
#include "support/tiny_corpora.h"

namespace bagwise {
namespace {

namespace fs = std::filesystem;
using test::CorpusFiles;
using test::TempDir;

Corpus must(const Result<Corpus>& corpus) {
  INFO((corpus ? "" : corpus.error().text()));
  REQUIRE(corpus);
  return *corpus;
}

// Everything of a corpus as text, to compare.
std::string shown(const Corpus& corpus) {
  std::string out;
  for (const Document& d : corpus.documents) {
    out += fmt::format("{} {} {} {} {}", d.id, d.has_body, d.bytes, d.hash, d.words);
    for (const auto& [tag, value] : d.categories) out += fmt::format(" {}:{}", tag, value);
    out += '\n';
  }
  return out;
}

struct Folder : TempDir {
  explicit Folder(const CorpusFiles& files, const std::string& inner = "") {
    test::write_corpus(files, path / inner);
  }
};

std::string fault_of(CorpusKind kind, const std::string& path) {
  const auto corpus = read_corpus(kind, path);
  return corpus ? "no error" : corpus.error().text();
}

}  // namespace

TEST_CASE("corpus: messages are read without their headers", "[data][corpus]") {
  CorpusFiles files = test::tiny_newsgroups(1, 1);
  files["sci.med/7"] = test::message("sci.med", "The Doctor's b\xEAte");
  files["sci.med/.hidden"] = "no message";
  files["notes/readme"] = "no message";
  const Corpus corpus = must(read_corpus(CorpusKind::kNewsgroups, Folder(files).path.string()));
  CHECK(corpus.files == 21);
  REQUIRE(corpus.documents.size() == 21);
  for (std::size_t i = 1; i < corpus.documents.size(); ++i)
    CHECK(corpus.documents[i - 1].id < corpus.documents[i].id);
  bool seen = false;
  for (const Document& d : corpus.documents) {
    REQUIRE(d.categories.size() == 1);
    CHECK(d.categories[0].tag == "group");
    CHECK(d.id.starts_with(d.categories[0].value + "/"));
    CHECK(d.words.find("someone") == std::string::npos);
    if (d.id == "sci.med/7") seen = d.words == "the doctor b\xC3\xAAte";
  }
  CHECK(seen);
}

TEST_CASE("corpus: documents of Reuters are in the order of their numbers", "[data][corpus]") {
  const Folder folder(test::tiny_reuters(1, 5), "reuters21578");
  const Corpus corpus = must(read_corpus(CorpusKind::kReuters, folder.path.string()));
  CHECK(corpus.files == 22);
  REQUIRE(corpus.documents.size() == 110);
  for (std::size_t i = 0; i < corpus.documents.size(); ++i)
    CHECK(corpus.documents[i].id == fmt::format("{}", i + 1));
}

TEST_CASE("corpus: documents without a body can be left out", "[data][corpus]") {
  const Folder folder(test::tiny_reuters(2, 5));
  const Corpus all = must(read_corpus(CorpusKind::kReuters, folder.path.string()));
  const Corpus some =
      must(read_corpus(CorpusKind::kReuters, folder.path.string(), {.missing_body = MissingBody::kOmit}));
  REQUIRE(all.documents.size() == some.documents.size());
  std::size_t without = 0;
  for (std::size_t i = 0; i < all.documents.size(); ++i) {
    CHECK_FALSE(all.documents[i].words.empty());
    if (!all.documents[i].has_body) ++without;
    CHECK(some.documents[i].words == (all.documents[i].has_body ? all.documents[i].words : ""));
  }
  CHECK(without > 0);
  CHECK(tally(all).without_body == without);
  CHECK(tally(all).left_out == 0);
  CHECK(tally(some).left_out == without);
}

TEST_CASE("corpus: folder, archives and any number of threads give the same", "[data][corpus]") {
  const auto check = [](CorpusKind kind, const CorpusFiles& files) {
    const Folder folder(files, "a/b");
    const Corpus from_folder = must(read_corpus(kind, folder.path.string()));
    CHECK(shown(must(read_corpus(kind, folder.file("a/b")))) == shown(from_folder));
    CHECK(shown(must(read_corpus(kind, folder.path.string(), {.threads = 1}))) == shown(from_folder));
    CHECK(shown(must(read_corpus(kind, folder.path.string(), {.threads = 7}))) == shown(from_folder));
    const std::string tar = test::tar_of(files, "any/name");
    test::write_bytes(folder.file("x.tar"), tar);
    test::write_bytes(folder.file("x.tar.gz"), test::gzip(tar));
    CHECK(shown(must(read_corpus(kind, folder.file("x.tar")))) == shown(from_folder));
    CHECK(shown(must(read_corpus(kind, folder.file("x.tar.gz"), {.threads = 3}))) == shown(from_folder));
    // Members in another order.
    std::string backwards;
    for (auto at = files.rbegin(); at != files.rend(); ++at)
      backwards += test::tar_member(at->first, at->second);
    test::write_bytes(folder.file("y.tar"), backwards + test::tar_end());
    CHECK(shown(must(read_corpus(kind, folder.file("y.tar")))) == shown(from_folder));
  };
  check(CorpusKind::kNewsgroups, test::tiny_newsgroups(3, 26));  // more than one batch
  check(CorpusKind::kReuters, test::tiny_reuters(3, 4));
}

TEST_CASE("corpus: links in an archive are not followed, links to files in a folder are", "[data][corpus]") {
  const CorpusFiles files = test::tiny_newsgroups(4, 1);
  const Folder folder(files, "20");
  std::string tar;
  for (const auto& [name, bytes] : files) tar += test::tar_member(name, bytes);
  tar += test::tar_member("sci.med/200", "", '2', "/etc/passwd") +
         test::tar_member("sci.med/201", "", '1', "sci.med/100") + test::tar_member("../sci.med/202", "out") +
         test::tar_member("/sci.med/203", "out");
  test::write_bytes(folder.file("x.tar"), tar + test::tar_end());
  const Corpus from_archive = must(read_corpus(CorpusKind::kNewsgroups, folder.file("x.tar")));
  CHECK(from_archive.documents.size() == 20);
  CHECK(from_archive.passed_over == 4);

  fs::create_symlink(folder.file("20/sci.med/100"), folder.file("20/sci.med/300"));
  fs::create_symlink(folder.file("nowhere"), folder.file("20/sci.med/301"));
  fs::create_directory_symlink(folder.file("20"), folder.file("20/again"));
  const Corpus from_folder = must(read_corpus(CorpusKind::kNewsgroups, folder.file("20")));
  CHECK(from_folder.documents.size() == 21);
}

TEST_CASE("corpus: documents of the same words are one text", "[data][corpus]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const CorpusFiles files = test::tiny_newsgroups(seed, 8);
    const Folder folder(files);
    const Corpus corpus = must(read_corpus(CorpusKind::kNewsgroups, folder.path.string()));
    const auto texts = distinct_texts(corpus);
    std::set<std::size_t> seen;
    std::vector<std::size_t> firsts;
    for (const auto& text : texts) {
      firsts.push_back(text[0]);
      CHECK(std::is_sorted(text.begin(), text.end()));
      for (const std::size_t i : text) CHECK(seen.insert(i).second);
    }
    CHECK(std::is_sorted(firsts.begin(), firsts.end()));
    // The dumb twin: every pair of documents.
    const auto& all = corpus.documents;
    std::size_t bytes = 0, words = 0, empty = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(seen.contains(i) == !all[i].words.empty());
      if (all[i].words.empty()) ++empty;
      bool same_bytes = false, same_words = false;
      for (std::size_t k = 0; k < i; ++k) {
        same_bytes = same_bytes || files.at(all[k].id) == files.at(all[i].id);
        same_words = same_words || (all[k].words == all[i].words && !all[i].words.empty());
      }
      bytes += same_bytes ? 1 : 0;
      words += same_words ? 1 : 0;
    }
    const CorpusTally found = tally(corpus);
    CHECK(found.documents == 160);
    CHECK(found.same_bytes == bytes);
    CHECK(found.same_words == words);
    CHECK(found.left_out == empty);
    CHECK(bytes > 0);
    CHECK(words > bytes / 2);
    CHECK(empty > 0);
  }
}

TEST_CASE("corpus: a wrong folder is an error that says what is expected", "[data][corpus][badargs]") {
  const TempDir empty;
  const std::string path = empty.path.string();
  CHECK(fault_of(CorpusKind::kNewsgroups, path) ==
        path +
            ": holds no messages of alt.atheism and lacks 19 more; expected the 20 folders of 20 "
            "Newsgroups, alt.atheism to talk.religion.misc, with a file per message");
  CHECK(fault_of(CorpusKind::kReuters, path) ==
        path +
            ": holds no file reut2-000.sgm and lacks 21 more; expected the 22 files of Reuters-21578, "
            "reut2-000.sgm to reut2-021.sgm");
  CHECK_THAT(fault_of(CorpusKind::kReuters, empty.file("not-there")),
             Catch::Contains("not-there: there is no such file or folder"));

  CorpusFiles files = test::tiny_newsgroups(1, 1);
  const Folder groups(files);
  CHECK_THAT(fault_of(CorpusKind::kReuters, groups.path.string()),
             Catch::EndsWith("found alt.atheism/100, which is of the other corpus"));
  fs::remove_all(groups.path / "comp.windows.x");
  CHECK_THAT(fault_of(CorpusKind::kNewsgroups, groups.path.string()),
             Catch::Contains("holds no messages of comp.windows.x; expected the 20 folders"));

  CorpusFiles sgml = test::tiny_reuters(1, 1);
  sgml.erase("reut2-013.sgm");
  CHECK_THAT(fault_of(CorpusKind::kReuters, Folder(sgml).path.string()),
             Catch::Contains("holds no file reut2-013.sgm; expected"));
}

TEST_CASE("corpus: a corpus that is there twice is an error", "[data][corpus][badargs]") {
  const Folder groups(test::tiny_newsgroups(1, 1), "a");
  test::write_corpus(test::tiny_newsgroups(1, 1), groups.path / "b");
  CHECK_THAT(fault_of(CorpusKind::kNewsgroups, groups.path.string()),
             Catch::Contains("b/alt.atheism/100: document alt.atheism/100 is there twice, also in "
                             "a/alt.atheism/100"));
  CorpusFiles sgml = test::tiny_reuters(1, 1);
  sgml["reut2-021.sgm"] = sgml["reut2-003.sgm"];
  CHECK_THAT(fault_of(CorpusKind::kReuters, Folder(sgml).path.string()),
             Catch::Contains("reut2-021.sgm: document 4 is there twice, also in reut2-003.sgm"));
}

TEST_CASE("corpus: a fault in a file names file and line, the first of several", "[data][corpus][badargs]") {
  CorpusFiles sgml = test::tiny_reuters(1, 2);
  sgml["reut2-020.sgm"] += "<REUTERS>";
  sgml["reut2-004.sgm"].resize(sgml["reut2-004.sgm"].size() - 5);
  for (int round = 0; round < 3; ++round) {
    const Folder folder(sgml);
    CHECK_THAT(fault_of(CorpusKind::kReuters, folder.path.string()),
               Catch::StartsWith(folder.file("reut2-004.sgm:")) && Catch::EndsWith("expected </REUTERS>"));
    test::write_bytes(folder.file("x.tar"), test::tar_of(sgml, "r"));
    CHECK_THAT(fault_of(CorpusKind::kReuters, folder.file("x.tar")),
               Catch::StartsWith(folder.file("x.tar/r/reut2-004.sgm:")));
  }
}

TEST_CASE("corpus: a message too large is an error that names it", "[data][corpus][badargs]") {
  const Folder folder(test::tiny_newsgroups(1, 1));
  fs::resize_file(folder.file("sci.med/100"), (16 << 20) + 1);
  CHECK_THAT(fault_of(CorpusKind::kNewsgroups, folder.path.string()),
             Catch::Contains("sci.med/100: is larger than 16777216 bytes"));
}

TEST_CASE("corpus: a folder that may not be listed is named", "[data][corpus][badargs]") {
  if (geteuid() == 0) return;  // root may list everything
  const Folder folder(test::tiny_newsgroups(1, 1));
  fs::permissions(folder.path / "sci.med", fs::perms::none);
  CHECK_THAT(fault_of(CorpusKind::kNewsgroups, folder.path.string()),
             Catch::Contains("sci.med: cannot list"));
  fs::permissions(folder.path / "sci.med", fs::perms::owner_all);
}

TEST_CASE("corpus: an observer sees the bytes and can stop", "[data][corpus]") {
  const Folder folder(test::tiny_newsgroups(1, 26));
  double last = 0, total = 0;
  must(read_corpus(CorpusKind::kNewsgroups, folder.path.string(), {}, [&](const Progress& progress) {
    if (progress.phase == "reading") {
      CHECK(progress.done > last);
      last = progress.done;
      total = progress.total;
    }
    return Next::kContinue;
  }));
  CHECK(last == total);
  CHECK(total > 0);
  const auto stopped = read_corpus(CorpusKind::kNewsgroups, folder.path.string(), {},
                                   [](const Progress&) { return Next::kStop; });
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().text() == folder.path.string() + ": reading was stopped");
}

}  // namespace bagwise
