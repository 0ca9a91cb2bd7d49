#!/usr/bin/python3
"""Tests of mutate.py and mutant_runs.py: choosing, remembering and reporting, without compiling anything."""

import os
import stat
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import mutant_runs
import mutate
from mutants import Change, Mutant, Swap, Wrap


def mutant(file, line, text="a {+ -> -} b"):
    return Mutant(file, 10 * line, line, "+", "-", text)


class Choosing(unittest.TestCase):
    def test_a_sample_has_every_file_and_the_number_asked_for(self):
        every = [mutant("a.cpp", line) for line in range(90)] + [mutant("b.cpp", line) for line in range(9)] + [mutant("c.h", 1)]
        chosen = mutate.sampled(every, 20, seed=3)
        self.assertEqual(len(chosen), 20)
        self.assertEqual(len(set(chosen)), 20)
        self.assertEqual({found.file for found in chosen}, {"a.cpp", "b.cpp", "c.h"})
        self.assertEqual(chosen, mutate.sampled(every, 20, seed=3))
        self.assertNotEqual(chosen, mutate.sampled(every, 20, seed=4))
        self.assertEqual(sorted(mutate.sampled(every, 1000, seed=1)), sorted(every))

    def test_places_that_look_alike_have_keys_of_their_own(self):
        changes = {"a.cpp": [Change((mutant("a.cpp", 1),), ()), Change((mutant("a.cpp", 5),), ())]}
        self.assertEqual(list(mutate.keys_of(changes).values()), ["a.cpp | a {+ -> -} b #1", "a.cpp | a {+ -> -} b #2"])

    def test_changes_come_back_from_a_file(self):
        change = Change((mutant("a.cpp", 1),), (Wrap(0, 3, "f(", ")"), Swap(1, 2, ",")))
        self.assertEqual(mutate.read_change(mutate.write_change(change)), change)

    def test_lines_that_a_compiler_blames(self):
        output = ("In file included from ../../src/bagwise/solver/b.h:4,\n"
                  "../../src/bagwise/solver/a.cpp:12:34: error: no match\n"
                  "/usr/include/x.h:1:1: error: bad\n"
                  "../../src/bagwise/solver/a.cpp:20:3:   required from here\n"
                  "../../src/bagwise/solver/a.cpp:30:3: note: candidate\n")
        self.assertEqual(mutate.blamed_lines(output), {("src/bagwise/solver/a.cpp", 12), ("src/bagwise/solver/a.cpp", 20)})


    def test_no_mutant_is_run_when_time_is_over(self):
        every = [mutant("a.cpp", 1), mutant("a.cpp", 2)]
        keys = {each: str(each.line) for each in every}
        with tempfile.TemporaryDirectory() as folder:
            results = mutate.Results(Path(folder) / "results", "code", "tests")
            mutate.run_mutants(every, {each: each.line for each in every}, keys, [], results, 1, minutes=-1)
            self.assertEqual(results.found, {})
            mutate.run_mutants(every, {each: each.line for each in every}, keys, [], results, 1, minutes=1)
            self.assertEqual(set(results.found), {"1", "2"})


class Reporting(unittest.TestCase):
    def test_explanations(self):
        text = "# Why.\n\nspeed: taken\nless often\na.cpp | x {< -> <=} y\nb.cpp | {0 -> 1}\n\nequivalent: same\nc.h | {! -> }p\n"
        self.assertEqual(mutate.read_survivors(text),
                         {"a.cpp | x {< -> <=} y": ("speed", "taken less often"),
                          "b.cpp | {0 -> 1}": ("speed", "taken less often"), "c.h | {! -> }p": ("equivalent", "same")})
        self.assertEqual(mutate.read_survivors("# Nothing.\n"), {})
        for bad in ("other: why\na.cpp | x\n", "speed:\na.cpp | x\n", "speed: why\n"):
            with self.assertRaises(ValueError):
                mutate.read_survivors(bad)

    def test_survivors_count_whether_explained_or_not(self):
        run = [mutant("a.cpp", line, f"{{{line} -> 0}}") for line in range(1, 11)]
        keys = {each: each.place for each in run}
        with tempfile.TemporaryDirectory() as folder:
            results = mutate.Results(Path(folder) / "results", "code", "tests")
            for each in run:
                results.add(keys[each], 3, None if each.line > 7 else ["test/x", "fails"])
            text, rate = mutate.report(run, keys, results, {run[9].place: ("equivalent", "why")}, 2)
        self.assertEqual(rate, 70)
        self.assertIn("10 mutants run, 7 killed: 70.0 %", text)
        self.assertIn("without the 1 that are equivalent: 77.8 %", text)
        self.assertIn("a.cpp: 7 of 10", text)
        unexplained, explained = text.split("survivors, explained")
        self.assertIn("a.cpp:8: {8 -> 0}   (reached by 3 tests)", unexplained)
        self.assertIn("a.cpp:10: {10 -> 0}   (equivalent: why)", explained)

    def test_results_last_as_long_as_they_hold(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results"
            results = mutate.Results(path, "code", "tests")
            results.add("killed", 1, ["test/x", "fails"])
            results.add("survived", 1, None)
            self.assertEqual(set(mutate.Results(path, "code", "tests").found), {"killed", "survived"})
            self.assertEqual(set(mutate.Results(path, "code", "other").found), {"killed"})
            self.assertEqual(set(mutate.Results(path, "other", "tests").found), set())


PROGRAM = """#!/bin/sh
case $1 in
  --list*) printf 'adds, up\\nis slow\\n' ;;
  'adds\\, up') [ "$BAGWISE_MUTANT" != 7 ]; status=$?; [ -z "$BAGWISE_MUTANT_TRACE" ] || echo 7 8 >"$BAGWISE_MUTANT_TRACE"; exit $status ;;
  'is slow') [ "$BAGWISE_MUTANT" != 8 ] || while :; do :; done ;;
  *) exit 9 ;;
esac
"""


class Running(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        quick = unittest.mock.patch.object(mutant_runs, "CPU_FLOOR", 1)
        quick.start()
        self.addCleanup(quick.stop)
        self.program = Path(self.folder.name) / "test_x"
        self.program.write_text(PROGRAM)
        os.chmod(self.program, stat.S_IRWXU)

    def test_cases_by_name(self):
        self.assertEqual(mutant_runs.names_of(self.program), ["adds, up", "is slow"])
        self.assertEqual(mutant_runs.pattern_of("a, [b] *c"), "a\\, \\[b\\] \\*c")

    def test_what_kills_a_mutant(self):
        work = Path(self.folder.name) / "work"
        first = mutant_runs.traced(str(self.program), "adds, up", work)
        self.assertEqual(first.reached, {7, 8})
        slow = mutant_runs.Case(str(self.program), "is slow", 0.0, frozenset({8}))
        self.assertEqual(mutant_runs.killer(7, [first, slow], work), ("test_x/adds, up", "fails"))
        self.assertEqual(mutant_runs.killer(8, [first, slow], work), ("test_x/is slow", "is too slow"))
        self.assertIsNone(mutant_runs.killer(9, [first, slow], work))
        self.assertIsNone(mutant_runs.killer(9, [], work))

    def test_a_case_that_fails_by_itself_is_an_error(self):
        with self.assertRaises(RuntimeError):
            mutant_runs.traced(str(self.program), "unknown", Path(self.folder.name) / "work")


if __name__ == "__main__":
    unittest.main()
