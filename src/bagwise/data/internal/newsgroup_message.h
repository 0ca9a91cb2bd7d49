// One message of 20 Newsgroups: where its headers end, and what file it is.
#pragma once

#include <array>
#include <string_view>

namespace bagwise::internal {

// The 20 groups, in the order of bytes.
inline constexpr std::array<std::string_view, 20> kNewsgroups = {"alt.atheism",
                                                                 "comp.graphics",
                                                                 "comp.os.ms-windows.misc",
                                                                 "comp.sys.ibm.pc.hardware",
                                                                 "comp.sys.mac.hardware",
                                                                 "comp.windows.x",
                                                                 "misc.forsale",
                                                                 "rec.autos",
                                                                 "rec.motorcycles",
                                                                 "rec.sport.baseball",
                                                                 "rec.sport.hockey",
                                                                 "sci.crypt",
                                                                 "sci.electronics",
                                                                 "sci.med",
                                                                 "sci.space",
                                                                 "soc.religion.christian",
                                                                 "talk.politics.guns",
                                                                 "talk.politics.mideast",
                                                                 "talk.politics.misc",
                                                                 "talk.religion.misc"};

// "comp.windows.x/66400" of "20_newsgroups/comp.windows.x/66400"; empty if the file is no message: it does
// not lie in a folder of one of the groups, or its name starts with a dot.
std::string_view message_id(std::string_view file_name);

// What is left of a message without its headers: all after the first empty line if it starts with a header
// ("Name: ..."), nothing if it then has no empty line, all of it if it starts with something else.
std::string_view message_body(std::string_view message);

}  // namespace bagwise::internal
