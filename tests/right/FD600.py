from flowdsl import http, pipeline, request


@http()
def notify(text: str) -> None:
    request("POST", "https://chat.example.com", body={"text": text})


@pipeline
def nightly(text: str = "started") -> None:
    notify(text)
