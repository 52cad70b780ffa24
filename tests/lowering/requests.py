"""Requests: inputs in the URL, the headers and the body; the answer as text and as JSON; in branches, loops, sweeps."""

from typing import Literal

from flowdsl import Secret, choice, either, fan_out, http, maximize, pipeline, request, run, step, sweep, when


@http()
def ping(url: str) -> str:
    return request("GET", url)


@http(retries=3, timeout="5m")
def notify(channel: str, text: str, count: int, table: dict[str, float], level: Literal["info", "alarm"]) -> dict[str, str]:
    return request(
        "POST",
        f"https://chat.example.com/{channel}/{level}?n={count}&q={text}",
        headers={"Authorization": Secret("chat", "token"), "X-Run": run.name, "X-Text": f"{count} {text}", "X-One": 1},
        body={"text": text, "of": f"{run.name}: {text}", "n": count, "next": count + 1, "table": table, "plain": ["$$ {{x}}", 1.5, None]},
        success="response.statusCode == 201 && response.body contains 'ok'",
        timeout="30s",
        insecure=True,
    )


@http()
def score(rate: float) -> float:
    return request("PUT", f"http://scores.svc:8080/{rate}", body=f"rate {rate}", headers={"Content-Type": "text/plain"})


@step(image="python:3.12-slim")
def show(text: str) -> None:
    print(text)


@step(image="python:3.12-slim")
def total(scores: list[float]) -> float:
    return sum(scores)


@pipeline
def requests(url: str = "https://example.com") -> float:
    body = ping(url)
    answer = notify("#jobs", body, 3, {"a": 0.5}, "info")
    with when(answer["state"] == "new"):
        again = ping.options(name="again")(f"{url}/{body}")
    show(either(again, "no answer"))
    scores = fan_out(score, over={"rate": [0.1, 0.2]})
    runs = sweep(score, over={"rate": choice(0.5, 1.5)}, objective=maximize("return"))
    return total(scores) + runs.best
