"""Steps of values only, run in this process: their variables and outputs are those of a run, a process is not made.

For graphs of very many small steps, and for properties of values.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple
from unittest import mock

from flowdsl.runtime.local.controller.events import Outcome, StartPod
from flowdsl.runtime.local.pods.environment import About, variables
from flowdsl.runtime.local.pods.expansion import carried
from flowdsl.runtime.local.pods.settings import Settings

Json = dict[str, Any]
_FOLDER = "/tmp"


class Done(NamedTuple):
    """How a step ended, and what it printed."""

    outcome: Outcome
    printed: str


def small(pod: StartPod) -> Done | None:
    """What a step gives that can run here: a script without files, volumes and secrets."""
    script: Json = pod.template.get("script", {})
    sides: list[Json] = [pod.template.get("inputs") or {}, pod.template.get("outputs") or {}]
    plain = all("value" in one for one in script.get("env", []))
    files = script.get("volumeMounts") or any(one.get("artifacts") for one in sides)
    return done(pod) if script and plain and not files else None


def done(pod: StartPod) -> Done:
    """Run a step whose files, if it has any, are in its manifest."""
    template = carried(pod.template, dict)
    script = {**pod.template["script"], "name": "main"}
    env = variables(script, About(pod, "default", Settings()))
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for one in template.get("inputs", {}).get("artifacts", []):
            path = Path(folder) / Path(one["path"]).relative_to(_FOLDER)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one["raw"]["data"], encoding="utf-8")
        code = _code(template["script"]["source"].replace(f"{_FOLDER}/flowdsl", f"{folder}/flowdsl"))
        with (
            mock.patch.dict(os.environ, env, clear=True),
            contextlib.redirect_stdout(printed),
            contextlib.chdir(folder),
        ):
            try:
                exec(code, {"__name__": "__main__"})
            except SystemExit as error:
                return _failed(f"{printed.getvalue()}{error.code}\n")
            except Exception as error:
                return _failed(f"{printed.getvalue()}{error!r}\n")
        outputs = [_read(one, Path(folder)) for one in template.get("outputs", {}).get("parameters", [])]
    found: Json = {"parameters": outputs} if outputs else {}
    return Done(Outcome("Succeeded", "", {**found, "exitCode": "0"}), printed.getvalue())


def _failed(printed: str) -> Done:
    return Done(Outcome("Failed", "main: Error (exit code 1)", {"exitCode": "1"}), printed)


def _read(output: Json, folder: Path) -> Json:
    if "value" in output:
        return output
    path = folder / Path(output["valueFrom"]["path"]).relative_to(_FOLDER)
    return {**output, "value": path.read_bytes().decode("utf-8").removesuffix("\n")}


@lru_cache(maxsize=1024)
def _code(source: str) -> CodeType:
    return compile(source, "step", "exec", dont_inherit=True)
