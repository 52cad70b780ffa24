"""What Python code a step finds besides its own: packages, and the user's own modules."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.artifact import Artifact
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.ir import Code
from flowdsl.compiler.options.reading import Wrong, all_of, listed, said
from flowdsl.compiler.options.volumes import folder
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.regex import regex
from flowdsl.options import IN_THE_IMAGE
from flowdsl.values.expr import Stored
from flowdsl.values.joined import text as lifted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flowdsl.compiler.options.reading import Doubter, Reader

_COMMIT = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
#: A tag as release tags are usually written; a branch called `1.x` or `release-2` does not match.
_TAG = regex(r"(?:refs/tags/.+|(?:[\w.-]+[-/@])?[vV]?\d+(?:\.\d+)+(?:[-.+]?[0-9A-Za-z]+)*|[vV]\d+)")
_WANT = 'Git(url, revision=...), a folder of a volume, such as DATA / "src", or "image"'


def settled(found: Mapping[str, Any]) -> Code:
    """The code that the options of a step result in."""
    code: Code = found.get("code") or Code()
    return code._replace(packages=found.get("packages", ())) if "packages" in found else code


def _package_doubts(written: Sequence[str]) -> Iterator[Wrong]:
    """Packages of which another version may be installed tomorrow."""
    from flowdsl.compiler.findings.code import UnpinnedPackage
    from flowdsl.grammar.requirement import requirement

    for position, text in enumerate(written):
        one = requirement(text)
        if not one.pinned:
            yield Wrong(UnpinnedPackage(text, one.name), f"item:{position}")


def _code_doubts(written: object) -> Iterator[Wrong]:
    """A repository whose content may be different tomorrow."""
    from flowdsl.compiler.findings.code import UnpinnedRevision

    revision = written.words["revision"] if isinstance(written, Artifact) else None
    if isinstance(written, Artifact) and not is_pinned(revision):
        what = "a repository without `revision`" if revision is None else f"`{revision}`"
        yield Wrong(UnpinnedRevision(what), "item:revision" if revision else "value")


def is_pinned(revision: object) -> bool:
    """Whether a revision is a commit or, by its form, a tag: anything else is taken for a branch."""
    text = str(revision)
    return bool(_COMMIT.fullmatch(text) or _TAG.fullmatch(text))


def provides(packages: Sequence[str], module: str, project: str | None) -> bool:
    """Whether a package provides a module of the user's project: by its name, or that of the project."""
    from flowdsl.grammar.requirement import normalized, requirement

    wanted = {normalized(name) for name in (module.partition(".")[0], project) if name is not None}
    return any(normalized(requirement(text).name) in wanted for text in packages)


def _packages(name: str, written: object) -> tuple[str, ...]:
    found: dict[str, str] = {}
    given = enumerate(listed(name, written, "a list of strings"))
    all_of(partial(_package, text, found, f"item:{position}") for position, text in given)
    return tuple(found.values())


def _package(text: object, found: dict[str, str], part: str) -> None:
    from flowdsl.compiler.findings import code as findings
    from flowdsl.grammar.requirement import normalized, requirement

    if not isinstance(text, str):
        raise Wrong(OptionType("packages", "a list of strings", f"one with {said(text)}"), part)
    if not text.isprintable() or "{{" in text:
        raise Wrong(findings.BadRequirement(text, "plain text", "braces or control characters"), part)
    try:
        name = normalized(requirement(text).name)
    except GrammarError as error:
        raise Wrong(findings.BadRequirement(text, error.expected, error.shown), part) from None
    if name in found:
        raise Wrong(findings.RepeatedPackage(name, found[name]), part)
    found[name] = text.strip()


def _code(name: str, written: object) -> Code:
    if written is None or (isinstance(written, str) and written == IN_THE_IMAGE):
        return Code()
    if (found := folder(name, written)) is not None:
        return Code(volume=found[0], folder=found[1])
    if type(written) is not Artifact or written.kind != "Git":
        raise Wrong(OptionType(name, _WANT, said(written)))
    # Errors in its words are reported where they are written.
    texts = {name: lifted(one) for name, one in written.texts.items() if isinstance(one, str)}
    stored = Stored(written, tuple(texts), tuple(texts.values()))
    return Code(repository=stored, folder=_folder(str(written.words["folder"])))


def _folder(text: str) -> str:
    if "{{" in text:
        raise Wrong(OptionType("code", "a folder without `{{`", repr(text)))
    if ".." in text.split("/"):
        raise Wrong(OptionType("code", "a folder inside the repository", repr(text)))
    return text.strip("/")


READERS: dict[str, Reader] = {"packages": _packages, "code": _code}
DOUBTS: dict[str, Doubter] = {"packages": _package_doubts, "code": _code_doubts}
