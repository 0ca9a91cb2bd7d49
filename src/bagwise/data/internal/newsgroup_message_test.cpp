#include "bagwise/data/internal/newsgroup_message.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace bagwise::internal {

TEST_CASE("newsgroup_message: the groups are in the order of bytes", "[data][newsgroup_message]") {
  CHECK(std::is_sorted(kNewsgroups.begin(), kNewsgroups.end()));
}

TEST_CASE("newsgroup_message: a message is a file in the folder of a group", "[data][newsgroup_message]") {
  CHECK(message_id("comp.windows.x/66400") == "comp.windows.x/66400");
  CHECK(message_id("20news-19997/20_newsgroups/sci.med/1") == "sci.med/1");
  for (const char* name : {"", "/", "66400", "comp.windows/1", "comp.windows.x", "comp.windows.x/", "/1",
                           "sci.med/sub/1", "sci.med/._1", "xsci.med/1"}) {
    INFO(name);
    CHECK(message_id(name).empty());
  }
}

TEST_CASE("newsgroup_message: headers end at the first empty line", "[data][newsgroup_message]") {
  CHECK(message_body("From: a\nSubject: b\n\nbody\n\nmore") == "body\n\nmore");
  CHECK(message_body("From: a\r\nSubject: b\r\n\r\nbody") == "body");
  CHECK(message_body("From: a\nKeywords: x\n  \n y\n\nbody") ==
        "body");  // a folded header, not an empty line
  CHECK(message_body("From: a\nSubject: never ends").empty());
  CHECK(message_body("From: a\n\n").empty());
  CHECK(message_body("").empty());
}

TEST_CASE("newsgroup_message: a message that starts with no header has none", "[data][newsgroup_message]") {
  CHECK(message_body("Dear all,\n\nbody") == "Dear all,\n\nbody");
  CHECK(message_body("\n\nbody") == "\n\nbody");
  CHECK(message_body(": odd\n\nbody") == ": odd\n\nbody");
  CHECK(message_body("one word") == "one word");
}

}  // namespace bagwise::internal
