"""Both kinds of places in one run: one step, pipeline and call after the other says where its files go."""

from pathlib import Path

from flowdsl import Volume, either, pipeline, run, step, when

DATA = Volume("datasets")
MODELS = Volume("models.archive")


@step(image="python:3.12-slim")
def clean(raw: Path) -> Path:
    cleaned = Path("cleaned")
    cleaned.write_text(raw.read_text().strip())
    return cleaned


@step(image="python:3.12-slim", store=MODELS)
def train(corpus: Path) -> Path:
    model = Path("model")
    model.write_text(f"model of {corpus.read_text()}")
    return model


@step(image="python:3.12-slim")
def show(model: Path, note: str) -> None:
    print(model.read_text(), note)


@pipeline
def prepare(raw: Path) -> Path:
    return clean(clean.options(name="first")(raw))


@pipeline(store=None)
def elsewhere(raw: Path) -> Path:
    return clean(raw)


@pipeline(store=DATA / "runs/nightly")
def store_mixed(fresh: bool = True) -> None:
    corpus = prepare(DATA / "raw")
    other = elsewhere(DATA / "raw")
    temporary = clean.options(store=None)(DATA / "raw")
    again = clean(temporary)
    with when(fresh):
        trained = train(corpus)
    show.options(name="chosen")(either(trained, DATA / "models/last"), f"of {run.name}")
    show.options(name="other")(other, "by key")
    show.options(name="again")(again, "on the volume")
    show.options(name="temporary")(temporary, "an artifact")
