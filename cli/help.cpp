#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "bagwise/core/version.h"

namespace bagwise::cli {
namespace {

constexpr std::size_t kWidth = 100;  // of a line
constexpr std::size_t kLeft = 30;    // where explanations start

// `text` in lines of at most `width` letters.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    from = end + 1;
  }
  return lines;
}

std::string entry(const std::string& left, const std::string& right) {
  std::string out = "  " + left;
  const auto lines = wrap(right, kWidth - kLeft);
  if (out.size() + 2 > kLeft) {
    out += "\n" + std::string(kLeft, ' ');
  } else {
    out.resize(kLeft, ' ');
  }
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? "" : "\n" + std::string(kLeft, ' ')) + lines[i];
  return out + "\n";
}

std::string left_of(const Option& option) {
  if (option.positional) return option.value;
  std::string out = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "";
  out += "--" + option.name;
  if (option.kind != Kind::kFlag) out += " " + option.value;
  return out;
}

std::string right_of(const Option& option) {
  std::string out = option.help;
  if (option.required) return out + " (required)";
  if (option.kind == Kind::kFlag) return out;
  const std::string& shown = option.shown.empty() ? option.fallback : option.shown;
  return shown.empty() ? out : fmt::format("{} (default: {})", out, shown);
}

}  // namespace

std::string overview() {
  std::string out = fmt::format(
      "bagwise {}: learning from label proportions\n\n"
      "Rows come in bags; only each bag's share of positives is known. bagwise learns to label single "
      "rows.\n\n"
      "usage: bagwise COMMAND [OPTION]...\n\nCommands\n",
      kVersion);
  for (const Command& command : commands()) out += entry(command.name, command.summary);
  out += "\nOptions\n";
  out += entry("-h, --help", "this text; after a command, that command's options");
  out += entry("--version", "the version");
  out +=
      "\nExit status: 0 done; 1 ran but did not reach what was asked; 2 bad input or usage, with one line "
      "that\n"
      "says what.\n\n"
      "A first run, from nothing to an accuracy:\n"
      "  bagwise generate --out data\n"
      "  bagwise bag --input data/target.csv --size 8 --out-instances i.csv --out-proportions p.csv\n"
      "  bagwise train --method inv-cal --target i.csv --target-proportions p.csv -o model.json\n"
      "  bagwise evaluate --model model.json --input data/test.csv\n";
  return out;
}

std::string help_text(const Command& command) {
  std::string out = fmt::format("bagwise {}: {}\n\n", command.name, command.summary);
  const auto usage = wrap(fmt::format("usage: bagwise {} {}", command.name, command.usage), kWidth);
  for (const std::string& line : usage) out += (&line == &usage[0] ? "" : "         ") + line + "\n";
  if (!command.details.empty()) out += "\n" + command.details + "\n";
  std::vector<std::string> groups;
  for (const Option& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  for (const std::string& group : groups) {
    out += "\n" + group + "\n";
    for (const Option& option : command.options) {
      if (option.group == group) out += entry(left_of(option), right_of(option));
    }
  }
  return out + "\n" + entry("-h, --help", "this text");
}

}  // namespace bagwise::cli
