from flowdsl import pipeline, run, step


@step(image="python:3.12-slim", argo={"volumes": {"data"}, "hostAliases": [{"ip": float("nan")}], 3: "x"})
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim", argo={"script": {"workingDir": 1j}, "task": "when"})
def clean(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", argo="hostNetwork: true")
def show(rows: int) -> None:
    print(rows)


@pipeline(argo={"metadata": [], "cron": {"when": "true"}, "parallelism": 2**70})
def nightly(table: str = "orders") -> None:
    rows = load(table)
    show.options(argo={"metadata": {"annotations": {"rows": f"{rows}", "run": run.name}}})(clean(rows))
