"""What pip calls to make bagwise's wheel and source archive: CMake compiles, this file packs.

Only the standard library is needed. CMake, Ninja and pybind11 are taken from the system where it has them, so that
nothing is downloaded on a Debian with its packages; pip is asked for those that are missing.

Settings (pip's --config-settings NAME=VALUE):
  build-dir   a build folder to use and keep. One that CMake has configured already is taken as it is.
  cmake-args  further arguments for the configuring cmake, as a shell would split them
  jobs        how many compilers run at once; all cores unless told
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, Optional, Union

Settings = Optional[dict[str, Union[str, list[str]]]]

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ("build-dir", "cmake-args", "jobs")
CMAKE_MINIMUM = (3, 25)
# 2.10 is Debian's and goes with its numpy 1; CPython 3.12 changed what older ones rely on. What pip is asked for knows
# numpy 2 as well.
PYBIND11_MINIMUM = "2.10" if sys.version_info < (3, 12) else "2.13"
PYBIND11_WANTED = "2.13"
# What CMake looks for, and the Debian package that has it.
DEBIAN_PACKAGES = {
    "BagwiseOpenBLAS": "libopenblas-dev",
    "BagwiseXxHash": "libxxhash-dev",
    "BagwiseZstd": "libzstd-dev",
    "CLI11": "libcli11-dev",
    "CMAKE_CXX_COMPILER": "g++",
    "Eigen3": "libeigen3-dev",
    "FastFloat": "libfast-float-dev",
    "LibArchive": "libarchive-dev",
    "Python": "python3-dev",
    "ZLIB": "zlib1g-dev",
    "fmt": "libfmt-dev",
    "nlohmann_json": "nlohmann-json3-dev",
    "pybind11": "pybind11-dev",
}
TOOLS = ("CMAKE_COMMAND", "CMAKE_MAKE_PROGRAM", "pybind11_DIR")  # as CMake remembers them
FIRST_ZIP_TIME = 315532800  # 1980: a zip file knows nothing earlier
SKIPPED_FOLDERS = {".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "build", "dist"}


def fail(message: str) -> NoReturn:
    """Ends with words for the user, without a traceback."""
    raise SystemExit(f"bagwise: {message}")


# Settings


def checked(settings: Settings) -> dict[str, Union[str, list[str]]]:
    unknown = sorted(set(settings or {}) - set(SETTINGS))
    if unknown:
        fail(f'"{unknown[0]}" is no setting of this build; expected one of {", ".join(SETTINGS)}')
    return dict(settings or {})


def one(settings: dict[str, Union[str, list[str]]], name: str) -> Optional[str]:
    """A setting that has one value; pip makes a list of one that is given twice, the last counts."""
    value = settings.get(name)
    return value[-1] if isinstance(value, list) else value


def cmake_arguments(settings: dict[str, Union[str, list[str]]]) -> list[str]:
    value = settings.get("cmake-args", [])
    return [word for text in ([value] if isinstance(value, str) else value) for word in shlex.split(text)]


def jobs(settings: dict[str, Union[str, list[str]]]) -> int:
    text = one(settings, "jobs") or os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
    if not text.isdecimal() or int(text) < 1:
        fail(f'jobs is "{text}"; expected a whole number of at least 1')
    return int(text)


# What the project says of itself


def project() -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # before Python 3.11; asked for below
        import tomli as tomllib
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version_in(text: str) -> str:
    """The version that project() of a CMakeLists.txt gives."""
    found = re.search(r"^project\(\s*bagwise\s+VERSION\s+([0-9]+(?:\.[0-9]+)*)", text, re.MULTILINE)
    if not found:
        fail("CMakeLists.txt has no project(bagwise VERSION ...)")
    return found[1]


def version() -> str:
    return version_in((ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))


def metadata(fields: dict[str, Any], release: str, description: str) -> str:
    """The text of METADATA and PKG-INFO, from the fields of [project]."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {fields['name']}",
        f"Version: {release}",
        f"Summary: {fields['description']}",
        f"Keywords: {','.join(fields['keywords'])}",
        f"Author: {', '.join(author['name'] for author in fields['authors'])}",
        f"License-Expression: {fields['license']}",
        *(f"License-File: {name}" for name in fields["license-files"]),
        *(f"Classifier: {name}" for name in fields["classifiers"]),
        f"Requires-Python: {fields['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in fields["dependencies"]),
    ]
    for extra, requirements in fields["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requirements]
    lines += ["Description-Content-Type: text/markdown; charset=UTF-8", "", description]
    return "\n".join(lines)


def metadata_text() -> str:
    fields = project()
    return metadata(fields, version(), (ROOT / fields["readme"]).read_text(encoding="utf-8"))


def wheel_tag(soabi: str, platform: str) -> str:
    """Of "cpython-311-x86_64-linux-gnu" and "linux-x86_64": cp311-cp311-linux_x86_64."""
    found = re.match(r"cpython-((\d+)\w*)", soabi)
    if not found:
        fail(f'Python calls its compiled modules "{soabi}"; expected CPython')
    return f"cp{found[2]}-cp{found[1]}-{re.sub('[^a-zA-Z0-9]', '_', platform)}"


def own_tag() -> str:
    return wheel_tag(sysconfig.get_config_var("SOABI") or "", sysconfig.get_platform())


def info_files() -> dict[str, bytes]:
    """What the .dist-info folder has besides RECORD."""
    files = {
        "METADATA": metadata_text().encode(),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: bagwise\nRoot-Is-Purelib: false\nTag: {own_tag()}\n".encode(),
    }
    for name in project()["license-files"]:
        files[f"licenses/{name}"] = (ROOT / name).read_bytes()
    return files


def stem() -> str:
    return f"{project()['name']}-{version()}"


# Packing: same input, same bytes


def seconds() -> int:
    """The time that all files in an archive have."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH") or 0), FIRST_ZIP_TIME)


def record_line(name: str, content: bytes) -> list[str]:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", str(len(content))]


def write_wheel(path: Path, files: dict[str, bytes], info: str) -> None:
    """`files` by name, those of the folder `info` last as installers like it, and a RECORD of all."""
    names = sorted(files, key=lambda name: (name.startswith(info), name))
    text = io.StringIO()
    record = csv.writer(text, lineterminator="\n")
    record.writerows(record_line(name, files[name]) for name in names)
    record.writerow([f"{info}/RECORD", "", ""])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in [*((name, files[name]) for name in names), (f"{info}/RECORD", text.getvalue().encode())]:
            entry = zipfile.ZipInfo(name, time.gmtime(seconds())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            wheel.writestr(entry, content)


def packed(directory: str, files: dict[str, bytes]) -> str:
    """Writes the wheel of `files` and of what the project says; its name."""
    info = f"{stem()}.dist-info"
    name = f"{stem()}-{own_tag()}.whl"
    write_wheel(Path(directory, name), {**files, **{f"{info}/{n}": c for n, c in info_files().items()}}, info)
    return name


def files_of_git(root: Path) -> list[str]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    return [name for name in os.fsdecode(run.stdout).split("\0") if name and (root / name).is_file()]


def files_of_folder(root: Path) -> Iterator[str]:
    """All files below a folder, without those that come of building or running."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and not name.endswith(".egg-info")
                      and not any(Path(folder, name, mark).exists() for mark in ("CMakeCache.txt", "pyvenv.cfg"))]
        yield from (Path(folder, name).relative_to(root).as_posix() for name in names)


def source_files(root: Path) -> list[str]:
    """What belongs into the source archive: what git tracks, or all where there is no git."""
    try:
        names: Iterable[str] = files_of_git(root) if (root / ".git").exists() else files_of_folder(root)
    except (OSError, subprocess.CalledProcessError):
        names = files_of_folder(root)
    return sorted(set(names) - {"PKG-INFO"})


def write_archive(path: Path, root: Path, names: Iterable[str], top: str, info: bytes) -> None:
    """A source archive: files of `root` below `top`, and PKG-INFO."""
    def clean(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = seconds()
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=seconds()) as zipped, \
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(f"{top}/PKG-INFO")
        entry.size = len(info)
        archive.addfile(clean(entry), io.BytesIO(info))
        for name in names:
            archive.add(root / name, f"{top}/{name}", recursive=False, filter=clean)


# The tools there are


def output_of(*command: str) -> str:
    """What a command prints; nothing where it is missing or fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return run.stdout if run.returncode == 0 else ""


def has_cmake() -> bool:
    found = re.search(r"version (\d+)\.(\d+)", output_of("cmake", "--version"))
    return found is not None and (int(found[1]), int(found[2])) >= CMAKE_MINIMUM


def has_ninja() -> bool:
    return bool(output_of("ninja", "--version"))


def pybind11_folder() -> Optional[str]:
    """The folder with pybind11's CMake files, where pybind11 is a package of this Python."""
    if importlib.util.find_spec("pybind11") is None:
        return None
    import pybind11

    return pybind11.get_cmake_dir()


def has_pybind11() -> bool:
    """Whether this Python has pybind11, or CMake knows a place that has it."""
    if pybind11_folder():
        return True
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(look NONE)\nset(PYBIND11_NOPYTHON ON)\n"
            f"find_package(pybind11 {PYBIND11_MINIMUM} CONFIG REQUIRED)\nmessage(STATUS found)\n", encoding="utf-8")
        generator = ["-GNinja"] if has_ninja() else []
        return "found" in output_of("cmake", "-S", folder, "-B", f"{folder}/build", *generator)


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    checked(config_settings)
    wanted = []
    if sys.version_info < (3, 11) and importlib.util.find_spec("tomli") is None:
        wanted.append("tomli")
    if not has_cmake():
        wanted.append("cmake>=" + ".".join(map(str, CMAKE_MINIMUM)))
    if not has_ninja():
        wanted.append("ninja")
    if not has_pybind11():
        wanted.append(f"pybind11>={PYBIND11_WANTED}")
    return wanted


# Compiling


def advice(log: str) -> str:
    """What to do about a library that CMake did not find, or nothing."""
    named = re.findall(r"""(?:Could\ NOT\ find|provided\ by|No)\s+"?(\w+)""", log, re.VERBOSE)
    missing = next((name for name in named if name in DEBIAN_PACKAGES), None)
    if missing is None:
        return ""
    return (f"\n{missing} is missing. On Debian and its kin: apt-get install {DEBIAN_PACKAGES[missing]}\n"
            f"All that the build needs: {' '.join(sorted({'cmake', 'ninja-build', *DEBIAN_PACKAGES.values()}))}")


def run(*command: Union[str, Path]) -> None:
    """Runs a tool and passes on what it prints; ends with advice where it fails."""
    words = [str(word) for word in command]
    print("+ " + shlex.join(words), flush=True)
    log = []
    try:
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace") as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                log.append(line)
    except OSError as error:
        fail(f"{words[0]} cannot be run: {error.strerror}")
    if process.returncode != 0:
        fail(f"{shlex.join(words[:2])} ... ended with status {process.returncode}; what it said stands above"
             f"{advice(''.join(log))}")


def cache_of(build: Path) -> dict[str, str]:
    """What CMake remembers of a build folder; empty if it is none yet."""
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        return {}
    text = cache.read_text(encoding="utf-8", errors="replace")
    return {name: value for name, value in re.findall(r"^([^#/\n:]+):[A-Z]+=(.*)$", text, re.MULTILINE)}


def configure(build: Path, settings: dict[str, Union[str, list[str]]]) -> None:
    """Makes `build` a build folder of this tree and Python, or checks that it is one."""
    cache = cache_of(build)
    if not cache:
        arguments = ["-DCMAKE_BUILD_TYPE=Release", "-DBAGWISE_PYTHON=ON", "-DBAGWISE_DEVELOPER=OFF",
                     "-DBAGWISE_UNITY=ALL", f"-DPython_EXECUTABLE={sys.executable}",
                     f"-DPython3_EXECUTABLE={sys.executable}"]
        if has_ninja():
            arguments.append("-GNinja")
    elif Path(cache["CMAKE_HOME_DIRECTORY"]).resolve() != ROOT:
        fail(f"build-dir {build} belongs to {cache['CMAKE_HOME_DIRECTORY']}; expected a build folder of {ROOT}")
    elif cache.get("BAGWISE_PYTHON") not in ("ON", "1", "TRUE", "YES"):
        fail(f"build-dir {build} was configured without -DBAGWISE_PYTHON=ON")
    elif not cmake_arguments(settings) and all(Path(cache[name]).exists() for name in TOOLS):
        return
    else:  # what pip got for the last build is gone by now
        arguments = [f"-DCMAKE_MAKE_PROGRAM={shutil.which(Path(cache['CMAKE_MAKE_PROGRAM']).name) or ''}"]
    folder = pybind11_folder()
    if folder:
        arguments.append(f"-Dpybind11_DIR={folder}")
    run("cmake", "-S", ROOT, "-B", build, *arguments, *cmake_arguments(settings))


@contextmanager
def build_folder(settings: dict[str, Union[str, list[str]]], default: Optional[Path] = None) -> Iterator[Path]:
    """The folder to build in: the one asked for, or `default`, or one that is deleted afterwards."""
    asked = one(settings, "build-dir")
    kept = Path(asked).resolve() if asked else default
    if kept:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="bagwise-build-") as folder:
        yield Path(folder)


def compile_module(build: Path, settings: dict[str, Union[str, list[str]]]) -> None:
    configure(build, settings)
    run("cmake", "--build", build, "--target", "bagwise_python", "-j", str(jobs(settings)))


def staged(build: Path) -> dict[str, bytes]:
    """The files of the package by their names, the module stripped."""
    with tempfile.TemporaryDirectory() as stage:
        run("cmake", "--install", build, "--component", "python", "--prefix", stage, "--strip")
        files = {name: Path(stage, name).read_bytes() for name in sorted(files_of_folder(Path(stage)))}
    module = "bagwise/_core" + sysconfig.get_config_var("EXT_SUFFIX")
    if module not in files:
        found = ", ".join(name for name in files if name.startswith("bagwise/_core.") and name != "bagwise/_core.pyi")
        fail(f"build-dir {build} was built for another Python: it has {found or 'no module'}; expected {module}")
    return files


# The hooks of PEP 517 and PEP 660


def write_info(directory: str) -> str:
    info = f"{stem()}.dist-info"
    for name, content in info_files().items():
        path = Path(directory, info, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return info


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    checked(config_settings)
    return write_info(metadata_directory)


def build_wheel(wheel_directory: str, config_settings: Settings = None,
                metadata_directory: Optional[str] = None) -> str:
    settings = checked(config_settings)
    with build_folder(settings) as build:
        compile_module(build, settings)
        return packed(wheel_directory, staged(build))


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    checked(config_settings)
    return ["tomli"] if sys.version_info < (3, 11) and importlib.util.find_spec("tomli") is None else []


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    checked(config_settings)
    name = f"{stem()}.tar.gz"
    write_archive(Path(sdist_directory, name), ROOT, source_files(ROOT), stem(), metadata_text().encode())
    return name


# An editable install is a path to the build folder: the Python files there are links into the tree.
get_requires_for_build_editable = get_requires_for_build_wheel
prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_editable(wheel_directory: str, config_settings: Settings = None,
                   metadata_directory: Optional[str] = None) -> str:
    settings = checked(config_settings)
    with build_folder(settings, ROOT / "build" / "editable") as build:
        compile_module(build, settings)
        return packed(wheel_directory, {"bagwise-editable.pth": f"{build / 'python'}\n".encode()})
