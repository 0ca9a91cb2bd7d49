#!/usr/bin/python3
"""Finds sources that use something whose header they do not include, nor a header of ours that they include.

usage: tools/check_includes.py [FILE...]

Sources that are compiled in batches (tools/batches.py) see what those before them include, so the compiler does not
tell; and the standard library includes more of itself here than elsewhere. Looked for are the names of STANDARD
below, the namespaces of other libraries, and the types, constants and functions that headers of ours define in lines
without indent. Prints one line per fault, FILE:LINE: what is missing, and a count.
"""

import functools
import re
import sys
from pathlib import Path

import batches
import check_layers
from fault_report import report_faults

ROOT = batches.ROOT
FOLDERS = ("src", "cli", "python", "tests")

# Names that one header is sure to define, or one of several.
STANDARD = {
    "algorithm": "sort stable_sort all_of any_of none_of find_if find_if_not count_if min_element max_element "
                 "minmax_element clamp fill fill_n copy_n copy_if stable_partition partition nth_element partial_sort "
                 "lower_bound upper_bound equal_range binary_search is_sorted unique reverse rotate transform shuffle "
                 "for_each remove_if merge set_intersection set_difference set_union",
    "array": "array",
    "atomic": "atomic",
    "barrier": "barrier",
    "bit": "bit_cast countr_zero countl_zero popcount bit_width rotl rotr endian has_single_bit bit_ceil",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "sqrt isfinite isnan isinf exp log pow round floor ceil log2 log10 exp2 log1p expm1 tanh atanh cosh sinh "
             "cos sin tan acos asin atan atan2 hypot copysign lgamma erf erfc signbit cbrt nextafter lround llround "
             "frexp ldexp fma fmod trunc fabs fmin fmax nan",
    "condition_variable": "condition_variable cv_status",
    "csignal": "signal sig_atomic_t raise",
    "cstdint": "uint64_t uint32_t uint16_t uint8_t int64_t int32_t int16_t int8_t",
    "cstdio": "fputs fwrite fflush ferror fopen fclose FILE",
    "cstdlib": "getenv strtod realloc free malloc",
    "cstring": "memcpy memset memchr memcmp memmove strlen strerror strcmp",
    "deque": "deque",
    "exception": "current_exception rethrow_exception exception_ptr",
    "filesystem": "filesystem",
    "fstream": "ofstream ifstream fstream",
    "functional": "function greater less plus negate invoke reference_wrapper",
    "future": "future promise async",
    "iterator": "back_inserter make_move_iterator istreambuf_iterator ostream_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr make_unique shared_ptr make_shared weak_ptr make_unique_for_overwrite",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "new": "bad_alloc",
    "numbers": "numbers",
    "numeric": "iota accumulate inner_product partial_sum reduce gcd lcm exclusive_scan inclusive_scan",
    "optional": "optional nullopt",
    "queue": "queue priority_queue",
    "regex": "regex smatch",
    "set": "set multiset",
    "span": "span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
    "string": "string to_string stod stoul stoi getline",
    "string_view": "string_view",
    "system_error": "error_code errc system_error",
    "thread": "thread jthread this_thread",
    "tuple": "tuple tie make_tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "variant visit get_if holds_alternative monostate",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in STANDARD.items() for name in names.split()}
# What another header must bring with it, by the words of the standard or by what it is for.
ALSO_IN = {"string_view": ("string",), "error_code": ("filesystem",), "errc": ("charconv", "filesystem"),
           "getline": ("sstream", "fstream"), "stop_token": ("thread",)}
OTHERS = {"Eigen": "Eigen/", "fmt": "fmt/", "nlohmann": "nlohmann/", "CLI": "CLI/", "fast_float": "fast_float/",
          "pybind11": "pybind11/", "py": "pybind11/"}

ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
STD_NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")
OTHER_NAME = re.compile(r"(?<![\w:])(Eigen|fmt|nlohmann|CLI|fast_float|pybind11|py)::")
# A type or a constant wherever it stands, a function where it is called; not a member, not of another namespace.
OUR_NAME = re.compile(r"(?<![\w.])(?<!->)((?:\w+::)*)(?:([A-Z][a-z]\w*|k[A-Z]\w*)\b|([a-z]\w*)\()")
OURS = re.compile(r"(?:bagwise::)?(?:(?:alter|cli|generators|internal|python|test|tl)::)?$")


@functools.cache
def text_of(path):
    return check_layers.without_comments(path.read_text(encoding="utf-8", errors="replace"))


def definers(headers):
    """{name: the header that defines it}, without names of which there are several."""
    out = {}
    for header in headers:
        for name in batches.read(header)[1]:
            out.setdefault(name, []).append(header)
    return {name: where[0] for name, where in out.items() if len(where) == 1}


@functools.cache
def has_of_its_own(path, name):
    """Whether a file has something of its own by a name: a member, a variable, a parameter, a type, an enumerator."""
    if name[0].isupper():
        own = rf"\b(?:struct|class|enum|using|typename)\s+{name}\b"
    else:
        own = rf"(?<!return)(?<!else)(?<!throw)(?:(?<=[\w>*&\]])\s+|[&*]){name}\s*[({{=;,:)]|[\[{{,&]\s*{name}\s*[\]}},=]"
    return re.search(own, text_of(path)) is not None


def faults(path, visible, ours):
    """[(line, message)] of a file that sees the files `visible`, itself among them; `ours` is what definers() gives."""
    text = text_of(path)
    angled = {name for file in visible for name in ANGLED.findall(text_of(file))}
    missing = {}
    for found in STD_NAME.finditer(text):
        header = HEADER_OF.get(found[1])
        if header and not angled.intersection((header, *ALSO_IN.get(found[1], ()))):
            missing.setdefault(f"std::{found[1]} is used without <{header}>", found.start())
    for found in OTHER_NAME.finditer(text):
        if not any(name.startswith(OTHERS[found[1]]) for name in angled):
            missing.setdefault(f"{found[1]}:: is used without a header of it", found.start())
    for found in OUR_NAME.finditer(text):
        name = found[2] or found[3]
        if OURS.match(found[1]) and name in ours and ours[name] not in visible and \
                not any(has_of_its_own(file, name) for file in visible):
            missing.setdefault(f"{name} is used without {ours[name].relative_to(ROOT)}", found.start())
    return sorted((text.count("\n", 0, at) + 1, message) for message, at in missing.items())


def main(arguments):
    headers = sorted(p.resolve() for folder in FOLDERS for p in (ROOT / folder).rglob("*.h"))
    files = [Path(a).resolve() for a in arguments] or headers + sorted(
        p.resolve() for folder in FOLDERS for p in (ROOT / folder).rglob("*.cpp"))
    ours = definers(headers)
    return report_faults(files, ROOT, lambda path: faults(path, {path, *batches.headers_of(path)}, ours))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
