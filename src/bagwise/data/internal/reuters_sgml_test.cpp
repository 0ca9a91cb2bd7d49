#include "bagwise/data/internal/reuters_sgml.h"

#include <catch2/catch.hpp>
#include <string>

#include "bagwise/core/random.h"
#include "support/tiny_corpora.h"

namespace bagwise::internal {
namespace {

using test::ReutersText;

std::vector<Document> must(const std::string& bytes) {
  auto parsed = parse_reuters(bytes);
  INFO((parsed ? "" : parsed.error().text()));
  REQUIRE(parsed);
  return *parsed;
}

std::string fault_of(const std::string& bytes) {
  const auto parsed = parse_reuters(bytes);
  return parsed ? "no error" : fmt::format("line {}: {}", parsed.error().line, parsed.error().message);
}

std::string categories(const Document& document) {
  std::string out;
  for (const auto& [tag, value] : document.categories) out += tag + ":" + value + " ";
  return out;
}

}  // namespace

TEST_CASE("reuters_sgml: a document is its number, its tags, its title and its body",
          "[data][reuters_sgml]") {
  const auto documents = must("<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n" +
                              test::reuters_document(17, {"usa", "uk"}, {"reagan"}, {},
                                                     {"TIN &lt;TIN.O> UP", "The tin market's rise"}) +
                              test::reuters_document(18, {}, {}, {"imf", "imf", "ec"}, {"A title", "text"}));
  REQUIRE(documents.size() == 2);
  CHECK(documents[0].id == "17");
  CHECK(documents[0].words == "tin tin up the tin market rise");  // one letter is no word
  CHECK(categories(documents[0]) == "places:usa places:uk people:reagan ");
  CHECK(documents[0].has_body);
  CHECK(documents[1].id == "18");
  CHECK(categories(documents[1]) == "orgs:imf orgs:ec ");  // each once
  CHECK(documents[1].words == "title text");               // no dateline, no UNKNOWN, no tags
}

TEST_CASE("reuters_sgml: without a body the title is used, without a title all there is",
          "[data][reuters_sgml]") {
  const auto documents =
      must(test::reuters_document(1, {}, {}, {}, {"only title", "", ReutersText::Type::kBrief}) +
           test::reuters_document(2, {}, {}, {}, {"", "raw lines", ReutersText::Type::kUnproc}) +
           "<REUTERS NEWID=\"3\"><PLACES><D>usa</D></PLACES></REUTERS>");
  REQUIRE(documents.size() == 3);
  CHECK(documents[0].words == "only title");
  CHECK(documents[1].words == "raw lines");
  CHECK(documents[2].words.empty());
  for (const Document& document : documents) CHECK_FALSE(document.has_body);
}

TEST_CASE("reuters_sgml: attributes stand in any order and in any quotes", "[data][reuters_sgml]") {
  for (const char* tag :
       {"<REUTERS NEWID=\"5\" OLDID=\"7\">", "<REUTERS OLDID=\"7\" NEWID=\"5\">",
        "<REUTERS\nOLDID='7'\tNEWID = '5' >", "<REUTERS NEWID=5>", "<REUTERS XNEWID=\"6\" NEWID=\"0005\">"}) {
    INFO(tag);
    const auto documents = must(std::string(tag) + "</REUTERS>");
    REQUIRE(documents.size() == 1);
    CHECK(documents[0].id == "5");
  }
}

TEST_CASE("reuters_sgml: entities are what they stand for", "[data][reuters_sgml]") {
  CHECK(without_entities("a&lt;b&gt;c&amp;d&quot;e") == "a<b>c&d\"e");
  CHECK(without_entities("a&#3;b&#127;c&#65;d&#x41;e&#252;f&#999;g") ==
        "a b\x7F"
        "cAdAe\xFC"
        "f g");
  CHECK(without_entities("AT&T; & &nbsp; &; &#; &#x; &lt") == "AT&T; & &nbsp; &; &#; &#x; &lt");
  CHECK(without_entities("&amp;lt;") == "&lt;");  // once only
  CHECK(without_entities("").empty());
}

TEST_CASE("reuters_sgml: one byte that is not ASCII is a letter of latin-1", "[data][reuters_sgml]") {
  const auto documents =
      must(test::reuters_document(1, {}, {}, {}, {"t", "growth.\xFC&#5;&#30;side M\xFCller"}));
  CHECK(documents[0].words == "growth side m\xC3\xBCller");
}

TEST_CASE("reuters_sgml: what is wrong is told with its line", "[data][reuters_sgml][badargs]") {
  const std::string good = test::reuters_document(1, {"usa"}, {}, {}, {"t", "b"});
  const auto lines = std::count(good.begin(), good.end(), '\n');
  CHECK(fault_of(good + "<REUTERS NEWID=\"2\">\n<TEXT>") ==
        fmt::format("line {}: the document that starts here does not end; expected </REUTERS>", lines + 1));
  CHECK_THAT(fault_of("\n<REUTERS NEWID=\"1\">\n" + good), Catch::Contains("line 2: the document"));
  CHECK_THAT(fault_of("<REUTERS NEWID="), Catch::Contains("line 1: the document"));
  CHECK_THAT(fault_of(good + "<REUTERS OLDID=\"2\"></REUTERS>"),
             Catch::Contains(fmt::format("line {}: ", lines + 1)) && Catch::Contains("no NEWID"));
  CHECK_THAT(fault_of("<REUTERS NEWID=\"x1\"></REUTERS>"),
             Catch::Contains("NEWID \"x1\" is not a whole number"));
  CHECK_THAT(fault_of("<REUTERS NEWID=\"1\">\n<PEOPLE><D>a</PEOPLE></REUTERS>"),
             Catch::Contains("line 2: <D> does not end; expected </D>"));
  CHECK_THAT(fault_of("<REUTERS NEWID=\"1\">\n\n<ORGS></REUTERS>"),
             Catch::Contains("line 3: <ORGS> does not end"));
  CHECK_THAT(fault_of("<REUTERS NEWID=\"1\"><TEXT><BODY>x</TEXT></REUTERS>"),
             Catch::Contains("<BODY> does not end"));
  CHECK(must("no documents at all").empty());
  CHECK(must("").empty());
}

TEST_CASE("reuters_sgml: a file cut anywhere is an error or has whole documents", "[data][reuters_sgml]") {
  std::string whole;
  for (std::uint64_t id = 1; id <= 3; ++id)
    whole += test::reuters_document(id, {"usa"}, {"x"}, {}, {"title", "body &#3; &lt;x>"});
  const auto all = must(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto parsed = parse_reuters(whole.substr(0, size));
    if (!parsed) continue;
    REQUIRE(parsed->size() <= all.size());
    for (std::size_t i = 0; i < parsed->size(); ++i) CHECK((*parsed)[i].words == all[i].words);
  }
}

TEST_CASE("reuters_sgml: bytes changed at random never break the parser", "[data][reuters_sgml]") {
  const std::string whole = test::tiny_reuters(3, 2).begin()->second;
  Rng rng(1);
  const std::string odd = std::string("<>&;#\"'= D/\n\0\xFF", 15);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (std::uint64_t i = 1 + rng.below(6); i > 0; --i) {
      const std::size_t at = rng.below(bytes.size());
      if (rng.below(3) == 0) {
        bytes.erase(at, rng.below(20));
      } else {
        bytes[at] = odd[rng.below(odd.size())];
      }
    }
    const auto parsed = parse_reuters(bytes);
    if (parsed) {
      CHECK(parsed->size() <= 2);
    } else {
      CHECK(parsed.error().line > 0);
    }
  }
}

}  // namespace bagwise::internal
