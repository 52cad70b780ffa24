from flowdsl import http, pipeline, request


@http(retries=2)
def ping() -> None:
    request("GET", "https://example.com")


@pipeline
def nightly() -> None:
    ping()
