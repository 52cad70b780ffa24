"""The pipeline files that are measured: the same graph, written the way each tool's own guide writes it.

Every function returns the text of one Python file. A chain passes one number from task to task; a sweep
trains at random points of `lr` and `layers` and hands the losses to one last task. The bodies of the steps
do the same few lines of arithmetic in every tool. Files for flowdsl come in two forms: `straight`, one
call per line, as people write them, and `loop`. The files of Hera and KFP use a loop, which is cheapest.
"""

from __future__ import annotations

IMAGE = "python:3.12-slim"

FLOWDSL_IMPORT = "from flowdsl import choice, loguniform, minimize, pipeline, step, sweep"
HERA_IMPORT = "from hera.workflows import DAG, Parameter, Workflow, script"
KFP_IMPORT = "from kfp import compiler, dsl"

_DECAY = """\
    rate = {rate} / (1 + epoch)
    for _ in range(10):
        loss = loss * (1 - rate)
"""

_TRIAL = """\
    loss = 1.0
    for _ in range(layers):
        loss = loss * (1 - lr)
"""


def _decay(index: int) -> str:
    """Return the body of a step of a chain; it differs for every index."""
    return _DECAY.format(rate=f"0.{index + 1}")


def _names(steps: int) -> list[str]:
    return ["train"] if steps == 1 else [f"train_{index}" for index in range(steps)]


def _list(steps: int) -> str:
    """Return the list over which a loop over several steps iterates; empty for one step."""
    if steps == 1:
        return ""
    return "STEPS = [\n" + "".join(f"    {name},\n" for name in _names(steps)) + "]\n\n\n"


def _called(steps: int) -> str:
    return "train" if steps == 1 else f"STEPS[epoch % {steps}]"


def flowdsl_chain(tasks: int, steps: int = 1, *, loop: bool) -> str:
    """Write a chain of `tasks` tasks over `steps` distinct steps, each called in turn."""
    names = _names(steps)
    defined = "".join(
        f'@step(image="{IMAGE}")\ndef {name}(loss: float, epoch: int) -> float:\n'
        f"{_decay(index)}    return loss\n\n\n"
        for index, name in enumerate(names)
    )
    if loop:
        head = _list(steps)
        calls = (
            f"    loss = 1.0\n    for epoch in range({tasks}):\n"
            f"        loss = {_called(steps)}(loss, epoch=epoch)\n"
        )
    else:
        head = ""
        calls = "".join(
            f"    loss_{number} = {names[number % steps]}("
            f"{f'loss_{number - 1}' if number else '1.0'}, epoch={number})\n"
            for number in range(tasks)
        )
    return f"from flowdsl import pipeline, step\n\n\n{defined}{head}@pipeline\ndef chain() -> None:\n{calls}"


def hera_chain(tasks: int, steps: int = 1, *, form: str) -> str:
    """Write the chain for Hera.

    `form` is how a number is passed: `result` prints it and reads `task.result`, `parameter` declares an
    output parameter and reads `task.get_parameter`.
    """
    if form == "parameter":
        option = ', outputs=[Parameter(name="loss", value_from={"path": "/tmp/loss"})]'
        last = '    with open("/tmp/loss", "w") as out:\n        out.write(str(loss))\n'
        taken = 'last.get_parameter("loss")'
    else:
        option, last, taken = "", "    print(loss)\n", "last.result"
    names = _names(steps)
    defined = "".join(
        f'@script(image="{IMAGE}"{option})\ndef {name}(loss: float, epoch: int):\n{_decay(index)}{last}\n\n'
        for index, name in enumerate(names)
    )
    return f"""\
{HERA_IMPORT}


{defined}{_list(steps)}with Workflow(generate_name="chain-", entrypoint="main") as w:
    with DAG(name="main"):
        last = {names[0]}(name="train-0", arguments={{"loss": 1.0, "epoch": 0}})
        for epoch in range(1, {tasks}):
            task = {_called(steps)}(name=f"train-{{epoch}}", arguments={{"loss": {taken}, "epoch": epoch}})
            last >> task
            last = task
"""


def kfp_chain(tasks: int, steps: int = 1) -> str:
    """Write the chain for KFP."""
    names = _names(steps)
    defined = "".join(
        f'@dsl.component(base_image="{IMAGE}")\ndef {name}(loss: float, epoch: int) -> float:\n'
        f"{_decay(index)}    return loss\n\n\n"
        for index, name in enumerate(names)
    )
    return f"""\
from kfp import dsl


{defined}{_list(steps)}@dsl.pipeline(name="chain")
def pipeline():
    loss = 1.0
    for epoch in range({tasks}):
        loss = {_called(steps)}(loss=loss, epoch=epoch).output
"""


_POINTS = """\
draw = random.Random(7)
POINTS = [{{"lr": 10 ** draw.uniform(-5, -1), "layers": draw.choice([1, 2, 4])}} for _ in range({points})]
"""


def flowdsl_sweep(points: int) -> str:
    """Write a random search of `points` trials and a task that takes the best loss."""
    return f"""\
from typing import NamedTuple

{FLOWDSL_IMPORT}


class Trained(NamedTuple):
    loss: float
    size: int


@step(image="{IMAGE}")
def train(lr: float, layers: int) -> Trained:
{_TRIAL}    return Trained(loss, layers)


@step(image="{IMAGE}")
def publish(loss: float) -> None:
    print(loss)


@pipeline
def search() -> None:
    runs = sweep(train, over={{"lr": loguniform(1e-5, 1e-1), "layers": choice(1, 2, 4)}},
                 trials={points}, parallel=4, objective=minimize("loss"), search="random", seed=7)
    publish(runs.best.loss)
"""


def hera_sweep(points: int) -> str:
    """Write the sweep for Hera: `with_items` over dicts drawn in the file, and a task over all the losses."""
    return f"""\
import random

{HERA_IMPORT}

{_POINTS.format(points=points)}

@script(image="{IMAGE}", outputs=[Parameter(name="loss", value_from={{"path": "/tmp/loss"}})])
def train(lr: float, layers: int):
{_TRIAL}    with open("/tmp/loss", "w") as out:
        out.write(str(loss))


@script(image="{IMAGE}")
def publish(losses: list):
    print(min(float(row["loss"]) for row in losses))


with Workflow(generate_name="search-", entrypoint="main", parallelism=4) as w:
    with DAG(name="main"):
        runs = train(name="train", with_items=POINTS)
        best = publish(name="publish", arguments=runs.get_parameters_as("losses"))
        runs >> best
"""


def kfp_sweep(points: int) -> str:
    """Write the sweep for KFP: `ParallelFor` over a static list, and a task over the collected losses.

    KFP types every number of a loop over dicts as a double, so `layers` is a float here.
    """
    return f"""\
import random

from kfp import dsl

{_POINTS.format(points=points)}

@dsl.component(base_image="{IMAGE}")
def train(lr: float, layers: float) -> float:
{_TRIAL.replace("layers", "int(layers)")}    return loss


@dsl.component(base_image="{IMAGE}")
def publish(losses: list):
    print(min(losses))


@dsl.pipeline(name="search")
def pipeline():
    with dsl.ParallelFor(items=POINTS, parallelism=4) as point:
        runs = train(lr=point.lr, layers=point.layers)
    publish(losses=dsl.Collected(runs.output))
"""
