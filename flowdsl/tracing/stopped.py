"""Exceptions of the user's code that can be reported as findings.

These are undefined names, and attributes that a word of the language or an Enum does not have. Python's own message for
them has no code and no remedy, and stops at the first; as findings they are reported with the others. Any other
exception is the user's own, and is shown as Python shows it.
"""

from __future__ import annotations

import builtins
import enum
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from flowdsl.artifact import Artifact
from flowdsl.diagnostic import Related, near
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Argument, Place, Site, is_foreign, is_library, is_ours, operation, words
from flowdsl.tracing.trace import OutsidePipeline, function_word
from flowdsl.values import types as t
from flowdsl.volume import VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType, TracebackType

_LOCAL = re.compile(r"(?:local|free) variable '(\w+)'")
_SURPLUS = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_OURS = ("origin", "read_only", "site")
"""Attributes of words that are for the compiler."""
_NO_BLOCK = "object does not support the context manager protocol"
_BLOCKS = ("when", "unless", "otherwise", "on_exit", "on_failure")
_DECORATORS = ("step", "container", "pipeline", "resource", "approve", "http", "call_template")
_GIVEN = re.compile(r"(?:\bnot |: |and )'?(\w*Volume)\b")
_IMPORTED = re.compile(r"cannot import name '(\w+)'")
_OTHERS = re.compile(r"([\w.]+)\(\) (missing|takes|got some positional-only|got multiple values) (.*)")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_UNREADY = "partially initialized module"  # in a circular import, which Python explains


class Stop(NamedTuple):
    """The report for an exception: the name of the finding, its place and its data."""

    kind: str
    place: Place
    related: tuple[Related, ...]
    data: dict[str, Any]


def explained(error: BaseException, where: str = "this runs when the file is loaded") -> Stop | None:
    """The report for an exception at the line of the user that raised it; None if it is the user's own.

    `where`: the explanation for a line at which words of pipelines mean nothing.
    """
    stop = _explained(error, where)
    return None if stop is None else stop._replace(related=(*stop.related, *unseen(error, stop.place)))


def unseen(error: BaseException, place: Place) -> tuple[Related, ...]:
    """The note that an exception, reported at a place, hides later mistakes; empty if there can be none."""
    goes_on = any(
        one.tb_lineno < max(line or 0 for *_, line in one.tb_frame.f_code.co_lines())
        for one in _users(error.__traceback__)
    )
    return (Related(place, "what follows was not looked at"),) if goes_on else ()


def innermost(traceback: TracebackType | None) -> tuple[FrameType | None, Site | None]:
    """The last frame of the user in a traceback, and its place."""
    found: tuple[FrameType | None, Site | None] = (None, None)
    for one in _users(traceback):
        found = one.tb_frame, Site(one.tb_frame.f_code, one.tb_lasti)
    return found


def _users(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """The part of a traceback in code of the user."""
    while traceback is not None:
        if not is_ours(traceback.tb_frame) and not is_foreign(traceback.tb_frame):
            yield traceback
        traceback = traceback.tb_next


def _explained(error: BaseException, where: str) -> Stop | None:
    if isinstance(error, OutsidePipeline):
        _, place = innermost(error.__traceback__)
        data = {"problem": error.problem, "where": where, "way": error.way}
        return None if place is None else Stop("OutOfPlace", place, (), data)
    if isinstance(error, TypeError) and (given := _GIVEN.search(str(error))):
        _, given_at = innermost(error.__traceback__)
        if given_at is not None and operation(given_at)[0] != "RAISE_VARARGS":
            return Stop("StandInRefused", given_at, (), {"problem": str(error), "what": f"a {given[1]}"})
    frame, site = _last(error.__traceback__)
    if frame is None or site is None:
        return None
    if frame.f_globals.get("__name__") == "enum":
        return _no_member(error, frame)
    if is_ours(frame) or is_library(frame):
        return None
    if error.__context__ is not None:  # the exception that it was raised during is part of the explanation
        return None
    match error:
        case UnboundLocalError():
            return _unbound(error, frame, site)
        case NameError(name=str(name)):
            names = tuple(one for one in (*frame.f_locals, *frame.f_globals) if not one.startswith("_"))
            # Python has many names: only about one letter may differ.
            names += tuple(filter(None, [near(name, filter(str.islower, dir(builtins)), 0.8)]))
            return Stop("UndefinedInBody", site, (), {"name": name, "known": names})
        case ImportError(name="flowdsl") if found := _IMPORTED.search(str(error)):
            return _no_word(found[1], site)
        case AttributeError(name=str(name), obj=thing) if thing is sys.modules["flowdsl"]:
            return _no_word(name, site)
        case AttributeError(name=str(name), obj=thing) if type(thing) in (Artifact, VolumePath):
            return Stop("NoFields", site, (), {"name": name, "type": "Path"})
        case AttributeError(name=str(name), obj=thing) if _is_word(type(thing)):
            return _no_field(thing, name, site)
        case AttributeError(name=str(name), obj=thing) if thing is not None and _UNREADY not in str(error):
            return _no_attribute(thing, name, site) if operation(site)[0] in _ATTRIBUTE else None
        case TypeError():
            return _call(str(error), frame, site)
        case _:
            return None


def _last(traceback: TracebackType | None) -> tuple[FrameType | None, Site | None]:
    """The frame that raised an exception, and its place."""
    if traceback is None:
        return None, None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame, Site(traceback.tb_frame.f_code, traceback.tb_lasti)


def _unbound(error: UnboundLocalError, frame: FrameType, site: Site) -> Stop | None:
    import dis

    found = _LOCAL.search(str(error))
    if found is None:
        return None
    name = found[1]
    stores = (
        one.offset
        for one in dis.get_instructions(site.code)
        if one.argval == name and one.opname.startswith("STORE") and one.offset > site.lasti
    )
    later = next(stores, None)
    related = () if later is None else (Related(Site(site.code, later), "it gets its value here"),)
    hides = function_word(frame.f_globals.get(name))
    return Stop("UsedBefore", site, related, {"name": name, "hides": hides})


def _no_word(name: str, site: Site) -> Stop:
    """An unknown name of the language."""
    data = {"word": "flowdsl", "name": name, "known": tuple(sys.modules["flowdsl"].__all__), "noun": "word"}
    return Stop("UnknownField", site, (), data)


def _no_field(thing: object, name: str, site: Site) -> Stop:
    """The finding about an attribute that a word of the language does not have."""
    names = tuple(one for one in dir(type(thing)) if not one.startswith("_") and one not in _OURS)
    kind = type(thing).__name__
    word = f"`{kind[1:].lower()}`" if kind.startswith("_") else _article(kind)
    uncalled = str(getattr(thing, "__name__", "")) if names == ("options",) else ""
    asked: dict[str, Any] = {"word": f"`{uncalled}`" if uncalled else word, "name": name, "known": names}
    gives = _without(thing, name) if uncalled else ""
    return Stop("UnknownField", site, (), {**asked, "uncalled": uncalled, "gives": gives})


def _no_attribute(thing: object, name: str, site: Site) -> Stop:
    """An attribute that a class, a module or any other object does not have."""
    if isinstance(thing, enum.EnumMeta):
        return _not_in(thing, name, site, "member", tuple(thing.__members__))
    noun, word = "attribute", _article(type(thing).__name__)
    if isinstance(thing, type):
        word = f"`{thing.__name__}`"
    elif isinstance(thing, ModuleType):
        noun, word = "name", f"the module `{thing.__name__}`"
    known = tuple(one for one in dir(thing) if not one.startswith("_"))
    return Stop("UnknownField", site, (), {"word": word, "name": name, "known": known, "noun": noun})


def _without(function: Any, name: str) -> str:
    """The return type of a step or pipeline as text, if it has no field of a name."""
    returns = function._definition.signature.returns
    fields = t.keyed(returns) if isinstance(returns, t.Record) else ()
    return "" if any(key == name for key, _ in fields) else t.spell(returns)


def _no_member(error: BaseException, frame: FrameType) -> Stop | None:
    """A member that an Enum does not have: `Kind.smal`, `Kind["smal"]`, `Kind("smal")`."""
    kind, (user, site) = frame.f_locals.get("cls"), innermost(error.__traceback__)
    if site is None or user is None or not isinstance(kind, enum.EnumMeta):
        return None
    members = cast("Mapping[str, enum.Enum]", kind.__members__)
    match error:
        case AttributeError() | KeyError() if len(error.args) == 1 and isinstance(error.args[0], str):
            return _not_in(kind, error.args[0], site, "member", tuple(members))
        case ValueError() if str(error).endswith(f" is not a valid {kind.__qualname__}"):
            name = str(error).removesuffix(f" is not a valid {kind.__qualname__}")
            return _not_in(kind, name, site, "value", tuple(repr(one.value) for one in members.values()))
        case _:
            return None


def _not_in(kind: enum.EnumMeta, name: str, site: Site, noun: str, known: tuple[str, ...]) -> Stop:
    data = {"word": f"`{kind.__name__}`", "name": name, "known": known, "noun": noun}
    return Stop("UnknownField", site, (), data)


def _article(kind: str) -> str:
    return f"a{'n' * (kind[0] in 'AEIOaeio')} {kind}"


def _is_word(kind: type) -> bool:
    """Whether a class belongs to the language."""
    return kind.__module__.partition(".")[0] == "flowdsl"


def _call(text: str, frame: FrameType, site: Site) -> Stop | None:
    """A call of a word of the language with unknown arguments, or without required ones."""
    if _NO_BLOCK in text:
        language = vars(sys.modules["flowdsl"])
        named = next((one for one in sorted(words(site)) if _is_function(frame, one, language)), None)
        block = {"word": named, "problem": "is not called", "form": f"with {named}(...):"}
        if named == "otherwise":
            block["form"] = "with otherwise():"
        elif named in _DECORATORS:
            block |= {
                "problem": "is a decorator, and begins no block",
                "form": f"@{named}(...)",
            }
        elif named not in _BLOCKS:
            block |= {"problem": "begins no block", "form": f"{named}(...)"}
        return None if named is None else Stop("WrongCall", site, (), block)
    found = _SURPLUS.search(text) or _OTHERS.search(text)
    word = None if found is None else _word(found[1], frame, site)
    if found is None or word is None:
        return None
    from inspect import Parameter, signature

    called = word.__name__
    parameters = signature(word).parameters
    if found.re is _SURPLUS:
        kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        known = tuple(name for name, one in parameters.items() if one.kind in kinds)
        data: dict[str, Any] = {"word": called, "name": found[2], "known": known}
        return Stop("UnknownWord", Argument(site, found[2], part="name"), (), data)
    problem = "is given too many arguments by position"
    if found[2] == "got multiple values":
        problem = f"is given `{found[3].rpartition(' ')[2].strip(chr(39))}` twice"
    elif found[2] != "takes":
        quoted = re.findall(r"'([\w, ]+)'", found[3].partition(": ")[2])
        names = [name for each in quoted for name in each.split(", ")]
        unnamed = any(parameters[one].kind is Parameter.POSITIONAL_ONLY for one in names)
        # If a word accepts any names, a named argument is missing.
        unnamed &= found[2] != "missing" or Parameter.VAR_KEYWORD in {one.kind for one in parameters.values()}
        problem = f"needs {' and '.join(f'`{one}`' for one in names)}{' by position' * unnamed}"
    marks: dict[object, str] = {
        Parameter.VAR_POSITIONAL: "*{}",
        Parameter.KEYWORD_ONLY: "{}=...",
        Parameter.VAR_KEYWORD: "**{}",
    }
    form = ", ".join(marks.get(one.kind, "{}").format(name) for name, one in parameters.items())
    form = f"with {called}({form}):" if called in _BLOCKS else f"{called}({form})"
    return Stop("WrongCall", site, (), {"word": called, "problem": problem, "form": form})


def _is_function(frame: FrameType, name: str, known: dict[str, Any]) -> bool:
    """Whether a name in the user's code refers to a function of the language."""
    found = frame.f_locals.get(name, frame.f_globals.get(name))
    return callable(found) and any(found is one for one in known.values())


def _word(name: str, frame: FrameType, site: Site) -> Any:
    """The word of the language that Python's message names, if the user's code has it."""
    language = sys.modules["flowdsl"]
    word = getattr(language, name.partition(".")[0], None)
    known = {id(value): value for value in frame.f_globals.values()}
    if word is not None:
        return word if known.keys() & {id(word), id(language)} else None
    # Python names the class that defines the `__init__`.
    heirs = [one for one in known.values() if isinstance(one, type) and _is_word(one)]
    found = [one for one in heirs if one.__init__.__qualname__ == name]  # type: ignore[misc]
    if len(found) > 1:
        found = [one for one in found if one.__name__ in words(site)]
    return found[0] if len(found) == 1 else None
