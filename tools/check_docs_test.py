#!/usr/bin/python3
"""Tests of check_docs.py on made-up documents."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_docs


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_blocks(self, text):
        """(passed, failed, what was said) for a document's blocks."""
        (self.root / "python/bagwise").mkdir(parents=True, exist_ok=True)
        runner = check_docs.Runner(None, python=self.root / "python")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            runner.document(self.write("d.md", text), self.root)
        return runner.passed, runner.failed, said.getvalue()

    def links(self, text):
        return list(check_docs.link_faults(self.write("docs/d.md", text), self.root))


class Blocks(Documents):
    def test_fences_are_found_with_their_words_and_lines(self):
        found = check_docs.blocks("a\n```sh exit=2\nx\ny\n```\n\n~~~\n```\n~~~\n")
        self.assertEqual([(b.line, b.words, b.text) for b in found], [(2, ["sh", "exit=2"], "x\ny\n"), (7, [], "```\n")])

    def test_blocks_of_a_document_share_a_folder(self):
        self.assertEqual(self.run_blocks("```sh\necho 1 > f\n```\n```sh\ntest -f f\n```\n")[:2], (2, 0))

    def test_a_failing_line_fails_the_block_even_if_it_is_not_the_last(self):
        passed, failed, said = self.run_blocks("```sh\nfalse\ntrue\n```\n")
        self.assertEqual((passed, failed), (0, 1))
        self.assertIn("d.md:1: exit status 1, expected 0", said)

    def test_an_expected_failure_must_happen(self):
        self.assertEqual(self.run_blocks("```sh exit=2\nexit 2\n```\n")[:2], (1, 0))
        self.assertEqual(self.run_blocks("```sh exit=2\ntrue\n```\n")[:2], (0, 1))

    def test_norun_and_other_languages_are_left_alone(self):
        self.assertEqual(self.run_blocks("```sh norun\nfalse\n```\n```text\nfalse\n```\n```cpp\nint x;\n```\n")[:2], (0, 0))

    def test_scripts_and_clones_are_not_run_again(self):
        self.assertEqual(self.run_blocks("```sh\ngit clone nowhere bagwise\ncd bagwise\nscripts/demo\n```\n")[:2], (0, 0))
        self.assertEqual(self.run_blocks("```sh\nscripts/nothing\ntrue\n```\n")[:2], (1, 0))

    def test_shown_output_is_compared(self):
        block = "```sh\nprintf 'a 1\\nb\\nc\\n'\n```\n```text output\n%s\n```\n"
        for shown, failed in (("a 1\nb\nc", 0), ("a ...\nb\nc", 0), ("a 1\n...\nc", 0), ("...\nc", 0), ("a 1\n...", 0),
                              ("a 2\nb\nc", 1), ("a 1\nb", 1), ("b\n...", 1), ("a 1\nb\nc\nd", 1)):
            self.assertEqual(self.run_blocks(block % shown)[1], failed, shown)

    def test_decimals_may_differ_a_little_whole_numbers_may_not(self):
        for shown, printed, same in (("x  0.831", "x 0.8349", True), ("x 0.831", "x 0.85", False), ("-1.5e-3", "-0.0015", True),
                                     ("8 rows", "9 rows", False), ("x 2.5 (a) ... s", "x 2.51 (a) 0.3 s", True),
                                     ("v1.2.3", "v1.2.4", False), ("0.25,1", "0.25,0", False), ("0.0", "0.1", False)):
            self.assertEqual(check_docs.output_matches(shown + "\n", printed + "\n"), same, shown)

    def test_shown_output_can_be_rewritten(self):
        path = self.write("d.md", "```sh\necho 1; echo 2\n```\n```text output\nold\n```\nbetween\n"
                                  "```sh\necho 3\n```\n```text output\n...\n```\nend\n")
        with contextlib.redirect_stdout(io.StringIO()):
            check_docs.Runner(None, update=True).document(path, self.root)
        self.assertEqual(path.read_text(encoding="utf-8"),
                         "```sh\necho 1; echo 2\n```\n```text output\n1\n2\n```\nbetween\n"
                         "```sh\necho 3\n```\n```text output\n...\n```\nend\n")

    def test_an_empty_block_is_filled(self):
        path = self.write("d.md", "```sh\necho 1\n```\n```text output\n```\nend\n")
        with contextlib.redirect_stdout(io.StringIO()):
            check_docs.Runner(None, update=True).document(path, self.root)
        self.assertEqual(path.read_text(encoding="utf-8"), "```sh\necho 1\n```\n```text output\n1\n```\nend\n")

    def test_errors_may_be_shown_too(self):
        self.assertEqual(self.run_blocks("```sh exit=2\necho oh >&2; exit 2\n```\n```text output\noh\n```\n")[:2], (2, 0))

    def test_output_without_a_block_is_a_fault(self):
        self.assertEqual(self.run_blocks("```text output\na\n```\n")[:2], (0, 1))

    def test_an_unclosed_block_is_a_fault(self):
        self.assertEqual(self.run_blocks("```sh\ntrue\n")[:2], (0, 1))


class PythonBlocks(Documents):
    def test_blocks_of_a_document_share_a_session_and_the_folder_of_the_shell(self):
        self.assertEqual(self.run_blocks("```sh\necho 1 > f\n```\n```python\nx = int(open('f').read())\n```\n"
                                         "```py\nopen('g', 'w').write(str(x + 1))\n```\n```sh\ntest $(cat g) = 2\n```\n")[:2],
                         (4, 0))

    def test_documents_do_not_share_a_session(self):
        self.assertEqual(self.run_blocks("```python\nx = 1\n```\n")[:2], (1, 0))
        self.assertEqual(self.run_blocks("```python\nx\n```\n")[:2], (0, 1))

    def test_shown_output_is_that_of_the_block_before(self):
        block = "```python\nimport os\nprint('a')\nos.system('echo b')\n```\n```text output\n%s\n```\n"
        text = block.replace("print('a')", "print('a', flush=True)")
        self.assertEqual(self.run_blocks(text % "a\nb")[:2], (2, 0))
        self.assertEqual(self.run_blocks(text % "a")[:2], (1, 1))
        self.assertEqual(self.run_blocks("```python\nprint(0.8349)\n```\n```text output\n0.831\n```\n")[:2], (2, 0))
        two = "```python\nprint(1)\n```\n```python\nprint(2)\n```\n```text output\n2\n```\n"
        self.assertEqual(self.run_blocks(two)[:2], (3, 0))

    def test_what_goes_to_stderr_is_not_shown(self):
        text = "```python\nimport warnings\nwarnings.warn('oh')\nprint(1)\n```\n```text output\n1\n```\n"
        self.assertEqual(self.run_blocks(text)[:2], (2, 0))

    def test_an_exception_is_a_fault_with_the_line_of_the_document(self):
        passed, failed, said = self.run_blocks("a\n\n```python\nx = 1\nx / 0\n```\n```python\nprint(x)\n```\n")
        self.assertEqual((passed, failed), (1, 1))  # the session goes on
        self.assertIn("d.md:3: ", said)
        self.assertIn('d.md", line 5', said)
        self.assertIn("x / 0", said)
        self.assertIn("ZeroDivisionError", said)

    def test_a_fault_of_grammar_is_one_too(self):
        self.assertIn('d.md", line 2', self.run_blocks("```python\nx = = 1\n```\n")[2])

    def test_an_expected_exception_must_happen_and_can_be_shown(self):
        text = "```python raises\nprint(1)\n%s\n```\n```text output\n1\nValueError: no\n```\n"
        self.assertEqual(self.run_blocks(text % "raise ValueError('no')")[:2], (2, 0))
        self.assertEqual(self.run_blocks(text % "pass")[:2], (0, 2))

    def test_norun_is_left_alone(self):
        self.assertEqual(self.run_blocks("```python norun\nx\n```\n")[:2], (0, 0))

    def test_an_interpreter_that_ends_is_a_fault(self):
        passed, failed, said = self.run_blocks("```python\nimport os\nos._exit(0)\n```\n```python\n1\n```\n")
        self.assertEqual((passed, failed), (0, 2))
        self.assertIn("d.md:1: the interpreter ended within this block", said)

    def test_a_block_without_end_is_a_fault(self):
        self.addCleanup(setattr, check_docs, "TIME_LIMIT_SECONDS", check_docs.TIME_LIMIT_SECONDS)
        check_docs.TIME_LIMIT_SECONDS = 0.5
        self.assertEqual(self.run_blocks("```python\nimport time\ntime.sleep(60)\n```\n")[:2], (0, 1))

    def test_a_package_that_is_not_there_is_a_fault(self):
        said = io.StringIO()
        runner = check_docs.Runner(None, python=self.root / "nowhere")
        with contextlib.redirect_stdout(said):
            runner.document(self.write("d.md", "```python\n1\n```\n"), self.root)
        self.assertEqual((runner.passed, runner.failed), (0, 1))
        self.assertIn("there is no Python package bagwise in", said.getvalue())

    def test_the_package_is_found(self):
        self.write("python/bagwise/__init__.py", "x = 7\n")
        self.assertEqual(self.run_blocks("```python\nimport bagwise\nprint(bagwise.x)\n```\n```text output\n7\n```\n")[:2],
                         (2, 0))


class Links(Documents):
    def test_dead_links_are_found_with_their_line(self):
        self.assertEqual(self.links("a\n[x](gone.md)\n"), [(2, "gone.md leads nowhere")])
        self.assertEqual(self.links('<img src="gone.svg">\n'), [(1, "gone.svg leads nowhere")])
        self.assertEqual(self.links("[x]: gone.md\n"), [(1, "gone.md leads nowhere")])

    def test_living_links_are_fine(self):
        self.write("README.md", "# A b: c\n## A b: c\n")
        self.assertEqual(self.links("[x](../README.md) [y](../README.md#a-b-c) [z](#here) [w](/README.md#a-b-c-1) "
                                    "[u](https://x.org/y)\n\n# Here\n"), [])

    def test_a_heading_that_is_not_there(self):
        self.assertEqual(self.links("[x](#gone)\n# Here\n"), [(1, "#gone: no such heading in d.md")])

    def test_code_holds_no_links(self):
        self.assertEqual(self.links("`[x](gone)`\n```text\n[x](gone)\n```\n"), [])

    def test_comments_in_code_are_no_headings(self):
        self.assertEqual(len(self.links("[x](#note)\n```sh\n# note\n```\n")), 1)


class Changes(Documents):
    def test_names_and_contents_are_checked(self):
        self.write("changes/README.md", "")
        self.write("changes/first-light.added.md", "The first release.\n")
        self.assertEqual(list(check_docs.change_faults(self.root)), [])
        self.write("changes/Bad.txt", "x")
        self.write("changes/empty.fixed.md", "\n")
        self.assertEqual([p.name for p, _ in check_docs.change_faults(self.root)], ["Bad.txt", "empty.fixed.md"])


class Options(unittest.TestCase):
    PAGE = "| option | default |\n|---|---|\n| `--C` | 1 |\n| `--tube constant\\|calibrated` | constant |\ntext `--gone`\n"

    def test_tables_and_methods_agree(self):
        self.assertEqual(list(check_docs.option_faults(self.PAGE, ["C", "tube"])), [])

    def test_dashes_may_be_left_out_under_the_heading_option(self):
        page = "| option | |\n|---|---|\n| `C` | 1 |\n\n| symbol | |\n|---|---|\n| `w` | weights |\n"
        self.assertEqual(check_docs.documented_options(page), {"C": 3})

    def test_an_option_that_is_not_there(self):
        self.assertEqual(list(check_docs.option_faults(self.PAGE, ["C"])), [(4, "the method has no option --tube")])

    def test_an_option_that_is_not_documented(self):
        self.assertEqual(list(check_docs.option_faults(self.PAGE, ["C", "tube", "gap"])),
                         [(1, "option --gap is in no table of this page")])

    def test_both_shapes_of_the_listing_are_understood(self):
        methods = [{"name": "m", "options": [{"name": "C"}]}]
        self.assertEqual(check_docs.options_by_method(methods), {"m": ["C"]})
        self.assertEqual(check_docs.options_by_method({"methods": methods}), {"m": ["C"]})


if __name__ == "__main__":
    unittest.main()
