// Every fault of a table gives one line with file, line and column, the same on any threads and in any
// blocks.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "bagwise/data/read_table.h"
#include "support/packing.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

// The error of reading `text` in every way there is; they must all be the same. Without the folder's name.
std::string fault_of(const std::string& text, TableOptions options = {}, const std::string& name = "t.csv") {
  const test::TempDir dir;
  const std::string path = dir.file(name);
  test::write_bytes(path, text);
  std::string first;
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::size_t block : {std::size_t{16}, std::size_t{64}, std::size_t{1} << 20}) {
      options.threads = threads;
      options.block_bytes = block;
      const auto whole = read_table(path, options);
      REQUIRE_FALSE(whole);
      const auto streamed = stream_table(path, options, [](TableBlock&&) { return Result<void>{}; });
      REQUIRE_FALSE(streamed);
      CHECK(streamed.error().text() == whole.error().text());
      if (first.empty()) first = whole.error().text();
      CHECK(whole.error().text() == first);
    }
  }
  REQUIRE(first.starts_with(dir.path.string() + "/"));
  return first.substr(dir.path.string().size() + 1);
}

}  // namespace

TEST_CASE("read_table errors: tables without rows", "[data][read_table][badargs]") {
  CHECK(fault_of("") == "t.csv: is empty; expected a header line with the names of the columns");
  CHECK(fault_of("a,b\n") == "t.csv: has a header but no rows; expected at least one");
  CHECK(fault_of("a,b") == "t.csv: has a header but no rows; expected at least one");
  CHECK(fault_of("a,b\n\n\r\n") == "t.csv: has a header but no rows; expected at least one");
  CHECK(fault_of("\na,b\n1,2\n") ==
        "t.csv:1: the first line is blank; expected a header line with the names of the columns");
  CHECK(fault_of("", {}, "t.svm") == "t.svm: is empty; expected at least one row");
  CHECK(fault_of("# nothing\n", {}, "t.svm") == "t.svm: has no rows; expected at least one");
}

TEST_CASE("read_table errors: headers", "[data][read_table][badargs]") {
  CHECK(fault_of("a,b,a\n1,2,3\n") ==
        "t.csv:1: column 3 (a): is the name of column 1 too; expected every name once");
  CHECK(fault_of("a,,b\n1,2,3\n") == "t.csv:1: column 2: has no name; expected every column to have one");
  CHECK(fault_of("a,b\n1,2\n", {.want_groups = true}) ==
        "t.csv:1: there is no column \"bag\" to tell the bag of a row; the columns are a, b (--bag-column "
        "NAME takes "
        "another)");
  CHECK(fault_of("bag\nx\n") == "t.csv:1: there is no feature column here; expected at least one");
  CHECK(fault_of("height,b\n1,2\n", {.features = {"heigth"}}) ==
        "t.csv:1: there is no column \"heigth\", which --features names; did you mean \"height\"?");
  CHECK(fault_of("height,b\n1,2\n", {.exclude = {"zzzzzzzz"}}) ==
        "t.csv:1: there is no column \"zzzzzzzz\", which --exclude names; the columns are height, b");
  CHECK(fault_of("height,b\n1,2\n", {.one_hot = {"c"}}) ==
        "t.csv:1: there is no column \"c\", which --one-hot names; the columns are height, b");
  CHECK(fault_of("a,b\n1,2\n", {.features = {"a", "a"}}) ==
        "t.csv:1: --features names \"a\" twice; expected every name once");
  CHECK(fault_of("bag,b\n1,2\n", {.features = {"bag"}}) ==
        "t.csv:1: column 1 (bag): has another meaning by its name and cannot be a feature too; expected it "
        "to be "
        "renamed");
}

TEST_CASE("read_table errors: rows", "[data][read_table][badargs]") {
  CHECK(fault_of("a,b,c\n1,2,3\n4,5\n") == "t.csv:3: the row has 2 fields; expected 3 as in the header");
  CHECK(fault_of("a,b,c\n1,2,3\n4,5,6,\"x,y\",8\n") ==
        "t.csv:3: the row has 5 fields; expected 3 as in the header");
  CHECK(fault_of("a,b,c\n1,2,3\nx\n") ==
        "t.csv:3: column 1 (a): \"x\" is not a number; expected a finite decimal number (--one-hot a takes a "
        "column "
        "of text)");
  CHECK(fault_of("a,age\n1,2\n\n3,abc\n") ==
        "t.csv:4: column 2 (age): \"abc\" is not a number; expected a finite decimal number (--one-hot age "
        "takes a "
        "column of text)");
  CHECK(fault_of("a,b\n1,\n") ==
        "t.csv:2: column 2 (b): is empty; expected a finite decimal number (--missing mean|zero fills empty "
        "cells)");
  CHECK(fault_of("a,b\n1,2\n,1\r\n") ==
        "t.csv:3: column 1 (a): is empty; expected a finite decimal number (--missing mean|zero fills empty "
        "cells)");
  for (const char* text : {"nan", "inf", "-Infinity", "1e999", "-1e400"}) {
    CHECK(fault_of(fmt::format("a,b\n1,2\n3,{}\n", text)) ==
          fmt::format("t.csv:3: column 2 (b): \"{}\" is not finite; expected a finite decimal number", text));
  }
  CHECK(fault_of(std::string("a,b\n1,2\n3,4\0005\n", 13)) ==
        "t.csv:3: column 2 (b): has a NUL byte; expected text (is this UTF-16 or a binary file?)");
  CHECK(fault_of(std::string("id,b\nx\0y,2\n", 11)) ==
        "t.csv:2: column 1 (id): has a NUL byte; expected text (is this UTF-16 or a binary file?)");
  CHECK(fault_of("bag,b\nx,1\n,2\n") ==
        "t.csv:3: column 1 (bag): is empty; expected the name of the row's bag");
}

TEST_CASE("read_table errors: quotes", "[data][read_table][badargs]") {
  CHECK(fault_of("id,b\nx,1\n\"open,2\ny,3\nz,4\n") ==
        "t.csv:3: column 1 (id): a quote opens here and is never closed; expected a closing quote");
  CHECK(fault_of("id,c,b\n\"two\nlines\",\"open,1\ny,3\n") ==
        "t.csv:3: column 2 (c): a quote opens here and is never closed; expected a closing quote");
  CHECK(fault_of("id,b\nx,1\n\"y\"z,2\n") ==
        "t.csv:3: column 1 (id): has text after its closing quote; expected a comma or the end of the line");
  CHECK(fault_of("id,b\nx,1\ny\"z,2\n\"q\",3\n") ==
        "t.csv:3: column 1 (id): has a quote within an unquoted cell; expected the whole cell in quotes and "
        "quotes in "
        "it doubled");
  CHECK(fault_of("\"a,b\n1,2\n") ==
        "t.csv:1: column 1: a quote opens here and is never closed; expected a closing quote");
  // Line numbers count the lines within quotes.
  CHECK(fault_of("id,b\n\"1\n2\n3\",1\nx,y\n") ==
        "t.csv:5: column 2 (b): \"y\" is not a number; expected a finite decimal number (--one-hot b takes a "
        "column "
        "of text)");
}

TEST_CASE("read_table errors: bounds, proportions and labels", "[data][read_table][badargs]") {
  CHECK(fault_of("delta,b\n-1,2\n") ==
        "t.csv:2: column 1 (delta): \"-1\" is negative; expected a bound >= 0");
  CHECK(fault_of("delta,b\ninf,2\n") ==
        "t.csv:2: column 1 (delta): \"inf\" is not finite; expected a bound >= 0");
  CHECK(fault_of("delta,b\n,2\n") == "t.csv:2: column 1 (delta): is empty; expected a bound >= 0");
  CHECK(fault_of("proportion,b\n1.5,2\n") ==
        "t.csv:2: column 1 (proportion): \"1.5\" is not between 0 and 1; expected a share of positives");
  const TableOptions labels{.want_labels = true};
  CHECK(fault_of("label,b\n1,2\n2,2\n", labels) ==
        "t.csv:3: column 1 (label): \"2\" is not a label; expected 0 or 1, or -1 or 1");
  CHECK(fault_of("label,b\n1,2\n,2\n", labels) ==
        "t.csv:3: column 1 (label): is empty; expected a label: 0 or 1, or -1 or 1");
  const std::string mixed =
      ": column 1 (label): labels 0 and -1 are both used for negatives; expected either 0 and 1, or -1 and 1";
  CHECK(fault_of("label,b\n0,2\n1,2\n0,2\n-1,2\n0,2\n", labels) == "t.csv:5" + mixed);
  CHECK(fault_of("label,b\n-1,2\n1,2\n-1,2\n-1,2\n1,2\n0,3\n-1,x\n", labels) == "t.csv:7" + mixed);
  CHECK(fault_of("label,b\n-1,2\n1,x\n0,3\n", labels).starts_with("t.csv:3: column 2 (b): \"x\""));
}

TEST_CASE("read_table errors: sparse tables", "[data][read_table][badargs][svmlight]") {
  const auto fault = [](const std::string& text, const TableOptions& options = {}) {
    return fault_of("1 qid:1 1:1\n\n" + text + "\n1 qid:2 x\n", options, "t.svm");
  };
  CHECK(fault("1 qid:1 0:1") ==
        "t.svm:3: \"0:1\" has an index below 1; expected index:value with indices from 1");
  CHECK(fault("1 qid:1 2:1 2:3") ==
        "t.svm:3: index 2 comes after index 2; expected ascending indices, each once");
  CHECK(fault("1 qid:1 2:1 1:3") ==
        "t.svm:3: index 1 comes after index 2; expected ascending indices, each once");
  CHECK(fault("1 qid:1 abc") ==
        "t.svm:3: \"abc\" is not index:value; expected index:value with indices from 1");
  CHECK(fault("1 qid:1 1:abc") ==
        "t.svm:3: \"1:abc\": \"abc\" is not a number; expected a finite decimal number");
  CHECK(fault("1 qid:1 1:nan") ==
        "t.svm:3: \"1:nan\": \"nan\" is not finite; expected a finite decimal number");
  CHECK(fault("1 qid:1 1:") == "t.svm:3: \"1:\" has no value; expected index:value");
  for (const std::string index : {"16777217", "1000000000", "9999999999", "99999999999999999999999"}) {
    CHECK(fault("1 qid:1 1:2 " + index + ":1") ==
          "t.svm:3: index " + index + " is larger than 16777216, the largest feature index");
  }
  CHECK(fault("1 qid:1 -99999999999:1") ==
        "t.svm:3: \"-99999999999:1\" has an index below 1; expected index:value with indices from 1");
  CHECK(fault("1 qid:1 99999999999") ==
        "t.svm:3: \"99999999999\" is not index:value; expected index:value with indices from 1");
  CHECK(fault_of("1 qid:1 1:1\n", {.features = {"1", "16777217"}}, "t.svm") ==
        "t.svm: cannot have a feature \"16777217\"; a sparse table's features are called 1, 2, 3, ... up to "
        "16777216");
  CHECK(fault("1:5 2:6") == "t.svm:3: the row starts with \"1:5\"; expected a label: 1, -1 or 0 for none");
  CHECK(fault("1 1:5") == "t.svm:3: the row has no qid:N behind its label; expected one to tell its bag");
  CHECK(fault("1 qid: 1:5") == "t.svm:3: qid: is empty; expected the name of the row's bag");
  CHECK(fault("3 qid:1 1:5", {.want_labels = true}) ==
        "t.svm:3: \"3\" is not a label; expected 1, -1 or 0 for none");
  CHECK(fault(std::string("1 qid:1 1:\0005", 12)) ==
        "t.svm:3: has a NUL byte; expected text (is this UTF-16 or a binary file?)");
  CHECK(fault_of("1 1:5\n", {.want_groups = true}, "t.svm") ==
        "t.svm:1: the row has no qid:N behind its label; expected one to tell its bag");
}

TEST_CASE("read_table errors: the first of several faults in a large file, on any threads",
          "[data][read_table][badargs]") {
  for (const int line : {2, 777, 5000, 9999}) {
    std::string text = "bag,x\n";
    for (int i = 2; i < 10000; ++i)
      text += i == line || (i > line && i % 7 == 0) ? "b,bad\n" : "\"b\n\",1.5\n";
    const std::string fault = fault_of(text);
    const int breaks = line - 2;  // one more line in every row before it
    CHECK(fault.starts_with(fmt::format("t.csv:{}: column 2 (x): \"bad\" is not a number", line + breaks)));
  }
}

TEST_CASE("read_table errors: long values are cut, between characters", "[data][read_table][badargs]") {
  const std::string longer(100000, 'n');
  CHECK(fault_of("x," + longer + "\n1,a\n") == "t.csv:2: column 2 (" + longer.substr(0, 60) +
                                                   "...): \"a\" is not a number; expected a finite decimal "
                                                   "number (--one-hot " +
                                                   longer.substr(0, 60) + "... takes a column of text)");
  CHECK(fault_of("abcdefgh," + longer + "\n1,2\n", {.exclude = {"zz"}}) ==
        "t.csv:1: there is no column \"zz\", which --exclude names; the columns are abcdefgh, " +
            longer.substr(0, 60) + "...");
  const std::string accented = std::string(59, 'n') + "\xC3\xA9" + longer;
  CHECK(fault_of("x\n" + accented + "\n")
            .starts_with("t.csv:2: column 1 (x): \"" + accented.substr(0, 59) + "...\" is not"));
}

TEST_CASE("read_table errors: a line beyond 64 MiB", "[data][read_table][badargs]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv.zst");
  test::write_bytes(path,
                    test::zstd("id,x\na,1\nb" + std::string(std::size_t{65} << 20, 'z') + ",1\nc,bad\n"));
  const auto read = read_table(path, {});
  REQUIRE_FALSE(read);
  CHECK(read.error().text() == path + ":3: the line is longer than 64 MiB; expected a line end before that");
}

TEST_CASE("read_table errors: truncated packing, after the faults before it", "[data][read_table][badargs]") {
  const test::TempDir dir;
  std::string text = "id,x\n";
  for (std::uint64_t i = 0; i < 100000; ++i)
    text += fmt::format("{},{}\n", i * 7919 % 100003, i * 104729 % 1000003);
  for (const char* name : {"t.csv.gz", "t.csv.zst"}) {
    const std::string path = dir.file(name);
    const std::string whole = test::pack_for(path, text);
    test::write_bytes(path, whole.substr(0, whole.size() - 20));
    for (const unsigned threads : {1U, 4U}) {
      const auto read = read_table(path, {.threads = threads, .block_bytes = 5000});
      REQUIRE_FALSE(read);
      CHECK(read.error().file == path);
      CHECK(read.error().message.find("truncated") != std::string::npos);
    }
  }
}
