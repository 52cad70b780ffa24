"""Command lines and scripts whose words the system takes literally, where a shell or another program would not.

All of it passes Argo and the API server, and then does something else than its form says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.doubts.literal import TakenLiterally
from flowdsl.compiler.lint.pods.bodies import arguments, short
from flowdsl.compiler.lint.scripts import parse
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.grammar.command_line import SHELLS, is_command_line, program, shell_text_at
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

_WITH_TEXT = {"python": "-c", "node": "-e", "perl": "-e", "ruby": "-e", "Rscript": "-e"}
"""Programs that run a text passed with an option."""
_VERSION = regex(r"[\d.]+$")


def commands(view: View) -> Iterator[Problem]:
    """`command` is a list of words: the first is a program, and a shell runs one text."""
    for template, place, container in view.containers:
        path = (*template.path, *place)
        words = [*(container.get("command") or ())]
        if not words or any("{{" in word for word in words):
            continue
        first, kind = words[0], program(words)
        if is_command_line(first):
            continue  # which is reported as such
        if len(first.split()) > 1 and "\\" not in first:
            found = f"`{short(first)}` is the name of one program"
            way = f"write each word separately: [{', '.join(first.split()[:4])}]"
            finding = TakenLiterally(found, "there is no program of that name", way)
            yield Problem((*path, "command", 0), finding)
        elif kind in SHELLS:
            yield from _one_text(container, path)
        elif place[0] == "script" and words[-1:] == [_WITH_TEXT.get(_VERSION.sub("", kind))]:
            found = f"`{kind} {words[-1]}` runs a text, and gets the path of the file with the source"
            finding = TakenLiterally(found, "the path is not a program", f"remove `{words[-1]}`")
            yield Problem((*path, "command", len(words) - 1), finding)
        else:
            yield from _without_shell(kind, container, path)
        if place[0] == "script" and len(words) == 1:
            yield from _before_source(_VERSION.sub("", kind), container, path)


_SHELL_ITSELF = frozenset(("_", "-", "--", *SHELLS))
"""What stands for `$0` after the text that a shell runs, which reads it in messages alone."""


def _one_text(container: Object, path: Path) -> Iterator[Problem]:
    """The finding about words after the text that a shell runs, which the text does not use."""
    listed = [*arguments(container, path)]
    text = shell_text_at([word for _, word in listed])
    behind = [] if text is None else listed[text:]
    named = len(behind) == 2 and behind[1][1] in _SHELL_ITSELF
    if len(behind) > 1 and not named and not any(mark in behind[0][1] for mark in ("$", "{{")):
        found = f"the shell runs `{short(behind[0][1])}`, and nothing there asks for the words after it"
        finding = TakenLiterally(found, "not used", "write the whole command line as one text")
        yield Problem(behind[1][0], finding)


_OF_SHELLS = frozenset(("cd", "export", "set", "source", "unset"))
_USUAL_PROGRAMS = (
    "aws az cat chmod chown cp curl docker echo gcloud git gsutil head helm kubectl ls mc mkdir mv mysql node npm npx "
    "pip printf psql python Rscript rclone rm sort tail tar touch wc wget"
)
_TAKES_WORDS = frozenset(_USUAL_PROGRAMS.split())
"""Programs that take each word as it is."""
_OF_FILES = frozenset(
    ["cat", "chmod", "chown", "cp", "head", "ls", "mv", "rm", "sort", "tail", "touch", "wc"]
)
"""Those whose words are files."""
_ALWAYS_SET = frozenset(("HOME", "HOSTNAME", "PATH"))
"""Variables that every container has."""
_OPERATOR = regex(r"(&&|\|\|?)|[12]?>>?|<")
_PROGRAM = regex(r"[a-zA-Z_][\w-]*|\.?\.?/\S+")
_FILE = regex(r"\S*[/.]\S+")
_OUTPUT = regex(r"\$\(([a-z][^()]*)\)")
_VARIABLE = regex(r"[^\s$]*\$(?:(\w+)|\{(\w+)\})[^\s$]*")


def _without_shell(kind: str, container: Object, path: Path) -> Iterator[Problem]:
    """The finding about words that only a shell understands, where no shell runs."""
    words = [*arguments(container, path)]
    way = "run it with `sh -c`, the whole command line as one text"
    if kind in _OF_SHELLS and words[0][1] == kind:  # a path leads to a program
        finding = TakenLiterally(f"`{kind}` is a word of the shell", "no program in most images", way)
        yield Problem(words[0][0], finding)
    elif _VERSION.sub("", kind) in _TAKES_WORDS:
        known = {string(each, "name") for each in entries(container, "env")}
        for at, (place, word) in enumerate(words):
            found = f"`{kind}` gets `{short(word.replace('$$', '$'))}` as it is"
            named = _VARIABLE.fullmatch(word)
            name = (named[1] or named[2]) if named is not None else ""
            if name in known or name in _ALWAYS_SET:
                yield Problem(place, TakenLiterally(found, "only a shell fills it in", way))
                return
            if (output := _OUTPUT.search(word)) is not None and output[1] not in known:
                yield Problem(place, TakenLiterally(found, "only a shell runs what is in it", way))
                return
            if at and kind in _OF_FILES and "*" in word and not word.startswith("-"):
                yield Problem(place, TakenLiterally(found, "only a shell finds the files", way))
                return
            if 1 < at < len(words) - 1 and (operator := _OPERATOR.fullmatch(word)) is not None:
                after = _PROGRAM if operator[1] else _FILE
                if after.fullmatch(words[at + 1][1]) and not words[at - 1][1].startswith("-"):
                    yield Problem(place, TakenLiterally(found, "only a shell understands it", way))
                    return


_INTERPRETERS = frozenset(SHELLS) | _WITH_TEXT.keys()
_OF_FILE = regex(r".*(?:/|\{\{|\.[a-zA-Z]).*", re.DOTALL)


def _before_source(kind: str, container: Object, path: Path) -> Iterator[Problem]:
    """The finding about arguments of a script, after which Argo adds the path of the file with the source.

    An option may take an argument, and the program may be a file, or come from a tag. Source: Argo
    Workflows, createWorkflowPod.
    """
    first = str(next(iter(container.get("args") or ()), "-"))
    foreign = kind == "python" and first.startswith("--") and not first.startswith(_OF_PYTHON)
    if kind in _INTERPRETERS and (foreign or not (first.startswith("-") or _OF_FILE.fullmatch(first))):
        found = f"`{kind}` gets `{short(first)}` before the file with the source, which it does not run"
        way = "write what the source needs into it, as a tag, or as a variable in `env`"
        yield Problem((*path, "args", 0), TakenLiterally(found, "not an argument of the script", way))


_OF_PYTHON = ("--check-hash-based-pycs", "--help", "--version")


def sources(view: View) -> Iterator[Problem]:
    """The source of a Python script keeps its line breaks, which YAML folds without `|`, and Python can read it."""
    for template in view.all:  # templates that are alike may have other sources
        words: list[str] = inside(template.data, "script").get("command") or []
        kind = _VERSION.sub("", program(words)) if len(words) == 1 else ""
        source = string(template.data, "script", "source")
        place = (*template.path, "script", "source")
        ignored = [*_ignored(program(words), source, place)] if kind in _INTERPRETERS else []
        yield from ignored
        if ignored or kind != "python" or not source.strip():
            continue
        if "\n" not in source.strip() and "{{" not in source and _is_two_lines(source.strip()):
            found = f"`{short(source.strip())}` is one line, with more than one statement"
            finding = TakenLiterally(
                found, "Python cannot read it", "write `source: |`, and the lines below it"
            )
            yield Problem(place, finding)
        elif "python2" not in words[0] and "python:2" not in string(template.data, "script", "image"):
            yield from _unreadable(source, place)


_FIRST_LINE = regex(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(\S+).*")
_OF_BASH = regex(r"\[\[\s|=\(|<<<|[<>]\(|\$\{\w+\[|&>|\{\d+\.\.\d+\}")
"""What bash has, and other shells have not."""


def _ignored(kind: str, source: str, path: Path) -> Iterator[Problem]:
    """The finding about the first line of a script, which names another program than the one that runs it."""
    found = _FIRST_LINE.match(source)
    named = "" if found is None else program([found[1]])
    one, other = _VERSION.sub("", kind), _VERSION.sub("", named)
    both_shells = one in SHELLS and other in SHELLS
    if not other or one == other or other not in _INTERPRETERS:
        return
    if both_shells and not (other == "bash" and _OF_BASH.search(source)):
        return
    assert found is not None
    finding = TakenLiterally(
        f"`{kind}` runs the source, and not `{named}`", "a comment", f"write `command: [{named}]`"
    )
    yield Problem(path, finding, part=found.span())


_BROKEN = regex(
    r"expected ':'|unexpected indent|expected an indented block.*|unindent does not match any outer .*"
    r"|(?P<wide>'[({\[]' was never closed|unmatched '[)}\]]'|unterminated (?:triple-quoted )?string literal.*)"
)
"""Errors in which all versions of Python agree."""


def _unreadable(source: str, path: Path) -> Iterator[Problem]:
    """The finding about a script that Python cannot read, whatever its tags become."""
    if _STATEMENT.search(source):
        return
    try:
        # Lines keep their numbers.
        parse(TAG.sub(lambda tag: "_" + "\\\n" * tag[0].count("\n"), source))
    except SyntaxError as error:
        found = _BROKEN.fullmatch(error.msg or "")
        lines = source.split("\n")
        line = lines[error.lineno - 1] if error.lineno is not None and error.lineno <= len(lines) else "{{"
        if (
            found is None
            or "{{" in _QUOTED_TAG.sub("", source if found["wide"] else line)
            or _NEWER.search(line)
        ):
            return
        start = sum(len(each) + 1 for each in lines[: (error.lineno or 1) - 1])
        part = (start + len(line) - len(line.lstrip()), start + len(line.rstrip())) if line.strip() else None
        finding = TakenLiterally(
            f"Python cannot read line {error.lineno} of the source", error.msg, "correct it"
        )
        yield Problem(path, finding, part=part)
    except ValueError:
        return


_STATEMENT = regex(r"(?m)^[ \t]*\{\{[^\n]*\}\}[ \t]*$")
"""A line of tags alone, which may become any part of a program."""
_QUOTED_TAG = regex(r"(['\"])[^'\"\n]*\{\{[^'\"\n]*\1")
_NEWER = regex(r"\b[rR]?[fFtT][rR]?['\"]|^\s*(?:class|def|type)\b[^(:]*\[")
"""What other versions of Python read in another way."""


def _is_two_lines(source: str) -> bool:
    """Whether a line is invalid Python, but valid when it is split in two."""
    try:
        parse(source)
    except SyntaxError as error:
        at = (error.offset or 1) - 1
        if not error.msg.startswith("invalid syntax"):
            return False
    except ValueError:
        return False
    else:
        return False
    try:
        return bool(parse(source[:at]).body)
    except (SyntaxError, ValueError):
        return False
