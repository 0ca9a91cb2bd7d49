#!/usr/bin/python3
"""Tests of check_layers.py on made-up trees."""

import tempfile
import unittest
from pathlib import Path

import check_layers

HEADER = "// Says what it holds.\n#pragma once\n"


class Tree(unittest.TestCase):
    def faults(self, files):
        """The faults of a tree made of `files` (path -> text), as "path:line: message"."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found, _ = check_layers.check_tree(folder)
            return [f"{path}:{line}: {message}" for path, line, message in found]

    def one_fault(self, files, expected):
        found = self.faults(files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_clean_tree_has_no_fault(self):
        self.assertEqual(self.faults({
            "src/bagwise/core/a.h": HEADER,
            "src/bagwise/bags/b.cpp": '#include "bagwise/core/a.h"\n#include <vector>\n',
            "src/bagwise/bags/b_test.cpp": '#include <catch2/catch.hpp>\n#include "support/temp_dir.h"\n',
            "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include <iostream>\n#include "bagwise/report/x.h"\n',
            "mpi/m.cpp": '#include <mpi.h>\n#include "bagwise/comm/communicator.h"\n',
        }), [])

    def test_a_solver_must_not_know_bags(self):
        self.one_fault({"src/bagwise/solver/x.h": HEADER + '#include "bagwise/bags/b.h"\n'},
                       "src/bagwise/solver/x.h:3: solver must not include bags")

    def test_every_module_is_kept_from_those_above_it(self):
        order = list(check_layers.MAY_INCLUDE)
        for i, low in enumerate(order):
            for high in order[i + 1:]:
                self.one_fault({f"src/bagwise/{low}/x.cpp": f'#include "bagwise/{high}/y.h"\n'},
                               f"{low} must not include {high}")

    def test_the_rule_holds_for_tests_too(self):
        self.one_fault({"src/bagwise/data/x_test.cpp": '#include "bagwise/methods/m.h"\n'},
                       "data must not include methods")

    def test_mpi_sees_comm_but_no_method(self):
        self.one_fault({"mpi/x.cpp": '#include "bagwise/methods/m.h"\n'}, "mpi must not include methods")

    def test_internal_headers_stay_in_their_module(self):
        self.assertEqual(self.faults({
            "src/bagwise/solver/x.cpp": '#include "bagwise/solver/internal/y.h"\n',
            "src/bagwise/methods/inv_cal/x.cpp": '#include "bagwise/methods/inv_cal/internal/y.h"\n'}), [])
        self.one_fault({"src/bagwise/methods/x.cpp": '#include "bagwise/solver/internal/y.h"\n'},
                       "is internal to solver")
        self.one_fault({"bench/b/x.cpp": '#include "bagwise/solver/internal/y.h"\n'}, "is internal to solver")
        self.one_fault({"tests/b/x.cpp": '#include "bagwise/solver/internal/y.h"\n'}, "is internal to solver")
        # Harnesses read by whatever reads in the program.
        self.assertEqual(self.faults({"tests/fuzz/x.cpp": '#include "bagwise/solver/internal/y.h"\n'}), [])

    def test_mpi_h_and_cli11_have_one_home(self):
        self.one_fault({"src/bagwise/comm/x.cpp": "#include <mpi.h>\n"}, "belongs to mpi only")
        self.one_fault({"src/bagwise/report/x.cpp": "#include <CLI/CLI.hpp>\n"}, "belongs to cli only")

    def test_catch_belongs_to_tests(self):
        self.one_fault({"src/bagwise/core/x.cpp": "#include <catch2/catch.hpp>\n"}, "belongs to tests only")

    def test_the_library_is_silent(self):
        for line in ("#include <iostream>", "std::cerr << 1;", 'fmt::print("x");', 'std::printf("x");',
                     'printf("x");', 'puts("x");'):
            found = self.faults({"src/bagwise/core/x.cpp": line + "\n"})
            self.assertEqual(len(found), 1, (line, found))

    def test_the_library_neither_ends_nor_throws_nor_rolls_dice(self):
        for line in ("std::exit(1);", "abort();", "throw std::runtime_error(x);", "#include <random>", "rand();",
                     "std::random_device d;", "auto* p = new int;"):
            found = self.faults({"src/bagwise/core/x.cpp": line + "\n"})
            self.assertEqual(len(found), 1, (line, found))
        self.assertEqual(self.faults({"src/bagwise/core/x.cpp": "throw std::bad_alloc();\nfile.print(1);\n"}), [])

    def test_what_is_caught_in_its_own_file_may_be_thrown(self):
        self.assertEqual(self.faults({"src/bagwise/core/x.cpp": "throw Fault{1};\n} catch (const Fault& fault) {\n"}), [])
        self.one_fault({"src/bagwise/core/x.cpp": "throw Fault{1};\n} catch (const Other& fault) {\n"}, "throw Fault")

    def test_comments_and_strings_are_not_code(self):
        self.assertEqual(self.faults({"src/bagwise/core/x.cpp": "\n".join([
            "// std::cout << new thing; throw it", "/* printf(", " */", 'auto s = "abort() \\" std::cerr";',
            'auto r = R"(exit(1))";', "int n = 1'000'000;", ""])}), [])

    def test_code_after_a_comment_is_seen(self):
        self.one_fault({"src/bagwise/core/x.cpp": "/* a\n b */ abort();\n"}, "x.cpp:2:")
        self.one_fault({"src/bagwise/core/x.cpp": 'auto r = R"(\n\n)"; abort();\n'}, "x.cpp:3:")

    def test_tests_may_throw_and_print(self):
        self.assertEqual(self.faults({"src/bagwise/core/x_test.cpp": "throw 1; std::cout << 1;\n"}), [])

    def test_own_headers_are_named_from_the_root_in_quotes(self):
        self.one_fault({"src/bagwise/core/x.cpp": '#include "result.h"\n'}, "from the include root")
        self.one_fault({"src/bagwise/core/x.cpp": "#include <bagwise/core/result.h>\n"}, "with quotes")

    def test_long_files_are_forbidden(self):
        self.assertEqual(self.faults({"src/bagwise/core/x.cpp": "\n" * 1000}), [])
        self.one_fault({"src/bagwise/core/x.cpp": "\n" * 1001}, "1001 lines")

    def test_sources_are_ascii(self):
        self.one_fault({"cli/x.cpp": "int a;  // caf\u00e9\n"}, "is not ASCII")

    def test_headers_say_what_they_hold(self):
        self.one_fault({"src/bagwise/core/x.h": "#pragma once\n"}, "the first line of a header")
        self.one_fault({"src/bagwise/core/x.h": "// Says.\n"}, "no #pragma once")

    def test_names_of_tests(self):
        good = 'TEST_CASE("x: it holds, mostly", "[core][x]") {}\nTEST_CASE("x: so does\\" this",\n          "[core]") {}\n'
        self.assertEqual(self.faults({"src/bagwise/core/x_test.cpp": good}), [])
        for bad in ('TEST_CASE("x: in [0, 1)", "[core]")', 'TEST_CASE("x: a; b", "[core]")', 'TEST_CASE("It works", "[core]")',
                    'TEST_CASE("x: no tags")'):
            self.assertEqual(len(self.faults({"src/bagwise/core/x_test.cpp": "\n" + bad + " {}\n"})), 1, bad)

    def test_unknown_modules_are_named(self):
        self.one_fault({"src/bagwise/utils/x.cpp": "\n"}, "utils is no module")
        self.one_fault({"cli/x.cpp": '#include "bagwise/utils/x.h"\n'}, "there is no module utils")

    def test_link_lines_say_the_same(self):
        lines = "".join(f"bagwise_module({m})\n" for m in check_layers.MAY_INCLUDE)
        self.assertEqual(list(check_layers.link_faults(lines)), [])
        wrong = lines.replace("(solver)", "(solver PUBLIC bagwise::core PRIVATE bagwise::bags)")
        self.assertEqual(list(check_layers.link_faults(wrong)), [(1, "solver must not link bags")])
        forgotten = lines.replace("bagwise_module(data)\n", "# bagwise_module(data)\n")
        self.assertEqual(list(check_layers.link_faults(forgotten)), [(1, "module data has no bagwise_module() line")])


if __name__ == "__main__":
    unittest.main()
