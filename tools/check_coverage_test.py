#!/usr/bin/python3
"""Tests of check_coverage.py on made-up counts."""

import unittest

import check_coverage

COUNTS = {"files": [{"file": "src/a.cpp", "lines": [{"line_number": n, "count": c} for n, c in
                                                    ((1, 5), (2, 0), (3, 0), (7, 0), (8, 1))]},
                    {"file": "src/b.h", "lines": [{"line_number": 1, "count": 0}, {"line_number": 1, "count": 2},
                                                  {"line_number": 2, "count": 0, "gcovr/noncode": True}]}]}
TEXT = {1: "f();", 2: "return out_of_memory();", 3: "}", 7: "disk_is_full();", 8: "g();"}


class CheckCoverage(unittest.TestCase):
    def said(self, explanations, least=50.0):
        return check_coverage.report_of(check_coverage.counted(COUNTS), check_coverage.read_explanations(explanations),
                                        lambda file, line: TEXT[line], least)

    def test_counts_of_one_line_are_one(self):
        self.assertEqual(check_coverage.counted(COUNTS)["src/b.h"], {1: 2})

    def test_lines_are_counted_and_listed(self):
        text, good = self.said("")
        self.assertTrue(good)
        self.assertIn("     2      5   40.0  src/a.cpp", text)
        self.assertIn("src/a.cpp: 2-3, 7\n", text)
        self.assertIn("3 of 6 lines of src/ are reached by tests: 50.0 %", text)
        self.assertFalse(self.said("", least=51)[1])

    def test_explained_lines_are_apart_and_do_not_count_as_reached(self):
        text, good = self.said("# Note.\n\nNo disk is full\nhere.\nsrc/* | disk_is_full\n")
        self.assertTrue(good)
        self.assertIn("src/a.cpp: 7: No disk is full here.", text)
        self.assertIn("src/a.cpp: 2-3\n", text)
        self.assertIn("50.0 % (at least 50 %); 1 of the others are explained, 2 are not", text)

    def test_an_explanation_of_nothing_is_a_fault(self):
        for place in ("src/a.cpp | f()", "src/gone.cpp | *"):
            text, good = self.said(f"Why.\n{place}\n")
            self.assertFalse(good)
            self.assertIn(f"explains no line any more: {place}", text)
        self.assertTrue(self.said("Why.\nsrc/a.cpp | *\n")[1])

    def test_paragraphs_need_a_reason_and_places(self):
        for bad in ("Why.\n", "src/a.cpp | f()\n"):
            with self.assertRaises(ValueError):
                check_coverage.read_explanations(bad)


if __name__ == "__main__":
    unittest.main()
