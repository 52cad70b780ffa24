# ruff: noqa: T201 -- what is printed is compared
"""Steps with files of which pipelines are made up at random; each prints what is in the files that it was given."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, command, container, output, step

PYTHON = "python:3.12-slim"
BUSYBOX = "busybox:1.37.0"
DATA = Volume("data")


class Model(NamedTuple):
    weights: Path
    loss: float


@dataclass(frozen=True)
class Bundle:
    model: Model
    log: Path | None
    note: str = "n"


@dataclass
class Options:
    """Settings of which none has to be a file."""

    rate: float = 0.5
    start: Path | None = None
    parts: list[Path] = field(default_factory=list[Path])


class Labelled(NamedTuple):
    """What a container gives whose results have the names of its inputs."""

    data: Path
    number: int


@step(image=PYTHON)
def add(left: int, right: int) -> int:
    print("add", left, right)
    return left + right


@step(image=PYTHON)
def above(number: int, least: float = 1.5) -> bool:
    print("above", number, least)
    return number > least


@step(image=PYTHON)
def words(number: int) -> list[str]:
    print("words", number)
    return [f"w{one}" for one in range(1 + abs(number) % 3)]


@step(image=PYTHON)
def make(text: str, number: int = 1) -> Path:
    print("make", text, number)
    out = Path("made.txt")
    out.write_text(f"{text}{number}")
    return out


@step(image=PYTHON)
def read(file: Path) -> str:
    print("read", file.read_text())
    return file.read_text()[:9]


@step(image=PYTHON)
def size(file: Path, least: int = 2) -> int:
    print("size", file.read_text(), least)
    return len(file.read_text()) + least


@step(image=PYTHON)
def fit(data: Path, rate: float = 0.5) -> Model:
    print("fit", data.read_text(), rate)
    out = Path("w.bin")
    out.write_text(data.read_text()[-8:] + "*")
    return Model(out, rate * len(data.read_text()))


@step(image=PYTHON)
def split(data: Path, parts: int = 2) -> list[Path]:
    print("split", data.read_text(), parts)
    found = [Path(f"p{one}") for one in range(1 + abs(parts) % 4)]
    for number, one in enumerate(found):
        one.write_text(data.read_text()[number:])
    return found


@step(image=PYTHON)
def named(text: str) -> dict[str, Path]:
    print("named", text)
    for one in ("a", "b c"):
        Path(one).write_text(text + one)
    return {one: Path(one) for one in ("a", "b c")}


@step(image=PYTHON)
def gather(files: list[Path]) -> Path:
    texts = [one.read_text() for one in files]
    print("gather", texts)
    Path("g").write_text("+".join(texts)[:20])
    return Path("g")


@step(image=PYTHON)
def table(files: dict[str, Path], first: Path | None = None) -> str:
    texts = sorted((key, one.read_text()) for key, one in files.items())
    print("table", texts, first and first.read_text())
    return ",".join(sorted(files))


@step(image=PYTHON)
def perhaps(data: Path, number: int = 1) -> Path | None:
    print("perhaps", data.read_text(), number)
    if number % 2:
        return None
    Path("x").write_text(data.read_text() + "?")
    return Path("x")


@step(image=PYTHON)
def optional(file: Path | None, other: Path | None = None) -> str:
    print("optional", *(None if one is None else one.read_text() for one in (file, other)))
    return "none" if file is None else "some"


@step(image=PYTHON)
def models(number: int) -> list[Model]:
    print("models", number)
    found = [Model(Path(f"m{one}"), one / 2) for one in range(1 + abs(number) % 3)]
    for one in found:
        one.weights.write_text(one.weights.name)
    return found


@step(image=PYTHON)
def best(models: list[Model]) -> Model:
    print("best", [(one.weights.read_text(), one.loss) for one in models])
    return min(models, key=lambda one: one.loss)


@step(image=PYTHON)
def bundle(model: Model, log: Path | None, note: str = "b") -> Bundle:
    print("bundle", model.weights.read_text(), model.loss, log and log.read_text(), note)
    return Bundle(model, log, note)


@step(image=PYTHON)
def look(bundle: Bundle) -> Path:
    log = bundle.log and bundle.log.read_text()
    print("look", bundle.model.weights.read_text(), bundle.model.loss, log, bundle.note)
    return bundle.model.weights


@step(image=PYTHON)
def looks(bundles: list[Bundle]) -> int:
    for one in bundles:
        log = one.log and one.log.read_text()
        print("looks", one.model.weights.read_text(), one.model.loss, log, one.note)
    return len(bundles)


@step(image=PYTHON)
def folder(number: int) -> Path:
    print("folder", number)
    Path("f/deep").mkdir(parents=True)
    Path("f/deep/x").write_text(str(number))
    Path("f/y").write_text("y")
    return Path("f")


@step(image=PYTHON)
def listing(folder: Path) -> str:
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    print("listing", [(str(one.relative_to(folder)), one.read_text()) for one in files])
    return "l"


@step(image=PYTHON)
def pair(data: Path, number: int) -> tuple[Path, int]:
    print("pair", data.read_text(), number)
    return data, number + 1


@step(image=PYTHON)
def lists(models: list[list[Model]], files: list[list[Path]]) -> int:
    texts = [[(one.weights.read_text(), one.loss) for one in some] for some in models]
    print("lists", texts, [[one.read_text() for one in some] for some in files])
    return len(models)


@step(image=PYTHON)
def fragile(data: Path, number: int = 0) -> Path:
    print("fragile", data.read_text(), number)
    if number > 3:
        raise ValueError("too large")
    Path("fr").write_text(data.read_text() + "!")
    return Path("fr")


@container(image=BUSYBOX)
def label(data: Path, number: int, text: str = "l") -> Labelled:
    source = """
        echo "label $(cat "$0") $NUMBER $TEXT"
        printf "%s" "$TEXT$(cat "$0")" > "$1"
        echo $((NUMBER + 1)) > "$2"
    """
    names = {"TEXT": text, "NUMBER": number}
    return command("sh", "-c", source, data, output("data"), output("number"), env=names)


@container(image=BUSYBOX)
def mixed(model: Model, file: Path | None, number: int = 2) -> Path:
    source = """
        if [ -e "$FILE" ]; then FOUND=$(cat "$FILE"); else FOUND=none; fi
        echo "mixed $(cat "$MODEL") $FOUND $NUMBER"
        printf "%s" "$(cat "$MODEL")$FOUND" > "$OUT"
    """
    names = {"MODEL": model.weights, "NUMBER": number, "OUT": output(), "FILE": file}
    return command("sh", source=source, env=names)


@container(image=BUSYBOX)
def tell(text: str, file: Path) -> str:
    return command("sh", "-c", 'printf "tell %s %s" "$0" "$(cat "$1")"', text, file, stdout=True)


@step(image=PYTHON)
def labels(labelled: list[Labelled]) -> int:
    print("labels", [(one.data.read_text(), one.number) for one in labelled])
    return len(labelled)


@step(image=PYTHON)
def configure(options: Options, number: int = 0) -> str:
    start = options.start and options.start.read_text()
    print("configure", options.rate, start, [one.read_text() for one in options.parts], number)
    return str(options.rate)


@step(image=PYTHON)
def configured(several: list[Options]) -> int:
    for one in several:
        start = one.start and one.start.read_text()
        print("configured", one.rate, start, [part.read_text() for part in one.parts])
    return len(several)


@container(image=BUSYBOX)
def started(options: Options, number: int = 3) -> Path:
    source = """
        if [ -e "$START" ]; then FOUND=$(cat "$START"); else FOUND=new; fi
        echo "started $FOUND $NUMBER"
        printf "%s" "$FOUND" > "$OUT"
    """
    names = {"START": options.start, "NUMBER": number, "OUT": output()}
    return command("sh", source=source, env=names)
