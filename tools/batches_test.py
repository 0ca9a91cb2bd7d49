#!/usr/bin/python3
"""Tests of batches.py on made-up sources."""

import tempfile
import unittest
from pathlib import Path

import batches

OPEN = "namespace {\n\n"
CLOSE = "\n}  // namespace\n"


class Batches(unittest.TestCase):
    def dealt(self, files, size=8):
        """The batches of the .cpp files among `files` (path -> text), as lists of names."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            sources = [Path(folder, name).resolve() for name in files if name.endswith(".cpp")]
            return [[path.name for path in batch] for batch in batches.batches(sources, size)]

    def assert_apart(self, a, b, **headers):
        files = {"a.cpp": a, "b.cpp": b, **{f"{name}.h": text for name, text in headers.items()}}
        self.assertEqual(self.dealt(files), [["a.cpp"], ["b.cpp"]])

    def assert_together(self, a, b):
        self.assertEqual(self.dealt({"a.cpp": a, "b.cpp": b}), [["a.cpp", "b.cpp"]])

    def test_sources_without_a_common_name_go_together(self):
        self.assert_together(OPEN + "int f(int x) {\n  return g(x);\n}\n" + CLOSE,
                             OPEN + "int h(int x) {\n  return f(x);\n}\n" + CLOSE)

    def test_a_batch_has_no_more_than_its_size(self):
        self.assertEqual(self.dealt({f"{name}.cpp": "" for name in "abcde"}, size=2),
                         [["a.cpp", "b.cpp"], ["c.cpp", "d.cpp"], ["e.cpp"]])

    def test_hidden_functions_of_one_name_are_kept_apart(self):
        self.assert_apart(OPEN + "Result<int> run(const Arguments& a) {\n}\n" + CLOSE,
                          OPEN + "std::vector<std::pair<int, int>> run(\n    int x) {\n}\n" + CLOSE)

    def test_hidden_constants_of_one_name_are_kept_apart(self):
        self.assert_apart(OPEN + "constexpr double kMost = 1;\n" + CLOSE, OPEN + "const Kernel kMost[] = {\n" + CLOSE)

    def test_a_hidden_name_is_kept_from_a_public_one(self):
        self.assert_apart(OPEN + "int f(int x) {\n" + CLOSE, "namespace bagwise {\n\nint f(int x) {\n}\n" + CLOSE)

    def test_public_overloads_go_together(self):
        self.assert_together("int f(int x) {\n}\nint A::g() {\n}\n", "int f(double x) {\n}\nint B::g() {\n}\n")

    def test_types_of_one_name_are_kept_apart_even_if_public(self):
        self.assert_apart("struct Shape {\n};\n", "struct Shape {\n};\n")

    def test_a_declared_type_is_no_definition(self):
        self.assert_together("struct Shape;\n", "struct Shape;\n")

    def test_aliases_of_the_same_type_go_together(self):
        self.assert_together("using Index = Eigen::Index;\n", "using Index = Eigen::Index;\n")
        self.assert_apart("using Index = Eigen::Index;\n", "using Index = int;\n")

    def test_macros_of_one_name_are_kept_apart(self):
        self.assert_apart("#define X 1\n", "#define X 2\n")

    def test_a_name_is_kept_from_a_header_that_only_the_other_sees(self):
        said = OPEN + "int said(int x) {\n" + CLOSE
        self.assert_apart(said, '#include "outer.h"\n', outer='#include "inner.h"\n',
                          inner="inline int said(int x) {\n")
        self.assertEqual(len(self.dealt({"a.cpp": '#include "s.h"\n' + said, "b.cpp": '#include "s.h"\n',
                                         "s.h": "inline int said(double x) {\n"})), 1)

    def test_tests_and_indented_lines_define_nothing(self):
        self.assert_together('TEST_CASE("a") {\n  int x = 1;\n}\n', 'TEST_CASE("b") {\n  int x = 1;\n}\n')


if __name__ == "__main__":
    unittest.main()
