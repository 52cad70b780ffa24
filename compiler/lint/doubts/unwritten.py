"""Outputs in files that nothing writes, as far as the program of a template is visible: a script, or words of a shell.

A file is looked for by its name. If the program does not have it, but writes one of a similar name, or can be seen to
write no other, the output is missing. What is in volumes, input artifacts or the image may come from elsewhere.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import CONTAINER_BODIES
from flowdsl.compiler.lint.pods.bodies import NeverGiven
from flowdsl.compiler.lint.pods.mounts import is_in, is_read_only, mount_of, place_of
from flowdsl.compiler.lint.scripts import POSIX_SHELLS, command_line, is_python, parse
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, string
from flowdsl.diagnostic import near
from flowdsl.grammar.command_line import program
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


def unwritten(view: View) -> Iterator[Problem]:
    """Files of outputs are written by the program of their template, where it may write."""
    for template in view.all:  # templates that are alike may have other sources
        files = [each for each in _outputs(template) if "{{" not in each[2]]
        if not files or template.data.get("podSpecPatch"):
            continue
        if template.body == "containerSet":
            yield from _in_set(template, files)
        container = inside(template.data, template.body)
        if template.body not in CONTAINER_BODIES or container.get("envFrom"):
            continue
        text = _text(container, template.source)
        volumes = view.volumes_of(template)
        inputs = [string(each, "path").rstrip("/") for each in entries(template.data, "inputs", "artifacts")]
        for path, name, file in files:
            brought = any(each and is_in(file, each) for each in inputs)
            if not brought and _writes(text, file) and (gives := _read_only(container, volumes, file)):
                finding = NeverGiven(name, gives)
                yield Problem(
                    path, finding.with_help("write it in a volume of its own, such as an `emptyDir`")
                )
        places = _places(template)
        missing = [
            each
            for each in files
            if each[2].rpartition("/")[2] not in text
            and not any(is_in(each[2], place) or is_in(place, each[2]) for place in places)
        ]
        is_plain = bool(missing) and _writes_nothing_else(command_line(template))
        written = {match[1] for match in _WRITTEN.finditer(text)}
        others = sorted(written.difference(places, (file for _, _, file in files)))
        for path, name, file in missing:
            if meant := near(file, others, 0.75):
                gives, way = (
                    f"the program writes `{meant}`, and not `{file}`",
                    f"write the path of the file: `{meant}`",
                )
            elif is_plain and file.startswith("/tmp/"):
                gives, way = f"nothing here writes `{file}`", "write the file, or remove the output"
            else:
                continue
            yield Problem(path, NeverGiven(name, gives).with_help(way))


def _text(container: Object, source: str = "") -> str:
    """What a program is given: its words, its source and its variables."""
    words: list[str] = [*(container.get("command") or ()), *(container.get("args") or ()), source]
    return "\n".join([*words, *(string(each, "value") for each in entries(container, "env"))])


def _writes(text: str, file: str) -> bool:
    """Whether a program visibly writes a file."""
    return any(match[1] == file for match in _WRITTEN.finditer(text))


def _read_only(container: Object, volumes: Mapping[str, Object], file: str) -> str:
    """Why a container cannot write a file; empty if it can."""
    mount = mount_of(container, file)
    if mount is None:
        closed = inside(container, "securityContext").get("readOnlyRootFilesystem") is True
        # These folders are not of its image.
        of_image = not file.startswith(("/dev/", "/var/run/argo/"))
        return f"`{file}` is in no volume, and the image is read-only" if closed and of_image else ""
    name = string(mount, "name")
    return f"volume `{name}` is read-only" if is_read_only(mount, volumes.get(name) or {}) else ""


def _in_set(template: Template, files: list[tuple[Path, str, str]]) -> Iterator[Problem]:
    """The findings about outputs that another container of a set writes than the one in which Argo reads them."""
    group = inside(template.data, "containerSet")
    containers = entries(group, "containers")
    main = next((each for each in containers if each.get("name") == "main"), None)
    if main is None or main.get("envFrom"):
        return
    mounts = [*entries(group, "volumeMounts"), *entries(main, "volumeMounts")]
    for path, name, file in files:
        if file.rpartition("/")[2] in _text(main) or any(is_in(file, place_of(each)) for each in mounts):
            continue
        writer = next((each for each in containers if _writes(_text(each), file)), None)
        if writer is not None:
            gives = f"`{writer.get('name')}` writes `{file}`, and Argo reads that of `main`"
            yield Problem(path, NeverGiven(name, gives).with_help("write it in a volume that both mount"))


_WRITTEN = regex(
    r"""(?:>|\btee |\bopen\(|\bPath\(|\bto_\w+\(|\bsave\w*\()\s*['"]?(/[\w./+-]++)(?!['"]?\s*[$*{%+.\\])"""
)
"""What a program visibly writes: behind `>`, or where Python usually names a file."""


def _outputs(template: Template) -> Iterator[tuple[Path, str, str]]:
    """The outputs of a template that have to be there: their places, names and files."""
    for path, each in entries_at(template.data, template.path, "outputs", "parameters"):
        source = inside(each, "valueFrom")
        if (file := string(source, "path")) and source.get("default") is None:
            yield (*path, "valueFrom", "path"), string(each, "name"), file.rstrip("/")
    for path, each in entries_at(template.data, template.path, "outputs", "artifacts"):
        if (file := string(each, "path")) and not each.get("optional"):
            yield (*path, "path"), string(each, "name"), file.rstrip("/")


def _places(template: Template) -> set[str]:
    """Paths at which files may come from elsewhere."""
    container = inside(template.data, template.body)
    mounts = (string(each, "mountPath") for each in entries(container, "volumeMounts"))
    inputs = (string(each, "path") for each in entries(template.data, "inputs", "artifacts"))
    return {each.rstrip("/") for each in (*mounts, *inputs) if each}


def _writes_nothing_else(words: list[str]) -> bool:
    """Whether a command line certainly writes only files that it names."""
    if len(words) == 3 and words[1] == "-c":
        if program(words) in POSIX_SHELLS:
            return _is_plain_shell(words[2])
        if is_python(words):
            return _is_plain_python(words[2])
    return program(words) in ("echo", "printf", "sleep", "date", "true", "false")


_QUOTES = regex(r"""'[^']*'|"(?:[^"\\$`]|\\.|\$\w++|\$\{\w+\})*+\"""")
_APART = regex(r"[\n;&|()]+")
_FIRST = regex(r"\s*(?:(?:then|else|do|if|elif|while|until|!|\{)\s+|\w+=\S*\s+)*(\S*)")
_UNCLEAR = regex(r">++\s*+(?!(?:\0|[\w./+-]++)(?:[\s;&|()]|$))")
"""What a shell writes to, unless it is a name, or quoted text without a variable, for which a zero byte stands here."""

_OF_SHELLS = """
# : [ [[ base64 basename break case cat continue cut date dirname do done echo else esac exit export expr false fi
for grep head hostname id if in jq let local ls md5sum printf pwd read return seq set sha256sum shift sleep stat
tail test then tr true uname unset wc whoami while }
"""
_PLAIN = frozenset(_OF_SHELLS.split())
"""Commands and words of a shell that write to their output alone."""


def _is_plain_shell(source: str) -> bool:
    """Whether a shell runs only well-known commands, and names each file that it writes."""
    bare = _QUOTES.sub(lambda quoted: "$" if "$" in quoted[0] or "{{" in quoted[0] else "\0", source)
    if not set("`\"'*\\").isdisjoint(bare) or "<<" in bare or "{{" in bare or _UNCLEAR.search(bare):
        return False
    firsts = (_FIRST.match(each) for each in _APART.split(bare.replace("$(", "\n")))
    return all(
        first is None or first[1] in _PLAIN or first[1].startswith("#") or "=" in first[1] or not first[1]
        for first in firsts
    )


_OF_PYTHON = """
base64 collections csv datetime decimal functools hashlib itertools json math operator pickle random re
statistics string sys textwrap time typing uuid
"""
_MODULES = frozenset(_OF_PYTHON.split())
"""Modules of Python that open no files by themselves."""


def _is_plain_python(source: str) -> bool:
    """Whether a script in Python uses only modules that open no files by themselves, and names those that it opens."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):
        return False
    named: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function, args=[ast.Constant(value=str(file)), *_]) if "{{" not in file:
                named.add(id(function))  # a call is visited before its function
            case ast.Import(names=names) if not {each.name.partition(".")[0] for each in names} <= _MODULES:
                return False
            case ast.ImportFrom(module=module) if (module or "").partition(".")[0] not in _MODULES:
                return False
            case ast.Name(id="exec" | "eval" | "compile" | "__import__" | "globals"):
                return False
            case ast.Name(id="open") if id(node) not in named:
                return False
            case ast.Attribute(attr="argv" | "modules"):
                return False
            case _:
                pass
    return True
