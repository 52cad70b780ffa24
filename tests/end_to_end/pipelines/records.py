"""Records with files, tuples, and dicts and lists of files, through sub-pipelines, branches and loops."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, either, fan_out, otherwise, pipeline, step, when

PYTHON = "python:3.12-slim"
DATA = Volume("data", mode="ReadOnlyMany")


class Model(NamedTuple):
    weights: Path
    loss: float
    tags: list[str]


@dataclass(frozen=True)
class Both:
    """A record in a record, one of them optional."""

    model: Model
    extra: Path
    names: dict[str, int] = field(default_factory=dict[str, int])


@step(image=PYTHON)
def make(source: Path, loss: float) -> Model:
    """A model of a file, or of all files of a folder."""
    texts = (
        [path.read_text() for path in sorted(source.rglob("*.txt"))]
        if source.is_dir()
        else [source.read_text()]
    )
    weights = Path("weights.bin")
    weights.write_text(f"{'+'.join(texts)}@{loss}")
    return Model(weights, loss, ["t", f"{loss}"])


@step(image=PYTHON)
def pair(model: Model, count: int) -> tuple[Path, int]:
    """A copy and a number."""
    copy = Path("copy")
    copy.write_text(model.weights.read_text() * count)
    return copy, count + 1


@step(image=PYTHON)
def split(model: Model, count: int) -> list[Path]:
    """A list of files, all of one name."""
    found: list[Path] = []
    for number in range(count):
        file = Path(f"{number}") / "part.txt"
        file.parent.mkdir()
        file.write_text(f"{model.weights.read_text()} {number}")
        found.append(file)
    return found


@step(image=PYTHON)
def index(parts: list[Path], models: list[Model]) -> dict[str, Path]:
    """A dict of files, one of them a folder."""
    folder = Path("folder")
    folder.mkdir()
    for number, part in enumerate(parts):
        (folder / f"{number}.txt").write_text(part.read_text())
    file = Path("models.txt")
    file.write_text(" ".join(f"{one.weights.read_text()}:{one.loss}:{one.tags}" for one in models))
    return {"parts": folder, "the models": file}


@step(image=PYTHON)
def join(model: Model, extra: Path) -> Both:
    """A record in a record."""
    return Both(model, extra, {"a": len(model.tags)})


@step(image=PYTHON)
def show(both: Both, files: dict[str, Path], several: list[Model], couple: tuple[Path, int]) -> str:
    """All of it as text."""
    texts: dict[str, object] = {}
    for name, path in files.items():
        texts[name] = sorted(one.name for one in path.iterdir()) if path.is_dir() else path.read_text()
    parts = [
        both.model.weights.read_text(),
        both.model.loss,
        both.model.tags,
        both.extra.read_text(),
        both.names,
    ]
    models = [(one.weights.read_text(), one.loss) for one in several]
    return f"{parts} {texts} {models} {couple[0].read_text()} {couple[1]}"


@step(image=PYTHON)
def worse(model: Model) -> Model:
    """A model with twice the loss."""
    return model._replace(loss=model.loss * 2)


@pipeline
def build(source: Path, loss: float) -> Both:
    """A sub-pipeline that hands on a record with a record in it."""
    model = make(source, loss)
    copy, _ = pair(model, 2)
    return join(model, copy)


@pipeline
def choose(source: Path, loss: float) -> Model:
    """A sub-pipeline with a branch inside."""
    with when(loss > 0.5):
        high = make(source, loss)
    with otherwise():
        low = make(source, loss * 2)
    return either(high, low)


@pipeline
def twice(source: Path, loss: float) -> Model:
    """Two steps, the second with the file of the first."""
    first = make(source, loss)
    return make.options(name="second")(first.weights, first.loss + 1)


@pipeline
def both_worse(models: list[Model]) -> list[Model]:
    """A sub-pipeline that loops over the records it is given."""
    return fan_out(worse, over={"model": models})


@pipeline
def records(loss: float = 0.25) -> str:
    model = make(DATA / "source", loss)
    again = make.options(name="again")(model.weights, loss / 2)
    couple = pair(again, 3)
    parts = split(model, 3)
    none = split.options(name="none")(model, 0)
    files = index(parts, [model, again])
    index.options(name="empty")(none, [])
    both = build(DATA / "source", loss)
    nested = build(both.extra, model.loss + 1)
    worse(both.model)
    chosen = choose(again.weights, loss)
    each = fan_out(twice, over={"loss": [0.1, 0.9, loss]}, source=model.weights)
    from_folder = make.options(name="from-folder")(DATA / "source", 1.0)
    show.options(name="first")(both, files, [model, from_folder], couple)
    slow = both_worse([model, again])
    fan_out(both_worse.options(name="slower"), over={"models": [[model, again], [again, model]]})
    index.options(name="all-slow")(parts, slow)
    both = Both(chosen, nested.extra, nested.names)
    return show(both, {"x": model.weights, "y": couple[0]}, each, (nested.extra, 5))
