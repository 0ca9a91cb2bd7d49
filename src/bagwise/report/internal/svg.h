// The marks that charts are drawn with, as text of SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/report/internal/axis_scale.h"

namespace bagwise::svg_marks {

struct Place {
  double x = 0, y = 0;
};
struct Frame {
  double left = 0, top = 0, right = 0, bottom = 0;
};
enum class Anchor { kStart, kMiddle, kEnd };

inline constexpr double kWidth = 640;  // of every chart, in its own units
inline constexpr double kFont = 13;    // size of its text

std::string coordinate(double value);                      // two decimals, never "-0.00"
double text_width(std::string_view words);                 // about how much room a text of kFont takes
std::string fitted(std::string_view words, double width);  // cut to about that room, printable

// `kind`: classes of the style. `hint`: the tooltip; empty: none.
std::string line(Place from, Place to, std::string_view kind);
std::string box(const Frame& frame, std::string_view kind, std::string_view hint = "");
std::string text(Place at, std::string_view words, Anchor anchor = Anchor::kStart, std::string_view kind = "",
                 std::string_view hint = "");
std::string upright_text(Place at, std::string_view words);  // reads upwards, centred
// A polyline through some places with the colour and dashes of a style.
std::string curve(const std::vector<Place>& places, std::size_t style);
std::string marker(Place at, std::size_t style, std::string_view hint, double scale = 1);
std::string error_bar(Place low, Place high, std::size_t style);
std::string in_colour(std::size_t style, const std::string& marks);  // what they call currentColor

// A legend in rows below `top`: names with the look of their style. `bottom` is where it ends.
enum class Key { kLine, kMarker, kBox };
struct LegendEntry {
  std::string name;
  std::size_t style = 0;
};
struct Legend {
  std::string marks;
  double bottom = 0;
};
Legend legend(const std::vector<LegendEntry>& entries, Key key, double left, double top, double right);

// The grid, ticks and names of a plot's axes.
std::string axis_label(const ChartAxis& axis);  // with its unit
std::string axis_x(const AxisScale& scale, const std::string& label, const Frame& frame);
std::string axis_y(const AxisScale& scale, const std::string& label, const Frame& frame);

// The title, drawn above all else; what follows begins at kBelowTitle.
std::string heading(std::string_view title);
inline constexpr double kBelowTitle = 32;

// The whole file.
std::string document(double height, std::string_view title, std::string_view description,
                     const std::string& marks);

}  // namespace bagwise::svg_marks
