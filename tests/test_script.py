"""Scripts of steps, run as Argo runs them: inputs in variables and files, outputs collected from files."""

from __future__ import annotations

import itertools
import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowdsl.compiler import ports
from flowdsl.compiler.carry.carry import Carried, ModuleSource, carry
from flowdsl.compiler.encode import too_large
from flowdsl.compiler.load import load
from flowdsl.compiler.ports import (
    IN,
    OUT,
    FromBundle,
    FromEnv,
    FromEnvPath,
    FromFile,
    FromFolder,
    FromParts,
    FromRows,
    Reader,
    Writer,
    file_reader,
    layout,
)
from flowdsl.compiler.steps import script_parts
from flowdsl.compiler.steps.script import quote, script
from flowdsl.values import types as t
from flowdsl.values.signature import read

# Texts that a step may return; the comments say what became of each on a cluster.
EXACT = [
    *("quotes \" and '", "line\nbreak", "tab\there", "back\\slash\\n", "\\u0041", "emoji 🙂", "flag 🇩🇪"),
    *("zwj 👩\u200d🔬", "\u2028\u2029", "", '"x"', "null", "true", "1e-5", '{"a":{"b":"}}"}}', "{ {", "}} {"),
    *("a{", "$(NAME)", "$$", "$$$", "end\n", "ends\n\n", "\n", " blank ", "\r\n", "ü", "\ufeff", "\ufffd"),
    *("\u00a0", "%s %d", "#", "---", "'"),
]
REFUSED = [
    "{{workflow.name}}",  # became the name of the run
    "{{=1+1}}",  # became 2
    "{{=bad syntax",  # node Error
    "{{ x }}",
    "\x07",  # node Error: Go quotes it as no JSON reader expects
    "\x00",
    "\x1b[0m",
    "\x7f",
    "\U000e0067",
    "\U0010fffd",
]


class Python(NamedTuple):
    version: tuple[int, int]
    path: str

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def _runs(python: str) -> bool:
    """Whether an interpreter works: a shim of pyenv in the PATH may not."""
    return subprocess.run([python, "-c", "pass"], capture_output=True, check=False).returncode == 0


def pythons() -> list[Python]:
    """The current interpreter, and one for each other installed version from 3.8 on."""
    found = {sys.version_info[:2]: sys.executable}
    for minor in range(8, 16):
        installed = [*map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))]
        installed += filter(None, [shutil.which(f"python3.{minor}")])
        for candidate in installed:
            if (3, minor) not in found and _runs(candidate):
                found[3, minor] = candidate
    return [Python(version, path) for version, path in sorted(found.items())]


PYTHONS = pythons()
every_python = pytest.mark.parametrize("python", PYTHONS, ids=str)


class Pod(NamedTuple):
    """The results of a script: its output parameters as Argo reads them, and its folders."""

    code: int
    stdout: str
    stderr: str
    folder: Path

    @property
    def values(self) -> dict[str, str]:
        return {path.name: argo(path.read_bytes()) for path in self.out.iterdir() if path.is_file()}

    @property
    def out(self) -> Path:
        return self.folder / "out"


def argo(data: bytes) -> str:
    """An output file as the executor reads it, which becomes the variable of the next step.

    One line break at the end is removed. It may contain no tag, and nothing that Go quotes unlike JSON.
    """
    text = data.decode()
    text = text.removesuffix("\n")
    assert "{{" not in text
    assert not any((one < " " and one not in "\t\n\r\b\f") or one == "\x7f" for one in text)
    return text


class Step:
    """One step of a loaded module, as a script."""

    def __init__(self, source: str, folder: Path, name: str = "step") -> None:
        path = folder / "pipeline.py"
        path.write_text("from flowdsl import step\n" + source, encoding="utf-8")
        self.loaded = load(path)
        self.name = name
        found: Any = vars(self.loaded.module)[name]
        while not isinstance(found, FunctionType):
            found = found.__wrapped__
        self.signature = read(found)
        module = ModuleSource(self.loaded.source, vars(self.loaded.module))
        kinds = [parameter.type for parameter in self.signature.parameters]
        carried, problems = carry(found, module, {cls for kind in kinds for cls in classes_in(kind)})
        assert not problems
        assert carried is not None
        self.carried: Carried = carried

    def type_of(self, name: str) -> t.Type:
        return self.signature.by_name[name].type

    def cls(self, name: str) -> type[Any]:
        found: type[Any] = vars(self.loaded.module)[name]
        return found

    def script(self, readers: Mapping[str, Reader] | None = None) -> str:
        inputs: list[tuple[str, Reader]] = []
        for parameter in self.signature.parameters:
            kind = parameter.type
            plain: Reader = FromEnv(f"FLOWDSL_{parameter.name}", kind)
            if t.holds_file(kind):
                plain = file_reader(f"{IN}/{parameter.name}", kind)
            inputs.append((parameter.name, (readers or {}).get(parameter.name, plain)))
        outputs = t.outputs(self.signature.returns)
        writers = [Writer(one.name, one.keys, one.type, f"{OUT}/{one.name}") for one in outputs]
        return script(self.carried, inputs, writers)

    def run(
        self,
        folder: Path,
        values: Mapping[str, str] | None = None,
        *,
        readers: Mapping[str, Reader] | None = None,
        python: Python | None = None,
    ) -> Pod:
        return execute(self.script(readers), folder, values or {}, python)


def execute(source: str, folder: Path, values: Mapping[str, str], python: Python | None = None) -> Pod:
    """Run a script in a folder with the pod's inputs in `in`; `values` are those of the parameters."""
    (folder / "out").mkdir(parents=True, exist_ok=True)
    (folder / "work").mkdir(exist_ok=True)
    file = folder / "script"
    file.write_text(
        source.replace(IN, str(folder / "in")).replace(OUT, str(folder / "out")), encoding="utf-8"
    )
    done = subprocess.run(
        [python.path if python else sys.executable, str(file)],
        env={f"FLOWDSL_{name}": value for name, value in values.items()},
        cwd=folder / "work",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Pod(done.returncode, done.stdout, done.stderr, folder)


def classes_in(kind: t.Type) -> list[type[Any]]:
    match kind:
        case t.Enumeration(cls):
            return [cls]
        case t.Record(cls, fields):
            return [cls, *itertools.chain(*(classes_in(field.type) for field in fields))]
        case t.Sequence(item) | t.Mapping(item) | t.Maybe(item):
            return classes_in(item)
        case t.Fixed(items):
            return list(itertools.chain(*map(classes_in, items)))
        case _:
            return []


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def check(pod: Pod) -> Pod:
    assert (pod.code, pod.stderr) == (0, "")
    return pod


def test_the_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\nscripts run on {len(PYTHONS)} Pythons: {', '.join(map(str, PYTHONS))}\n")
    assert PYTHONS


# Values that are passed from one step to the next.

MAKER = """
import json
from pathlib import Path
from typing import Any, NamedTuple

class Item(NamedTuple):
    text: str
    number: float

class Made(NamedTuple):
{fields}
    listed: list[str]
    by_key: dict[str, str]
    records: list[Item]
    pair: tuple[str, float]
    anything: Any
    choice: str | None

@step(image="python")
def step(source: Path) -> Made:
    given = json.loads(source.read_text())
    texts, more = given["texts"], given["listed"]
    return Made(*texts, more, {{one: one for one in more}}, [Item(one, 0.1) for one in more],
                ("".join(more), 1e-7), given["anything"], more[0] if more else None)
"""
TAKER = """
import json
from pathlib import Path
from typing import Any, NamedTuple

class Item(NamedTuple):
    text: str
    number: float

@step(image="python")
def step({parameters}, listed: list[str], by_key: dict[str, str], records: list[Item],
         pair: tuple[str, float], anything: Any, choice: str | None) -> Path:
    assert all(type(one) is Item for one in records) and type(pair) is tuple
    texts = [{names}]
    Path("got").write_text(json.dumps([texts, listed, by_key, records, pair, anything, choice]))
    return Path("got")
"""


def hand_over(
    folder: Path, texts: list[str], listed: list[str], anything: Any, python: Python | None = None
) -> list[Any]:
    """Pass values from one step to the next; returns them as the next one receives them."""
    names = [f"text_{number}" for number in range(len(texts))]
    first, second = folder / "first", folder / "second"
    (first / "in").mkdir(parents=True)
    second.mkdir()
    given = {"texts": texts, "listed": listed, "anything": anything}
    (first / "in" / "source").write_text(json.dumps(given))
    maker = Step(MAKER.format(fields="\n".join(f"    {name}: str" for name in names)), first)
    values = check(maker.run(first, python=python)).values
    for name in ("listed", "by_key", "records", "pair", "anything", "choice"):
        assert values[name].isascii()
        assert values[name].isprintable()
        assert "$" not in values[name]
    parameters = ", ".join(f"{name}: str" for name in names)
    taker = Step(TAKER.format(parameters=parameters, names=", ".join(names)), second)
    found = check(taker.run(second, values, python=python)).out / "return"
    got: list[Any] = json.loads(found.read_text())
    return got


def expected(texts: list[str], listed: list[str], anything: Any) -> list[Any]:
    return [
        texts,
        listed,
        {one: one for one in listed},
        [[one, 0.1] for one in listed],
        ["".join(listed), 1e-7],
        anything,
        listed[0] if listed else None,
    ]


@every_python
def test_values_arrive_byte_for_byte(python: Python, tmp_path: Path) -> None:
    listed = [*EXACT, *REFUSED]
    anything = {"deep": [{one: [one]} for one in listed], "numbers": [1e21, 10**30, -0.0, 5e-324, True, None]}
    assert hand_over(tmp_path, EXACT, listed, anything, python) == expected(EXACT, listed, anything)


JSON_TEXT = st.text(st.characters(codec=None)) | st.text("{}$()=\\\"' \n\x07\x7f\U000e0067n0")
SAFE_TEXT = st.text(
    st.characters(codec="utf-8", max_codepoint=0xFFFF, exclude_categories=["Cc", "Cs"])
    | st.sampled_from("\t\n\r")
).filter(lambda text: "{{" not in text and "\x00" not in text)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | JSON_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_TEXT, inner, max_size=4),
    max_leaves=8,
)
FOLDERS = itertools.count()


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(SAFE_TEXT, min_size=20, max_size=60),
    st.lists(JSON_TEXT, max_size=40),
    st.lists(JSON, min_size=5, max_size=20),
)
def test_any_values_arrive(tmp_path: Path, texts: list[str], listed: list[str], anything: Any) -> None:
    folder = tmp_path / str(next(FOLDERS))
    assert hand_over(folder, texts, listed, anything) == expected(texts, listed, anything)


PARTS: dict[str, Callable[..., Any]] = {}
exec(f"import {', '.join(script_parts.IMPORTS)}\n" + "\n".join(script_parts.PARTS.values()), PARTS)


@settings(max_examples=200)
@given(JSON)
def test_the_safe_json(value: Any) -> None:
    anything = PARTS["anything"]
    text = PARTS["as_json"](anything)(value)
    assert text.isascii()
    assert text.isprintable()
    assert not {"{{", "$"} & {text[at : at + size] for at in range(len(text)) for size in (1, 2)}
    assert PARTS["parsed"](anything)(text) == value
    assert json.loads(text) == value


@settings(max_examples=200)
@given(st.text() | st.text("{\n\x07\x7f\U000e0067\U0001f642\ue000"))
def test_text_is_exact_or_refused(text: str) -> None:
    encode = PARTS["as_text"](PARTS["string"])
    try:
        written = encode(text)
    except ValueError:
        return
    assert argo(written.encode()) == text


@pytest.mark.parametrize("value", [[2**53 + 1], {"a": [{"b": -(2**60)}]}, [1, [2, 2**53 + 2]]])
def test_what_argo_would_round_is_refused_where_it_takes_parts(value: Any) -> None:
    with pytest.raises(ValueError, match=r"Argo would round -?\d+ when it takes it out: return it as a str"):
        PARTS["exact"](PARTS["anything"])(value)


@settings(max_examples=100)
@given(JSON)
def test_what_argo_keeps_is_handed_on(value: Any) -> None:
    if too_large(value) is None:
        assert PARTS["exact"](PARTS["anything"])(value) == value
    else:
        with pytest.raises(ValueError, match="Argo would round"):
            PARTS["exact"](PARTS["anything"])(value)


def test_the_rows_of_a_list_with_files() -> None:
    def cells(file: Callable[..., str], value: Any) -> dict[str, str]:
        return {"text": PARTS["as_text"](PARTS["string"])(value[0]), "file": file(value[1])}

    rows = PARTS["rows_of"](cells)
    assert rows([("a\n", Path("x/a b.txt")), ("b", None), ("c", Path("x/a b.txt"))]) == [
        {"text": "a\n", "file": "0-a b.txt", "flowdsl-index": "/0"},
        {"text": "b", "file": "none", "flowdsl-index": "/1"},
        {"text": "c", "file": "1-a b.txt", "flowdsl-index": "/2"},
    ]
    for name in ("a$$b", "$(HOME)", "{{=1}}", "bell\x07"):
        with pytest.raises(ValueError, match="Argo"):
            rows([("", Path(name))])


REFUSING = """
import json
from pathlib import Path

@step(image="python")
def step(number: int) -> str:
    return json.loads(Path("../in/texts").read_text())[number]
"""


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_unsafe_text_is_refused(number: int, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "texts").write_text(json.dumps(REFUSED))
    pod = Step(REFUSING, tmp_path).run(tmp_path, {"number": str(number)})
    assert pod.code == 1
    assert pod.stderr.startswith("step step, output return (str): Argo ")
    assert pod.stderr.endswith("return a Path, or a list of str\n")
    assert pod.stderr.count("\n") == 1
    assert not pod.values


# Inputs.

INPUTS = """
import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional

class Optimizer(enum.Enum):
    ADAM = object()
    SGD = 2

@dataclass
class Layer:
    size: int
    rate: float = 0.5
    tags: list[str] = field(default_factory=list)

class Config(NamedTuple):
    layers: list[Layer]
    optimizer: Optimizer
    cls: Optional[Layer] = None

@step(image="python")
def step(
    text: str, whole: int, real: float, reals: list[float], flag: bool, nothing: None,
    optimizer: Optimizer, word: Literal["a", "b c"], mixed: Literal[1, "x", True],
    table: dict[str, list[int]], pair: tuple[int, Optional[str]], config: Config, one: tuple[float],
    several: tuple[Optimizer, ...], nested: tuple[tuple[float, ...], ...],
    anything: Any, absent: Optional[Config],
    file: Path, folder: Path, no_file: Optional[Path], some_file: Optional[Path], listed: list[Path],
    named: dict[str, Path], empty: list[Path], mounted: Path, unmounted: Optional[Path],
) -> list[str]:
    print("the step prints", flush=True)
    assert type(real) is float and all(type(one) is float for one in [*reals, *one])
    shown = [text, whole, real, reals, flag, nothing, optimizer.name, word, mixed, table, pair, config, one,
             [one.name for one in several], type(several), nested,
             anything, absent, file.read_text(), sorted(path.name for path in folder.iterdir()), no_file,
             some_file and some_file.read_text(), [path.read_text() for path in listed],
             {key: path.read_text() for key, path in named.items()}, empty, str(mounted), unmounted]
    return [repr(one) for one in shown]
"""


@every_python
def test_inputs_of_all_types(python: Python, tmp_path: Path) -> None:
    step = Step(INPUTS, tmp_path)
    files = tmp_path / "in"
    for name, text in {
        "file": "F",
        "folder/a": "",
        "folder/b": "",
        "some_file": "S",
        "listed/10-model.bin": "ten",
        "listed/9": "nine",
        "listed/0-a-b": "zero",
        "named/x y": "X",
        "named/a": "A",
    }.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text)
    layer = '{"size": 3, "rate": 1, "tags": ["t"]}'
    values = {
        "text": "$(HOME) ü",
        "whole": "9007199254740993",
        "real": "3",
        "reals": "[1e+21, 0.00002, 2, NaN, Infinity, -Infinity]",
        "flag": "true",
        "nothing": "null",
        "optimizer": "ADAM",
        "word": "b c",
        "mixed": '"x"',
        "table": '{\n  "\\u007b": [1, 2]\n}',
        "pair": "[1, null]",
        "config": '{"layers": [' + layer + ', {"size": 4}], "optimizer": "SGD", "cls": {"size": 5}}',
        "one": "[1]",
        "several": '["ADAM", "SGD"]',
        "nested": "[[], [1, 2.5]]",
        "anything": '{"a": [1, 2.5, null, "\\ud83d"]}',
        "absent": "null",
        "mounted": "/flowdsl/volumes/data/x",
        "unmounted": "",
    }
    readers: dict[str, Reader] = {
        "mounted": FromEnvPath("FLOWDSL_mounted"),
        "unmounted": FromEnvPath("FLOWDSL_unmounted", optional=True),
    }
    pod = check(step.run(tmp_path, values, readers=readers, python=python))
    assert pod.stdout == "the step prints\n"
    three = "Layer(size=3, rate=1.0, tags=['t'])"
    four, five = (f"Layer(size={size}, rate=0.5, tags=[])" for size in (4, 5))
    assert json.loads(pod.values["return"]) == [
        "'$(HOME) ü'",
        "9007199254740993",
        "3.0",
        "[1e+21, 2e-05, 2.0, nan, inf, -inf]",
        "True",
        "None",
        "'ADAM'",
        "'b c'",
        "'x'",
        "{'{': [1, 2]}",
        "(1, None)",
        f"Config(layers=[{three}, {four}], optimizer=<Optimizer.SGD: 2>, cls={five})",
        "(1.0,)",
        "['ADAM', 'SGD']",
        "<class 'tuple'>",
        "((), (1.0, 2.5))",
        "{'a': [1, 2.5, None, '\\ud83d']}",
        "None",
        "'F'",
        "['a', 'b']",
        "None",
        "'S'",
        "['zero', 'nine', 'ten']",
        "{'a': 'A', 'x y': 'X'}",
        "[]",
        "'/flowdsl/volumes/data/x'",
        "None",
    ]


@pytest.mark.parametrize(
    "text", ["1e+21", "0.00002", "3", "NaN", "Infinity", "-Infinity", "1e-05", "-0.0", "0.1"]
)
def test_floats_as_argo_writes_them(text: str, tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(value: float) -> float:\n    return value\n'
    pod = check(Step(source, tmp_path).run(tmp_path, {"value": text}))
    assert repr(float(pod.values["return"])) == repr(float(text))


WRONG_INPUTS = {
    ("int", "3.0"): "invalid literal for int() with base 10: '3.0'",
    ("float", "abc"): "could not convert string to float: 'abc'",
    ("bool", "True"): "expected true or false, got 'True'",
    ("Kind", "BIG"): "expected one of SMALL, LARGE, got 'BIG'",
    ("Literal['a', 'b']", "c"): "expected one of ('a', 'b'), got 'c'",
    ("list[int]", "1 2"): "expected JSON, got '1 2'",
    ("tuple[int, ...]", '[1, "1"]'): "expected int, got str '1'",
    ("tuple[int, ...]", "1"): "expected list, got int 1",
    ("list[int]", '"12"'): "expected list, got str '12'",
    ("list[int]", '["1"]'): "expected int, got str '1'",
    ("dict[str, int]", "[1]"): "expected dict, got list [1]",
    ("tuple[int, str]", "[1]"): "expected 2 values, got list [1]",
    ("Row", '{"size": 1, "sise": 2}'): "Row has no field sise",
    ("Row", '{"kind": "SMALL"}'): "missing 1 required positional argument: 'size'",
    ("Row", '{"size": "x"}'): "expected int, got str 'x'",
    ("Row", '{"size": -1}'): "the size is not positive",
    ("Row", '{"size": 1, "kind": "BIG"}'): "expected one of SMALL, LARGE, got 'BIG'",
    ("Row | None", "3"): "expected Row, got int 3",
}


@pytest.mark.parametrize(("kind", "text"), WRONG_INPUTS, ids=str)
def test_a_wrong_input_ends_with_one_sentence(kind: str, text: str, tmp_path: Path) -> None:
    source = (
        "import enum\nfrom dataclasses import dataclass\nfrom typing import Literal\n"
        "class Kind(enum.Enum):\n    SMALL = 1\n    LARGE = 2\n"
        "@dataclass\nclass Row:\n    size: int\n    kind: Kind = Kind.SMALL\n"
        "    def __post_init__(self):\n        if self.size < 0:\n"
        '            raise ValueError("the size is not positive")\n'
        f'@step(image="python")\ndef step(value: {kind}) -> None:\n    print("ran")\n'
    )
    pod = Step(source, tmp_path).run(tmp_path, {"value": text})
    assert (pod.code, pod.stdout) == (1, "")
    assert pod.stderr.startswith(f"step step, input value ({kind}): ")
    assert pod.stderr.endswith(WRONG_INPUTS[kind, text] + "\n")
    assert pod.stderr.count("\n") == 1


ROWS = """
import enum
from pathlib import Path
from typing import NamedTuple, Optional

class Kind(enum.Enum):
    A = 1

class Score(NamedTuple):
    loss: float
    kind: Kind
    notes: dict[str, int]
    model: Path
    log: Optional[Path]
    parts: list[Path]
    label: Optional[str]
    name: str

@step(image="python")
def step(
    scores: list[Score], pairs: list[tuple[int, Path]], texts: list[str], paths: list[Path]
) -> list[str]:
    shown = [one._replace(model=one.model.read_text(), log=one.log and one.log.read_text(),
                          parts=[part.read_text() for part in one.parts]) for one in scores]
    others = [(number, str(path)) for number, path in pairs], texts, [path.read_text() for path in paths]
    return [repr(one) for one in (*shown, *others)]
"""


@every_python
def test_what_a_loop_hands_on(python: Python, tmp_path: Path) -> None:
    step = Step(ROWS, tmp_path)
    for name in ("m/2", "m/1", "m/0", "logs/2", "parts/2/0-x", "parts/2/1", "paths/1", "paths/0"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(name)

    def row(index: str, **values: str) -> dict[str, str]:
        shared = {"kind": "A", "notes": '{"a": 1}', "name": '"{x}"'}
        return {"flowdsl-index": index, "loss": "NaN", "label": "null", **shared, **values}

    folders = tuple(
        (name, f"{IN}/{folder}") for name, folder in (("model", "m"), ("log", "logs"), ("parts", "parts"))
    )
    item = step.type_of("scores")
    pairs, texts = step.type_of("pairs"), step.type_of("texts")
    assert isinstance(item, t.Sequence)
    assert isinstance(pairs, t.Sequence)
    assert isinstance(texts, t.Sequence)
    readers: dict[str, Reader] = {
        "scores": FromRows("FLOWDSL_scores", item.item, folders),
        "pairs": FromRows("FLOWDSL_pairs", pairs.item),
        "texts": FromRows("FLOWDSL_texts", texts.item),
        "paths": FromRows(FromFile(f"{IN}/rows"), t.FILE, (("return", f"{IN}/paths"),)),
    }
    values = {
        "scores": json.dumps([row("/10/1"), row("/2", loss="3", label='"l"'), row("/10/0")]),
        "pairs": '[{"flowdsl-index":"/1","item-0":"7","item-1":"/v/b"},'
        '{"flowdsl-index":"/0","item-0":"5","item-1":"/v/a"}]',
        "texts": '[{"flowdsl-index":"/0","return":"a \\"b\\""}]',
    }
    (tmp_path / "in" / "rows").write_text('[{"flowdsl-index":"/1"},{"flowdsl-index":"/0"}]')
    pod = check(step.run(tmp_path, values, readers=readers, python=python))
    shared, parts = "kind=<Kind.A: 1>, notes={'a': 1}", "parts=['parts/2/0-x', 'parts/2/1']"
    assert json.loads(pod.values["return"]) == [
        f"Score(loss=3.0, {shared}, model='m/2', log='logs/2', {parts}, label='l', name='\"{{x}}\"')",
        f"Score(loss=nan, {shared}, model='m/0', log=None, parts=[], label=None, name='\"{{x}}\"')",
        f"Score(loss=nan, {shared}, model='m/1', log=None, parts=[], label=None, name='\"{{x}}\"')",
        "[(5, '/v/a'), (7, '/v/b')]",
        "['a \"b\"']",
        "['paths/0', 'paths/1']",
    ]


def test_a_row_that_is_wrong_is_named(tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(values: list[float]) -> None:\n    pass\n'
    readers = {"values": FromRows("FLOWDSL_values", t.FLOAT)}
    rows = '[{"flowdsl-index":"/0","return":"1"},{"flowdsl-index":"/3","return":"x"}]'
    pod = Step(source, tmp_path).run(tmp_path, {"values": rows}, readers=readers)
    assert pod.code == 1
    assert pod.stderr == (
        "step step, input values (list[float]): item /3: could not convert string to float: 'x'\n"
    )


def test_values_in_parts(tmp_path: Path) -> None:
    source = """
from pathlib import Path
from typing import NamedTuple
class Score(NamedTuple):
    loss: float
    model: Path
@step(image="python")
def step(best: Score, files: list[Path], pair: tuple[int, Path], table: dict[str, Path], free: object) -> str:
    return repr((best, files, pair, table, free)).replace("PosixPath", "")
"""
    step = Step(source, tmp_path)
    file = FromFile("/a/b")
    readers: dict[str, Reader] = {
        "best": FromParts((FromEnv("FLOWDSL_loss", t.FLOAT), file), ("loss", "model"), step.type_of("best")),
        "files": FromParts((file, FromEnvPath("FLOWDSL_at")), (), step.type_of("files")),
        "pair": FromParts((FromEnv("FLOWDSL_n", t.INT), file), ("0", "1"), step.type_of("pair")),
        "table": FromParts((file,), ('a "b" {{=1}} $$',), step.type_of("table")),
        "free": FromParts((FromParts((FromEnv("FLOWDSL_n", t.INT),), ("x",)),), (), t.JSON),
    }
    pod = step.run(tmp_path, {"loss": "2", "at": "/v/x", "n": "3"}, readers=readers)
    assert pod.code == 1, "the text has double braces"
    readers["table"] = FromParts((file,), ('a "b" $$',), step.type_of("table"))
    pod = check(step.run(tmp_path, {"loss": "2", "at": "/v/x", "n": "3"}, readers=readers))
    assert pod.values["return"] == (
        "(Score(loss=2.0, model=('/a/b')), [('/a/b'), ('/v/x')], (3, ('/a/b')), "
        "{'a \"b\" $$': ('/a/b')}, [{'x': 3}])"
    )
    pod = step.run(tmp_path, {"loss": "x", "at": "/v/x", "n": "3"}, readers=readers)
    assert pod.stderr == ("step step, input best.loss (float): could not convert string to float: 'x'\n")


# Outputs.

OUTPUTS = """
import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional

class Float32:
    "What numpy's scalars look like."
    def __init__(self, value):
        self.value = value
    def item(self):
        return self.value
    tolist = item

class Kind(enum.Enum):
    A = 1
    ALSO_A = 1

class Text(str):
    pass

@dataclass
class Row:
    kind: Kind
    size: int
    note: Optional[str] = None

@dataclass
class Result:
    text: str
    kind: Kind
    word: Literal["x", "y"]
    mixed: Literal[1, "x"]
    whole: int
    real: float
    flag: bool
    numbers: list[float]
    rows: list[Row]
    table: dict[str, tuple[int, str]]
    anything: Any
    absent: Optional[Row]
    nothing: None

@step(image="python")
def step() -> Result:
    return Result(
        Text("t\\n"), Kind.ALSO_A, "y", 1, True, 3, Float32(True),
        (1, Float32(0.5), float("nan"), float("-inf")),
        [Row(Kind.A, Float32(2)), Row(Kind.A, 3, "{" "{=1}}$$")], {"{{k}}": (1, "v")},
        {"a": [Float32(0.25), (1, 2), float("inf")]}, None, None,
    )
"""


@every_python
def test_outputs_of_all_types(python: Python, tmp_path: Path) -> None:
    pod = check(Step(OUTPUTS, tmp_path).run(tmp_path, python=python))
    assert pod.values == {
        "text": "t\n",
        "kind": "A",
        "word": "y",
        "mixed": "1",
        "whole": "1",
        "real": "3.0",
        "flag": "true",
        "numbers": "[1.0, 0.5, NaN, -Infinity]",
        "rows": '[{"kind": "A", "size": 2, "note": null}, '
        '{"kind": "A", "size": 3, "note": "\\u007b\\u007b=1}}\\u0024\\u0024"}]',
        "table": '{"\\u007b\\u007bk}}": [1, "v"]}',
        "anything": '{"a": [0.25, [1, 2], Infinity]}',
        "absent": "null",
        "nothing": "null",
    }


WRONG_OUTPUTS = {
    ("int", "'x'"): "output return (int): expected int, got str 'x'",
    ("int", "1.0"): "output return (int): expected int, got float 1.0",
    ("float", "None"): "output return (float): expected float, got NoneType None",
    ("bool", "1"): "output return (bool): expected bool, got int 1",
    ("str", "b'x'"): "output return (str): expected str, got bytes b'x'",
    ("str", "'\\ud800'"): "output return (str): 'utf-8' codec can't encode character "
    "'\\ud800' in position 0: surrogates not allowed",
    ("Kind", "'A'"): "output return (Kind): expected Kind, got str 'A'",
    ("Kind", "Other.A"): "output return (Kind): expected Kind, got Other <Other.A: 1>",
    (
        "Tasks",
        "Tasks.A | Tasks.B",
    ): "output return (Tasks): expected one member of Tasks, got Tasks <Tasks.A|B: 3>",
    ("Literal['a']", "'b'"): "output return (Literal['a']): expected one of ('a',), got 'b'",
    ("list[int]", "'12'"): "output return (list[int]): expected list, got str '12'",
    ("list[int]", "[1, None]"): "output return (list[int]): expected int, got NoneType None",
    ("dict[str, int]", "{1: 2}"): "output return (dict[str, int]): expected str as key, got int 1",
    ("list[Row]", "[{'size': 1}]"): "output return (list[Row]): expected Row, got dict {'size': 1}",
    ("object", "{1, 2}"): "output return (Any): expected a value that JSON has, got set {1, 2}",
    ("str", "'é' * 40000"): "output return (str): 80000 bytes are too many for a value, 65536 is the most: "
    "return a Path",
    ("list[int]", "[10**6] * 8000"): "output return (list[int]): 72000 bytes are too many for a value, "
    "65536 is the most: return a Path",
    ("Row", "None"): "result: expected a result with size, got NoneType None",
    ("Row", "(1,)"): "result: expected a result with size, got tuple (1,)",
    ("Row", "Row('x')"): "output size (int): expected int, got str 'x'",
    ("tuple[int, int]", "(1, 2, 3)"): "result: expected 2 values, got tuple (1, 2, 3)",
    ("tuple[int, int]", "None"): "result: expected 2 values, got NoneType None",
    ("tuple[int, int]", "(1, 'x')"): "output item-1 (int): expected int, got str 'x'",
    ("Path", "'model.bin'"): "output return (Path): expected Path, got str 'model.bin'",
    ("Path", "None"): "output return (Path): expected Path, got NoneType None",
    ("Path", "Path('gone')"): "output return (Path): the path gone does not exist",
    ("Path", "Path('../out/..')"): "output return (Path): the folder ../out/.. holds the outputs "
    "of all steps: return one inside it",
    ("list[Path]", "['x']"): "output return (list[Path]): expected Path, got str 'x'",
    ("list[Path]", "Path('.')"): "output return (list[Path]): expected list, got PosixPath PosixPath('.')",
    ("dict[str, Path]", "{'a/b': Path('.')}"): "output return (dict[str, Path]): the key 'a/b' cannot be "
    "the name of a file",
    ("dict[str, Path]", "{'..': Path('.')}"): "output return (dict[str, Path]): the key '..' cannot be "
    "the name of a file",
    ("list[File]", "[File(Path('gone'))]"): "output return (list[File]): the path gone does not exist",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), WRONG_OUTPUTS, ids=str)
def test_a_wrong_result_ends_with_one_sentence(kind: str, value: str, tmp_path: Path) -> None:
    source = (
        "import enum\nfrom pathlib import Path\nfrom typing import Any, Literal, NamedTuple\n"
        "class Kind(enum.Enum):\n    A = 1\nclass Other(enum.Enum):\n    A = 1\n"
        "class Tasks(enum.Flag):\n    A = 1\n    B = 2\n"
        "class Row(NamedTuple):\n    size: int\nclass File(NamedTuple):\n    path: Path\n"
        f'@step(image="python")\ndef step() -> {kind}:\n    print("ran")\n    return {value}\n'
    )
    pod = Step(source, tmp_path).run(tmp_path)
    assert (pod.code, pod.stdout) == (1, "ran\n")
    assert pod.stderr == f"step step, {WRONG_OUTPUTS[kind, value]}\n"
    assert "return" not in names_in(pod.out)


FILES = """
import os
from pathlib import Path
from typing import NamedTuple, Optional

class Score(NamedTuple):
    loss: float
    model: Path
    log: Optional[Path]

class Made(NamedTuple):
    file: Path
    folder: Path
    none: Optional[Path]
    some: Optional[Path]
    listed: list[Path]
    named: dict[str, Path]
    scores: list[Score]
    deep: dict[str, tuple[int, list[Path]]]
    returned: Path

@step(image="python")
def step(given: Path) -> Made:
    Path("run.sh").write_text("x")
    os.chmod("run.sh", 0o750)
    Path("folder/empty").mkdir(parents=True)
    Path("folder/data").write_text("d")
    os.symlink("data", "folder/link")
    os.symlink("nowhere", "folder/broken")
    os.symlink("folder/data", "linked")
    for name in ("a", "b"):
        Path(name).write_text(name)
    a, b = Path("a"), Path("b").absolute()
    return Made(Path("run.sh"), Path("folder"), None, a, [a, b, a, Path("linked")],
                {"x y": a, "b": Path("folder")}, [Score(1, a, None), Score(float("nan"), a, b)],
                {"k": (1, [a, b])}, given)
"""
TAKES_FILES = """
from pathlib import Path
from typing import NamedTuple, Optional

class Score(NamedTuple):
    loss: float
    model: Path
    log: Optional[Path]

@step(image="python")
def step(
    file: Path, folder: Path, none: Optional[Path], some: Optional[Path], listed: list[Path],
    named: dict[str, Path], scores: list[Score], deep: dict[str, tuple[int, list[Path]]], returned: Path,
) -> list[str]:
    assert type(deep["k"]) is tuple and all(type(score) is Score for score in scores)
    return [repr(one) for one in (
        none, some and some.read_text(), [path.read_text() for path in listed],
        {key: path.is_dir() for key, path in named.items()},
        [(score.loss, score.model.read_text(), score.log and score.log.read_text()) for score in scores],
        (deep["k"][0], [path.read_text() for path in deep["k"][1]]), returned.read_text())]
"""


@every_python
def test_files_from_one_step_to_the_next(python: Python, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "in").mkdir(parents=True)
    (first / "in" / "given").write_text("given")
    second.mkdir()
    # Files of a failed attempt are replaced, whatever they are.
    (first / "out" / "file").mkdir(parents=True)
    (first / "out" / "file" / "old").write_text("old")
    (first / "out" / "folder").write_text("old")
    pod = check(Step(FILES, first).run(first, python=python))
    names = {"file", "folder", "some", "listed", "named", "scores", "deep", "returned"}
    assert names_in(pod.out) == names
    assert stat.S_IMODE((pod.out / "file").stat().st_mode) == 0o750
    assert (pod.out / "folder" / "empty").is_dir()
    assert (pod.out / "folder" / "link").readlink() == Path("data")
    assert (pod.out / "folder" / "broken").readlink() == Path("nowhere")
    assert names_in(pod.out / "listed") == {"0-a", "1-b", "2-a", "3-linked"}
    assert not (pod.out / "listed" / "3-linked").is_symlink()
    assert names_in(pod.out / "named") == {"b", "x y"}
    assert names_in(pod.out / "scores") == {"0-a", "1-a", "2-b", "value.json"}
    assert (first / "in" / "given").exists(), "an input that is returned is copied, not moved"
    shutil.copytree(pod.out, second / "in", symlinks=True)
    pod = check(Step(TAKES_FILES, second).run(second, python=python))
    assert json.loads(pod.values["return"]) == [
        "None",
        "'a'",
        "['a', 'b', 'a', 'd']",
        "{'b': True, 'x y': False}",
        "[(1.0, 'a', None), (nan, 'a', 'b')]",
        "(1, ['a', 'b'])",
        "'given'",
    ]


def test_places_of_files_in_variables(tmp_path: Path) -> None:
    source = """
from pathlib import Path
from typing import NamedTuple
class Row(NamedTuple):
    path: Path
@step(image="python")
def step(listed: list[Path], rows: list[Row]) -> Path:
    Path("x").write_text(listed[0].read_text() + rows[0].path.read_text())
    return Path("x")
"""
    step = Step(source, tmp_path)
    for name, text in {"l/0-a": "A", "r/0-b": "B", "r/value.json": '[{"path": "0-b"}]'}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    variables = {
        "l": str(tmp_path / "l"),
        "r": str(tmp_path / "r"),
        "o": str(tmp_path / "made" / "here" / "o"),
    }
    inputs: list[tuple[str, Reader]] = [
        ("listed", FromFolder(FromEnvPath("FLOWDSL_l"))),
        ("rows", FromBundle(FromEnvPath("FLOWDSL_r"), step.type_of("rows"))),
    ]
    made = script(step.carried, inputs, [Writer("return", (), t.FILE, FromEnvPath("FLOWDSL_o"))])
    check(execute(made, tmp_path, variables))
    assert (tmp_path / "made" / "here" / "o").read_text() == "AB"


# The script itself.


def test_the_whole_text_of_a_small_script(tmp_path: Path) -> None:
    source = """
import math

@step(image="python:3.12-slim")
def step(lr: float, name: str) -> float:
    return math.log(lr) + len(name)
"""
    assert (
        Step(source, tmp_path).script()
        == """from __future__ import annotations

import math


def step(lr: float, name: str) -> float:
    return math.log(lr) + len(name)


def _flowdsl_main():
    import json, os, sys

    def checked(what, function, *values):
        try:
            return function(*values)
        except Exception as error:
            sys.exit(f"step step, {what}: {str(error) or type(error).__name__}")

    def env(variable):
        return os.environb[variable.encode()].decode()

    def wrong(expected, value):
        return TypeError(f"expected {expected}, got {type(value).__name__} {value!r:.80}")

    def scalar(kind, *also):
        def check(value):
            value = value.item() if hasattr(value, "item") else value
            if not isinstance(value, (kind, *also)):
                raise wrong(kind.__name__, value)
            return kind(value)
        return check

    def as_number(check):
        return lambda value: json.dumps(check(value))

    def write(path, encode, value):
        data = encode(value).encode()
        if len(data) > 65536:
            raise ValueError(f"{len(data)} bytes are too many for a value, 65536 is the most: return a Path")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as target:
            target.write(data)

    result = step(
        lr=checked("input lr (float)", float, env("FLOWDSL_lr")),
        name=env("FLOWDSL_name"),
    )
    checked("output return (float)", write, "/tmp/flowdsl-out/return", as_number(scalar(float, int)), result)


if __name__ == "__main__":
    _flowdsl_main()
"""
    )


def test_a_step_without_inputs_and_outputs_has_no_helpers(tmp_path: Path) -> None:
    made = Step('@step(image="python")\ndef step() -> None:\n    print("ran")\n', tmp_path)
    assert made.script().endswith(
        '\n\ndef _flowdsl_main():\n    step()\n\n\nif __name__ == "__main__":\n    _flowdsl_main()\n'
    )
    assert check(made.run(tmp_path)).stdout == "ran\n"


def test_names_of_the_user_are_no_trouble(tmp_path: Path) -> None:
    source = """
import enum
type = "t"
isinstance = 3
json = os = sys = "mine"

def open(): return type

class wrong(enum.Enum):
    A = 1

class row(enum.Enum):
    B = 1

@step(image="python")
def checked(copy: int, kinds: list[wrong], *, result: str, rows: list[row]) -> list[str]:
    return [open(), str(isinstance), json + os + sys, kinds[0].name, rows[0].name, result, str(copy)]
"""
    step = Step(source, tmp_path, "checked")
    assert step.carried.names >= {
        "type",
        "isinstance",
        "json",
        "os",
        "sys",
        "open",
        "wrong",
        "row",
        "checked",
    }
    values = {
        "copy": "1",
        "kinds": '["A"]',
        "result": "r",
        "rows": '[{"flowdsl-index": "/0", "return": "B"}]',
    }
    item = step.type_of("rows")
    assert isinstance(item, t.Sequence)
    readers = {"rows": FromRows("FLOWDSL_rows", item.item)}
    pod = check(step.run(tmp_path, values, readers=readers))
    assert json.loads(pod.values["return"]) == [
        "t",
        "3",
        "mine" * 3,
        "A",
        "B",
        "r",
        "1",
    ]


def test_parameters_by_position_only(tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(a: int, b: int, /, c: int) -> str:\n    return f"{a}{b}{c}"\n'
    pod = check(Step(source, tmp_path).run(tmp_path, {"a": "1", "b": "2", "c": "3"}))
    assert pod.values["return"] == "123"


def test_processes_that_import_the_script_do_not_run_the_step(tmp_path: Path) -> None:
    source = """
import multiprocessing

def double(n: int) -> int:
    return 2 * n

@step(image="python")
def step(n: int) -> list[int]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(double, range(n))
"""
    assert check(Step(source, tmp_path).run(tmp_path, {"n": "3"})).values["return"] == "[0, 2, 4]"


def test_an_exception_of_the_step_is_shown_as_it_is(tmp_path: Path) -> None:
    pod = Step('@step(image="python")\ndef step() -> int:\n    return 1 // 0\n', tmp_path).run(tmp_path)
    assert pod.code == 1
    assert "ZeroDivisionError" in pod.stderr
    assert "return 1 // 0" in pod.stderr


def test_open_braces_are_closed_before_the_last_lines(tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(x: int) -> str:\n    return "{{"[:x] + "}}" + "{{"[:x]\n'
    text = Step(source, tmp_path).script()
    ending = text[text.index("def _flowdsl_main") :]
    assert text.rindex("}}") > text.rindex("{{")
    assert "{{" not in ending


def test_the_last_lines_hold_nothing_for_argo_or_the_kubelet() -> None:
    for code in script_parts.PARTS.values():
        assert not any(sign in code for sign in ("{{", "}}", "$$", "$("))
    for text in ("{{=1}}", "{{{{", "$$$", "$(ARGO_POD_NAME)", 'a"b\\', "\x07\n", "ü"):
        quoted = quote(text)
        assert eval(quoted) == text  # noqa: S307 -- a literal
        assert not any(sign in quoted for sign in ("{{", "$$", "$("))


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (str, "text"),
        (int, "json"),
        (str | None, "json"),
        (Path, "file"),
        (Path | None, "file"),
        (list[Path], "list"),
        (dict[str, Path], "dict"),
        (list[Path | None], "bundle"),
        (list[Path] | None, "bundle"),
        (tuple[int, Path], "bundle"),
    ],
    ids=str,
)
def test_layouts(kind: object, form: str) -> None:
    described = t.describe(kind)
    assert layout(described) == form
    if t.holds_file(described):
        made = ports.file_reader("/x", described)
        assert type(made) is {"file": FromFile, "bundle": FromBundle}.get(form, FromFolder)
