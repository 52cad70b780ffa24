"""Both type checkers, strict, find nothing in what README and docs show."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.checkers.checker import printed
from tests.pages import PAGES, ROOT, right

#: As much of the packages that the pages import as they use: too large to be installed for that, or made up.
STUBS = {
    "torch/__init__.pyi": """
from pathlib import Path
class Tensor:
    def item(self) -> float: ...
def tensor(data: float) -> Tensor: ...
def save(obj: object, f: Path) -> None: ...
""",
    "torch/distributed.pyi": """
from torch import Tensor
def init_process_group() -> None: ...
def all_reduce(tensor: Tensor) -> None: ...
""",
    "mlflow.pyi": """
from contextlib import AbstractContextManager
def start_run(*, run_name: str) -> AbstractContextManager[None]: ...
def log_param(key: str, value: float) -> None: ...
def log_metric(key: str, value: float) -> None: ...
""",
    "transformers.pyi": """
class Model:
    def num_parameters(self) -> int: ...
class AutoModel:
    @staticmethod
    def from_pretrained(name: str) -> Model: ...
""",
    "team_metrics.pyi": """
def score() -> float: ...
""",
}


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_sources_are_typed(checker: str, tmp_path: Path) -> None:
    for stub, text in STUBS.items():
        (tmp_path / stub).parent.mkdir(exist_ok=True)
        (tmp_path / stub).write_text(text, encoding="utf-8")
    for page in PAGES:
        for name, text, _ in right(page):
            place = tmp_path / Path(page).stem.lower() / name
            while place.exists():  # a file that the page changes
                place = place.parent / "changed" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    # The blocks of a page share one beginning, and no block uses all that it imports.
    settings = {"typeCheckingMode": "strict", "reportUnusedImport": "none", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    strict = ["--strict", "--explicit-package-bases", "--follow-imports=silent", "--no-incremental", "."]
    options = strict if checker == "mypy" else ["--pythonpath", sys.executable]
    printed(checker, *options, folder=tmp_path, code=0)
