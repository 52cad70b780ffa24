"""What a user installs: the wheel, built by way of the sdist, in an environment and folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.packages import package_files

ROOT = Path(__file__).resolve().parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
MODULES: list[str] = SETUPTOOLS["py-modules"]
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/pipeline.py"))


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed, run without the checkout on the import path."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built in a copy so that no earlier build is found; beside it a built site."""
    copy = tmp_path_factory.mktemp("source") / "flowdsl"
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink() or (ROOT / name).exists():
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    (copy / "build/docs").mkdir(parents=True)
    (copy / "build/docs/index.html").touch()
    run(sys.executable, "-m", "build", copy, cwd=copy.parent)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin/python")
    run(*pip, "install", "--no-compile", wheel, cwd=folder)  # most of what is installed is never imported
    return folder / "bin"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder that holds a copy of the examples, the pipelines of the README, and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    correct = [block for block in blocks if "leanring_rate" not in block]
    assert correct
    for number, block in enumerate(correct):
        (tmp_path / "examples" / f"readme_{number}.py").write_text(block, encoding="utf-8")
    return tmp_path


@pytest.fixture
def planted(tmp_path: Path) -> str:
    """A file with one wrong argument: its name, and the line that is wrong."""
    source = (ROOT / "examples/sentiment/pipeline.py").read_text(encoding="utf-8")
    right = "publish(runs.best.model, runs.best.accuracy)"
    assert right in source
    wrong = source.replace(right, "publish(runs.best.accuracy, runs.best.model)")
    (tmp_path / "planted.py").write_text(wrong, encoding="utf-8")
    return f"planted.py:{source[: source.index(right)].count(chr(10)) + 1}:"


def test_the_wheel_holds_what_the_folders_hold(wheel: Path) -> None:
    on_disk = {one.relative_to(ROOT).as_posix() for files in package_files().values() for one in files}
    on_disk |= {f"{module}.py" for module in MODULES}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == on_disk


def test_the_sdist_holds_neither_a_site_nor_tests(wheel: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert [name for name in names if "/build" in name or "/tests" in name or name.endswith(".html")] == []


def test_the_package_comes_from_the_environment(installed: Path, tmp_path: Path) -> None:
    script = "import flowdsl, flowdsl.compiler; print(flowdsl.__file__, flowdsl.compiler.__file__, sep='\\n')"
    for place in run(installed / "python", "-c", script, cwd=tmp_path).splitlines():
        assert Path(place).is_relative_to(installed.parent)


def test_the_command_answers(installed: Path, tmp_path: Path) -> None:
    assert "compile" in run(installed / "flowdsl", "--help", cwd=tmp_path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_compiles(name: str, installed: Path, examples: Path) -> None:
    text = run(installed / "flowdsl", "compile", "pipeline.py", cwd=examples / "examples" / name)
    assert "apiVersion: argoproj.io/v1alpha1\n" in text


def test_folders_of_the_user_do_not_collide(installed: Path, tmp_path: Path) -> None:
    for name in ("cli", "compiler", "grammar", "runtime", "testing"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWNER = 'user'\n", encoding="utf-8")
    script = (
        "import flowdsl.cli, flowdsl.compiler, flowdsl.grammar, flowdsl.runtime, flowdsl.testing\n"
        "import cli, compiler, grammar, runtime, testing\n"
        "print(cli.OWNER, compiler.OWNER, grammar.OWNER, runtime.OWNER, testing.OWNER)"
    )
    assert run(installed / "python", "-c", script, cwd=tmp_path) == "user user user user user\n"


def test_mypy_accepts_the_examples(installed: Path, examples: Path) -> None:
    options = ("--strict", "--explicit-package-bases", "--python-executable", installed / "python")
    run(sys.executable, "-m", "mypy", *options, "examples", cwd=examples)


def refused(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that must find something."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_mypy_reports_a_planted_argument(installed: Path, planted: str, tmp_path: Path) -> None:
    options = ("--strict", "--python-executable", installed / "python")
    said = refused(sys.executable, "-m", "mypy", *options, "planted.py", cwd=tmp_path)
    assert [line.startswith(planted) for line in said.splitlines()[:-1]] == [True, True]


def test_pyright_reports_a_planted_argument(installed: Path, planted: str, tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    command = (sys.executable, "-m", "pyright", "--pythonpath", installed / "python", "planted.py")
    said = [line for line in refused(*command, cwd=tmp_path).splitlines() if " - error: " in line]
    assert [planted in line for line in said] == [True, True]


def test_pyright_accepts_the_examples(installed: Path, examples: Path) -> None:
    settings = '{"typeCheckingMode": "strict", "include": ["examples"]}'
    (examples / "pyrightconfig.json").write_text(settings, encoding="utf-8")
    run(sys.executable, "-m", "pyright", "--pythonpath", installed / "python", cwd=examples)
