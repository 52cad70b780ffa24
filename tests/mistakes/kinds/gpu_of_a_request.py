"""A GPU for a request."""

from flowdsl import http, pipeline, request


@http(gpu=1, retries=2)
def ping() -> None:
    request("GET", "https://example.com")


@pipeline
def nightly() -> None:
    ping()
