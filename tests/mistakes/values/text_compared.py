"""Texts that hold a run-time value are compared by Python."""

from flowdsl import pipeline, run, step, when


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly(shard: int = 5) -> None:
    rows = count("orders")
    title = f"{rows} rows"
    with when(f"{rows}" == "5"):
        alert("five")
    if str(rows) in ("6", "7"):
        alert.options(name="more")("six or seven")
    if title.startswith("0"):
        alert.options(name="none")(title)
    with when("nightly" in f"{run.name}-{shard}"):
        alert.options(name="named")(title)
    if "{} rows".format(rows) == "9 rows":
        alert.options(name="nine")(title)
    alert("1%s" % rows if "1%s" % rows != "10" else "ten")
    match title:
        case "8 rows":
            alert.options(name="eight")(title)
    note = "quiet"
    if note == "quiet":
        note = f"{rows} rows, quiet"
    for known in (1, 2):
        if f"{known}" != "2":
            alert.options(name=f"known-{known}")(note)
