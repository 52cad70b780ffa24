from flowdsl import http, pipeline, request


@http()
def ping() -> str:
    return request("GET", "https://example.com")


@pipeline
def nightly() -> None:
    ping()
