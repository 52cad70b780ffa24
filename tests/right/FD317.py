from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def report(rows: int) -> str:
    # Argo does not fill in {inputs.parameters.rows} here.
    return "{" + "{workflow.name}}: " + str(rows)


@pipeline
def nightly() -> None:
    report(5)
