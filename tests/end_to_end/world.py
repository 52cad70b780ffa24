"""What a test of whole pipelines needs: compiled files, volumes with what is read, and runs of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.runtime.local.pods.settings import Settings
from tests.end_to_end.plain import Plain, agree
from tests.end_to_end.run import Fake, Json, Run, run


class Case(NamedTuple):
    """A pipeline of a file with its arguments; `name` where the file has several."""

    file: Path
    arguments: dict[str, Any]
    name: str | None = None

    @property
    def pipeline(self) -> str:
        """The name of the pipeline, or that of its file or example."""
        return self.name or (self.file.parent.name if self.file.stem == "pipeline" else self.file.stem)

    @property
    def id(self) -> str:
        """What tells it from others."""
        return "-".join([self.pipeline, *(f"{name}={value}" for name, value in self.arguments.items())])


def text(value: Any) -> str:
    """A value as an argument of a workflow."""
    return str(value) if isinstance(value, (str, date, Decimal, UUID)) else json.dumps(value)


def compiled(file: Path, name: str | None = None) -> tuple[Any, Json]:
    """The module of a file, and the manifest of its pipeline."""
    loaded = load(file)
    result = compile_loaded(loaded, name)
    assert not result.failed, [one.finding.message for one in result.diagnostics]
    (document,) = result.documents
    return loaded.module, document


def points(document: Json, loop: str, names: dict[str, type]) -> list[Any]:
    """The points that were drawn for a sweep, as they stand in the manifest."""
    (template,) = (one for one in document["spec"]["templates"] if one["name"] == loop)
    (task,) = (one for one in template["dag"]["tasks"] if "withItems" in one)
    return [tuple(kind(item[name]) for name, kind in names.items()) for item in task["withItems"]]


def filled(folder: Path) -> dict[str, Path]:
    """The volumes of all pipelines, with what they read."""
    files = {
        "datasets": {
            "raw/2026-11": "  rows ",
            "raw/reviews.txt": "short\na review of more than twenty characters\n" * 3,
            "runs/volume-00001": "of this run",
            "src/a.c": "int a;",
            "src/b.c": "int b;",
            **{name: f"the file {name}" for name in ("words", "a", "b", "all")},
        },
        "nested": {"raw": "RAW"},
        "models": {},
        "data": {
            "folder/a b": "one",
            "folder/c'd": "two",
            "other/a b": "three",
            "source/x.txt": "X",
            "source/deep/y.txt": "Y",
        },
        "crawl": {f"2026/text/{number:03}.txt": f"The page {number} the end" for number in range(12)},
        "tickets": {"labelled.csv": tickets(40, labelled=True), "new.csv": tickets(6, labelled=False)},
        "clicks": {"all/clicks.txt": "c1,c2"},
    }
    for volume, texts in files.items():
        (folder / volume).mkdir(parents=True)
        for name, content in texts.items():
            path = folder / volume / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return {volume: folder / volume for volume in files}


def tickets(count: int, *, labelled: bool) -> str:
    """The CSV of support tickets that the example of stages reads."""
    rows = [
        ("1", f"production down, since {n} minutes") if n % 2 else ("0", f"please send, again, invoice {n}")
        for n in range(count)
    ]
    lines = [("urgent", "text"), *rows] if labelled else [("text",), *((said,) for _, said in rows)]
    return "".join(",".join(f'"{one}"' for one in line) + "\n" for line in lines)


TORCHRUN = """\
#!/bin/sh
for word in "$@"; do
  case $word in
    --clicks=*) clicks=${word#*=} ;; --epochs=*) epochs=${word#*=} ;;
    --model=*) model=${word#*=} ;; --loss=*) loss=${word#*=} ;;
  esac
done
printf '%s %s' "$epochs" "$(cat "$clicks"/*)" > "$model"
awk -v n="$epochs" 'BEGIN { printf "%.17g\\n", 3 / n }' > "$loss"
echo trained
"""


class World:
    """The volumes and the runs of a test, and its steps as functions. A claim of `volumes` may be a folder to come."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder = folder
        self.python = python
        self.volumes = filled(folder / "volumes")
        programs = folder / "programs"
        programs.mkdir()
        (programs / "torchrun").write_text(TORCHRUN)
        (programs / "torchrun").chmod(0o755)
        self.plain = Plain(folder / "plain")
        self.runs = 0

    def run(
        self,
        document: Json,
        arguments: Mapping[str, str] | None = None,
        *,
        name: str | None = None,
        fake: Fake | None = None,
    ) -> Run:
        """Run a Workflow under a name, by default one of its own."""
        self.runs += 1
        for one in self.volumes.values():
            one.mkdir(parents=True, exist_ok=True)
        settings = Settings(
            python=str(self.python),
            mounts=self.volumes,
            secrets={"hub": {"token": "s$$cret"}},
            cpu=64,
            memory=1 << 40,
            grace=2,
        )
        named = name or f"{document['metadata'].get('generateName', 'run-')}{self.runs:05}"
        return run(self.folder / f"runs/{self.runs}", document, arguments or {}, named, settings, fake)

    def agree(self, run: Run) -> None:
        """Assert that a run gave what the functions gave."""
        files = self.folder / "files"
        files.mkdir()
        agree(run, self.plain, files)
