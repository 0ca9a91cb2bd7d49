// The only file that includes CLI11: it takes 16 s to compile.
#include "cli/parse.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/suggest.h"

namespace bagwise::cli {
namespace {

std::string called(const Option& option) { return option.positional ? option.value : "--" + option.name; }

Error unknown_option(const Command& command, const std::string& word) {
  std::vector<std::string> known = {"--help"};
  for (const Option& option : command.options) {
    if (!option.positional) known.push_back("--" + option.name);
  }
  return {fmt::format("unknown option {}; {}", word,
                      suggestion(word.substr(0, word.find('=')), known,
                                 fmt::format("bagwise {} --help lists all", command.name)))};
}

// The options as CLI11 knows them; each name once, though help may list one under several methods.
std::map<std::string, CLI::Option*> describe_to(CLI::App& app, const Command& command) {
  std::map<std::string, CLI::Option*> known;
  for (const Option& option : command.options) {
    if (known.contains(option.name)) continue;
    std::string names = option.positional ? option.name : "--" + option.name;
    if (option.letter != 0) names = fmt::format("-{},{}", option.letter, names);
    known[option.name] = option.kind == Kind::kFlag
                             ? app.add_flag(names)
                             : app.add_option(names)->take_all()->allow_extra_args(false);
    if (option.positional && option.repeatable) known[option.name]->expected(-1);  // one or more
  }
  return known;
}

// "--json=1": a flag is given or not.
Result<void> check_flags(const Command& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    if (name.size() == word.size()) continue;
    const bool is_flag =
        name == "--help" || std::any_of(command.options.begin(), command.options.end(), [&](const Option& o) {
          return o.kind == Kind::kFlag && name == "--" + o.name;
        });
    if (is_flag) {
      return Error{fmt::format("{} takes no value; found \"{}\"", name, word.substr(name.size() + 1))};
    }
  }
  return {};
}

// What is left over: unknown options, and words that have no place. "--" ends the options.
Result<void> check_rest(const Command& command, std::vector<std::string> rest) {
  const auto mark = std::find(rest.begin(), rest.end(), "--");
  for (auto word = rest.begin(); word != mark; ++word) {
    if (word->size() > 1 && word->front() == '-') return unknown_option(command, *word);
  }
  if (mark != rest.end()) rest.erase(mark);
  if (rest.empty()) return {};
  std::error_code ignored;
  const bool file = std::filesystem::exists(rest[0], ignored);
  return Error{
      fmt::format("unexpected word \"{}\"; {}bagwise {} --help shows the usage", rest[0],
                  file ? "of several files each has the option before it, and a pattern is in quotes; " : "",
                  command.name)};
}

Result<void> check_given(const Command& command, const Option& option,
                         const std::vector<std::string>& values) {
  if (values.size() > 1 && !option.repeatable) {
    return Error{fmt::format("{} is given {} times; expected once", called(option), values.size())};
  }
  if (option.kind == Kind::kFlag) return {};
  for (const std::string& value : values) {
    for (const Option& other : command.options) {
      if (!other.positional && value == "--" + other.name) {
        return Error{fmt::format("{} needs a value; found {}", called(option), value)};
      }
    }
    if (value.empty()) return Error{fmt::format("{} needs a value; found nothing", called(option))};
    if (auto checked = check_value(option, value); !checked) return checked;
  }
  return {};
}

}  // namespace

Result<std::optional<Arguments>> parse(const Command& command, const std::vector<std::string>& words) {
  if (auto checked = check_flags(command, words); !checked) return checked.error();
  CLI::App app;
  app.allow_extras();
  app.set_help_flag();
  const CLI::Option* help = app.add_flag("-h,--help");
  const auto known = describe_to(app, command);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ArgumentMismatch&) {
    const std::string& last = words.back();
    return Error{fmt::format("{} needs a value; found the end of the line", last)};
  } catch (const CLI::ParseError& error) {
    return Error{error.what()};
  }
  if (help->count() > 0) return std::optional<Arguments>();
  std::map<std::string, std::vector<std::string>> given;
  for (const Option& option : command.options) {
    const CLI::Option* found = known.at(option.name);
    if (found->count() == 0) continue;
    if (auto checked = check_given(command, option, found->results()); !checked) return checked.error();
    given[option.name] = found->results();
  }
  if (auto checked = check_rest(command, app.remaining()); !checked) return checked.error();
  for (const Option& option : command.options) {
    if (!option.required || given.contains(option.name)) continue;
    return Error{fmt::format("{} is missing: {}; bagwise {} --help shows the usage", called(option),
                             option.help, command.name)};
  }
  return std::optional<Arguments>(Arguments(command.options, std::move(given)));
}

}  // namespace bagwise::cli
