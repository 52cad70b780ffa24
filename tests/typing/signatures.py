"""What type checkers see of the language: clean but for the lines that end in `# wrong`, which both report."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple, assert_type

from flowdsl import (
    GCS,
    GPU,
    S3,
    Azure,
    Config,
    Git,
    Host,
    Http,
    InitContainer,
    Mutex,
    NewVolume,
    Pipeline,
    Raw,
    Ready,
    Retry,
    Scratch,
    Secret,
    Semaphore,
    Sidecar,
    Step,
    Sweep,
    Volume,
    approve,
    call_template,
    choice,
    command,
    container,
    either,
    failed,
    fan_out,
    grid,
    http,
    integer,
    loguniform,
    manifest,
    maximize,
    minimize,
    numbers,
    on_exit,
    on_failure,
    otherwise,
    output,
    pipeline,
    request,
    resource,
    run,
    step,
    sweep,
    uniform,
    unless,
    when,
)

DATA = Volume("datasets", mode="ReadWriteMany")
IMAGE = "python:3.12-slim"


BASE = S3("models/base.bin", "shared", secret_key=Secret("minio", "key"))
SOURCES: list[Path] = [BASE, GCS("a", "b"), Azure("a", "b", "c"), Git("a"), Http("a"), Raw("a"), BASE / "x"]


class Mode(Enum):
    FAST = 1
    SLOW = 2


class Trained(NamedTuple):
    model: Path
    accuracy: float


@dataclass
class Score:
    loss: float
    rows: list[int]


@step(image=IMAGE, cpu=2, memory="4Gi", retries=2, timeout="6h", env={"A": 1}, secrets={"T": Secret("hub", "token")})
def preprocess(raw: Path, min_length: int = 20) -> Path:
    return raw / str(min_length)


@step(
    image=IMAGE,
    shm="8Gi",
    archive={"return": "none", "other": 9},
    env={"LEVEL": Config("app", "level")},
    mounts={
        "/work": NewVolume("work", "1Gi", mode="ReadWriteMany"),
        "/tmp/x": Scratch("1Gi") / "x",
        "/etc/app": Config("app"),
        "/keys": Secret("hub"),
        "/models": Host("/mnt/models").ro,
        "/raw": (DATA.ro / "raw"),
    },
)
def mounted(raw: Path = BASE) -> Path:
    return raw


@step(image=IMAGE, gpu=GPU(1, product=["A100", "H100"]), where="zone in (eu-1, eu-2)", mounts={"/data": DATA.ro})
def train(corpus: Path, lr: float, layers: int = 2, *, mode: Mode = Mode.FAST) -> Trained:
    return Trained(corpus, lr * layers if mode is Mode.FAST else 0.0)


@step(image=IMAGE)
def bare(text: str) -> str:
    return text


@step(image=IMAGE)
def publish(model: Path, accuracy: float) -> None:
    print(model, accuracy)


@step(image=IMAGE)
def pair() -> tuple[int, str]:
    return 1, "a"


@step(image=IMAGE)
def note(text: str) -> str | None:
    return text or None


@step(image=IMAGE)
def evaluate(scores: list[Score], names: dict[str, int], optimizer: Literal["adam", "sgd"] = "adam") -> Score:
    return Score(len(scores) / len(names), [len(optimizer)])


@step(image=IMAGE)
def shards(count: int) -> list[str]:
    return ["a"] * count


@step(image=IMAGE)
def load(shard: str, depth: int) -> float:
    return len(shard) / depth


@step(image=IMAGE)
def total(values: list[float], anything: Any = None) -> float:
    return sum(values)


@container(image="infer:1")
def infer(model: Path, batch: int) -> Path:
    command("/bin/infer", "--model", model, "--batch", batch, "--out", output(), env={"BATCH": batch})


@container(image="infer:1")
def two_files(model: Path) -> Trained:
    command("/bin/infer", model, output("model"), output("accuracy"))


@pipeline
def inner(corpus: Path, lr: float = 0.1) -> Score:
    trained = train(corpus, lr)
    return Score(trained.accuracy, [1])


@pipeline(parallelism=4, timeout="1d", labels={"team": "a"}, name="nightly")
def outer(raw: Path = DATA / "raw", rate: float = 0.1, wanted: bool = False) -> float:
    corpus = preprocess(raw)
    assert_type(corpus, Path)
    trained = train(corpus, lr=rate * 10, mode=Mode.SLOW)
    assert_type(trained, Trained)
    assert_type(trained.accuracy, float)
    model, accuracy = trained
    assert_type(model, Path)
    number, text = pair()
    assert_type(text, str)
    bare(text + f"-{number}")
    with when(accuracy > 0.9):
        first = publish.options(name="first", after=[corpus], memory="1Gi")(model, accuracy)
    with otherwise():
        publish(DATA / "fallback" / run.name, 0.0)
    with unless(wanted), when((accuracy > 0.5) & wanted):
        total.options(after=[first, publish(model, accuracy)])([accuracy, number])
    assert_type(either(note(text), "none"), str)
    bare(either(note(text), "none"))
    assert_type(fan_out(load, over={"shard": shards(3)}, depth=2), list[float])
    assert_type(fan_out(inner, over=grid(lr=[0.1, 0.2]), corpus=corpus, parallel=2), list[Score])
    total(fan_out(load, over={"shard": ["a", "b"], "depth": [1, 2]}))
    runs = sweep(
        train,
        over={"lr": loguniform(1e-5, 1e-1), "layers": choice(1, 2, 4) if wanted else integer(1, 4)},
        objective=maximize("accuracy"),
        trials=20,
        search="random",
        corpus=corpus,
    )
    assert_type(runs, Sweep[Trained])
    assert_type(runs.best.accuracy, float)
    assert_type(runs.results, list[Trained])
    publish(runs.best.model, runs.best.accuracy)
    rates = uniform(0, 1).when("corpus == a")
    scores = sweep(inner, over={"lr": rates, "corpus": [corpus]}, objective=minimize("loss"), trials=3)
    evaluate(scores.results, {"a": number}, optimizer="sgd")
    evaluate([Score(accuracy, [number])], names={})
    infer(model, batch=8)
    assert_type(two_files(model).accuracy, float)
    assert_type(inner(corpus, lr=0.5), Score)
    kept: Step[[str], str] = bare
    called: Pipeline[..., Score] = inner
    plain: Callable[[str], str] = bare
    assert_type(kept(plain(text)), str)
    assert_type(called(corpus).loss, float)
    return trained.accuracy


@step(imag=IMAGE)  # wrong: an option that does not exist
def misspelt() -> None: ...


@step  # wrong: no options
def without() -> None: ...


@step(image=3)  # wrong: an option of another type
def mistyped() -> None: ...


@pipeline(parallelism="4")  # wrong: an option of a pipeline
def refused() -> None: ...


@container(image="i")
def other(model: Path) -> int:
    command("/bin/other", model)
    return "never"


@pipeline
def mistakes(raw: Path = DATA / "raw", rate: str = "0.1") -> None:
    train(raw, rate)  # wrong: the type of an argument
    train(raw, lr=rate)  # wrong: the type of a keyword
    train(raw, leanring_rate=0.1)  # wrong: an unknown keyword
    train(raw)  # wrong: a missing argument
    train(raw, 0.1, 2, Mode.FAST)  # wrong: a keyword-only argument by position
    preprocess("raw.txt")  # wrong: a text for a file
    train(raw, 0.1).acuracy  # wrong: an output that does not exist
    publish(train(raw, 0.1), 0.5)  # wrong: a record for one of its fields
    model, accuracy, rest = train(raw, 0.1)  # wrong: too many names
    first, second, third = pair()  # wrong: too many names for a tuple
    train.options(memry="1Gi")(raw, 0.1)  # wrong: an option of a call
    train.options(retries="2")(raw, 0.1)  # wrong: the type of an option of a call
    train.options(name=1)(raw, 0.1)  # wrong: the type of the name
    inner.options(memory="1Gi")(raw)  # wrong: an option that a pipeline does not have
    inner(raw, lr="0.1")  # wrong: the type of an argument of a pipeline
    inner(raw).accuracy  # wrong: an output of a pipeline
    bare(either(note("a"), note("b")))  # wrong: a second optional value
    bare(either(note("a"), 3))  # wrong: a default of another type
    bare(note("a"))  # wrong: an optional value
    publish(raw, either(note("a"), 0.5))  # wrong: a choice of two types
    evaluate([], {}, "rmsprop")  # wrong: no member of the Literal
    evaluate([1], {})  # wrong: an element of another type
    total(fan_out(shards, over={"count": [1]}))  # wrong: the list of another type
    fan_out(load, over=["a"])  # wrong: no name
    fan_out("load", over={"shard": ["a"]})  # wrong: no step
    fan_out(load, over={"shard": ["a"]}, parallel="2")  # wrong: no number
    sweep(train, over={"lr": [0.1]}, objective="accuracy")  # wrong: no objective
    uniform(0, 1).when(runs.best.accuracy > 0)  # wrong: a condition of a space is a text
    sweep(train, over={"lr": [0.1]}, objective=maximize("accuracy"), search="bayes")  # wrong: no search
    sweep(train, over={"lr": [0.1]}, objective=maximize("accuracy")).best.acuracy  # wrong: an output of the best
    GPU(1, prodct="A100")  # wrong: an option of a GPU
    Volume("datasets", mode="ReadWrite")  # wrong: no access mode
    NewVolume("work", 100)  # wrong: no text with a unit
    preprocess(Scratch() / "raw")  # wrong: a folder of one pod
    preprocess(Config("app", "raw"))  # wrong: no file
    S3("raw", access_key="AKIA")  # wrong: no Secret
    Http("https://example.com", headers={"Authorization": Secret("web", "token")})  # wrong: a Secret as a header
    Git("https://example.com/a.git", dept=1)  # wrong: a word of a source
    step(image=IMAGE, archive="rar")  # wrong: a way to pack
    step(image=IMAGE, mounts={"/data": "datasets"})  # wrong: no volume
    print(DATA / 3)  # wrong: no path
    run.nme  # wrong: no field of the run


@resource("apply", success="status.succeeded == 1", owner=True, retries=2, where="not spot")
def job(name: str, workers: int) -> Score:
    return manifest({"metadata": {"name": name}, "spec": {"workers": workers}}, outputs={"loss": "{.a}", "rows": ".b"})


@resource("aply")  # wrong: no such action
def unknown_action(name: str) -> None:
    manifest({"metadata": {"name": name}})


@approve(duration="24h")
def release(accuracy: float) -> Literal["ship", "hold"]:
    raise NotImplementedError


@approve
def sign(accuracy: float) -> Literal["ship", "hold"]:
    raise NotImplementedError


@approve(image=IMAGE)  # wrong: no option of a gate
def look() -> None: ...


@http(retries=2)
def notify(text: str) -> dict[str, Any]:
    return request("POST", "https://example.com", headers={"T": Secret("hub", "token")}, body={"text": text}, timeout=30)


@http()
def get(text: str) -> str:
    return request("FETCH", f"https://example.com/{text}")  # wrong: no such method


@call_template("library", "train", cluster=True, names={"rate": "learning-rate"})
def library(corpus: Path, rate: float) -> Trained:
    raise NotImplementedError


@container(
    image=IMAGE,
    daemon=True,
    ready=Ready(port=80, path="/ready", delay="5s"),
    init=[InitContainer("fetch", image=IMAGE, command=["true"], mirror=True)],
    sidecars=[Sidecar("cache", image=IMAGE, mounts={"/d": DATA.ro, "/s": Scratch()}, env={"A": Config("c", "k")})],
)
def server(port: int) -> str:
    return command("serve", port, source="echo", stdout=True)


@pipeline
def kinds(text: str) -> float:
    made = job(text, 2)
    assert_type(made.loss, float)
    assert_type(notify(text), dict[str, Any])
    with when(release(made.loss) == "ship"):
        job(server(80), text)  # wrong: the number of workers
    assert_type(server(80), str)
    server.options(daemon=False)(80)  # wrong: no option of one call
    assert_type(job.options(success="status.done == 1")(text, 1), Score)
    return library(DATA / "raw", 0.5).accuracy


@step(
    image=IMAGE,
    retries=Retry(3, policy="OnError", wait="30s", factor=2, longest=600, within="1h", exit_codes=[1], elsewhere=True),
    queue_timeout="2h",
    locks=[Mutex("gpu"), Semaphore("limits", "training", namespace="ml")],
)
def notified(text: str, status: str = "", failures: list[dict[str, str]] | None = None, seconds: float = 0.0) -> int:
    return len(text)


@pipeline(locks=[Mutex("one")])
def endings(raw: Path = DATA / "raw", parts: int = 2) -> None:
    with on_exit():
        notified(run.name, run.status, run.failures, run.duration)
    with on_failure() as ended:
        notified(run.name, ended.status)
    trained = train.options(retries=Retry(1), may_fail=True)(raw, 0.1)
    train.options(timeout=None, gpu=None, where=None, retries=None, argo=None)(raw, 0.1)
    with on_exit(trained) as training, when(training.status == "Error"):
        notified("x", training.status)
        publish(either(trained.model, raw), either(trained.accuracy, 0.0))
    assert_type(numbers(parts), list[int])
    results = fan_out(notified, over={"text": ["a"]}, keep_going=True)
    assert_type(results, list[int])
    assert_type(failed(results), list[int])
    inner.options(retries=2, parallelism=3, locks=[Mutex("a")], may_fail=True)(raw)
    Retry(2, policy="Sometimes")  # wrong: no policy
    Retry(2, exit_codes="1")  # wrong: no numbers
    Mutex(1)  # wrong: no name
    Semaphore("limits")  # wrong: no key
    numbers("3")  # wrong: no number
    train.options(locks=["gpu"])(raw, 0.1)  # wrong: no lock
    train.options(may_fail="yes")(raw, 0.1)  # wrong: no flag
    fan_out(notified, over={"text": ["a"]}, keep_going="yes")  # wrong: no flag
    print(training.state)  # wrong: no field of what has ended
    print(run.status == "failed")  # wrong: no status
