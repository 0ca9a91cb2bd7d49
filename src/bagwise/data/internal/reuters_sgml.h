// The documents in a file of Reuters-21578, which is SGML and not XML.
//
// Read by what is needed and no more: <REUTERS ... NEWID="n"> to </REUTERS>, the values <D> of PLACES, PEOPLE
// and ORGS, the TITLE and BODY of TEXT, or all of TEXT where it has neither. Attributes may come in any
// order; control characters written as entities (&#3;) are blanks, &lt; &gt; &amp; &quot; and other numbers
// of latin-1 are what they stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/data/corpus/corpus.h"

namespace bagwise::internal {

inline constexpr int kReutersFiles = 22;
std::string reuters_file(int number);  // "reut2-000.sgm"

// Errors have a line: a document without its end, without a NEWID that is a number, or with an element that
// does not end.
Result<std::vector<Document>> parse_reuters(std::string_view bytes);

// Text with its entities replaced, as latin-1.
std::string without_entities(std::string_view text);

}  // namespace bagwise::internal
