// The list behind is_stop_word(): English function words, put together by word class.
#include <unordered_set>

#include "bagwise/data/text/words.h"

namespace bagwise {
namespace {

constexpr std::string_view kStopWords =
    // articles, determiners, quantities
    "a an the this that these those some any no every each either neither both all half much many more most "
    "few fewer little less least several enough such same other others another own one ones "
    // personal, possessive and reflexive pronouns
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she "
    "her hers herself it its itself they them their theirs themselves oneself "
    // indefinite and question words
    "who whom whose which what whatever whichever whoever somebody someone something anybody anyone anything "
    "everybody everyone everything nobody none nothing when whenever where wherever why how however "
    // auxiliaries
    "be am is are was were been being have has had having do does did done doing will would shall should can "
    "could may might must ought cannot let "
    // and their contractions; a final 's is not part of a word
    "i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll he'd he'll she'd she'll it'd it'll "
    "they're they've they'd they'll that'd that'll there'd there'll there're who'd who'll who've who're "
    "what're isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shan't "
    "shouldn't can't couldn't mayn't mightn't mustn't oughtn't needn't would've could've should've might've "
    "must've ain't "
    // the same, typed without the apostrophe
    "im ive youre youve theyre isnt arent wasnt werent havent hasnt hadnt dont doesnt didnt wont wouldnt "
    "shouldnt cant couldnt "
    // prepositions
    "about above across after against along among around as at before behind below beneath beside besides "
    "between beyond by despite down during except for from in inside into like near of off on onto out "
    "outside over per since than through throughout till to toward towards under until unto up upon via with "
    "within without "
    // conjunctions
    "and or nor but if unless because although though while whereas whether so yet then else therefore thus "
    "hence otherwise "
    // adverbs without matter of their own
    "not here there now just only also too very quite rather really even still again ever never always often "
    "sometimes already almost perhaps maybe instead indeed yes etc eg ie";

std::unordered_set<std::string_view> all_stop_words() {
  std::unordered_set<std::string_view> out;
  for_each_word(kStopWords, [&](std::string_view word) { out.insert(word); });
  return out;
}

}  // namespace

bool is_stop_word(std::string_view word) {
  static const std::unordered_set<std::string_view> kAll = all_stop_words();
  return kAll.contains(word);
}

}  // namespace bagwise
