"""Runs one container of a pod as a program of this machine."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.compiler.limits import MOST_VARIABLE
from flowdsl.grammar.utf8 import decoded
from flowdsl.runtime.local.pods import environment
from flowdsl.runtime.local.pods.amounts import amount, memory_limit
from flowdsl.runtime.local.pods.ending import Way
from flowdsl.runtime.local.pods.expansion import expanded, too_long
from flowdsl.runtime.local.pods.paths import Rewriting, View, rewritten
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.settings import GIVE_PROGRAM, GIVE_PYTHON
from flowdsl.runtime.local.pods.units import SCRIPT, Unit, mounts, pythonic
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.events import StartPod
    from flowdsl.runtime.local.pods.context import Context
    from flowdsl.runtime.local.pods.engine import Run
    from flowdsl.runtime.local.pods.environment import About
    from flowdsl.runtime.local.pods.units import Shape
    from flowdsl.runtime.local.pods.volumes import Volumes

Json = dict[str, Any]
_VISIBLE = {"nvidia": "CUDA_VISIBLE_DEVICES", "amd": "ROCR_VISIBLE_DEVICES"}
_NEAR = 0.9
"""A killed program whose peak memory is at least this fraction of its limit has probably exceeded it."""


class Owner(Protocol):
    """The pod of a container, as a program sees it; see pod.py."""

    start: StartPod
    context: Context
    own: str
    template: Json
    inputs: list[Json]
    about: About
    shape: Shape
    lacks: set[str]
    gpus: dict[str, list[str]]
    stopped: str | None

    @property
    def volumes(self) -> Volumes:
        """Its volumes."""
        ...


class Program:
    """One attempt of a container.

    `before`: the one before it, whose files it goes on with. `again`: whether another may go on with its own.
    """

    def __init__(
        self, pod: Owner, unit: Unit, number: int, before: Program | None = None, *, again: bool = False
    ) -> None:
        self.pod = pod
        self.unit = unit
        self.before = before
        self.again = again
        self.id = f"{pod.start.node}/{unit.name}" + (f"/{number}" if number > 1 else "")
        self.log = f"{pod.start.node}/{unit.name}.log"
        self.env: dict[str, str] = {}
        self.places: dict[str, Path] = {}
        self.written = ""
        self.root: Path | None = None
        self.rewriting: Rewriting | None = None
        self.kept = False
        self.engine: Run | None = None

    @property
    def folder(self) -> str:
        """Its working directory; that of an image is not known here."""
        return self.unit.body.get("workingDir") or "/"

    def asked(self) -> Json | Way:
        """The request for the supervisor; or how the container ended, if it cannot be started. Raises Refusal."""
        pod, unit = self.pod, self.unit
        settings = pod.context.settings
        own = environment.variables(unit.body, pod.about)
        own |= environment.argo(unit.name, pod.about, pod.start.keeps_result)
        words, files = self._words(own)
        placed = self._mounts(own)
        env = pod.context.base | own
        gpus = self._gpus()
        env |= {variable: ",".join(gpus[vendor]) for vendor, variable in _VISIBLE.items() if vendor in gpus}
        if too_long(words, env):
            self.print("argument list too long")
            return Way(1)
        cwd = self.folder
        if "script" in pod.template and unit.role == "main":
            files.append(
                (
                    SCRIPT,
                    str(pod.template["script"].get("source", "")).encode(errors="surrogateescape"),
                    0o755,
                )
            )
        if settings.engine is not None:
            return self._engine(words, own, placed, cwd if unit.body.get("workingDir") else "", files, gpus)
        if not pod.context.isolated:
            words, env, cwd, files = self._rewrite(words, env, cwd, files)
        self.env = env
        outputs = part(pod.start.template, "outputs")
        has_files = bool(outputs.get("artifacts")) or any(
            part(one, "valueFrom").get("path") for one in several(outputs, "parameters")
        )
        self.kept = (has_files or self.again) and unit.role == "main" and pod.context.isolated
        goes_on = self.before is not None and self.before.kept
        request = self._request(pythonic(words, settings), env, cwd)
        return {
            **request,
            "mounts": [] if goes_on else placed,
            "files": files,
            "in": self.before.id if self.before is not None and goes_on else None,
            "keep": self.kept,
        }

    def _words(self, env: dict[str, str]) -> tuple[list[str], list[tuple[str, bytes, int]]]:
        """The command line, and the files that replace arguments that are too long.

        Arguments that come in a file are not expanded, and the program gets `@` and the path in place of a long
        one. Source: runEmissary in cmd/argoexec/commands/emissary.go of Argo 4.1.
        """
        unit = self.unit
        words = [expanded(one, env) for one in unit.command]
        if not unit.by_file:
            return [*words, *(expanded(one, env) for one in unit.args)], []
        files: list[tuple[str, bytes, int]] = []
        for position, text in enumerate(unit.args, max(0, len(words) - 1)):
            data = text.encode(errors="surrogateescape")
            if len(data) > MOST_VARIABLE:
                files.append((f"/tmp/argo_arg_{position}.txt", data, 0o644))
                words.append(f"@{files[-1][0]}")
            else:
                words.append(text)
        return words, files

    def _engine(
        self,
        words: list[str],
        env: dict[str, str],
        placed: list[tuple[str, str, bool]],
        cwd: str,
        files: list[tuple[str, bytes, int]],
        gpus: dict[str, list[str]],
    ) -> Json:
        """The same as a command of Docker or Podman, which runs the image."""
        from flowdsl.runtime.local.pods import engine

        context = self.pod.context
        self.root = self._root()
        self.rewriting = Rewriting(
            {path: self.root / path[1:] for path in engine.folders(self.declared(), self.places)}
        )
        for path, data, mode in files:
            at = self.root / path[1:]
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(data)
            at.chmod(mode)
        self.engine = engine.Run(self.id, self.unit, context.settings, gpus)
        alone = [(str(self.root / path[1:]), path, False) for path, _, _ in files if path != SCRIPT]
        argv = self.engine.command(
            words, env, self.root, [*placed, *engine.binds(self.rewriting.places), *alone], cwd
        )
        self.env = env
        return self._request(argv, {**os.environ, "FLOWDSL_CONTAINER": self.id}, str(self.root))

    def _request(self, argv: list[str], env: dict[str, str], cwd: str) -> Json:
        """What the supervisor is told of every program."""
        start = self.pod.start
        return {
            "id": self.id,
            "argv": argv,
            "env": env,
            "cwd": cwd,
            "log": self.log,
            "result": start.keeps_result and self.unit.name == "main",
            "tell": bool(start.template.get("daemon")) and self.unit.role == "main",
        }

    def _root(self) -> Path:
        """A folder for its files, where it has no file system of its own."""
        if self.before is None or self.before.root is None:
            return self.pod.context.plain.take()
        root, self.before.root = self.before.root, None
        return root

    def declared(self) -> list[str]:
        """The paths of inputs and outputs that the manifest names."""
        outputs = part(self.pod.start.template, "outputs")
        found = [one["path"] for one in several(outputs, "artifacts") if one.get("path")]
        found += [
            one["valueFrom"]["path"]
            for one in several(outputs, "parameters")
            if part(one, "valueFrom").get("path")
        ]
        brought = [one["path"] for one in self.pod.inputs]
        return [
            *(posixpath.join(self.folder, path) for path in found),
            *(posixpath.join("/", path) for path in brought),
        ]

    def _mounts(self, env: dict[str, str]) -> list[tuple[str, str, bool]]:
        """The folders and files that are mounted, by their path in the container."""
        pod = self.pod
        found: list[tuple[str, str, bool]] = []
        for mount in mounts(self.unit.body):
            path = mount["mountPath"]
            only_read = False
            if "artifact" in mount:
                source = Path(pod.own, "inputs", mount["artifact"])
                if mount["artifact"] in pod.lacks:
                    source.mkdir(parents=True, exist_ok=True)  # as the kubelet does for a subPath
                elif source.is_symlink():
                    why = f'failed to prepare subPath for volumeMount "input-artifacts" of container "{self.unit.name}"'
                    raise Refusal(
                        f"{why}: artifact {mount['artifact']} is a link that leads to {source.readlink()}"
                    )
                elif not source.exists():
                    continue  # it is in a volume
            else:
                source, only_read = pod.volumes.mount(mount, env, self.unit.body)
            self.places[path] = source
            found.append((str(source), path, only_read))
        if not pod.shape.alone:
            shared = Path(pod.own, "argo")
            shared.mkdir(parents=True, exist_ok=True)
            found.append((str(shared), "/var/run/argo", False))
        return found

    def _gpus(self) -> dict[str, list[str]]:
        """The GPUs of the pod that belong to this container; where there are too few, they are shared by all."""
        shape = self.pod.shape
        beside = {"init": shape.inits, "main": shape.mains, "sidecar": shape.sidecars}[self.unit.role]
        asked = [amount([one.body]) for one in beside]
        own = [one.name for one in beside].index(self.unit.name)
        found: dict[str, list[str]] = {}
        for vendor, gpus in self.pod.gpus.items():
            counts = [one.get(vendor, 0) for one in asked]
            first = sum(counts[:own])
            if counts[own]:
                found[vendor] = gpus[first : first + counts[own]] if sum(counts) <= len(gpus) else gpus
        return found

    def _rewrite(
        self, words: list[str], env: dict[str, str], cwd: str, files: list[tuple[str, bytes, int]]
    ) -> tuple[list[str], dict[str, str], str, list[tuple[str, bytes, int]]]:
        """The same with paths of this machine, for a step without a file system of its own."""
        self.root = self._root()
        declared = ["/argo", "/var/run/argo", *([cwd] if cwd != "/" else []), *self.declared()]
        plain = self.pod.context.links.plain
        names = {path: plain(place) for path, place in self.places.items()}
        self.rewriting = Rewriting(
            rewritten(self.root, self.places, declared), rewritten(plain(self.root), names, declared)
        )
        here = self.rewriting.here
        shown = {
            name: value if self.pod.context.base.get(name) == value else here(value)
            for name, value in env.items()
        }
        shown |= {"HOME": str(plain(self.root) / "root"), "FLOWDSL_CONTAINER": self.id}
        texts = [
            (here(path), here(data.decode(errors="surrogateescape")), mode) for path, data, mode in files
        ]
        moved = [(path, text.encode(errors="surrogateescape"), mode) for path, text, mode in texts]
        return [here(one) for one in words], shown, here(cwd) if cwd != "/" else str(self.root), moved

    def ended(self, answer: Json) -> Way:
        """How the program ended, from the answer of the supervisor."""
        self.written = str(answer.get("written", ""))
        code = int(answer["code"])
        if "missing" in answer:
            text = f"failed to find name in PATH: {answer['missing']}"
            self.print(text)
            python = self.pod.context.settings.python
            hidden = self._hides(python) if f'"{python}"' in text else ""
            return Way(code, f"{text}. {GIVE_PYTHON.format(path=hidden) if hidden else GIVE_PROGRAM}")
        reason = "Error"
        if answer.get("killed") and self.pod.stopped is None:
            limit = memory_limit(self.unit.body)
            if limit and answer["rss"] * 1024 >= limit * _NEAR:
                reason = "OOMKilled"
        return Way(
            code,
            str(answer.get("why", "")),
            reason,
            decoded(bytes(answer.get("result", b""))),
        )

    def _hides(self, program: str) -> str:
        """Whether a mount covers the file of a program of this machine, or the target of its link."""
        files = Path(program), Path(program).resolve()
        return next((path for path in self.places if any(one.is_relative_to(path) for one in files)), "")

    def print(self, text: str) -> None:
        """Append a line to the log."""
        path = self.pod.context.logs / self.log
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(f"{text}\n")

    def view(self) -> View:
        """Maps the paths of the container to this machine."""
        if self.engine is not None and self.rewriting is not None:
            return View(
                "", {**{path: Path(one) for path, one in self.rewriting.places.items()}, **self.places}
            )
        if self.rewriting is not None:
            return View("", {path: Path(place) for path, place in self.rewriting.places.items()})
        return View(self.written, self.places)

    def there(self, text: str) -> str:
        """Translates a text of the program to what it would have been in a container."""
        return text if self.rewriting is None or self.engine is not None else self.rewriting.there(text)

    def stop(self, grace: float) -> None:
        """Stop it."""
        supervisor = self.pod.context.supervisor
        if self.engine is not None:
            self.engine.stop(grace, lambda: supervisor.stop(self.id, grace))
        else:
            supervisor.stop(self.id, grace)

    def free(self) -> None:
        """Its files are no longer needed."""
        if self.kept:
            self.kept = False
            self.pod.context.supervisor.free(self.id)
        if self.rewriting is not None and self.root is not None:
            self.pod.context.plain.give(self.root)
            self.root = None
