"""Tests of what the build back end (python/build_backend.py) works out by itself, without building."""

import importlib.util
import os
import re
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load():
    spec = importlib.util.spec_from_file_location("build_backend", ROOT / "python" / "build_backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


backend = load()


def words_of(call, *arguments):
    """What the back end says as it gives up."""
    with pytest.raises(SystemExit) as end:
        call(*arguments)
    return str(end.value)


def test_the_version_is_that_of_the_project_line():
    assert backend.version_in("# project(bagwise VERSION 9)\nproject(bagwise VERSION 1.2.3 LANGUAGES CXX)\n") == "1.2.3"
    assert backend.version_in("project(bagwise\n        VERSION 0.10)") == "0.10"
    assert "has no project(bagwise VERSION" in words_of(backend.version_in, "project(other VERSION 1)")


@pytest.mark.parametrize("soabi, platform, tag", [
    ("cpython-311-x86_64-linux-gnu", "linux-x86_64", "cp311-cp311-linux_x86_64"),
    ("cpython-39-aarch64-linux-gnu", "linux-aarch64", "cp39-cp39-linux_aarch64"),
    ("cpython-313t-x86_64-linux-gnu", "linux-x86_64", "cp313-cp313t-linux_x86_64"),
    ("cpython-312-darwin", "macosx-11.0-arm64", "cp312-cp312-macosx_11_0_arm64"),
])
def test_tags_name_the_interpreter_its_abi_and_the_platform(soabi, platform, tag):
    assert backend.wheel_tag(soabi, platform) == tag


def test_another_python_than_cpython_is_refused():
    assert 'pypy39-pp73"; expected CPython' in words_of(backend.wheel_tag, "pypy39-pp73", "linux-x86_64")


def test_metadata_has_the_fields_of_the_project_and_the_description():
    fields = {"name": "n", "description": "s", "keywords": ["a b", "c"], "authors": [{"name": "x"}, {"name": "y"}],
              "license": "MIT", "license-files": ["LICENSE", "NOTICE"], "classifiers": ["A :: B"],
              "requires-python": ">=3.9", "dependencies": ["numpy>=1"],
              "optional-dependencies": {"plot": ["m>=3", "k"], "none": []}}
    message = Parser().parsestr(backend.metadata(fields, "1.5", "# Title\n\nLast: line.\n"))
    assert (message["Name"], message["Version"], message["Summary"]) == ("n", "1.5", "s")
    assert (message["Keywords"], message["Author"], message["License-Expression"]) == ("a b,c", "x, y", "MIT")
    assert message.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert message.get_all("Requires-Dist") == ["numpy>=1", 'm>=3; extra == "plot"', 'k; extra == "plot"']
    assert message.get_all("Provides-Extra") == ["plot", "none"]
    assert message.get_payload() == "# Title\n\nLast: line.\n"


def test_settings_are_read_and_unknown_ones_refused():
    assert backend.cmake_arguments({"cmake-args": "-DA=1 '-DB=two words'"}) == ["-DA=1", "-DB=two words"]
    assert backend.cmake_arguments({"cmake-args": ["-DA=1", "-DB=2 -DC=3"]}) == ["-DA=1", "-DB=2", "-DC=3"]
    assert backend.cmake_arguments({}) == []
    assert backend.one({"build-dir": ["a", "b"]}, "build-dir") == "b"
    assert '"build-folder" is no setting of this build; expected one of build-dir, cmake-args, jobs' in words_of(
        backend.checked, {"build-folder": "x"})


def test_jobs_are_those_asked_for_or_all_cores(monkeypatch):
    monkeypatch.delenv("CMAKE_BUILD_PARALLEL_LEVEL", raising=False)
    assert backend.jobs({"jobs": "3"}) == 3
    assert backend.jobs({}) == os.cpu_count()
    monkeypatch.setenv("CMAKE_BUILD_PARALLEL_LEVEL", "5")
    assert backend.jobs({}) == 5
    assert backend.jobs({"jobs": "3"}) == 3
    assert 'jobs is "0"; expected a whole number of at least 1' in words_of(backend.jobs, {"jobs": "0"})
    assert 'jobs is "many"' in words_of(backend.jobs, {"jobs": "many"})


@pytest.mark.parametrize("said, package", [
    ('  Could not find a package configuration file provided by "Eigen3" (requested\n', "libeigen3-dev"),
    ('CMake Error:\n  By not providing "Findfmt.cmake" in CMAKE_MODULE_PATH this project has\n'
     '  asked CMake to find a package configuration file provided by "fmt", but\n', "libfmt-dev"),
    ("  Could NOT find BagwiseZstd (missing: ZSTD_LIBRARY ZSTD_INCLUDE_DIR)\n", "libzstd-dev"),
    ("  Could NOT find Python (missing: Python_INCLUDE_DIRS Development.Module)\n", "python3-dev"),
    ("  No CMAKE_CXX_COMPILER could be found.\n", "g++"),
])
def test_a_library_that_cmake_misses_is_named_by_its_package(said, package):
    assert f"apt-get install {package}\n" in backend.advice("-- Found something\n" + said)


def test_other_failures_bring_no_advice():
    assert backend.advice("x.cpp:1: error: No such thing\nninja: build stopped\n") == ""


def test_every_package_that_the_build_looks_for_has_advice():
    text = "".join((ROOT / folder / "CMakeLists.txt").read_text() for folder in (".", "cli", "python"))
    looked_for = set(re.findall(r"find_package\((\w+)", text)) - {"Catch2", "Threads"}
    assert looked_for <= set(backend.DEBIAN_PACKAGES)


def test_the_wheel_is_the_same_whenever_it_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    files = {"p-1.dist-info/METADATA": b"m", "p/b.py": b"b", "p/a.so": b"\0a", "p/\u00e4,\".py": b""}
    for name in ("one", "two"):
        backend.write_wheel(tmp_path / name, files if name == "one" else dict(reversed(files.items())), "p-1.dist-info")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with zipfile.ZipFile(tmp_path / "one") as wheel:
        assert wheel.namelist() == ["p/a.so", "p/b.py", "p/\u00e4,\".py", "p-1.dist-info/METADATA",
                                    "p-1.dist-info/RECORD"]
        record = wheel.read("p-1.dist-info/RECORD").decode().splitlines()
        # sha256 of "b", as sha256sum and basenc --base64url give it.
        assert record[1] == "p/b.py,sha256=PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0,1"
        assert record[2].startswith('"p/\u00e4,"".py",sha256=')
        assert record[-1] == "p-1.dist-info/RECORD,,"
        assert [oct(entry.external_attr >> 16) for entry in wheel.infolist()[:2]] == ["0o100755", "0o100644"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    backend.write_wheel(tmp_path / "later", files, "p-1.dist-info")
    with zipfile.ZipFile(tmp_path / "later") as wheel:
        assert wheel.infolist()[0].date_time == (2020, 9, 13, 12, 26, 40)


def test_a_folder_without_git_gives_all_but_what_was_built(tmp_path):
    for name in ("a.txt", "src/b.cpp", "src/__pycache__/b.pyc", "build/x.o", "out/CMakeCache.txt", "out/y.o",
                 "venv/pyvenv.cfg", "venv/z.py", ".clang-tidy", "PKG-INFO"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    names = backend.source_files(tmp_path)
    assert names == [".clang-tidy", "a.txt", "src/b.cpp"]
    (tmp_path / "a.txt").chmod(0o700)
    for time, name in enumerate(("one", "two")):
        os.utime(tmp_path / "a.txt", (time, time))
        backend.write_archive(tmp_path / name, tmp_path, names, "p-1", b"info")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with tarfile.open(tmp_path / "one") as archive:
        assert archive.getnames() == ["p-1/PKG-INFO", "p-1/.clang-tidy", "p-1/a.txt", "p-1/src/b.cpp"]
        assert archive.extractfile("p-1/PKG-INFO").read() == b"info"
        assert [(entry.mode, entry.uid) for entry in archive][2:] == [(0o755, 0), (0o644, 0)]


def test_what_cmake_remembers_is_read(tmp_path):
    assert backend.cache_of(tmp_path) == {}
    (tmp_path / "CMakeCache.txt").write_text("# a comment: X=1\n//Help\nBAGWISE_PYTHON:BOOL=ON\n"
                                             "CMAKE_HOME_DIRECTORY:INTERNAL=/a b/c\nEMPTY:STRING=\n")
    assert backend.cache_of(tmp_path) == {"BAGWISE_PYTHON": "ON", "CMAKE_HOME_DIRECTORY": "/a b/c", "EMPTY": ""}


def test_a_build_folder_that_does_not_fit_is_refused(tmp_path):
    cache = tmp_path / "CMakeCache.txt"
    cache.write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\nBAGWISE_PYTHON:BOOL=ON\n")
    assert "belongs to /elsewhere; expected a build folder of" in words_of(backend.configure, tmp_path, {})
    cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\nBAGWISE_PYTHON:BOOL=OFF\n")
    assert "was configured without -DBAGWISE_PYTHON=ON" in words_of(backend.configure, tmp_path, {})


def test_a_tool_that_fails_ends_the_build_with_its_words(capfd):
    failing = [sys.executable, "-c", "print('Could NOT find ZLIB (missing: x)'); raise SystemExit(3)"]
    message = words_of(backend.run, *failing)
    assert "ended with status 3" in message and "apt-get install zlib1g-dev" in message
    assert "Could NOT find ZLIB" in capfd.readouterr().out
    assert "no-such-tool cannot be run" in words_of(backend.run, "no-such-tool")


def test_only_what_is_missing_is_asked_for(monkeypatch):
    monkeypatch.setattr(backend, "has_pybind11", lambda: True)
    said = {"cmake": "cmake version 3.25.1", "ninja": "1.11"}
    monkeypatch.setattr(backend, "output_of", lambda name, *_: said[name])
    assert [name for name in backend.get_requires_for_build_wheel() if name != "tomli"] == []
    said.update(cmake="cmake version 3.9.0", ninja="")
    monkeypatch.setattr(backend, "has_pybind11", lambda: False)
    assert [name.split(">")[0] for name in backend.get_requires_for_build_wheel() if name != "tomli"] == [
        "cmake", "ninja", "pybind11"]
