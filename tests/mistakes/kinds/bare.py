"""A gate and a request without parentheses, which is as good as with them."""

from flowdsl import approve, http, pipeline, request


@approve
def look() -> None: ...


@http
def ping() -> str:
    return request("GET", "example.com")


@pipeline
def nightly() -> None:
    look()
    ping()
