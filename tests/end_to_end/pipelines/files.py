"""Files that are easily lost: archives, empty folders and lists, none at all, and many that cross a branch."""

import gzip
import io
import tarfile
from pathlib import Path
from typing import NamedTuple

from flowdsl import Raw, either, fan_out, otherwise, pipeline, step, when

PYTHON = "python:3.12-slim"


class Kept(NamedTuple):
    archive: Path
    several: list[Path]
    named: dict[str, Path]
    perhaps: Path | None


class Page(NamedTuple):
    text: Path
    note: Path | None
    number: int


def packed(text: str, name: str) -> Path:
    """An archive of one file, with the same bytes at any time."""
    data = text.encode()
    inside = tarfile.TarInfo("inside.txt")
    inside.size = len(data)
    with gzip.GzipFile(name, "wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as found:
        found.addfile(inside, io.BytesIO(data))
    return Path(name)


@step(image=PYTHON)
def archive(text: str) -> Path:
    """An archive of one file."""
    return packed(text, "model.tar.gz")


@step(image=PYTHON)
def keep(text: str, count: int) -> Kept:
    """Files of all kinds; none of the others where the count is 0."""
    several = [Path(f"{number}.txt") for number in range(count)]
    for number, file in enumerate(several):
        file.write_text(f"{text} {number}")
    named = {f"the {file.stem}": file for file in several}
    return Kept(packed(text, "kept.tar.gz"), several, named, several[0] if several else None)


@step(image=PYTHON)
def empty(count: int) -> Path:
    """A folder with some files, or none."""
    folder = Path("folder")
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}").write_text("x")
    return folder


@step(image=PYTHON)
def opened(file: Path) -> str:
    """What is in an archive."""
    with tarfile.open(file) as found:
        return ",".join(found.getnames())


@step(image=PYTHON)
def listed(folder: Path, several: list[Path], named: dict[str, Path]) -> str:
    """The names and texts of files."""
    texts = [file.read_text() for file in several]
    return f"{sorted(file.name for file in folder.iterdir())} {texts} {sorted(named)}"


@step(image=PYTHON)
def optional(file: Path | None) -> str:
    """The text of a file, if there is one."""
    return file.read_text() if file is not None else "none"


@step(image=PYTHON)
def shown(page: Page) -> str:
    """A record with a file, and without the other one."""
    return f"{page.text.read_text()} {page.note} {page.number}"


@step(image=PYTHON)
def counted(rows: list[Kept]) -> int:
    """How many rows have how many files."""
    return sum(len(row.several) + len(row.named) for row in rows)


@step(image=PYTHON)
def keyed(files: dict[str, dict[str, Path]]) -> str:
    """Which file is where."""
    sizes = {name: {key: file.stat().st_size for key, file in some.items()} for name, some in files.items()}
    return str(sizes)


@pipeline
def inner(text: str, count: int) -> Kept:
    """A sub-pipeline that hands on files."""
    return keep(text, count)


@pipeline
def files(count: int = 0, text: str = "t") -> str:
    straight = keep(text, count)
    opened.options(name="straight-archive")(straight.archive)
    optional.options(name="straight-optional")(straight.perhaps)
    loose = keep.options(name="loose", archive="none")(text, count)
    optional.options(name="loose-optional")(loose.perhaps)
    bare = empty.options(name="bare", archive="none")(count)
    listed.options(name="loose-list")(bare, loose.several, loose.named)
    listed.options(name="straight-list")(empty(count), straight.several, straight.named)
    handed = inner(text, count)
    opened.options(name="handed-archive")(handed.archive)
    folder = empty.options(name="folder")(count)
    listed.options(name="handed-list")(folder, handed.several, handed.named)
    other = archive.options(name="other")(f"{text} " + "of another size" * 9)
    keyed.options(name="keys")(
        {"a": {"b-c": straight.archive}, "a-b": {"c": other}, "a_b": {"c": straight.archive}}
    )
    with when(count > 1):
        first = archive(text)
        many = empty.options(name="many")(count)
    with otherwise():
        second = archive.options(name="second")(f"not {text}")
        few = empty.options(name="few")(0)
    opened.options(name="chosen-archive")(either(first, second))
    listed.options(name="chosen-list")(either(many, few), [], {})
    rows = fan_out(keep, over={"text": ["a", "b"]}, count=count)
    counted(rows)
    fan_out(shown, over={"page": [Page(Raw("one"), None, count), Page(Raw("two"), None, 2)]})
    return opened.options(name="row-archive")(rows[1].archive)
