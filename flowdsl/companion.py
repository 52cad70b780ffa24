"""Further containers in the pod of a step (sidecars and init containers), and the readiness of a daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.places.place import Site, here

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flowdsl.duration import Duration
    from flowdsl.volume import Config, Local, Secret, Volume, VolumePath


class Companion:
    """A container in the pod of a step. Stored as written; the compiler checks it."""

    __slots__ = ("command", "cpu", "env", "image", "memory", "mirror", "mounts", "name", "secrets", "site")

    def __init__(
        self,
        name: str,
        *,
        image: str,
        command: Sequence[str] = (),
        env: Mapping[str, str | int | float | Config] | None = None,
        secrets: Mapping[str, Secret] | None = None,
        mounts: Mapping[str, Volume | Local | Path | VolumePath] | None = None,
        cpu: float | str | None = None,
        memory: int | str | None = None,
        mirror: bool = False,
    ) -> None:
        self.name = name
        self.image = image
        self.command = command
        self.env = env
        self.secrets = secrets
        self.mounts = mounts
        self.cpu = cpu
        self.memory = memory
        self.mirror = mirror
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, image={self.image!r})"


class Sidecar(Companion):
    """A container that runs beside that of a step, and is stopped when the step has ended.

    It has the network of the step: a server in it is at `localhost`. `mirror`: it sees the volumes of the
    step and its input files, at the same paths.
    """

    __slots__ = ()


class InitContainer(Companion):
    """A container that runs before that of a step, and ends before the step begins.

    What it leaves on a volume that both mount, the step finds there. `mirror`: it sees the volumes of the
    step and its input files, at the same paths.
    """

    __slots__ = ()


class Ready:
    """When a daemon is ready to serve: `Ready(port=8080)`, `Ready(port=8080, path="/healthz")`, or a command.

    A port that accepts a connection, a path that is answered with a status below 400, or a command that ends
    with 0. `delay`: how long after the start to ask first. `every`: how long to wait before asking again.
    Stored as written; the compiler judges.
    """

    __slots__ = ("command", "delay", "every", "path", "port", "site")

    def __init__(
        self,
        *,
        port: int | None = None,
        path: str | None = None,
        command: Sequence[str] | None = None,
        delay: Duration | None = None,
        every: Duration | None = None,
    ) -> None:
        self.port = port
        self.path = path
        self.command = command
        self.delay = delay
        self.every = every
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"Ready(port={self.port!r}, path={self.path!r}, command={self.command!r})"
