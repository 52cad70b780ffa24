"""Every reader gets back what the emitter was given, and a reviewer sees what changed."""

from __future__ import annotations

import copy
import difflib
import io
import json
from collections import OrderedDict
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest
import ryaml
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from flowdsl.compiler.yaml.emit import LONGEST_KEY, WIDTH, emit, emit_one
from tests.reader import manifests
from tests.reader.strings import NASTY, everywhere, generated

if TYPE_CHECKING:
    from collections.abc import Callable


def ruamel(text: str) -> Any:
    reader: Any = YAML(typ="safe", pure=True)
    return reader.load(text)


READERS: dict[str, Callable[[str], Any]] = {
    "PyYAML": yaml.safe_load,
    "libyaml": lambda text: yaml.load(text, Loader=yaml.CSafeLoader),
    "ruamel.yaml": ruamel,
    "ryaml": lambda text: ryaml.load(io.StringIO(text)),
}

strings = st.one_of(
    st.text(),
    st.sampled_from(NASTY),
    st.sampled_from(generated(2000, seed=1)),
    st.lists(st.text(max_size=8) | st.sampled_from(NASTY), max_size=5).map("\n".join),
)
names = strings.filter(lambda name: len(name) < 100)
scalars = st.one_of(
    strings,
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(names, inner, max_size=5)),
    max_leaves=20,
)
rows = st.lists(names, min_size=1, max_size=3, unique=True).flatmap(
    lambda keys: st.lists(st.fixed_dictionaries(dict.fromkeys(keys, scalars)), min_size=1, max_size=3)
)


def exact(value: Any) -> str:
    """A text that differs for 1, 1.0, True and "1", and for other orders of keys."""
    return json.dumps(value)


def by_each_reader(test: Any) -> Any:
    return pytest.mark.parametrize("read", READERS.values(), ids=READERS)(test)


@by_each_reader
@given(tree=trees)
def test_a_tree_comes_back(read: Callable[[str], Any], tree: Any) -> None:
    assert exact(read(emit_one(tree))) == exact(tree)


@by_each_reader
def test_nasty_strings_come_back(read: Callable[[str], Any]) -> None:
    sent = everywhere(NASTY)
    got = read(emit_one(sent))
    for part in sent:
        assert exact(got[part]) == exact(sent[part]), part


@by_each_reader
def test_large_manifests_come_back(read: Callable[[str], Any]) -> None:
    for manifest in (manifests.tasks(60, 3), manifests.sweep(100)):
        assert exact(read(emit_one(manifest))) == exact(manifest)


@by_each_reader
def test_a_document_may_be_a_string(read: Callable[[str], Any]) -> None:
    assert [text for text in NASTY if read(emit_one(text)) != text] == []


def test_nasty_strings_are_many_and_different() -> None:
    assert len(NASTY) == len(set(NASTY)) >= 300


@given(documents=st.lists(trees, max_size=4))
def test_documents_come_back_in_order(documents: list[Any]) -> None:
    text = emit(documents)
    assert exact(list(yaml.load_all(text, Loader=yaml.CSafeLoader))) == exact(documents)


@example(tree=["a \nb", "a\t\nb", "a\nb ", "a\nb\t"])
@given(tree=trees)
def test_lines_end_in_a_line_feed_and_not_in_blanks(tree: Any) -> None:
    text = emit_one(tree)
    *lines, last = text.split("\n")
    assert last == ""
    assert text.splitlines() == lines
    assert [line for line in lines if line.endswith((" ", "\t"))] == []


@given(tree=trees)
def test_text_depends_on_the_values_only(tree: Any) -> None:
    before = copy.deepcopy(tree)
    text = emit_one(tree)
    assert tree == before
    assert emit_one(before) == text
    assert emit([tree, tree]) == f"{text}---\n{text}"


@given(group=rows, times=st.integers(40, 50))
def test_a_long_list_is_the_lines_of_its_items(group: list[dict[str, Any]], times: int) -> None:
    each = "".join(emit_one([row]) for row in group * times)
    assert emit_one(group * times) == each


def test_nothing_is_anchored() -> None:
    shared = {"a": [1, {"b": "c"}]}
    assert emit_one([shared, shared]) == emit_one([shared, copy.deepcopy(shared)])


def test_a_task_and_a_script() -> None:
    document: dict[str, Any] = {
        "apiVersion": "argoproj.io/v1alpha1",
        "metadata": {"name": "digits", "labels": {"y": "on"}, "annotations": {}},
        "spec": {
            "templates": [
                {
                    "name": "main",
                    "dag": {
                        "tasks": [
                            {"name": "prep", "template": "prep"},
                            {
                                "name": "train",
                                "template": "train",
                                "depends": "prep.Succeeded && (a || b)",
                                "arguments": {
                                    "parameters": [
                                        {"name": "lr", "value": "1e-5"},
                                        {"name": "raw", "value": "{{tasks.prep.outputs.parameters.return}}"},
                                    ]
                                },
                                "withItems": [{"i": "/0", "lr": 0.1}, {"i": "/1", "lr": 1e-05}],
                            },
                        ]
                    },
                },
                {
                    "name": "train",
                    "script": {
                        "image": "registry:5000/python:3.12-slim",
                        "command": ["python3", "-u", "--x=1"],
                        "source": "import os\n\n\ndef f(a: int):\n\treturn a  # x\n",
                        "env": [{"name": "TEXT", "value": "a\nb"}, {"name": "MORE", "value": "c\nd\n\n"}],
                        "resources": {"limits": {"cpu": 2, "memory": "32Gi", "nvidia.com/gpu": "1"}},
                    },
                    "volumes": [{"name": "tmp", "emptyDir": {}}],
                    "steps": [
                        [{"name": "a"}, {"name": "b"}],
                        [{"name": "c", "with": [1, [2, 3]]}],
                        [1, 2],
                        [],
                    ],
                },
            ]
        },
    }
    assert emit_one(document) == (
        """\
apiVersion: argoproj.io/v1alpha1
metadata:
  name: digits
  labels:
    "y": "on"
  annotations: {}
spec:
  templates:
  - name: main
    dag:
      tasks:
      - {name: prep, template: prep}
      - name: train
        template: train
        depends: prep.Succeeded && (a || b)
        arguments:
          parameters:
          - {name: lr, value: "1e-5"}
          - {name: raw, value: "{{tasks.prep.outputs.parameters.return}}"}
        withItems:
        - {i: /0, lr: 0.1}
        - {i: /1, lr: 1.0e-05}
  - name: train
    script:
      image: registry:5000/python:3.12-slim
      command: [python3, -u, --x=1]
      source: |
        import os


        def f(a: int):
        \treturn a  # x
      env:
      - name: TEXT
        value: |-
          a
          b
      - name: MORE
        value: |+
          c
          d

      resources:
        limits:
          cpu: 2
          memory: 32Gi
          nvidia.com/gpu: "1"
    volumes:
    - {name: tmp, emptyDir: {}}
    steps:
    - - {name: a}
      - {name: b}
    - - name: c
        with:
        - 1
        - [2, 3]
    - [1, 2]
    - []
"""
    )


# fmt: off
BARE = [
    "a", "train-1", "__name__", "/data/x", "a.b/c", "python:3.12-slim", "http://a:80/b", "a && !(b || c)",
    "32Gi", "500m", "90s", "-c", "--lr=0.1", "a b", "A100*", "user@host", "x/$HOME", "int(a) > 3",
]
IN_QUOTES = [
    "", "y", "No", "NULL", "nan", "-inf", "Infinity", "1", "1e3", "08", "0o17", "1_000", "12:30",
    "2026-11-21", "~", "=", "<<", "-", "- a", "a: b", "a:", "a #b", "#a", "@a", "%a", "!a", "&a", "*a", "|",
    ">", "?", "_", ".", "a,b", "a, b", "[a]", "{{a}}", "it's", " a", "a ", "a  b", "1.5Gi", "0m", "12",
    "日本", "a?b", "a:-b", "a:=b", "---", "...",
]
# fmt: on


@pytest.mark.parametrize("text", BARE)
def test_plain(text: str) -> None:
    assert emit_one({text: text}) == f"{text}: {text}\n"


@pytest.mark.parametrize("text", IN_QUOTES)
def test_quoted(text: str) -> None:
    assert emit_one({text: text}) == f'"{text}": "{text}"\n'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('say "a" \\', """'say "a" \\'"""),
        ("""it's "a" \\""", r'''"it's \"a\" \\"'''),
        ("a\n", r'"a\n"'),
        ("a\tb", r'"a\tb"'),
        ("a \nb", r'"a \nb"'),
        (" a\nb", r'" a\nb"'),
        ("\n\n", r'"\n\n"'),
        ("a\nb\n ", r'"a\nb\n "'),
        ("a\r\nb", r'"a\r\nb"'),
        ("a\nb\u202ec", r'"a\nb\u202ec"'),
        ("\x00\x07\x7f\x85", r'"\u0000\u0007\u007f\u0085"'),
        ("\ufeff\u2028\u200b", r'"\ufeff\u2028\u200b"'),
        ("\U000e0041", r'"\U000e0041"'),
        ("é \U0001f600\u200d\U0001f469", '"é \U0001f600\u200d\U0001f469"'),
    ],
)
def test_escapes(text: str, written: str) -> None:
    assert emit_one({"a": text}) == f"a: {written}\n"
    assert emit_one([[{"a": text}]]) == f"- - {{a: {written}}}\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\nb\n", "|\n  a\n  b\n"),
        ("a\nb\n\n\n", "|+\n  a\n  b\n\n\n"),
        ("\n\na\n  b", "|-\n\n\n  a\n    b\n"),
        ("---\n# é\n%x: |\n", "|\n  ---\n  # é\n  %x: |\n"),
    ],
)
def test_blocks(text: str, written: str) -> None:
    assert emit_one({"a": text}) == f"a: {written}"
    assert emit_one([text]) == f"- {written}"
    assert emit_one({text: 1}) == f"{json.dumps(text, ensure_ascii=False)}: 1\n"


def test_one_line_up_to_a_width() -> None:
    fits = "x" * (WIDTH - len("{a: , b: 1}"))
    assert emit_one([{"a": fits, "b": 1}]) == f"- {{a: {fits}, b: 1}}\n"
    assert emit_one([{"a": fits + "x", "b": 1}]) == f"- a: {fits}x\n  b: 1\n"
    for row in ({"a": fits, "b": 1}, {"a": fits + "x", "b": 1}):
        assert emit_one([row] * 50) == emit_one([row]) * 50
    fits = "x" * (WIDTH - len("[, 1]"))
    assert emit_one({"a": [fits, 1]}) == f"a: [{fits}, 1]\n"
    assert emit_one({"a": [fits + "x", 1]}) == f"a:\n- {fits}x\n- 1\n"
    assert emit_one(["word " * 500 + "end"]) == f"- {'word ' * 500}end\n"


def test_a_change_stays_on_its_line() -> None:
    before, after = manifests.tasks(50, 2), manifests.tasks(50, 2)
    after["spec"]["templates"][0]["dag"]["tasks"][7]["arguments"]["parameters"][0]["value"] = "x" * 200
    after["spec"]["templates"][2]["script"]["image"] = "python:3.13-slim"
    changes = difflib.ndiff(emit_one(before).splitlines(), emit_one(after).splitlines())
    assert [change.split(maxsplit=1) for change in changes if not change.startswith((" ", "?"))] == [
        ["-", '- {name: lr, value: "0.007"}'],
        ["+", "- name: lr"],
        ["+", "value: " + "x" * 200],
        ["-", "image: python:3.12-slim"],
        ["+", "image: python:3.13-slim"],
    ]


OTHER_SCALARS: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (0, "0"),
    (-(2**63), "-9223372036854775808"),
    (1.0, "1.0"),
    (-0.0, "-0.0"),
    (1e-5, "1.0e-05"),
    (1.5e-5, "1.5e-05"),
    (1e16, "1.0e+16"),
    ({}, "{}"),
    ([], "[]"),
    ([[]], "[[]]"),
]


@pytest.mark.parametrize(("value", "written"), OTHER_SCALARS)
def test_other_scalars(value: Any, written: str) -> None:
    assert emit_one({"a": value}) == f"a: {written}\n"


class Text(StrEnum):
    A = "a"


OTHER_TYPES: list[Any] = [(1,), {1}, b"a", 1j, Text.A, OrderedDict(a=1), OrderedDict(), object, range(3)]


@pytest.mark.parametrize("value", OTHER_TYPES)
def test_other_types_are_refused(value: Any) -> None:
    for document in (value, [value], {"a": value}, [{"a": value}], [{"a": value}] * 50):
        with pytest.raises(TypeError, match=type(value).__name__):
            emit_one(document)


@pytest.mark.parametrize("name", [1, 1.5, None, True, b"a", (1,)])
def test_other_keys_are_refused(name: Any) -> None:
    for document in ({name: 1}, [{"a": 1, name: "b"}], [{name: "b"}] * 50):
        with pytest.raises(TypeError, match="a key is no str"):
            emit_one(document)


@pytest.mark.parametrize(
    "value", [2**63, -(2**63) - 1, float("nan"), float("inf"), -float("inf"), "\ud800", "a\n\udfff\n"]
)
def test_what_readers_lose_is_refused(value: Any) -> None:
    for document in (value, [value], {"a": value}, [{"a": value}] * 50):
        with pytest.raises(ValueError, match=r"64 bits|number of JSON|surrogate"):
            emit_one(document)


@by_each_reader
def test_the_longest_key(read: Callable[[str], Any]) -> None:
    longest = {"x" * (LONGEST_KEY - 1): "x", "1" * (LONGEST_KEY - 3): "x"}
    assert read(emit_one([longest])) == [longest]
    for name in ("x" * LONGEST_KEY, "1" * (LONGEST_KEY - 2), "\x07" * (LONGEST_KEY // 6 + 1)):
        with pytest.raises(ValueError, match=r"key of 100[0-9] characters"):
            emit_one({name: 1})


def test_documents_are_apart() -> None:
    assert emit([]) == ""
    assert emit([{"a": 1}]) == "a: 1\n"
    assert emit([{"a": 1}, {}, {"b": "c\nd\n\n"}, {"e": 2}]) == (
        "a: 1\n---\n{}\n---\nb: |+\n  c\n  d\n\n---\ne: 2\n"
    )
