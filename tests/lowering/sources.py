"""Files from outside of the run: as arguments, defaults, items of loops, in records; past branches and pipelines."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import GCS, S3, Azure, Git, Http, Raw, Secret, Volume, fan_out, pipeline, run, step, when

DATA = Volume("datasets")
BASE = S3(
    "models/base.bin",
    "shared",
    endpoint="minio.store:9000",
    insecure=True,
    access_key=Secret("minio", "id"),
    secret_key=Secret("minio", "key"),
)
WORDS = Http("https://example.com/words.txt")


class Labelled(NamedTuple):
    text: Path
    label: str


@step(image="python:3.12-slim")
def count(text: Path, least: int = 1) -> int:
    return sum(len(line) >= least for line in text.open())


@step(image="python:3.12-slim")
def learn(rows: list[Labelled], extra: dict[str, Path], base: Path | None = None) -> None:
    print(rows, extra, base)


@pipeline
def checked(text: Path, month: str) -> int:
    with when(month == "2026-11"):
        count.options(name="november")(text, 5)
    fan_out(count, over={"least": [1, 2]}, text=text)
    return count(text)


@pipeline
def sources(month: str = "2026-11", base: Path = BASE, texts: list[Path] = [DATA / "a.txt", WORDS]) -> None:
    count.options(name="repository")(S3(f"raw/{month}/reviews.txt"))
    amazon = count(S3("raw", "datasets", region="eu-central-1", archive="none") / month / "reviews.txt")
    google = count(GCS(f"raw/{month}", "datasets", credentials=Secret("google", "key.json")))
    azure = count(Azure("raw.zip", "datasets", "https://example.blob.core.windows.net", archive="zip"))
    count.options(name="of-account")(Azure("raw", "datasets", "https://example.blob.core.windows.net", account_key=Secret("azure", "key")))
    git = count(Git("git@example.com:team/data.git", month, depth=1, submodules=False, insecure=True, ssh_key=Secret("git", "key")))
    count.options(name="of-branch")(Git("https://example.com/team/data.git", branch="main", username=Secret("git", "user"), password=Secret("git", "token")))
    web = count(
        Http(
            f"https://example.com/{month}.txt",
            headers={"Accept": "text/plain", "X-Run": f"{run.name}"},
            username=Secret("web", "user"),
            password=Secret("web", "password"),
        )
    )
    raw = count(Raw(f"{amazon} lines of {month}\n"))
    checked.options(name="of-base")(base, month)
    checked.options(name="of-words")(WORDS, f"{raw}")
    fan_out(count.options(name="known"), over={"text": [S3("a.txt", "one"), S3("b.txt", "two")], "least": [1, 2]})
    fan_out(count.options(name="computed"), over={"text": [S3(f"{month}/a.txt"), S3(f"{month}/b.txt")]})
    fan_out(checked.options(name="each"), over={"text": [Raw("a"), Raw('"b"')]}, month=month)
    learn([Labelled(BASE, "base"), Labelled(Raw("none"), "none")], {"words": WORDS}, texts_of(google, azure, git, web))
    learn.options(name="given")([Labelled(one, "given") for one in [base]], {"words": DATA / "words.txt"})
    many(texts)


@step(image="python:3.12-slim")
def many(texts: list[Path]) -> None:
    print(texts)


def texts_of(*numbers: int) -> Path:
    return Raw(" ".join(f"{number}" for number in numbers))
