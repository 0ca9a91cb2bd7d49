#!/usr/bin/python3
"""Tests of check_python.py on made-up files."""

import unittest

import check_python

HEAD = '"""What it holds."""\n'


class CheckPython(unittest.TestCase):
    def said(self, body, **options):
        return [f"{line}: {message}" for line, message in check_python.file_faults(HEAD + body, **options)]

    def test_a_plain_file_has_no_fault(self):
        self.assertEqual(self.said("import os.path\n\nprint(os.path.sep)\n"), [])
        self.assertEqual(check_python.file_faults(""), [])

    def test_a_file_without_a_docstring_is_found(self):
        self.assertEqual([message[:40] for _, message in check_python.file_faults("x = 1\n")],
                         ["the file does not begin with a docstring"])

    def test_lines_are_looked_at(self):
        self.assertEqual(self.said("x = '\u00e4'\n"), ["2: '\u00e4' is not ASCII"])
        self.assertEqual(self.said("x = 1 \n"), ["2: a tab, or a space at the end of the line"])
        self.assertEqual(self.said("x = 1"), ["2: the last line has no end"])

    def test_imports_that_nothing_uses_are_found(self):
        self.assertEqual(self.said("import os\nimport sys as system\nfrom a import b, c\n\nc()\n"),
                         ["2: os is imported and not used", "3: system is imported and not used",
                          "4: b is imported and not used"])
        self.assertEqual(self.said("import os\n", is_package_init=True), [])
        self.assertEqual(self.said("from __future__ import annotations\nfrom a import b as b\n"), [])

    def test_names_in_annotations_and_lists_of_exports_are_used(self):
        self.assertEqual(self.said("from a import B, C\n\n__all__ = ['C']\n\n\ndef f(x: 'list[B]'):\n    pass\n"), [])

    def test_what_is_defined_twice_is_found_in_each_body(self):
        self.assertEqual(self.said("def f():\n    pass\n\n\nclass A:\n    def f(self):\n        pass\n"), [])
        self.assertEqual(self.said("def test():\n    pass\n\n\ndef test():\n    pass\n"), ["6: test is defined twice"])
        self.assertEqual(self.said("class A:\n    def f(self):\n        pass\n\n    def f(self):\n        pass\n"),
                         ["6: f is defined twice"])
        self.assertEqual(self.said("@overload\ndef f(x): ...\n@overload\ndef f(y): ...\n"), [])

    def test_what_is_no_python_is_told(self):
        self.assertTrue(self.said("def f(:\n")[0].startswith("2: not Python: "))


if __name__ == "__main__":
    unittest.main()
