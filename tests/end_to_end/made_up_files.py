"""Pipelines with files made up at random: what they are made of, and what Python does with the same statements."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from flowdsl.values import types as t
from tests.end_to_end import made_up
from tests.end_to_end.made_up import Branch, Call, Names, Value
from tests.end_to_end.pipelines import made_up_files as steps
from tests.end_to_end.plain import whole

FILES = made_up.Words(
    steps,
    made_up.signatures(steps),
    (
        *("int", "str", "float", "Path", "Path", "Path | None", "Model", "list[Path]", "dict[str, Path]"),
        *("list[Model]", "Bundle", "tuple[Path, int]", "Labelled", "Options"),
    ),
    (
        *(
            "Path",
            "Model",
            "int",
            "Path | None",
            "list[Path]",
            "Bundle",
            "tuple[Path, int]",
            "dict[str, Path]",
        ),
        "Labelled",
    ),
    {"n": "int", "t": "str", "xs": "list[int]"},
    {
        "int": ("0", "1", "2", "5"),
        "float": ("0.5", "2.0"),
        "str": ("'x'", "'a b'", "'q'"),
        "bool": ("True",),
        "Path": ("Raw('raw')", "DATA / 'one'", "DATA / 'two'"),
        "Path | None": ("None", "Raw('opt')"),
        "list[Path]": ("[Raw('r1'), Raw('r2')]", "[DATA / 'one', DATA / 'two']"),
        "dict[str, Path]": ("{'k': Raw('kk')}", "{'a': DATA / 'one'}"),
        "Model": ("Model(Raw('rm'), 0.25)", "Model(DATA / 'one', 1.5)"),
        "list[Model]": ("[Model(Raw('rm'), 0.25), Model(Raw('rn'), 0.75)]",),
        "Bundle": ("Bundle(Model(Raw('bm'), 1.0), None)",),
        "list[Bundle]": ("[Bundle(Model(Raw('bm'), 1.0), None)]",),
        "Options": (
            "Options()",
            "Options(0.25)",
            "Options(2.0, Raw('os'), [Raw('op')])",
            "Options(1.5, None, [])",
        ),
        "list[Options]": ("[Options(), Options(0.75)]", "[Options(parts=[]), Options(3.0, None)]"),
        "Labelled": ("Labelled(Raw('rl'), 7)", "Labelled(DATA / 'two', 8)"),
        "list[Labelled]": ("[Labelled(Raw('rl'), 7), Labelled(Raw('rk'), 6)]",),
        "list[str]": ("['p', 'q']",),
        "list[int]": ("[1, 2]", "[5, 0]"),
        "list[float]": ("[0.5, 2.0]",),
        "tuple[Path, int]": ("(Raw('t'), 3)",),
        "list[list[Path]]": ("[[Raw('z')], []]",),
        "list[list[Model]]": ("[[Model(Raw('rm'), 0.25)], []]",),
    },
    {"int": "[1, 2, 5]", "str": "['a', 'b']", "float": "[0.5, 2.0]"},
    {
        "Model": (("{}.weights", "Path"), ("{}.loss", "float")),
        "Bundle": (("{}.model", "Model"), ("{}.log", "Path | None"), ("{}.model.weights", "Path")),
        "tuple[Path, int]": (("{}[0]", "Path"), ("{}[1]", "int")),
        "Labelled": (("{}.data", "Path"), ("{}.number", "int")),
        "Options": (("{}.rate", "float"), ("{}.start", "Path | None"), ("{}.parts", "list[Path]")),
        "list[str]": (("{}[0]", "str"),),
    },
    {"int": (("+", "int"),), "str": (("+", "str"),), "float": (("*", "float"),)},
    {
        "str": ("'{{}}:{{}}'.format({}, {})", ("str", "int")),
        "Model": ("Model({}, {})", ("Path", "float")),
        "Labelled": ("Labelled({}, {})", ("Path", "int")),
        "Options": ("Options({}, {})", ("float", "Path | None")),
        "Bundle": ("Bundle({}, {}, {})", ("Model", "Path | None", "str")),
        "dict[str, Path]": ("{{'i': {}, 'j j': {}}}", ("Path", "Path")),
        "tuple[Path, int]": ("({}, {})", ("Path", "int")),
        "list[Path]": ("[{}, {}]", ("Path", "Path")),
        "list[Model]": ("[{}, {}]", ("Model", "Model")),
    },
    {"int": ("<", "==")},
)

TAKEN = {
    "list[Path]": (("{}[0]", "Path"), ("{}[-1]", "Path")),
    "dict[str, Path]": (("{}['a']", "Path"), ("{}['b c']", "Path")),
    "list[Model]": (("{}[0]", "Model"), ("{}[-1].weights", "Path"), ("{}[-1].loss", "float")),
}
"""What is taken out of the list or dict of files that a step returns."""


class Maker(made_up.Maker):
    """Makes up pipelines whose files come from tasks and from outside: from a volume, written out, or from both."""

    def __init__(self, random: Random) -> None:
        other = random.choice(("DATA", "Raw", "nothing"))
        literals = {
            kind: tuple(one for one in several if other not in one) or several
            for kind, several in FILES.literals.items()
        }
        super().__init__(random, FILES._replace(literals=literals))

    def call(self, known: list[Value]) -> Call:
        """A call; the files in a list or dict that a step returns are known, too."""
        made = super().call(known)
        known += self.taken(made, known, sure=not made.may_fail)
        return made

    def taken(self, call: Call, known: list[Value], *, sure: bool) -> Iterator[Value]:
        """What is taken out of the list or dict that a step returns; by `either` if it may not have run."""
        if call.target not in self.words.signatures:
            return
        for form, kind in TAKEN.get(self.words.signatures[call.target][1], ()):
            source = form.format(call.name)
            if sure:
                yield Value(source, kind)
            elif kind != "Model":
                yield Value(f"either({source}, {self.value(known, kind, 1).source})", kind)

    def branch(self, known: list[Value], condition: str, depth: int) -> Branch:
        """A branch; of its files, some are known after it by `either`, too."""
        made = super().branch(known, condition, depth)
        for one in (*made.body, *made.other):
            if isinstance(one, Call) and not one.may_fail and one.target in self.words.signatures:
                known += self.taken(one, known, sure=False)
                kind = self.words.signatures[one.target][1]
                if kind in ("Path", "Model", "list[Path]", "Bundle") and self.chance(0.5):
                    source = f"either({one.name}, {self.value(known, kind, 1).source})"
                    known.append(Value(source, kind))
        return made


class Plain(made_up.Plain):
    """As that of values; each step is called in an empty folder of its own."""

    def __init__(self, pipelines: list[made_up.Pipeline], folder: Path, data: Path) -> None:
        super().__init__(pipelines)
        self.folder = folder
        self.known = {**vars(steps), "Raw": self._raw, "DATA": data}
        self._count = 0

    def _next(self) -> Path:
        self._count += 1
        return self.folder / str(self._count)

    def _raw(self, text: str) -> Path:
        file = self._next()
        file.write_text(text, encoding="utf-8")
        return file

    def step(self, target: str, arguments: Names) -> Any:
        """What a step gives, with the whole paths of its files."""
        folder, printed = self._next(), io.StringIO()
        folder.mkdir()
        try:
            with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
                step = getattr(steps, target)
                if step._definition.kind == "container":
                    return _contained(step, arguments, folder)
                return whole(step(**arguments), folder)
        except (ValueError, OSError):
            return self.fail()
        finally:
            self.printed.update(printed.getvalue().splitlines())


def _contained(step: Any, arguments: Names, folder: Path) -> Any:
    """What the program of a container gives with the values and paths that its function names."""
    returns = step._definition.signature.returns

    def command(
        *words: object, env: Names | None = None, source: str | None = None, stdout: bool = False
    ) -> Any:
        given = [*map(str, words), *(() if source is None else ("-c", source))]
        names = {name: "" if one is None else str(one) for name, one in (env or {}).items()}
        found = subprocess.run(given, env={**os.environ, **names}, check=True, capture_output=True, text=True)
        print(found.stdout, end="")  # noqa: T201 -- what is printed is compared
        if stdout:
            return found.stdout
        made = {out.keys: _read(folder / out.name, out.type) for out in t.outputs(returns)}
        return t.assembled(returns, made, _record)

    def output(name: str = "return") -> str:
        return str(folder / name)

    with mock.patch.multiple(steps, command=command, output=output):
        return step.__wrapped__(**arguments)


def _read(file: Path, kind: t.Type) -> Any:
    return file if isinstance(kind, t.File) else json.loads(file.read_text())


def _record(kind: t.Record | t.Fixed, parts: list[Any]) -> Any:
    return kind.cls(*parts) if isinstance(kind, t.Record) else tuple(parts)
