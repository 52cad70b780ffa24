"""The pipeline `tables`."""

from typing import NamedTuple

from flowdsl import command, container, fan_out, pipeline


class TrialItem(NamedTuple):
    lr: str
    layers: str


@container(image="python:3.12-slim")
def suggest(n: int) -> list[TrialItem]:
    source = """
        import ast
        import os
        import json
        configs = [{"lr": 0.1 / (i + 1), "layers": i} for i in range(ast.literal_eval(os.environ["N"]))]
        with open("/tmp/configs.json", "w") as f:
            json.dump(configs, f)
    """
    return command(
        "python3",
        source=source,
        env={"N": n},
        paths={"return": "/tmp/configs.json"},
    )


class TrialOutputs(NamedTuple):
    loss: str
    id: str


@container(image="python:3.12-slim")
def trial(lr: str, layers: str) -> TrialOutputs:
    source = """
        import ast
        import os
        open("/tmp/loss", "w").write(str(ast.literal_eval(os.environ["LR"]) * 2))
        open("/tmp/id", "w").write(os.environ["LAYERS"])
    """
    return command(
        "python3",
        source=source,
        env={"LR": lr, "LAYERS": layers},
        paths={"loss": "/tmp/loss", "id": "/tmp/id"},
    )


class TrialEachOutputs(NamedTuple):
    id: str
    loss: str


@pipeline
def trial_each(item: TrialItem) -> TrialEachOutputs:
    trial_ = trial(lr=item.lr, layers=item.layers)
    return TrialEachOutputs(id=trial_.id, loss=trial_.loss)


@container(image="python:3.12-slim")
def best(results: list[TrialEachOutputs]) -> None:
    source = """
        import os
        import json
        rows = json.loads(os.environ["RESULTS"])
        print(min(rows, key=lambda r: float(r["loss"])))
    """
    command("python3", source=source, env={"RESULTS": results})


@pipeline
def tables(trials: int = 3) -> None:
    suggest_ = suggest(n=trials)
    trial_ = fan_out(trial_each, over={"item": suggest_})
    best(results=trial_)
