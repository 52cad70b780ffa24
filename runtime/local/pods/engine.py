"""Runs containers from images, with Docker or Podman."""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from flowdsl.runtime.local.pods.sandbox import in_thread
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.pods.units import Unit
from flowdsl.runtime.parts import part

_ARGO = ("/argo/staging", "/var/run/argo")
_PATIENCE = 20.0
"""The timeout in seconds for a response of Docker or Podman."""


def folders(declared: Iterable[str], places: Mapping[str, Path]) -> list[str]:
    """The folders of a container to mount from this machine, for inputs and outputs that are not on mounts.

    They are the parents of the declared paths, and hide the image's own content there.
    """
    found = {posixpath.dirname(posixpath.normpath(path)) for path in declared if path not in places}
    inside = tuple(f"{path.rstrip('/')}/" for path in places)
    return sorted({one for one in found if one != "/" and not f"{one}/".startswith(inside)} | {*_ARGO})


def binds(places: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """Create these folders; returns them as mounts."""
    for source in places.values():
        Path(source).mkdir(parents=True, exist_ok=True)
    return [(source, path, False) for path, source in sorted(places.items())]


def trouble(engine: str) -> str | None:
    """Why Docker or Podman cannot run images here; None if it can."""
    try:
        done = subprocess.run(
            [engine, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except OSError:
        return f"there is no {engine} on this machine"
    except subprocess.TimeoutExpired:
        return f"{engine} does not answer"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or [f"{engine} version failed with {done.returncode}"]
    return lines[-1]


class Run:
    """One container."""

    def __init__(self, name: str, unit: Unit, settings: Settings, gpus: Mapping[str, list[str]]) -> None:
        assert settings.engine is not None
        self.engine: str = settings.engine
        self.name = "flowdsl-" + re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{settings.workflow}-{name}")
        self.unit = unit
        self.gpus = gpus

    def command(
        self,
        words: list[str],
        env: Mapping[str, str],
        folder: Path,
        mounts: list[tuple[str, str, bool]],
        cwd: str,
    ) -> list[str]:
        """The command line; variables are passed in a file, except those with several lines."""
        body = self.unit.body
        found = [self.engine, "run", "--rm", "--name", self.name, "--network", "host"]
        lines = folder / "environment"
        lines.write_text(
            "".join(f"{name}={value}\n" for name, value in env.items() if "\n" not in value), "utf-8"
        )
        found += ["--env-file", str(lines)]
        for name, value in env.items():
            if "\n" in value:
                found += ["--env", f"{name}={value}"]
        for source, path, only_read in sorted(mounts, key=lambda one: one[1]):
            found += ["-v", f"{source}:{path}:ro" if only_read else f"{source}:{path}"]
        if cwd:
            found += ["--workdir", cwd]
        user = part(body, "securityContext").get("runAsUser")
        if user is not None:
            found += ["--user", str(user)]
        for vendor, names in self.gpus.items():
            if vendor == "nvidia" and self.engine == "docker":
                found += ["--gpus", f'"device={",".join(names)}"']
            else:  # the Container Device Interface
                found += [word for one in names for word in ("--device", f"{vendor}.com/gpu={one}")]
        named = bool(body.get("command"))
        if named:
            found += ["--entrypoint", words[0]]
        return [*found, str(body.get("image", "")), *(words[1:] if named else words)]

    def stop(self, grace: float, then: Callable[[], None]) -> None:
        """Stop it: TERM, and KILL after so many seconds; then its command, if it still runs."""
        words = [self.engine, "stop", "--time", str(max(0, round(grace))), self.name]

        def work() -> None:
            try:
                subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            finally:
                then()

        in_thread(work)
