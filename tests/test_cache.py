"""Caching: what changes the key of a result, what does not, and what a key looks like."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.cli.app import run as flowdsl
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.lowering.normal_form import statements
from flowdsl.grammar.digest import digest

SOURCE = """\
from pathlib import Path

from flowdsl import Cache, pipeline, step

SCALE = 3
UNUSED = 4


def scaled(rows: int) -> int:
    return rows * SCALE


@step(image="python:3.12-slim", cache=Cache(max_age="7d", salt="a"), env={"SEED": 1}, memory="1Gi")
def train(rows: int, name: str = "x") -> int:
    total = scaled(rows)
    return total + len(name)


@pipeline
def main(rows: int = 3) -> None:
    train(rows)
"""
ODD = '''
ODD = f"{SCALE!r:>{SCALE + 4}}{{}} a" "b" f"{SCALE}" if SCALE else 1e400 + 2j
LONG = {**{"a": [1, *(2, 3)]}, "b": (b"x", ..., None, -0.0, True)}
for WORD in "ab":
    LONG[WORD] = lambda x, /, *y, z=1, **w: (x, y, z, w)[0:-1:2]


class Odd(str):
    """Odd."""

    @property
    def odd(self) -> "Odd":
        global UNUSED
        with open("x") as a, open("y"):
            return (yield from (b for b in a)) if not self else Odd(f"{self!s}\\n")
'''
#: The same for every Python, since it is part of YAML that is compared with the committed file.
DIGEST = "539768c46840b4d5310a3ff6fc7556c1c366f072231623039a075ccab00fa3dd"
KEY = re.compile(r"\{\{=sprig\.sha256sum\(toJSON\(\['([0-9a-f]{64})'((?:, [^{}]+)?)\]\)\)\}\}")
LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")


class Kept(NamedTuple):
    """The memoization of one template."""

    digest: str
    values: list[str]
    config_map: str
    max_age: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def compiled(folder: Path, text: str) -> dict[str, dict[str, Any]]:
    """The templates of a pipeline, by name."""
    # Files of equal size, written in the same second, would share their bytecode.
    file = folder / f"p{hashlib.sha256(text.encode()).hexdigest()[:12]}.py"
    file.write_text(text, encoding="utf-8")
    made = compile_loaded(load(file))
    assert [one.finding.message for one in made.diagnostics] == []
    return {one["name"]: one for one in made.documents[0]["spec"]["templates"]}


def kept(folder: Path, text: str, step: str = "train") -> Kept:
    memoize = compiled(folder, text)[step]["memoize"]
    found = KEY.fullmatch(memoize["key"])
    assert found is not None, memoize["key"]
    values = re.findall(r"inputs\.parameters\['([^']+)'\]", found[2])
    return Kept(found[1], values, memoize["cache"]["configMap"]["name"], memoize["maxAge"])


def test_a_key_is_a_digest_of_the_step_and_of_what_it_is_given(folder: Path) -> None:
    found = kept(folder, SOURCE)
    assert found.values == ["rows", "name"]
    assert found.config_map == "flowdsl-cache-main-train"
    assert found.max_age == "168h"


SAME = {
    "a comment": ("    total = scaled(rows)", "    # the total\n    total = scaled(rows)  # of all"),
    "blank lines": ("\n\n\n@step", "\n\n\n\n\n\n@step"),
    "brackets": ("total + len(name)", "(\n        total\n        + len(name)\n    )"),
    "quotes": ('name: str = "x"', "name: str = 'x'"),
    "blanks": ("rows * SCALE", "rows*SCALE"),
    "numbers": ("SCALE = 3", "SCALE = 0x3"),
    "an unused constant": ("UNUSED = 4", "UNUSED = 5"),
    "an unused function": ("UNUSED = 4", "UNUSED = 4\n\n\ndef unused() -> int:\n    return 1"),
    "memory": ('memory="1Gi"', 'memory="2Gi"'),
    "retries": ('memory="1Gi"', 'memory="1Gi", retries=2'),
    "the age": ('max_age="7d"', 'max_age="8d"'),
    "an argument": ("rows: int = 3", "rows: int = 4"),
    "options in another order": (
        'env={"SEED": 1}, memory="1Gi"',
        'memory="1Gi", env={"SEED": 1}',
    ),
}
OTHER = {
    "the code": ("total + len(name)", "total - len(name)"),
    "a helper": ("rows * SCALE", "rows + SCALE"),
    "a constant": ("SCALE = 3", "SCALE = 4"),
    "the type of a constant": ("SCALE = 3", "SCALE = 3.0"),
    "the image": ("python:3.12-slim", "python:3.13-slim"),
    "the salt": ('salt="a"', 'salt="b"'),
    "no salt": ('Cache(max_age="7d", salt="a")', "True"),
    "a variable": ('"SEED": 1', '"SEED": 2'),
    "the name of a variable": ('"SEED": 1', '"SEEDS": 1'),
    "the type of an input": ("name: str", "name: object"),
    "the type of the result": ("-> int:\n    total", "-> float:\n    total"),
    "packages": ('memory="1Gi"', 'memory="1Gi", packages=["numpy==2.1"]'),
    "a patch": ('memory="1Gi"', 'memory="1Gi", argo={"script": {"workingDir": "/work"}}'),
    "another patch": ('memory="1Gi"', 'memory="1Gi", argo={"script": {"workingDir": "/home"}}'),
    "a docstring": ("    total = scaled(rows)", '    """The total."""\n    total = scaled(rows)'),
}


@pytest.mark.parametrize("change", SAME)
def test_what_does_not_change_a_key(folder: Path, change: str) -> None:
    old, new = SAME[change]
    assert SOURCE.count(old) == 1
    assert kept(folder, SOURCE.replace(old, new)).digest == kept(folder, SOURCE).digest


def test_what_changes_a_key(folder: Path) -> None:
    texts = [SOURCE, *(SOURCE.replace(*change) for change in OTHER.values())]
    digests = [kept(folder, text).digest for text in texts]
    assert len({*texts}) == len(texts) == len({*digests})


def test_another_version_of_a_package_or_of_the_code_is_another_key(folder: Path) -> None:
    git = 'code=Git("https://example.com/m.git", revision="{}") / "{}"'
    texts = ['packages=["a==1"]', 'packages=["a==2"]', 'packages=["a==1", "b==1"]']
    texts += [git.format(*words) for words in (("v1.0", "src"), ("v1.1", "src"), ("v1.0", "lib"))]
    head = SOURCE.replace("import Cache", "import Cache, Git")
    digests = {kept(folder, head.replace('memory="1Gi"', text)).digest for text in texts}
    assert len(digests) == len(texts)


LINES = st.lists(st.sampled_from(["", "# a remark", "   ", "# {{=x}} \u00e9"]), max_size=3)


@given(data=st.data())
def test_no_formatting_changes_a_key(folder: Path, data: st.DataObject) -> None:
    text = ""
    for line in SOURCE.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        for extra in data.draw(LINES):
            text += f"{indent}{extra}\n" if extra.startswith("#") else f"{extra}\n"
        comment = data.draw(st.sampled_from(["", "  # why"])) if line.strip() else ""
        text += f"{line}{comment}\n"
    text = text.replace("# {{=x}}", "# x")  # text that Argo would evaluate is another error
    assert kept(folder, text) == kept(folder, SOURCE)


def test_every_python_gives_the_same_digest() -> None:
    assert digest(*(found for _, found in statements(ODD))) == DIGEST


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


CONTAINER = """
from flowdsl import command, container, pipeline

@container(image="busybox:1.37.0", cache=True)
def train(rows: int) -> int:
    return command("/bin/train", rows, paths={"return": "/loss.txt"})

@pipeline
def main(rows: int = 3) -> None:
    train(rows)
"""


def test_the_paths_of_a_container_step_change_its_key(folder: Path) -> None:
    other = CONTAINER.replace("/loss.txt", "/out/loss.txt")
    assert kept(folder, CONTAINER).digest != kept(folder, other).digest


@given(
    salt=WORDS,
    value=WORDS.filter(lambda text: "{{" not in text),
    pipeline=st.from_regex(r"[a-z][a-z0-9_]{0,90}", fullmatch=True),
    step=st.from_regex(r"[a-z][a-z0-9_]{0,90}", fullmatch=True),
)
def test_keys_and_caches_have_legal_names_whatever_they_are_made_of(
    folder: Path, salt: str, value: str, pipeline: str, step: str
) -> None:
    text = SOURCE.replace('salt="a"', f"salt={salt!r}").replace('"SEED": 1', f'"SEED": {value!r}')
    text = text.replace("def main", f"def p_{pipeline}").replace("train", f"s_{step}")
    (memoize,) = (one["memoize"] for one in compiled(folder, text).values() if "memoize" in one)
    assert KEY.fullmatch(memoize["key"])
    assert LABEL.fullmatch(memoize["cache"]["configMap"]["name"])


@pytest.mark.parametrize(
    ("age", "argo"),
    [("7d", "168h"), ("2w", "336h"), ("90m", "5400s"), ("1h30m", "5400s"), ("36h", "36h"), ("1.5h", "5400s")],
)
def test_an_age_is_written_as_argo_reads_it(folder: Path, age: str, argo: str) -> None:
    assert kept(folder, SOURCE.replace('"7d"', f'"{age}"')).max_age == argo


def test_without_caching_there_is_no_trace_of_it(folder: Path) -> None:
    plain = SOURCE.replace('cache=Cache(max_age="7d", salt="a"), ', "").replace("import Cache, ", "import ")
    off = SOURCE.replace('Cache(max_age="7d", salt="a")', "False").replace("import Cache, ", "import ")
    assert compiled(folder, plain) == compiled(folder, off)
    assert "memoize" not in compiled(folder, plain)["train"]


FILES = """\
from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Made(NamedTuple):
    one: Path
    other: Path | None


@step(image="python:3.12-slim")
def make(name: str) -> Made:
    return Made(Path(name), Path(name) if name == "folder" else None)


@step(image="python:3.12-slim", cache=True)
def use(file: Path, maybe: Path | None) -> int:
    return 1


@step(image="python:3.12-slim"{cache})
def read(file: Path) -> int:
    return 1


@pipeline
def main(name: str = "x") -> None:
    made = make(name)
    {call}
"""


def digests(folder: Path, tmp_path: Path, name: str) -> list[str]:
    """The digests that a step outputs for its two files, run in a folder of the test."""
    text = FILES.replace("{cache}", "").replace("{call}", "use(made.one, made.other)")
    make = compiled(folder, text)["make"]
    names = [one["name"] for one in make["outputs"]["parameters"]]
    assert names == ["flowdsl-digest-one", "flowdsl-digest-other"]
    out = tmp_path / "out"
    (tmp_path / "script.py").write_text(make["script"]["source"].replace("/tmp/flowdsl-out", str(out)))
    variables = {**os.environ, "FLOWDSL_name": name}
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=variables, check=True)
    return [(out / one).read_text() for one in names]


def test_a_digest_is_that_of_the_content(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    first = digests(folder, tmp_path, "file")
    os.utime(tmp_path / "file", (0, 0))
    assert digests(folder, tmp_path, "file") == first
    (tmp_path / "copy").write_text("a")
    assert digests(folder, tmp_path, "copy") == first
    (tmp_path / "file").write_text("b")
    changed = digests(folder, tmp_path, "file")
    assert changed[0] != first[0]
    assert changed[1] == first[1], "there is no second file"


def test_the_digest_of_a_folder_has_names_links_and_content(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "folder"
    root.mkdir()
    seen = [digests(folder, tmp_path, "folder")]
    (root / "a").write_text("1")
    seen.append(digests(folder, tmp_path, "folder"))
    (root / "a").rename(root / "b")
    seen.append(digests(folder, tmp_path, "folder"))
    (root / "sub").mkdir()
    seen.append(digests(folder, tmp_path, "folder"))
    (root / "sub" / "a").symlink_to("nowhere")
    seen.append(digests(folder, tmp_path, "folder"))
    (root / "b").write_text("2")
    seen.append(digests(folder, tmp_path, "folder"))
    assert all(one == other for one, other in seen)
    assert len({one for one, _ in seen}) == len(seen)


def test_a_digest_is_made_only_where_a_key_needs_it(folder: Path) -> None:
    text = FILES.replace("{cache}", "").replace("{call}", "use(made.one, None), read(made.one)")
    found = compiled(folder, text)
    assert [one["name"] for one in found["make"]["outputs"]["parameters"]] == ["flowdsl-digest-one"]
    assert found["make"]["script"]["source"].count("fingerprint(") == 2, "its definition, and one call"
    assert "parameters" not in found["read"]["inputs"]
    text = text.replace("import pipeline", "import fan_out, pipeline")
    text = text.replace(
        "use(made.one, None), read(made.one)", "fan_out(number, over={'n': [1]}), read(made.one)"
    )
    number = '@step(image="x:1", cache=True)\ndef number(n: int) -> int:\n    return n'
    text = text.replace("@pipeline", f"{number}\n\n\n@pipeline")
    found = compiled(folder, text)
    assert "parameters" not in found["make"]["outputs"]
    assert "fingerprint" not in found["make"]["script"]["source"]


def test_a_choice_of_which_one_file_is_there_has_its_digest(folder: Path) -> None:
    text = FILES.replace("{cache}", ", cache=True").replace("import pipeline", "import either, pipeline")
    part = """\
@pipeline
def part(other: Path | None) -> int:
    return read(either(other, make("y").one))


"""
    text = text.replace("@pipeline", f"{part}@pipeline").replace("{call}", "part(None), make(name)")
    found = compiled(folder, text)
    assert "inputs.parameters['flowdsl-digest-file']" in found["read"]["memoize"]["key"]


def test_every_item_of_a_loop_has_a_key_of_its_own(folder: Path) -> None:
    text = SOURCE.replace("import Cache,", "import Cache, fan_out,")
    looped = text.replace("    train(rows)", "    fan_out(train, over={'rows': [rows, rows]})")
    assert kept(folder, looped).values == ["rows", "name", "flowdsl-index"]


def test_the_explanation_names_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def parts(text: str) -> dict[str, str | None]:
        Path("p.py").write_text(text, encoding="utf-8")
        assert flowdsl(["compile", "p.py", "--explain-cache", "--format", "json"]) == 0
        (one,) = json.loads(capsys.readouterr().out)
        assert one["step"] == "train"
        return {part["name"]: part["digest"] for part in one["parts"]} | {"together": one["digest"]}

    before, after = parts(SOURCE), parts(SOURCE.replace("rows * SCALE", "rows + SCALE  # other"))
    assert {name for name in before if before[name] != after[name]} == {"code scaled", "together"}
    assert before["input rows"] is None
    assert flowdsl(["compile", "p.py", "--explain-cache"]) == 0
    table = capsys.readouterr().out
    assert "  code scaled  " in table
    assert "p.py:9\n" in table
    assert flowdsl(["compile", "p.py", "--explain-cache", "-o", "x.yaml"]) == 2
    Path("p.py").write_text(SOURCE.replace('Cache(max_age="7d", salt="a")', "False"), encoding="utf-8")
    assert flowdsl(["compile", "p.py", "--explain-cache"]) == 0
    assert capsys.readouterr().out == "no step is cached\n"
