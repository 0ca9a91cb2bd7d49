"""Tests of the wheel, the source archive and an installed package, made by pip without a network.

BAGWISE_BUILD names the build folder whose module goes into them.
"""

import base64
import csv
import hashlib
import importlib.metadata
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("BAGWISE_BUILD") and os.path.abspath(os.environ["BAGWISE_BUILD"])

pytestmark = [
    pytest.mark.skipif(not BUILD, reason="BAGWISE_BUILD names no build folder"),
    pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="pip is not installed"),
    pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="not in the source tree"),
]


def environment(**more):
    """That of this process without what would lead pip to a network, or Python to the package as built."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    return {**kept, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull,
            "PYTHONDONTWRITEBYTECODE": "1", **more}


def pip(*arguments, **options):
    run = subprocess.run([sys.executable, "-m", "pip", *map(str, arguments)], capture_output=True, text=True,
                         env=environment(), check=False, **options)
    return run.returncode, run.stdout + run.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The path of a wheel that pip made, its own build environment and all."""
    folder = tmp_path_factory.mktemp("wheel")
    status, said = pip("wheel", "--no-deps", "--no-cache-dir", f"--config-settings=build-dir={BUILD}", "-w", folder,
                       ROOT)
    assert status == 0, said
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder into which pip has installed the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    status, said = pip("install", "--no-deps", "--no-cache-dir", "--target", folder, wheel)
    assert status == 0, said
    return folder


def info_of(files):
    return {name.split("/", 1)[1]: content for name, content in files.items() if ".dist-info/" in name}


def test_the_wheel_has_the_package_and_nothing_else(files):
    (module,) = [name for name in files if re.fullmatch(r"bagwise/_core\.cpython-\w+-[\w-]+\.so", name)]
    sources = {f"bagwise/{path.name}" for path in (ROOT / "python" / "bagwise").iterdir()
               if path.suffix in (".py", ".pyi") or path.name == "py.typed"}
    assert {name for name in files if ".dist-info/" not in name} == sources | {module}
    assert {"bagwise/py.typed", "bagwise/_core.pyi"} <= sources
    assert set(info_of(files)) == {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE"}
    for name in sources:
        assert files[name] == (ROOT / "python" / name).read_bytes()


def test_the_record_names_every_file_with_its_hash_and_size(files):
    (name,) = [name for name in files if name.endswith(".dist-info/RECORD")]
    rows = list(csv.reader(io.StringIO(files[name].decode())))
    assert sorted(row[0] for row in rows) == sorted(files)
    for path, digest, size in rows:
        if path == name:
            assert (digest, size) == ("", "")
        else:
            expected = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={expected}", str(len(files[path])))


def test_the_metadata_says_what_is_needed(files):
    metadata = BytesParser().parsebytes(info_of(files)["METADATA"])
    requirements = pytest.importorskip("packaging.requirements")
    needed = [requirements.Requirement(text) for text in metadata.get_all("Requires-Dist")]
    assert {r.name for r in needed if r.marker is None} == {"numpy", "scipy", "scikit-learn"}
    for extra, names in (("plot", {"matplotlib"}), ("pandas", {"pandas"})):
        assert {r.name for r in needed if r.marker and r.marker.evaluate({"extra": extra})} == names
    assert set(metadata.get_all("Provides-Extra")) == {"plot", "pandas", "test"}
    assert metadata["Name"] == "bagwise" and metadata["Requires-Python"] == ">=3.9"
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes()
    for requirement in needed:  # Debian's packages are new enough
        if importlib.util.find_spec({"scikit-learn": "sklearn"}.get(requirement.name, requirement.name)):
            assert importlib.metadata.version(requirement.name) in requirement.specifier


def test_the_tag_is_one_that_this_python_takes(wheel, files):
    tags = pytest.importorskip("packaging.tags")
    tag = "-".join(wheel.stem.split("-")[2:])
    assert tag in {str(known) for known in tags.sys_tags()}
    assert f"Tag: {tag}\n" in info_of(files)["WHEEL"].decode()
    assert "Root-Is-Purelib: false\n" in info_of(files)["WHEEL"].decode()
    assert next(name for name in files if name.endswith(".so")).split(".")[1].split("-")[1] == tag[2:].split("-")[0]


def test_the_module_shows_its_entrance_only_and_is_stripped(files, tmp_path):
    if not shutil.which("nm"):
        pytest.skip("nm is not installed")
    module = tmp_path / "module.so"
    module.write_bytes(next(content for name, content in files.items() if name.endswith(".so")))
    seen = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in seen.splitlines()] == ["PyInit__core"]
    all_names = subprocess.run(["nm", module], capture_output=True, text=True, check=False)
    assert "no symbols" in all_names.stderr and all_names.stdout == ""


def test_the_same_tree_gives_the_same_bytes(wheel, tmp_path):
    code = (f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import build_backend\n"
            f"build_backend.build_wheel({str(tmp_path)!r}, {{'build-dir': {BUILD!r}}})")
    run = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def in_clean_process(folder, code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False,
                         env=environment(PYTHONPATH=str(folder)))
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_installed_module_works_beside_numpy_and_scipy(installed):
    product = "import numpy as np, scipy.linalg; a = np.arange(9.0).reshape(3, 3) + np.eye(3)\n" \
              "assert np.allclose(a @ scipy.linalg.inv(a), np.eye(3))\n"
    core = "import bagwise._core as core\nprint(core.__file__, core.__version__)\n"
    for code in (product + core, core + product, product + core + product):
        path, version = in_clean_process(installed, code).split()
        assert Path(path).parent == installed / "bagwise"
    out = in_clean_process(installed, "import importlib.metadata as m; print(m.version('bagwise'))")
    assert out.strip() == version
    if os.environ.get("BAGWISE_BINARY"):
        said = subprocess.run([os.environ["BAGWISE_BINARY"], "--version"], capture_output=True, text=True, check=True)
        assert version in said.stdout.split()


def test_the_installed_package_fits_and_predicts(installed):
    out = in_clean_process(installed, """
import numpy as np
import bagwise

rng = np.random.default_rng(1)
X = rng.standard_normal((400, 3))
y = (X[:, 0] > 0).astype(int)
bags = np.argsort(np.argsort(X[:, 0] + 2 * rng.standard_normal(400))) // 20
shares = {bag: y[bags == bag].mean() for bag in range(20)}
model = bagwise.InvCal(C=10).fit(X, bags, shares)
model.save("model.json")
assert np.array_equal(bagwise.load("model.json").decision_function(X), model.decision_function(X))
print((model.predict(X) == y).mean())
""")
    assert float(out) > 0.9


def test_an_editable_install_is_a_path_to_the_build_folder(tmp_path):
    status, said = pip("install", "--no-deps", "--no-cache-dir", f"--config-settings=build-dir={BUILD}",
                       "--prefix", tmp_path, "--ignore-installed", "-e", ROOT)
    assert status == 0, said
    (path,) = tmp_path.rglob("*.pth")
    assert path.read_text() == f"{Path(BUILD).resolve() / 'python'}\n"
    built = Path(path.read_text().strip())
    assert (built / "bagwise" / "py.typed").resolve() == ROOT / "python" / "bagwise" / "py.typed"


def test_a_fault_in_the_settings_is_told_in_one_line(tmp_path):
    status, said = pip("wheel", "--no-deps", "--config-settings=builddir=x", "-w", tmp_path, ROOT)
    assert status != 0 and "Traceback" not in said.split("full command")[0]
    assert '"builddir" is no setting of this build; expected one of build-dir, cmake-args, jobs' in said


def test_the_source_archive_has_what_git_tracks(tmp_path):
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("no git")
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.skip(f"git does not tell: {run.stderr}")
    tracked = {name for name in run.stdout.split("\0") if name and (ROOT / name).exists()}
    code = ("import sys; sys.path.insert(0, 'python'); import build_backend\n"
            "print(build_backend.build_sdist(sys.argv[1]))")
    make = [sys.executable, "-B", "-c", code]
    name = subprocess.run([*make, tmp_path], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    top = name[:-len(".tar.gz")]
    with tarfile.open(tmp_path / name) as archive:
        assert set(archive.getnames()) == {f"{top}/{path}" for path in tracked | {"PKG-INFO"}}
        archive.extractall(tmp_path)
    # Unpacked there is no git, and the archive made of it is the same.
    (tmp_path / "again").mkdir()
    subprocess.run([*make, tmp_path / "again"], cwd=tmp_path / top, check=True, capture_output=True)
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()
