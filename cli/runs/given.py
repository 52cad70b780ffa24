"""Reads options of a run: NAME=VALUE pairs, files, folders, data, and the interpreter of Python steps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.cli.runs import objects
from flowdsl.grammar.names import is_data_key
from flowdsl.grammar.reason import reason
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.pods.interpreter import interpreter

if TYPE_CHECKING:
    from collections.abc import Sequence


def pairs(texts: Sequence[str], option: str, form: str = "NAME=VALUE") -> dict[str, str]:
    """Parses the NAME=VALUE pairs of an option. Raises RunError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RunError(f"{option} {text}: write {option} {form}")
        if name in found:
            raise RunError(f"{option} {name} is given twice")
        found[name] = value
    return found


def paths(texts: Sequence[str], option: str, form: str = "") -> dict[str, Path]:
    """Parses files and folders by name, which have to exist; `form`: what they are. Raises RunError."""
    found = {name: path_of(option, name, text) for name, text in pairs(texts, option, "NAME=PATH").items()}
    for name, path in found.items():
        if not path.exists():
            gone = "the pipe of an earlier command is gone: give it again" if path.parts[:3] == _PIPES else ""
            missing = f"there is no {path}{form and f': name {form}'}"
            raise RunError(f"{option} {name}={path}: {gone or missing}")
    return {name: lasting(path) for name, path in found.items()}


_PIPES = ("/", "dev", "fd")


def lasting(path: Path) -> Path:
    """A path that is valid in any folder. A pipe, as `<(...)` of a shell, is found only by its own name."""
    return path.absolute() if path.is_fifo() else path.resolve()


def folders(texts: Sequence[str]) -> dict[str, Path]:
    """The folders of `--mount`, by claim; a missing one is created when the run begins. Raises RunError."""
    found = {
        name: path_of("--mount", name, text) for name, text in pairs(texts, "--mount", "CLAIM=PATH").items()
    }
    for name, path in found.items():
        if path.exists() and not path.is_dir():
            raise RunError(f"--mount {name}={path}: {path} is a file; a claim is a folder")
        if not path.exists() and not path.absolute().parent.is_dir():
            raise RunError(f"--mount {name}={path}: there is no {path.parent}")
    return {name: path.resolve() for name, path in found.items()}


def path_of(option: str, name: str, text: str) -> Path:
    """A path from the user; an empty text is an unset shell variable. Raises RunError."""
    if not text:
        raise RunError(f"{option} {name}=: the path is empty; the current folder is {option} {name}=.")
    return Path(text).expanduser()


def data(texts: Sequence[str], option: str) -> dict[str, dict[str, str]]:
    """The data of ConfigMaps or Secrets: from a folder with a file per key, a file of KEY=VALUE lines, or the object.

    Raises RunError.
    """
    found: dict[str, dict[str, str]] = {}
    form = "a folder with a file for each key, or a file of lines KEY=VALUE"
    for name, path in paths(texts, option, form).items():
        try:
            if path.is_dir():
                files = [one for one in sorted(path.iterdir()) if one.is_file()]
                found[name] = {one.name: one.read_text(encoding="utf-8") for one in files}
            elif (known := objects.data(path, name, option)) is not None:
                found[name] = known
            else:
                found[name] = _lines(path.read_text(encoding="utf-8"), f"{option} {name}={path}")
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{option} {name}={path} cannot be read: {reason(error)}") from None
    return found


def _lines(text: str, given: str) -> dict[str, str]:
    """Parses KEY=VALUE lines. Raises RunError, which shows nothing that may be secret."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            key, sign, value = line.partition("=")
            if not sign or not is_data_key(key.strip()):
                raise RunError(
                    f"{given}: its line {number} is not KEY=VALUE; write such lines, or name a folder with a file "
                    "for each key"
                )
            found[key.strip()] = value
    return found


def python(program: str | None) -> str:
    """The path of the interpreter of Python steps. Raises RunError."""
    if program is None:
        return sys.executable
    try:
        return interpreter(program).path
    except RunError as error:
        raise RunError(f"--python {program}: {error}") from None
