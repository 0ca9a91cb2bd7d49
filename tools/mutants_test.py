#!/usr/bin/python3
"""Tests of mutants.py, on made-up sources that are compiled and run."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import mutants

MUTATION = Path(__file__).resolve().parent / "mutation"
EIGEN = "namespace Eigen { struct Vector { double x; }; inline Vector operator+(Vector a, Vector b) " \
        "{ return {a.x + b.x}; } inline Vector operator*(double s, Vector a) { return {s * a.x}; } }\n"


def found_in(source):
    unit = mutants.parse("/made/up.cpp", ["-std=c++20"], source)
    assert not list(unit.diagnostics), list(map(str, unit.diagnostics))
    return mutants.changes_of(unit, {"/made/up.cpp": ("up.cpp", source)})["up.cpp"]


def marks(body):
    """The changes of a body of one line, as marked."""
    source = f"bool f(int a, int b, double x, bool p, bool q) {{\n{body}\n}}\n"
    return [mutant.text for change in found_in(source) for mutant in change.mutants]


class Found(unittest.TestCase):
    def test_signs_and_products(self):
        self.assertEqual(marks("return bool(a + b);"), ["return bool(a {+ -> -} b);"])
        self.assertEqual(marks("return bool(-a);"), ["return bool({- -> }a);"])
        self.assertEqual(marks("return bool(x * a);"), ["return bool(x {* -> /} a);"])
        self.assertEqual(marks("a -= b; return p;"), ["a {-= -> +=} b; return p;"])
        self.assertEqual(marks("a = b; return p;"), [])

    def test_edges_move_between_integers_only(self):
        self.assertEqual(marks("return a < b;"), ["return a {< -> <=} b;", "return a {< -> >=} b;"])
        self.assertEqual(marks("return x < a;"), ["return x {< -> >=} a;"])
        self.assertEqual(marks("return a == b;"), ["return a {== -> !=} b;"])

    def test_logic(self):
        self.assertEqual(marks("return p && !q;"), ["return p {&& -> ||} !q;", "return p && {! -> }q;"])

    def test_numbers(self):
        self.assertEqual([mutants.changed_number(text) for text in ("0", "1", "1.0", "2", "0x10", "0.5", "1e-9", "3U", "'a'")],
                         ["1", "0", "0.0", "2 * 2", "2 * 0x10", "0.5 + 1", "1e-9 + 1", "2 * 3U", None])
        self.assertEqual(marks("a = 7; return p;"), ["a = {7 -> 2 * 7}; return p;"])

    def test_what_is_needed_while_compiling_is_left_alone(self):
        self.assertEqual(marks("constexpr int k = 1 + 2; static_assert(k > 2); return p;"), [])
        self.assertEqual(marks("if constexpr (1 < 2) return p; return q;"), [])
        self.assertEqual(marks("switch (a) { case 1: return p; } return q;"), [])
        self.assertEqual([c for c in found_in("constexpr int f(int a) { return a + 1; }\nint g = 1 + 2;\n"
                                              "struct S { int x = 1; };\n")], [])

    def test_macros_and_comments(self):
        self.assertEqual(marks("return a /* + */ + /* - */ b;"), ["return a /* + */ {+ -> -} /* - */ b;"])
        source = "#define ADD(x, y) ((x) + (y))\nint f(int a, int b) { return ADD(a, b); }\n"
        self.assertEqual(found_in(source), [])

    def test_matrices_and_texts(self):
        source = EIGEN + "Eigen::Vector f(Eigen::Vector a, Eigen::Vector b) { return a + b; }\n"
        self.assertEqual([c.mutants[0].after for c in found_in(source) if c.mutants[0].line == 2], ["-"])
        source = "struct Text {}; Text operator+(Text a, Text b);\nText f(Text a, Text b) { return a + b; }\n"
        self.assertEqual(found_in(source), [])


SOURCE = """int looks = 0;
int seen(int a) { ++looks; return a; }
bool either(bool p, int a) {
  return p && seen(a) > 0 && a != 10;  // a comment
}
template <class T>
T twice(T x) { return x + x; }
int main(int argc, char**) {
  double sum = 0.5;
  for (int i = 0; i < 3; ++i) sum += i * 2.0 - -twice(i);
  if (looks != 0 || either(false, argc) || looks != 0) return 100;
  sum /= 2;
  return int(sum) + (argc == 1 ? 0 : 50);
}
"""


@unittest.skipIf(shutil.which("g++") is None, "there is no compiler")
class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = Path(cls.folder.name)
        changes = found_in(SOURCE)
        every = [mutant for change in changes for mutant in change.mutants]
        cls.numbers = {mutant: number for number, mutant in enumerate(every, 1)}
        text = mutants.rewritten(SOURCE, changes, cls.numbers.get)
        assert text.count("\n") == SOURCE.count("\n")
        (folder / "a.cpp").write_text('#include "mutant.h"\n' + text)
        subprocess.run(["g++", "-std=c++20", f"-I{MUTATION}", f"-DBAGWISE_MUTANTS={len(every) + 1}", "a.cpp",
                        MUTATION / "mutant_state.cpp", "-o", "a"], cwd=folder, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_with(self, **environment):
        return subprocess.run([Path(self.folder.name) / "a"], env=environment, check=False, timeout=10).returncode

    def number(self, text):
        return next(str(number) for mutant, number in self.numbers.items() if text in mutant.text)

    def test_nothing_changes_with_no_mutant_chosen(self):
        self.assertEqual(self.run_with(), 6)  # (0.5 + 6 + 6) / 2

    def test_a_chosen_mutant_does_what_it_says(self):
        for text, status in (("sum = {0.5", 6), ("i {< -> <=}", 12), ("i {< -> >=}", 0), ("i {* -> /} 2.0", 4),
                             ("sum {+= -> -=}", 256 - 5), ("2.0 {- -> +}", 0), ("- {- -> }twice", 0),
                             ("return x {+ -> -} x", 3), ("argc {== -> !=} 1", 56), ("sum {/= -> *=} 2", 25),
                             ("p {&& -> ||} seen(a) > 0 &&", 100), ("int(sum) {+ -> -}", 6)):
            with self.subTest(text):
                self.assertEqual(self.run_with(BAGWISE_MUTANT=self.number(text)), status)

    def test_a_trace_has_what_was_reached(self):
        trace = Path(self.folder.name) / "trace"
        self.assertEqual(self.run_with(BAGWISE_MUTANT_TRACE=str(trace)), 6)
        reached = trace.read_text().split()
        self.assertIn(self.number("return x {+ -> -} x"), reached)
        self.assertNotIn(self.number("seen(a) > {0 -> 1}"), reached)

    def test_a_change_may_be_left_out(self):
        changes = found_in(SOURCE)
        self.assertEqual(mutants.rewritten(SOURCE, changes, lambda mutant: None), SOURCE)


if __name__ == "__main__":
    unittest.main()
