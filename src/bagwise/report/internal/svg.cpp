#include "bagwise/report/internal/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bagwise/report/html.h"
#include "bagwise/report/table.h"

namespace bagwise::svg_marks {
namespace {

// Eight colours after Okabe and Ito, told apart with any kind of colour vision, and darkened (or lightened)
// to a contrast of at least 3 with the paper; each with a marker and dashes of its own for those who print
// grey.
constexpr std::string_view kStyle =
    ".bw-chart{color:#1f2328;font-family:system-ui,'Segoe UI','Helvetica "
    "Neue',Arial,sans-serif;font-size:13px}"
    ".bw-chart text{fill:currentColor}"
    ".bw-chart .bw-title{font-size:15px;font-weight:600}"
    ".bw-chart .bw-small{font-size:12px}"
    ".bw-chart .bw-tick{font-size:12px;fill:#59636e}"
    ".bw-chart .bw-paper{fill:#fff}"
    ".bw-chart .bw-band{fill:#f3f5f8}"
    ".bw-chart .bw-grid{stroke:#dfe4ea}"
    ".bw-chart .bw-axis{stroke:#59636e}"
    ".bw-chart .bw-thick{stroke:currentColor;stroke-width:5;stroke-linecap:round}"
    ".bw-chart .bw-ink{stroke:currentColor;stroke-width:1.5}"
    ".bw-chart .bw-dash{stroke:#59636e;stroke-dasharray:4 4}"
    ".bw-c0{color:#0072b2}.bw-c1{color:#c44e00}.bw-c2{color:#00805e}.bw-c3{color:#a6457e}"
    ".bw-c4{color:#59595e}.bw-c5{color:#8a6a00}.bw-c6{color:#5a4fcf}.bw-c7{color:#a61c1c}"
    "@media screen and (prefers-color-scheme:dark){"
    ".bw-chart{color:#e6edf3}.bw-chart .bw-tick{fill:#a3adb8}.bw-chart .bw-paper{fill:#0f1318}"
    ".bw-chart .bw-band{fill:#181d24}.bw-chart .bw-grid{stroke:#2b323b}.bw-chart .bw-axis{stroke:#a3adb8}"
    ".bw-chart .bw-dash{stroke:#a3adb8}"
    ".bw-c0{color:#56b4e9}.bw-c1{color:#ff9a57}.bw-c2{color:#2bcb9d}.bw-c3{color:#e59ac6}"
    ".bw-c4{color:#bdc3ca}.bw-c5{color:#e6c229}.bw-c6{color:#a9a2ff}.bw-c7{color:#ff8a84}}";
constexpr std::size_t kStyles = 8;
constexpr double kLetter = 0.6;  // width of a letter to its height, in wide fonts
constexpr std::array<std::string_view, kStyles> kDashes = {"",    "7 3",  "2 3", "9 3 2 3",
                                                           "5 5", "12 3", "2 6", "9 3 2 3 2 3"};
// Each about 0, of much the same weight to the eye.
constexpr std::array<std::string_view, kStyles> kMarkers = {
    "M-4.5 0A4.5 4.5 0 1 1 4.5 0A4.5 4.5 0 1 1 -4.5 0Z",                                    // disc
    "M-4 -4H4V4H-4Z",                                                                       // square
    "M0 -5L4.8 3.6H-4.8Z",                                                                  // triangle
    "M0 -5.5L5.5 0L0 5.5L-5.5 0Z",                                                          // diamond
    "M0 5L4.8 -3.6H-4.8Z",                                                                  // triangle down
    "M-1.6 -5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",                                 // plus
    "M-5 0L-2.5 -4.4H2.5L5 0L2.5 4.4H-2.5Z",                                                // hexagon
    "M-5 -2.9L-2.9 -5L0 -2.1L2.9 -5L5 -2.9L2.1 0L5 2.9L2.9 5L0 2.1L-2.9 5L-5 2.9L-2.1 0Z",  // cross
};

std::string tooltip(std::string_view hint) {
  return hint.empty() ? "" : fmt::format("<title>{}</title>", escape_markup(hint));
}

std::string_view anchor_text(Anchor anchor) {
  return anchor == Anchor::kStart ? "start" : anchor == Anchor::kMiddle ? "middle" : "end";
}

std::string key_marks(Key key, double x, double y, std::size_t style) {
  if (key == Key::kBox)
    return in_colour(style,
                     fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"12\" fill=\"currentColor\"/>",
                                 coordinate(x + 7), coordinate(y - 6)));
  std::string out = key == Key::kLine ? curve({{x, y}, {x + 28, y}}, style) : "";
  return out + marker({x + 14, y}, style, "");
}

}  // namespace

std::string coordinate(double value) {
  std::string out = fmt::format("{:.2f}", value);
  return out == "-0.00" ? "0.00" : out;
}

double text_width(std::string_view words) {
  const auto characters = std::count_if(
      words.begin(), words.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return kLetter * kFont * static_cast<double>(characters);
}

std::string fitted(std::string_view words, double width) {
  return printable(words, std::max<std::size_t>(static_cast<std::size_t>(width / (kLetter * kFont)), 4));
}

std::string line(Place from, Place to, std::string_view kind) {
  return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", kind,
                     coordinate(from.x), coordinate(from.y), coordinate(to.x), coordinate(to.y));
}

std::string box(const Frame& frame, std::string_view kind, std::string_view hint) {
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>\n", kind,
                     coordinate(frame.left), coordinate(frame.top),
                     coordinate(std::max(0.0, frame.right - frame.left)),
                     coordinate(std::max(0.0, frame.bottom - frame.top)), tooltip(hint));
}

std::string text(Place at, std::string_view words, Anchor anchor, std::string_view kind,
                 std::string_view hint) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}{}</text>\n", coordinate(at.x),
                     coordinate(at.y), anchor_text(anchor),
                     kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), tooltip(hint),
                     escape_markup(words));
}

std::string upright_text(Place at, std::string_view words) {
  return fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     coordinate(at.x), coordinate(at.y), escape_markup(words));
}

std::string in_colour(std::size_t style, const std::string& marks) {
  return fmt::format("<g class=\"bw-c{}\">{}</g>\n", style % kStyles, marks);
}

std::string curve(const std::vector<Place>& places, std::size_t style) {
  std::string points;
  for (const Place& place : places)
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", coordinate(place.x), coordinate(place.y));
  const std::string_view dashes = kDashes[style % kStyles];
  return in_colour(
      style, fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" "
                         "stroke-width=\"2\"{}/>",
                         points, dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes)));
}

std::string marker(Place at, std::size_t style, std::string_view hint, double scale) {
  return in_colour(
      style, fmt::format("<path transform=\"translate({} {}){}\" d=\"{}\" fill=\"currentColor\">{}</path>",
                         coordinate(at.x), coordinate(at.y),
                         scale == 1 ? "" : fmt::format(" scale({})", coordinate(scale)),
                         kMarkers[style % kStyles], tooltip(hint)));
}

std::string error_bar(Place low, Place high, std::size_t style) {
  return in_colour(
      style,
      fmt::format("<path d=\"M{0} {1}H{2}M{3} {1}V{4}M{0} {4}H{2}\" fill=\"none\" stroke=\"currentColor\" "
                  "stroke-width=\"1\" opacity=\"0.75\"/>",
                  coordinate(low.x - 3), coordinate(low.y), coordinate(low.x + 3), coordinate(low.x),
                  coordinate(high.y)));
}

Legend legend(const std::vector<LegendEntry>& entries, Key key, double left, double top, double right) {
  constexpr double kRow = 20, kSample = 34, kGap = 18;
  Legend out;
  double x = left, y = top + kRow / 2;
  for (const LegendEntry& entry : entries) {
    const std::string name = fitted(entry.name, right - left - kSample);
    const double width = kSample + text_width(name) + kGap;
    if (x > left && x + width - kGap > right) {
      x = left;
      y += kRow;
    }
    out.marks += key_marks(key, x, y, entry.style) +
                 text({x + kSample, y + 4.5}, name, Anchor::kStart, "", name == entry.name ? "" : entry.name);
    x += width;
  }
  out.bottom = entries.empty() ? top : y + kRow / 2;
  return out;
}

std::string axis_label(const ChartAxis& axis) {
  return axis.percent && !axis.label.empty() ? axis.label + " (%)" : axis.label;
}

std::string axis_x(const AxisScale& scale, const std::string& label, const Frame& frame) {
  std::string out;
  for (const double tick : scale.ticks()) {
    const double x = scale.at(tick);
    out += line({x, frame.top}, {x, frame.bottom}, "bw-grid") +
           text({x, frame.bottom + 17}, scale.label(tick), Anchor::kMiddle, "bw-tick");
  }
  out += line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "bw-axis");
  if (!label.empty()) {
    out += text({(frame.left + frame.right) / 2, frame.bottom + 37}, fitted(label, frame.right - frame.left),
                Anchor::kMiddle);
  }
  return out;
}

std::string axis_y(const AxisScale& scale, const std::string& label, const Frame& frame) {
  std::string out;
  for (const double tick : scale.ticks()) {
    const double y = scale.at(tick);
    out += line({frame.left, y}, {frame.right, y}, "bw-grid") +
           text({frame.left - 7, y + 4}, scale.label(tick), Anchor::kEnd, "bw-tick");
  }
  out += line({frame.left, frame.top}, {frame.left, frame.bottom}, "bw-axis");
  if (!label.empty()) {
    out += upright_text({16, (frame.top + frame.bottom) / 2}, fitted(label, frame.bottom - frame.top));
  }
  return out;
}

std::string heading(std::string_view title) {
  const std::string shown = fitted(title, (kWidth - 16) * kFont / 16.0);
  return text({8, 20}, shown, Anchor::kStart, "bw-title", shown == title ? "" : title);
}

std::string document(double height, std::string_view title, std::string_view description,
                     const std::string& marks) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bw-chart\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\">\n<title>{2}</title>\n<desc>{3}</desc>\n<style>{4}</style>\n"
      "<rect class=\"bw-paper\" width=\"{0}\" height=\"{1}\"/>\n{5}</svg>\n",
      kWidth, coordinate(height), escape_markup(title), escape_markup(description), kStyle, marks);
}

}  // namespace bagwise::svg_marks
