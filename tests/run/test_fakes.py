"""Steps that are faked: values, files, gates, servers, templates of the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from tests.commands import Result
from tests.run.files import NAMED, SERVED, rows

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_step_that_is_faked(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--fake", "attempt.loss=7", "--fake", "attempt.model=pipeline.py", "-q")
    assert done.code == 0
    assert ["0", "0.5", "7.0", "best"] in rows(done.out)


TWICE = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def read(x: int) -> int:
    return x


@step(image="python:3.12-slim")
def add(x: int, y: int) -> int:
    return x + y


@pipeline
def twice() -> int:
    first = read(1)
    second = read(2)
    return add(first, second)
"""


def test_a_step_that_is_called_twice_is_faked_by_its_task(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "twice.py").write_text(TWICE, encoding="utf-8")
    for task, total in (("first", "7"), ("second", "6"), ("read", "10")):
        done = flowdsl("twice.py", "--fake", f"{task}=5", "-q")
        assert ["return", total] in rows(done.out)


LEAVES = """
from flowdsl import http, manifest, pipeline, request, resource, step


@http
def ask(url: str) -> str:
    return request("GET", url)


@http
def post(url: str) -> None:
    return request("POST", url)


@resource("apply")
def apply(name: str) -> None:
    return manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@step(image="python:3.12-slim")
def shout(text: str) -> str:
    return text + "!"


@pipeline
def leaves() -> str:
    post("http://localhost")
    apply("made")
    return shout(ask("http://localhost"))
"""


def test_requests_and_objects_that_are_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "leaves.py").write_text(LEAVES)
    for answer in ("ask=yes", "ask.return=yes"):
        done = flowdsl("leaves.py", "--fake", answer, "--fake", "post=", "--fake", "apply=", "-q")
        assert (done.code, ["return", "yes!"] in rows(done.out)) == (0, True)


TOLD = """\
from flowdsl import http, on_exit, on_failure, pipeline, request, step, when


@step(image="python:3.12-slim")
def check(n: int) -> bool:
    return n > 0


@http()
def tell(text: str) -> str:
    return request("POST", "https://example.com/hook", body=text)


@pipeline
def told(n: int = 1) -> None:
    with on_failure():
        tell("it failed")
    with on_exit():
        tell.options(name="ended")("it ended")
    with when(check(n)):
        tell.options(name="checked")("checked")
"""


def test_a_task_named_like_the_step_in_its_graph_is_faked(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "told.py").write_text(TOLD)
    done = flowdsl("told.py", "--fake", "tell=yes", "-q")
    assert (done.code, done.out.count("faked")) == (0, 2)


INLINE = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: inline-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: ask, inline: {script: {image: "alpine:3.20", command: [none], source: asks}}}
    - - name: say
        inline: {container: {image: "alpine:3.20", command: [echo, "heard {{steps.ask.outputs.result}}"]}}
"""


def test_a_step_with_an_inline_template_that_is_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "inline.yaml").write_text(INLINE)
    done = flowdsl("inline.yaml", "--fake", "ask=yes", "--fake", "say=x", "-q")
    assert (done.code, "faked" in done.out) == (0, True)


BORROWED = """\
from pathlib import Path
from typing import NamedTuple
from flowdsl import call_template, fan_out, pipeline, step


class Trained(NamedTuple):
    model: Path
    loss: float


@call_template("library", "fit", names={"model": "model-file"})
def fit(rate: float) -> Trained:
    raise NotImplementedError


@call_template("library", "score", cluster=True, names={"return": "score"})
def score(rate: float) -> float:
    raise NotImplementedError


@step(image="python:3.12-slim")
def size(model: Path, loss: float, scores: list[float]) -> float:
    return model.stat().st_size + loss + sum(scores)


@pipeline
def borrowed() -> float:
    trained = fit(0.1)
    return size(trained.model, trained.loss, fan_out(score, over={"rate": [0.1, 0.2]}))
"""


def test_templates_of_the_cluster_that_are_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "library.py").write_text(BORROWED, encoding="utf-8")
    (folder / "four.txt").write_text("four", encoding="utf-8")
    fakes = ["--fake", "trained.model=four.txt", "--fake", "trained.loss=0.5", "--fake", "score=1"]
    done = flowdsl("library.py", *fakes, "-q")
    assert (done.code, "return  6.5" in done.out) == (0, True), done.err
    refused = flowdsl("library.py", *fakes[:-2], "-q")
    assert (refused.code, refused.out) == (2, "")
    assert (
        "the step `score` runs a template of the ClusterWorkflowTemplate library, which is not here: name"
        in refused.err
    )


@pytest.mark.parametrize(
    ("fakes", "said"),
    [
        (["attempt.loss=little"], "--fake attempt.loss=little: `attempt.loss` is float: "),
        (
            ["attempt.model=", "attempt.loss=7"],
            "--fake attempt.model=: `attempt.model` is Path: it needs a path",
        ),
        (["attempt.loss=7"], "--fake attempt: the file `model` needs a path: --fake attempt.model=PATH"),
    ],
)
def test_a_fake_is_of_the_type_of_the_step(
    flowdsl: Callable[..., Result], fakes: list[str], said: str
) -> None:
    done = flowdsl("pipeline.py", *(word for one in fakes for word in ("--fake", one)))
    assert done.code == 2
    assert said in done.err


FILES = """\
from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def split() -> list[Path]:
    raise ValueError("not here")


@step(image="python:3.12-slim")
def named() -> dict[str, Path]:
    raise ValueError("not here")


@step(image="python:3.12-slim")
def last() -> Path | None:
    raise ValueError("not here")


@step(image="python:3.12-slim")
def read(one: Path) -> str:
    return one.read_text()


@step(image="python:3.12-slim")
def join(texts: list[str], named: dict[str, Path], last: Path | None) -> str:
    return f"{texts} {sorted(named)} {last}"


@pipeline
def files() -> str:
    return join(fan_out(read, over={"one": split()}), named(), last())
"""


def test_files_that_are_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "files.py").write_text(FILES)
    (folder / "a.txt").write_text("one")
    fakes = ["--fake", 'named={"x": "a.txt"}', "--fake", "last=null", "-q"]
    done = flowdsl("files.py", "--fake", 'split=["a.txt", "a.txt"]', *fakes)
    assert (done.code, ["return", "['one',", "'one']", "['x']", "None"] in rows(done.out)) == (0, True)
    runs = sorted(Path(".flowdsl/runs").iterdir())
    done = flowdsl("files.py", "--fake", 'split=["a.txt"]', "--fake", "all=1")
    assert (done.code, "there is no step `all`" in done.err) == (2, True)
    assert sorted(Path(".flowdsl/runs").iterdir()) == runs, "a run that is refused leaves nothing"
    done = flowdsl("files.py", "--fake", 'split=["b.txt"]', *fakes)
    assert (done.code, "`split` is list[Path]: the path " in done.err) == (2, True)
    done = flowdsl("files.py", "--fake", "split=a.txt", *fakes)
    assert (done.code, "`split` is list[Path]: it is not JSON, such as " in done.err) == (2, True)
    done = flowdsl("files.py", "--fake", 'split=["a.txt"]', *fakes[:2], "--fake", "last=")
    assert done.code == 0


def test_what_is_faked_may_be_named_as_in_python(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "named.py").write_text(NAMED, encoding="utf-8")
    assert (
        "--fake load_rows=three: `load_rows` is int: it is not a whole number"
        in flowdsl("named.py", "--fake", "load_rows=three").err
    )
    (folder / "files.py").write_text(FILES.replace("split", "split_up"))
    (folder / "a.txt").write_text("one")
    fakes = ("--fake", 'split_up=["a.txt"]', "--fake", 'named.return={"x": "a.txt"}', "--fake", "last=null")
    assert flowdsl("files.py", *fakes, "-q").code == 0


def test_files_that_a_manifest_cannot_have_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "files.py").write_text(FILES)
    assert run(["compile", "files.py", "-o", "files.yaml"]) == 0
    done = flowdsl("files.yaml", "--fake", "split=a.txt")
    assert done.code == 2
    assert "flowdsl-" not in done.err
    assert "can be faked where the pipeline itself is run" in done.err


KEYED = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: keyed}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: make, template: make}
    - - name: show
        template: show
        arguments: {artifacts: [{name: made, from: "{{steps.make.outputs.artifacts.made}}"}]}
  - name: make
    container: {image: "busybox:1.36", command: [sh, -c, "echo made > /tmp/made"]}
    outputs: {artifacts: [{name: made, path: /tmp/made, s3: {key: "KEY"}}]}
  - name: show
    inputs:
      artifacts: [{name: made, path: /tmp/made}, {name: given, path: /tmp/given, s3: {key: /of//another}}]
    outputs: {parameters: [{name: said, valueFrom: {path: /tmp/said}}]}
    container: {image: "busybox:1.36", command: [sh, -c, "cat /tmp/made /tmp/given > /tmp/said"]}
"""


def test_a_key_from_the_root_stays_in_the_folder_of_the_run(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    key = folder / "store/made"
    (folder / "keyed.yaml").write_text(KEYED.replace("KEY", f"/{key}"), encoding="utf-8")
    (folder / "a.txt").write_text("faked\n", encoding="utf-8")
    for given in ("given", "/of//another"):
        done = flowdsl("keyed.yaml", "--artifact", f"{given}=a.txt", "--name", "one", "-q")
        assert (done.code, done.err) == (0, ""), given
        assert flowdsl("keyed.yaml", "--from", "show", "--of", "one", "-q").code == 0
        assert flowdsl("keyed.yaml", "--only", "show", "--of", "one", "-q").code == 0
        assert run(["delete", "one"]) == 0
    done = flowdsl("keyed.yaml", "--fake", "make=a.txt", "--artifact", "given=a.txt", "--name", "two", "-q")
    assert (done.code, done.err, key.exists()) == (0, "", False)
    assert (folder / ".flowdsl/runs/two/artifacts" / key.relative_to("/")).read_text() == "faked\n"
    (folder / "keyed.yaml").write_text(KEYED.replace("KEY", "../made"), encoding="utf-8")
    done = flowdsl("keyed.yaml", "--fake", "make=a.txt", "--artifact", "given=a.txt", "-q")
    assert (done.code, done.err) == (2, "flowdsl: the key '../made' cannot be the name of a file\n")


def test_what_is_faked_is_where_its_step_stores_it(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "a.txt").write_text("faked\n", encoding="utf-8")
    for store in ("s3: {key: /its//own}", "gcs: {bucket: b, key: its/own}"):
        text = KEYED.replace("s3: {key: /of//another}", store).replace('s3: {key: "KEY"}', store)
        (folder / "keyed.yaml").write_text(text, encoding="utf-8")
        done = flowdsl("keyed.yaml", "--fake", "make=a.txt", "-q")
        assert (done.code, done.err) == (0, ""), store


def test_a_server_that_is_faked_is_one_at_an_address(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "served.yaml").write_text(SERVED.replace("exit 3", "test {{inputs.parameters.at}} = db.local"))
    done = flowdsl("served.yaml", "--fake", "server=db.local", "--name", "one")
    assert (done.code, "server: serves" in done.err) == (0, True)
    assert flowdsl("served.yaml", "--fake", "server=", "--fake", "ask=", "--name", "two").code == 0
