"""What is made in the block for the end of a task, used outside of it: it is there, or what stands in for it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.lowering import split
from tests.end_to_end.inside import small
from tests.end_to_end.world import World, compiled

LOWERING = Path(__file__).resolve().parents[1] / "lowering"

HEAD = """\
from typing import NamedTuple

from flowdsl import either, on_exit, on_failure, pipeline, step, when

PYTHON = "python:3.12-slim"


class Fit(NamedTuple):
    loss: float
    scores: dict[str, float]


@step(image=PYTHON)
def fit(size: int, good: bool) -> Fit:
    if not good:
        raise ValueError("not good")
    return Fit(size / 2, {"auc": size / 4})


@step(image=PYTHON)
def tell(text: str, *, loss: float = 0.0, auc: float = 0.0) -> str:
    return f"{text} {loss} {auc}"


@pipeline
def main(good: bool = True, begin: bool = True) -> None:
"""
BOTH = """\
    with on_failure(large):
        spare = fit.options(name="spare")(4, True)
        said = tell.options(name="said")("sorry", loss=spare.loss)
    with on_exit(large) as end:
        ended = tell.options(name="ended")(f"{end.status}")
    tell.options(name="first")(either(said, "fine"))
    tell.options(name="second")(either(ended, "never"))
    tell.options(name="third", after=[spare])("free")
"""
CHAIN = """\
    with on_exit(said):
        after = tell.options(name="after")("after")
    tell.options(name="fourth")(either(after, "quiet"))
"""
CHOSEN = """\
    loss = either(either(large.loss, spare.loss), -1.0)
    auc = either(either(large.scores["auc"], spare.scores["auc"]), -1.0)
    tell.options(name="chosen")("chosen", loss=loss, auc=auc)
"""
CALL = "    large = fit(8, good)\n"
BRANCH = "    with when(begin):\n        large = fit(8, good)\n"
FREE = ".options(may_fail=True)"
FINE = {"first": "fine 0.0 0.0", "third": "free 0.0 0.0", "fourth": "quiet 0.0 0.0"}
SORRY = {"first": "sorry 2.0 0.0 0.0 0.0", "third": "free 0.0 0.0", "fourth": "after 0.0 0.0 0.0 0.0"}


@pytest.mark.parametrize(("good", "begin"), [("true", "true"), ("false", "true"), ("true", "false")])
@pytest.mark.parametrize("branch", [False, True])
@pytest.mark.parametrize("kind", ["fails", "may fail", "parted"])
def test_either_takes_what_is_there(
    good: str,
    begin: str,
    branch: bool,
    kind: str,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = (BRANCH if branch else CALL) + BOTH
    if kind != "parted":
        body += CHAIN
    if kind != "fails":
        body = body.replace("fit(8", f"fit{FREE}(8") + CHOSEN
    if kind == "parted":
        monkeypatch.setattr(split, "LIMIT", 2)
    file = world.folder / "pipeline.py"
    file.write_text(HEAD + body, encoding="utf-8")
    result = compile_loaded(load(file))
    assert not result.failed, [one.finding.message for one in result.diagnostics]
    document: dict[str, Any] = result.documents[-1]
    done = world.run(document, {"good": good, "begin": begin}, fake=small)
    began = begin == "true" or not branch
    failed = began and good == "false"
    assert done.phase == ("Failed" if failed and kind == "fails" else "Succeeded")
    told = {name.rpartition(".")[2]: node for name, node in done.nodes.items()}
    said = {name: node.parameters.get("return") for name, node in told.items() if node.parameters}
    for name, text in (SORRY if failed else FINE).items():
        assert name not in body or said[name] == text
    ended = "never" if not began else f"{'Failed' if failed else 'Succeeded'} 0.0 0.0"
    assert said["second"] == f"{ended} 0.0 0.0"
    if kind != "fails":
        chosen = "2.0 1.0" if failed else "4.0 2.0" if began else "-1.0 -1.0"
        assert said["chosen"] == f"chosen {chosen}"


@pytest.mark.parametrize(("size", "shown"), [("8", "4 8\n"), ("1", "-1 -2\n")])
def test_what_a_failed_program_printed_is_not_taken(size: str, shown: str, world: World) -> None:
    _, document = compiled(LOWERING / "printed_ends.py", "printed_ends")
    done = world.run(document, {"size": size})
    assert done.task("show").log == shown
    assert done.phase == ("Succeeded" if size == "8" else "Failed")


SHOWN = {
    "1": {
        "nothing": "model 1",
        "text": "model 1",
        "keep": "model 1 Succeeded",
        "inner": "model 1",
        "other": "model 1",
    },
    "0": {
        "nothing": "None",
        "text": "text",
        "keep": "None Failed",
        "inner": "None",
        "other": "spare",
        "never": "None",
    },
}


@pytest.mark.parametrize("size", list(SHOWN))
def test_a_file_of_a_task_that_failed_is_not_there(size: str, world: World) -> None:
    _, document = compiled(LOWERING / "file_ends.py", "file_ends")
    done = world.run(document, {"size": size})
    for name, shown in SHOWN[size].items():
        assert done.task(name).log == f"{shown}\n", done.errors()
    assert done.phase == ("Succeeded" if size == "1" else "Failed")
