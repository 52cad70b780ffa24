"""Input files from outside of the run, and the packing of output files, as they were declared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from flowdsl.artifact import TEXTS
from flowdsl.compiler.carry.text import loses_dollar
from flowdsl.compiler.findings.data import (
    ArchiveOutput,
    FolderOfRepository,
    HalfLogin,
    LostDollar,
    NoBucket,
    NoSshKey,
    SecretHeader,
    SourceWord,
    UnknownArchive,
)
from flowdsl.compiler.findings.options import RunTimeOption
from flowdsl.compiler.options.files import PACKED
from flowdsl.compiler.options.reading import Wrong, said
from flowdsl.compiler.options.volumes import one_key
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.names import is_http_token
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Argument
from flowdsl.tracing.trace import TOKEN
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Join, Stored
from flowdsl.values.value import is_value
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.artifact import Artifact
    from flowdsl.compiler.ir import Files
    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place
    from flowdsl.step import StepDef

_FLAGS = ("insecure", "submodules")
_SECRETS = ("access_key", "secret_key", "credentials", "account_key", "ssh_key", "username", "password")
_NEEDED = {
    "S3": ("key",),
    "GCS": ("key", "bucket"),
    "Azure": ("blob", "container", "endpoint"),
    "Git": ("url",),
    "Http": ("url",),
    "Raw": ("text",),
}
_URL = regex(r"https?://[^/\s]", re.IGNORECASE), "a URL with its scheme, `https://...`"
#: Anything else is a path in the pod to git-fetch: that of a relative one holds nothing.
_REPOSITORY = regex(r"/|[^/\s]+:"), "a URL with its scheme, `https://...`, or `git@host:path`"
_KEY = regex(r"(?![a-z0-9]+://)"), "the path in the bucket alone, `runs/model.pt`"
_FORMS = {
    ("Http", "url"): _URL,
    ("Git", "url"): _REPOSITORY,
    ("Azure", "endpoint"): _URL,
    ("S3", "key"): _KEY,
    ("GCS", "key"): _KEY,
    ("Azure", "blob"): _KEY,
}
#: Addresses for Git over SSH: with a scheme, or as `git@host:path`. Source: git-fetch, GIT URLS.
_SSH = regex(r"(?:git\+)?ssh://|[\w.-]+@[\w.-]+:(?!//)")
_PAIRS = {"S3": ("access_key", "secret_key"), "Http": ("username", "password")}


def judged(found: Artifact) -> Iterator[Diagnostic]:
    """Findings about a source of files, at the call that created it."""
    for position, (word, value) in enumerate(found.words.items()):
        place = Argument(found.site, word, position if word in TEXTS[found.kind] else None)
        if (finding := _word(found, word, value)) is not None:
            yield Diagnostic(finding, place)
        elif isinstance(value, Secret):
            try:
                one_key(word, value, "value")
            except Wrong as wrong:
                yield Diagnostic(wrong.finding, place)
    yield from _headers(found)
    yield from _together(found)


def _word(found: Artifact, word: str, value: object) -> Finding | None:
    """The finding about one argument."""
    if word in TEXTS[found.kind]:
        needed = word in _NEEDED[found.kind]
        if is_value(value) or (value is None and not needed):
            return None
        if not isinstance(value, str):
            return SourceWord(word, found.kind, "a string", said(value))
        if not value.strip() and word != "text":
            return SourceWord(word, found.kind, "a non-empty string", said(value))
        form = _FORMS.get((found.kind, word))
        wrong = form is not None and not TOKEN.search(value) and not form[0].match(value)
        return SourceWord(word, found.kind, form[1], said(value)) if form is not None and wrong else None
    if value is None or word in ("headers", "folder"):
        return None
    if is_value(value):
        return RunTimeOption(word)
    if word in _FLAGS:
        return None if isinstance(value, bool) else SourceWord(word, found.kind, "True or False", said(value))
    if word in _SECRETS:
        want = 'a Secret("name", "key")'
        return None if isinstance(value, Secret) else SourceWord(word, found.kind, want, type(value).__name__)
    if word == "depth":
        right = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        return None if right else SourceWord(word, found.kind, "a whole number of at least 1", said(value))
    return None if value in PACKED else UnknownArchive(word, said(value), "")


def _headers(found: Artifact) -> Iterator[Diagnostic]:
    headers = found.words.get("headers")
    if headers is None:
        return
    if type(headers) is not dict:
        have = "a run-time value" if is_value(headers) else type(headers).__name__
        finding = SourceWord("headers", found.kind, "a dict of strings", have)
        yield Diagnostic(finding, Argument(found.site, "headers"))
        return
    for name, value in cast("dict[object, object]", headers).items():
        place = Argument(found.site, "headers", part=f"item:{name}")
        if isinstance(value, Secret):
            yield Diagnostic(SecretHeader(str(name)), place)
        elif not is_value(value) and not isinstance(value, str):
            yield Diagnostic(SourceWord(f"headers[{name!r}]", found.kind, "a string", said(value)), place)
        elif is_value(name):
            continue  # reported where the dict was made
        elif not isinstance(name, str) or not name.strip() or TOKEN.search(name):
            finding = SourceWord("a header", found.kind, "a name known now", said(name))
            yield Diagnostic(finding, place._replace(part=f"key:{name}"))
        elif not is_http_token(name):
            finding = SourceWord("a header", found.kind, "a name of letters, digits and `-`", said(name))
            yield Diagnostic(finding, place._replace(part=f"key:{name}"))


def _together(found: Artifact) -> Iterator[Diagnostic]:
    """Arguments that have no effect without another one."""
    words = found.words
    if found.kind == "S3" and words["bucket"] is None:
        for word in ("endpoint", "region", "access_key", "secret_key", "insecure"):
            if words[word] is not None and words[word] is not False:
                key = TOKEN.sub("...", str(words["key"]))
                yield Diagnostic(NoBucket(word, key), Argument(found.site, word))
        return
    if found.kind == "Git" and words["ssh_key"] is None and _SSH.match(str(words["url"])):
        yield Diagnostic(NoSshKey(TOKEN.sub("...", str(words["url"]))), Argument(found.site, "url", 0))
    one, other = _PAIRS.get(found.kind, ("", ""))
    for given, missing in ((one, other), (other, one)):
        if given and words[given] is not None and words[missing] is None:
            yield Diagnostic(HalfLogin(given, missing), Argument(found.site, given))


def lost(found: Stored, place: Place) -> Iterator[Diagnostic]:
    """A text that is written to a file, and would be changed on the way."""
    if found.artifact.words.get("folder"):
        yield Diagnostic(FolderOfRepository(), place)
    if found.artifact.kind != "Raw":
        return
    for text in found.texts:
        for part in (
            text.parts if isinstance(text, Join) else (text.value,) if isinstance(text, Const) else ()
        ):
            if isinstance(part, str) and (shown := loses_dollar(part)) is not None:
                yield Diagnostic(LostDollar(shown), Argument(found.artifact.site, "text", 0))
                return


def packed(step: StepDef, files: Files, place: Callable[[str], Argument]) -> Iterator[Diagnostic]:
    """Archive options for outputs that are not files."""
    known = tuple(out.name for out in t.outputs(step.signature.returns) if t.holds_file(out.type))
    for name, _ in files.archive:
        if name and name not in known:
            part = f"key:{name}"
            yield Diagnostic(ArchiveOutput(step.name, name, known), place("archive")._replace(part=part))
        elif not name and not known:
            yield Diagnostic(ArchiveOutput(step.name, "", known), place("archive"))
