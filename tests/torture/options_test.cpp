// Every method with options of any size that their rules allow, on data of usual size.
#include "support/nasty_fits.h"
#include "support/nasty_problems.h"

namespace bagwise {
namespace {

using test::Variant;

// The sizes that the rule of an option allows.
std::vector<std::string> sizes_of(const OptionInfo& option) {
  static const std::map<std::string, std::vector<std::string>> kOther = {
      {"clip", {"5e-324", "1e-300", "1e-15", "0.49999999999999994"}},
      {"degree", {"1", "20"}},
      {"gap", {"1e-12", "0.999"}},
      {"tolerance", {"1e-12", "0.999"}},
      {"epsilon", {"0", "5e-324", "0.5"}},
      {"max-rounds", {"1"}},
      {"max-steps", {"0"}},
      {"exact-up-to", {"0"}}};
  if (const auto other = kOther.find(option.name); other != kOther.end()) return other->second;
  if (option.type != "number" && option.type != "numbers") return {};
  return {"5e-324", "1e-300", "1e-100", "1e-12", "1e12", "1e100", "1e300", "1.7976931348623157e308"};
}

void torture(const std::string& method, const std::vector<OptionTexts>& bases) {
  std::size_t turn = 0;
  for (const OptionTexts& base : bases) {
    for (const OptionInfo& option : find_method(method)->options) {
      for (const std::string& size : sizes_of(option)) {
        Variant variant{method, base};
        variant.options[option.name] = size;
        if (!find_method(method)->check(variant.options))
          continue;  // gamma of the kernel linear, and the like
        const std::size_t tasks = find_method(method)->uses_sources ? 1 + turn % 2 : 1;
        if (tasks == 1 && option.name.ends_with("-source")) continue;
        CAPTURE(variant.name(), tasks, turn);
        test::expect_fit(variant, test::make_nasty({}, tasks, turn++ % 3 == 0), {option.name + " = "});
      }
    }
  }
}

TEST_CASE("torture: options of inv-cal", "[torture][options]") {
  torture("inv-cal", {{},
                      {{"scale", "standard"}},
                      {{"kernel", "rbf"}},
                      {{"kernel", "poly"}},
                      {{"kernel", "rbf"}, {"nystrom", "5"}}});
}

TEST_CASE("torture: options of tl-llp", "[torture][options]") {
  torture("tl-llp", {{{"uncertainty", "off"}},
                     {},
                     {{"scale", "maxabs"}},
                     {{"uncertainty", "literal"}},
                     {{"kernel", "rbf"}},
                     {{"kernel", "poly"}},
                     {{"kernel", "rbf"}, {"nystrom", "5"}}});
}

TEST_CASE("torture: options of mean-map", "[torture][options]") {
  torture("mean-map", {{}, {{"scale", "standard"}}});
}

TEST_CASE("torture: options of alter-psvm", "[torture][options]") {
  const OptionTexts quick = {{"restarts", "1"}, {"reheat", "false"}};
  OptionTexts rbf = quick;
  rbf["kernel"] = "rbf";
  torture("alter-psvm", {quick, rbf});
}

TEST_CASE("torture: options of conv-psvm", "[torture][options]") {
  torture("conv-psvm", {{}, {{"kernel", "rbf"}}, {{"kernel", "poly"}}});
}

TEST_CASE("torture: options of tl-count", "[torture][options]") {
  torture("tl-count", {{}, {{"init", "tl-llp"}}, {{"kernel", "rbf"}, {"nystrom", "5"}}});
}

}  // namespace
}  // namespace bagwise
