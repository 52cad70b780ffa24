"""Cached steps that take files from outside of the run: what says where such a file lies goes into their keys."""

from pathlib import Path

from flowdsl import (
    S3,
    Cache,
    Git,
    Raw,
    Scratch,
    Volume,
    command,
    container,
    either,
    fan_out,
    output,
    pipeline,
    run,
    step,
)

IMAGE = "python:3.12-slim"


@step(image=IMAGE, cache=True, shm="1Gi", mounts={"/scratch": Scratch()})
def count(corpus: Path, state: Path = run.checkpoint_dir) -> int:
    return corpus.stat().st_size


@container(image="busybox:1.37.0", cache=Cache(salt="2026-11"))
def first(corpus: Path) -> str:
    command("head", "-n", 1, corpus, output())


@step(image=IMAGE, cache=Cache(salt="2026-11"))
def newest(files: list[Path]) -> Path:
    return max(files)


@step(image=IMAGE)
def note(month: str) -> Path | None:
    return Path("note.txt") if month else None


@step(image=IMAGE, cache=Cache(salt="2026-11"))
def read(note: Path) -> str:
    return note.read_text(encoding="utf-8")


@pipeline
def given(corpus: Path) -> Path:
    count(corpus)
    return corpus


@pipeline(checkpoints=Volume("states"))
def cached_sources(month: str = "2026-11") -> None:
    count(Raw(f"month: {month}\n"))
    count.options(name="code")(given(Git("https://example.com/data.git", "v1.2.0")))
    first(S3(f"raw/{month}.txt"))
    newest([S3("raw/last.txt"), Raw("none\n")])
    read(either(note(month), S3("notes/none.txt")))
    fan_out(first.options(name="each"), over={"corpus": [S3("raw/a.txt"), S3("raw/b.txt")]})
