"""Scripts in any language, what programs print, servers, and containers beside that of a step."""

from pathlib import Path

from flowdsl import InitContainer, Ready, Secret, Sidecar, Volume, command, container, either, fan_out, output, pipeline, step, when

DATA = Volume("datasets")
CACHE = Volume("cache.claim")


@container(image="alpine:3.20")
def names(count: int) -> list[str]:
    return command("seq", "-f", '"part %g"', "-s", ",", count, stdout=True)


@container(image="r-base:4.4.1", env={"LC_ALL": "C"})
def fit(table: Path, rate: float) -> Path:
    source = f"""
    rate <- as.numeric(Sys.getenv("RATE"))
    table <- read.csv(Sys.getenv("TABLE"))
    saveRDS(lm(y ~ x, table), "{output()}")
    """
    return command("Rscript", "--vanilla", source=source, env={"RATE": rate, "TABLE": table})


@container(image="bash:5.2")
def size(name: str) -> int:
    return command("bash", "-eu", source='printf "%d\\n" "${#NAME}"\n', env={"NAME": name}, stdout=True)


@container(image="postgres:16", daemon=True, ready=Ready(command=["pg_isready", "-U", "postgres"], delay="5s", every=2))
def database(user: str) -> str:
    return command("postgres", "-c", "log_statement=all", env={"POSTGRES_USER": user})


@step(image="python:3.12-slim", daemon=True, ready=Ready(port=8080, path="/healthz"))
def server(port: int) -> str:
    from http.server import HTTPServer, SimpleHTTPRequestHandler

    HTTPServer(("", port), SimpleHTTPRequestHandler).serve_forever()
    return ""


@container(
    image="psql:16",
    mounts={"/data": DATA},
    init=[InitContainer("fetch", image="alpine:3.20", command=["sh", "-c", "cp -r /cache/$$ /data"], mounts={"/cache": CACHE}, mirror=True)],
    sidecars=[
        Sidecar(
            "redis",
            image="redis:7",
            command=["redis-server", "--port", "6379"],
            env={"MODE": "fast", "COPIES": 2},
            secrets={"PASSWORD": Secret("redis", "password")},
            cpu="100m",
            memory="64Mi",
        )
    ],
)
def query(host: str, url: str, text: str) -> str:
    return command("psql", "-h", host, "-c", text, url, output())


@step(image="python:3.12-slim")
def show(lines: list[str], text: str) -> None:
    print(lines, text)


@pipeline
def scripts(count: int = 3) -> int:
    made = names(count)
    fit(DATA / "table.csv", 0.5)
    address = database("me")
    url = server(8080)
    lines = fan_out(query, over={"text": made}, host=address, url=f"http://{url}:8080/")
    sizes = fan_out(size, over={"name": ["a", "bb"]})
    with when(size(f"{count}") > 1):
        late = query(address, url, "late")
        number = size(late)
    show(lines, f"{either(number, 0)}")
    return sizes[0] + sizes[1]
