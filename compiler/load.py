"""The user's file, read, parsed once and executed as a module."""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import sys
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from flowdsl.diagnostic import Diagnostic, near
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import reason
from flowdsl.grammar.regex import regex
from flowdsl.mistakes import mistake
from flowdsl.places.place import INSTALLED, Site, Span
from flowdsl.places.source import Sources
from flowdsl.tracing.stopped import explained

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from traceback import TracebackException
    from types import CodeType, TracebackType

    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place
    from flowdsl.places.source import SourceFile

# What the user's files imported from their folders, to be removed before the next load: two files may
# each have a `helpers.py`, and a file that is loaded again must get the current version of its own.
_beside: set[str] = set()

_ALONE = "attempted relative import with no known parent package"
_OF_A_PACKAGE = (
    "put an `__init__.py` beside the file, so that its folder is a package, or import without the dots"
)

_OF_FILE = regex(r"<file [^<>\n]+>\.")


class Loaded(NamedTuple):
    """A user's file that was executed."""

    path: Path
    module: ModuleType
    sources: Sources
    source: SourceFile


class LoadError(Exception):
    """A file that could not be loaded.

    `diagnostic` says what is wrong with the file (its places are in `sources`). If it is an exception that the
    user's own code raised, `traceback` is its text, as Python shows it: people are shown that instead.
    """

    def __init__(self, sources: Sources, diagnostic: Diagnostic, traceback: str | None = None) -> None:
        self.sources = sources
        self.diagnostic = diagnostic
        self.traceback = traceback
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        return self.diagnostic.finding.message

    @property
    def span(self) -> Span | None:
        """The location, if one place of the file itself is at fault."""
        place = self.diagnostic.place
        return None if place is None else self.sources.resolve(place)


def load(path: Path) -> Loaded:
    """Execute a file as a separate module and keep its text and syntax tree; raises `LoadError`.

    As with `python FILE`, its folder is the first on `sys.path` meanwhile; unlike there, a file in a package is a
    module of it, `__name__` is not `__main__`, and no byte code is written. The module stays in `sys.modules`
    under a name that cannot be imported, so string annotations and pickles of its classes find it.
    Loading a file again creates a new module, and new ones for those that it imports from its folder.
    """
    sources = Sources()
    source, code = _compiled(path, sources)
    filename = source.filename
    for name in _beside:
        sys.modules.pop(name, None)
    _beside.clear()
    importlib.invalidate_caches()
    module = ModuleType(_name(path.stem))
    module.__file__ = filename
    module.__package__ = _package(path)[1]
    sys.modules[module.__name__] = module
    try:
        with importing(path):
            exec(code, module.__dict__)
    except BaseException as error:
        sys.modules.pop(module.__name__, None)
        if isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):
            raise
        raise _failed(error, sources, source) from error
    return Loaded(path, module, sources, source)


def _compiled(path: Path, sources: Sources) -> tuple[SourceFile, CodeType]:
    """A file with its text and syntax tree, added to the sources, and its code object; raises `LoadError`."""
    filename = os.path.abspath(path)  # noqa: PTH100 -- links are kept: this is the name in messages
    text = _read(path, sources, filename)
    source = sources.add(filename, text, shown=str(path))
    if path.suffix == ".ipynb":  # JSON, which usually is valid Python as well
        raise LoadError(sources, _notebook(path))
    try:
        tree = ast.parse(source.text, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LoadError(sources, _invalid(error, source, in_bytes=False)) from error
    source = sources.add(filename, text, tree, shown=str(path))
    try:
        return source, compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LoadError(sources, _invalid(error, source, in_bytes=True)) from error


def _failed(error: BaseException, sources: Sources, source: SourceFile) -> LoadError:
    """The error for an exception that ended the execution of a file."""
    filename = source.filename
    if isinstance(error, SystemExit):
        return LoadError(sources, exits(error, filename))
    if (stop := explained(error)) is not None:
        finding = mistake(stop.kind, **stop.data)
        return LoadError(sources, Diagnostic(finding, stop.place, stop.related))
    shown = None if _is_missing(error, filename) else user_traceback(error)
    return LoadError(sources, raised(error, filename, text=source.text), shown)


def imported(module: ModuleType) -> Loaded:
    """A module that Python has imported, with its text and syntax tree; raises `LoadError` if it has no source file."""
    filename = module.__file__ or ""  # unchanged: it is the same in its code objects, also with `..`
    path = Path(filename)
    sources = Sources()
    text = _read(path, sources, filename)
    shown = os.path.relpath(filename)
    return Loaded(path, module, sources, sources.add(filename, text, ast.parse(text, filename), shown=shown))


@contextlib.contextmanager
def importing(path: Path) -> Generator[None]:
    """Import as `python FILE` would, its folder first on `sys.path`, and as its package would; write no bytecode.

    For everything that runs code of the file: its loading and, since a function may import when called,
    the tracing of its pipelines.
    """
    folder, package, root = _package(path)
    before, writes = set(sys.modules), sys.dont_write_bytecode
    added = [folder, root] if package else [folder]
    sys.path[:0] = added
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        for one in added:
            with contextlib.suppress(ValueError):
                sys.path.remove(one)
        _beside.update(name for name in sys.modules.keys() - before if _is_beside(name, added[-1]))


def user_traceback(error: BaseException) -> str:
    """An exception of the user's code as Python shows it, without the frames of flowdsl and of importlib.

    Classes of a loaded file are shown without a module, as when Python runs the file.
    """
    from traceback import TracebackException

    shown = TracebackException(type(error), error, error.__traceback__)
    _strip(shown, _ours(error, set()))
    return _OF_FILE.sub("", "".join(shown.format()))


def _package(path: Path) -> tuple[str, str, str]:
    """The folder of a file, its package, or an empty name, and the folder that contains that package."""
    own = folder = os.path.dirname(os.path.realpath(path))  # noqa: PTH120 -- as Python makes sys.path[0]
    names: list[str] = []
    while os.path.isfile(f"{folder}/__init__.py"):  # noqa: PTH113 -- pathlib takes ten times as long
        above, name = os.path.split(folder)
        if not name.isidentifier():
            break
        names.insert(0, name)
        folder = above
    return own, ".".join(names), folder


def _name(stem: str) -> str:
    """An unused name for a module, distinctive enough to be recognized in texts that Python makes with it."""
    base = stem.replace(".", "_")
    name, count = f"<file {base}>", 1
    while name in sys.modules:
        count += 1
        name = f"<file {base} {count}>"
    return name


def _is_beside(name: str, folder: str) -> bool:
    """Whether a module is a file of the user's in or below that folder, not one of a library there."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "flowdsl":
        return False
    module = sys.modules[name]
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    file = next((place for place in places if isinstance(place, str)), "")
    inside = file.startswith(os.path.join(folder, ""))  # noqa: PTH118 -- text only
    return inside and not INSTALLED & {*Path(file).parts}


def _read(path: Path, sources: Sources, filename: str) -> str:
    """The text of a file, decoded as Python does."""
    from flowdsl.compiler.findings.load import WrongEncoding

    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise LoadError(sources, Diagnostic(unread(path, error, ".py"), None)) from error
    try:
        return decode_source(data)
    except (SyntaxError, LookupError, UnicodeDecodeError) as error:
        wrong = error if isinstance(error, UnicodeDecodeError) else _undecodable(data)
        sources.add(filename, data.decode(wrong.encoding if wrong else "utf-8", "replace"), shown=str(path))
        if wrong is None:
            place = Span(filename, 1, 0, 1, 0)
            reason = getattr(error, "msg", None) or str(error)
        else:
            good = wrong.object[: wrong.start].decode(wrong.encoding, "replace")
            line, column = good.count("\n") + 1, len(good) - good.rfind("\n")
            place = Span(filename, line, column, line, column + 1)
            reason = f"byte {wrong.object[wrong.start]:#04x} is not {wrong.encoding.upper()}"
        raise LoadError(sources, Diagnostic(WrongEncoding(reason=reason), place)) from error


def unread(path: Path, error: Exception, *suffixes: str) -> Finding:
    """Why a file could not be read; `suffixes` are those of files that may have been meant instead."""
    from flowdsl.compiler.findings.load import Folder, NoFile, Unreadable

    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return NoFile(path=str(path), hint=_instead(path, suffixes))
    if os.path.isdir(path):  # noqa: PTH112 -- Path.is_dir raises where a name is too long
        names = ", ".join(f"`{entry}`" for entry in _entries(path, suffixes)[:3])
        return Folder(path=str(path), hint=f": {names}" if names else "")
    return Unreadable(path=str(path), reason=reason(error))


def _undecodable(data: bytes) -> UnicodeDecodeError | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error
    return None


def _entries(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.suffix in suffixes and entry.is_file())
    except OSError:
        return []


def _instead(path: Path, suffixes: tuple[str, ...]) -> str:
    if path.is_symlink():
        return f"it is a link to `{path.readlink()}`, which is not there: make the link again"
    names = [entry.name for entry in _entries(path.parent, suffixes)]
    whole = (f"{path.name}{suffix}" for suffix in suffixes)
    close = next((name for name in whole if name in names), None) or near(path.name, names, 0.7)
    if close is not None:
        return f"did you mean `{path.parent / close}`?"
    return f"name a file that exists; the current folder is {os.getcwd()}"  # noqa: PTH109


def _notebook(path: Path) -> Diagnostic:
    """The error for a notebook."""
    from flowdsl.compiler.findings.load import InvalidSyntax

    reason = f"`{path.name}` is a notebook, not a Python file"
    return Diagnostic(InvalidSyntax(reason=reason, python="", notebook=True), None)


def _invalid(error: Exception, source: SourceFile, *, in_bytes: bool) -> Diagnostic:
    """The error for what Python's parser or compiler rejects; the compiler counts columns in bytes."""
    from flowdsl.compiler.findings.load import InvalidSyntax

    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    text, file = source.text, source.filename
    # An error about a null character comes without a line, before Python 3.11.4 as a ValueError.
    null = text.count("\n", 0, max(text.find("\0"), 0)) + 1
    if not isinstance(error, SyntaxError):
        deep = isinstance(error, RecursionError | MemoryError)
        reason = "the file is nested too deeply for Python" if deep else str(error)
        line = 1 if deep else null
        return Diagnostic(InvalidSyntax(reason=reason, python=python), Span(file, line, 0, line, 0))
    line = error.lineno or null
    end_line = max(line, error.end_lineno or line)
    column, end = error.offset or 0, error.end_offset or 0
    if column < 1 or (error.text is not None and error.text.strip() not in text):
        # Python 3.11 parses the replacement fields of an f-string separately, and counts their columns there.
        span = Span(file, line, 0, line, 0)
    else:
        if in_bytes:
            column, end = source.column(line, column - 1), source.column(end_line, max(end - 1, 0))
        span = Span(file, line, column, end_line, max(end, column + 1) if end_line == line else max(end, 1))
    return Diagnostic(InvalidSyntax(reason=error.msg, python=python, line=error.text or ""), span)


def exits(error: SystemExit, filename: str, pipeline: str = "") -> Diagnostic:
    """The error for a SystemExit: of the file while it is loaded, or of the body of a pipeline."""
    from flowdsl.compiler.findings.load import Exits

    shown = "" if error.code is None else repr(error.code)
    return Diagnostic(Exits(exit=f"SystemExit({shown})", pipeline=pipeline), _in_file(error, filename))


def raised(error: BaseException, filename: str, pipeline: str = "", text: str = "") -> Diagnostic:
    """The error for an exception in the user's code: in the file while it is loaded, or in a pipeline's body.

    `text` is that of the file.
    """
    from flowdsl.compiler.findings.load import Raised
    from flowdsl.compiler.foreign import way_out

    first = str(error).strip().partition("\n")[0]
    said = f"{type(error).__name__}: {first}" if first else type(error).__name__
    missing = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    known = (
        _OF_A_PACKAGE
        if str(error) == _ALONE
        else missing and (way_out(text) or _elsewhere(missing, filename))
    )
    finding = Raised(error=said, module=missing, pipeline=pipeline, known=known)
    return Diagnostic(finding, _in_file(error, filename))


def _elsewhere(missing: str, filename: str) -> str:
    """The way out for a module of the language, or in another folder of the project; else empty."""
    import shlex

    top = missing.partition(".")[0]
    if top == "flowdsl":
        return "import the word from `flowdsl` itself: `from flowdsl import pipeline, step`"
    for above in Path(filename).absolute().parents:
        for folder in (above, above / "src"):
            if (folder / f"{top}.py").is_file() or any((folder / top).glob("*.py")):
                shown = shlex.quote(os.path.relpath(folder))
                return f"`{top}` is in {shown}: set PYTHONPATH={shown}, or install the project: `pip install -e .`"
        if any((above / one).exists() for one in _ROOT):
            return ""
    return ""


_ROOT = (".git", "pyproject.toml", "setup.py")
"""What is in the uppermost folder of a project."""


def _is_missing(error: BaseException, filename: str) -> bool:
    """Whether a file itself imports what it cannot: there is nothing more to say then."""
    if not isinstance(error, ModuleNotFoundError) and str(error) != _ALONE:
        return False
    if error.__context__ is not None:
        return False
    files = [frame.tb_frame.f_code.co_filename for frame in _frames(error.__traceback__)]
    return [one for one in files if not one.startswith("<frozen importlib")][-1:] == [filename]


def _in_file(error: BaseException, filename: str) -> Place | None:
    """The last line of a file in the traceback of an exception."""
    place: Place | None = None
    for frame in _frames(error.__traceback__):
        if frame.tb_frame.f_code.co_filename == filename:
            place = Site(frame.tb_frame.f_code, frame.tb_lasti)
    return place


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _ours(error: BaseException, seen: set[int]) -> set[str]:
    """The files of flowdsl in the tracebacks of an exception and of its causes."""
    seen.add(id(error))
    found: set[str] = set()
    for frame in _frames(error.__traceback__):
        if frame.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "flowdsl":
            found.add(frame.tb_frame.f_code.co_filename)
    others = [error.__cause__, error.__context__]
    if isinstance(error, BaseExceptionGroup):
        others += cast("BaseExceptionGroup[BaseException]", error).exceptions
    for other in others:
        if other is not None and id(other) not in seen:
            found |= _ours(other, seen)
    return found


def _strip(shown: TracebackException, ours: set[str]) -> None:
    shown.stack[:] = [
        frame
        for frame in shown.stack
        if frame.filename not in ours and not frame.filename.startswith("<frozen importlib")
    ]
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _strip(other, ours)
