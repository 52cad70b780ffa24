"""Requests that cannot be sent."""

from flowdsl import Secret, http, pipeline, request


@http()
def notify(text: str) -> str:
    return request(
        "PSOT",
        "chat.example.com/post",
        headers={"X Text": text, "Accept": "a\nb", "Authorization": Secret("Chat", "token"), "X-Odd": 1j},
        body={"text": text, "odd": 1j},
        success="respose.statusCode == 200",
        timeout="30 secs",
        insecure="yes",
    )


@http()
def ask(text: str) -> str:
    return request("GET", f"https:///{text}", success="response.status == (200", headers=text, timeout=text, insecure=text)


@http()
def look(text: str) -> str:
    return request(text, "https://example.com/a b", success=f"response.body == {text}", headers={f"X-{text}": "a"})


@http()
def last(text: str) -> str:
    return request("GET", "https://", success=" ")


@http()
def status() -> str:
    return request("GET", "https://example.com", success="response.status == 200")


@pipeline
def nightly(text: str = "done") -> None:
    notify(text)
    ask(text)
    look(text)
    last(text)
    status()
