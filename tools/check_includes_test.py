#!/usr/bin/python3
"""Tests of check_includes.py on made-up sources."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import batches
import check_includes


class Includes(unittest.TestCase):
    def faults(self, source, **headers):
        """What is said of a source beside headers, as "line: message"."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name, text in headers.items():
                (root / f"{name}.h").write_text(text, encoding="utf-8")
            (root / "x.cpp").write_text(source, encoding="utf-8")
            ours = check_includes.definers(sorted(root.glob("*.h")))
            visible = {root / "x.cpp", *batches.headers_of(root / "x.cpp")}
            with mock.patch.object(check_includes, "ROOT", root):
                return [f"{line}: {what}" for line, what in check_includes.faults(root / "x.cpp", visible, ours)]

    def test_a_name_of_the_standard_library_wants_its_header(self):
        self.assertEqual(self.faults("#include <cmath>\nauto x = std::sqrt(2);\nstd::vector<int> v;\n"),
                         ["3: std::vector is used without <vector>"])

    def test_a_header_of_ours_may_bring_it(self):
        self.assertEqual(self.faults('#include "a.h"\nstd::vector<int> v;\n', a='#include "b.h"\n',
                                     b="#include <vector>\n"), [])

    def test_names_of_other_libraries_want_one_of_their_headers(self):
        self.assertEqual(self.faults("#include <Eigen/QR>\nEigen::Index n;\nauto s = fmt::format(f);\n"),
                         ["3: fmt:: is used without a header of it"])

    def test_our_types_constants_and_functions_want_their_header(self):
        header = "struct Shape {\n};\nconstexpr int kMost = 3;\nint area(const Shape& s);\n"
        uses = "int f(bagwise::Shape s) {\n  return kMost;\n}\nint g() {\n  return area(s);\n}\n"
        self.assertEqual(self.faults(uses, a=header), ["1: Shape is used without a.h", "2: kMost is used without a.h",
                                                       "5: area is used without a.h"])
        self.assertEqual(self.faults('#include "a.h"\n' + uses, a=header), [])

    def test_what_a_file_has_of_its_own_is_not_sought_elsewhere(self):
        header = "struct Shape {\n};\nint area(int x);\n"
        self.assertEqual(self.faults("using Shape = int;\nvoid f(Shape s) {\n  const auto area = [] {};\n  area();\n}\n",
                                     a=header), [])
        self.assertEqual(self.faults('#include "b.h"\nvoid T::f() {\n  area();\n}\n', a=header,
                                     b="struct T {\n  int area();\n};\n"), [])

    def test_members_and_other_namespaces_are_not_ours(self):
        self.assertEqual(self.faults("int x = s.area() + p->area() + other::area();\n", a="int area(int x);\n"), [])

    def test_a_name_that_several_headers_define_is_not_looked_for(self):
        self.assertEqual(self.faults("auto n = names(E{});\n", a="int names(A);\n", b="int names(B);\n"), [])

    def test_comments_and_texts_use_nothing(self):
        self.assertEqual(self.faults('// std::vector\nconst char* s = "std::map";\n'), [])


if __name__ == "__main__":
    unittest.main()
