"""`compile`, and the compilation that `check` uses: from a file name to YAML or findings."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from flowdsl.cli.display.report import render_all, suppressed
from flowdsl.cli.files import difference, give, same
from flowdsl.cli.process import DONE, NO, STDIN, WRONG, Refused, colored, err, out
from flowdsl.diagnostic import Diagnostic, any_error
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.source import Sources
from flowdsl.tracing.trace import TOKEN

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flowdsl.cli.display.report import Format
    from flowdsl.compiler.compile import Compiled, Supply, Written
    from flowdsl.compiler.load import Loaded, LoadError
    from flowdsl.compiler.profile import Profile
    from flowdsl.compiler.sweeping import Search
    from flowdsl.compiler.written_as import Kind


class Target(NamedTuple):
    """What to compile for: a cluster by name, and a version of Argo, if they are not those of the settings."""

    cluster: str | None = None
    argo: str | None = None


MANIFESTS = (".yaml", ".yml", ".json")
"""How the names of files with manifests end."""

ONLY_YAML = "a pipeline is a file: name it; on standard input `check`, `graph`, `import`, `run` and `submit` take YAML"
"""What is said of a pipeline on standard input."""

USUAL = Target()
"""The cluster and the version of the project's settings."""

_LACKING = ("FD296", "FD310", "FD359", "FD360", "FD648", "FD690", "FD767")
"""What is said of files, modules and places on volumes that nothing provides."""

_ALONE = ("FD105", "FD107")
"""What is said of a file that cannot be run by itself, as a module of a package cannot."""


class Judged(NamedTuple):
    """The result of compiling a file: its output, or why there is none."""

    compiled: Compiled | None
    diagnostics: list[Diagnostic]
    sources: Sources
    traceback: str = ""

    def shown(self, format: Format) -> list[Diagnostic]:
        """The findings to show in a format: for people, a traceback replaces the finding about it."""
        return [] if self.traceback and format == "text" else self.diagnostics

    @property
    def written(self) -> str:
        """The YAML; empty if there is none."""
        return "" if self.compiled is None else self.compiled.text

    @property
    def failed(self) -> bool:
        """Whether nothing may be written."""
        return self.compiled is None or any_error(self.diagnostics)


def judge(
    target: Path,
    kind: Literal[Kind, "katib"] | None = None,
    with_rbac: bool = False,
    goal: Target = USUAL,
    search: Search | None = None,
    supply: Supply | None = None,
) -> Judged:
    """Load and compile FILE or FILE:NAME; with a search, as a sweep over it, which may be one of Katib.

    `supply` gives values to parameters. Raises `Refused` for YAML and JSON, for standard input, and for a search
    that cannot be read.
    """
    from flowdsl.cli.config import project
    from flowdsl.compiler.compile import compile_loaded
    from flowdsl.compiler.load import LoadError, load

    if str(target) == STDIN:
        raise Refused(ONLY_YAML)
    path, name = parted(target)
    if path.suffix in MANIFESTS and path.is_file():
        language = "JSON" if path.suffix == ".json" else "YAML"
        ways = "`flowdsl check`, `graph`, `run` and `submit` take it, `import` makes a pipeline of it"
        raise Refused(f"{path} is {language} already, no Python: {ways}")
    profile, codes, wrong = project(path, goal.cluster, goal.argo)
    if any_error(wrong):
        return Judged(None, wrong, Sources())
    with _quiet():
        try:
            loaded = load(path)
        except LoadError as error:
            return _failed(error)
        try:
            if search is not None:
                loaded, compiled = _swept(loaded, name, search, kind, profile)
            else:
                assert kind != "katib"
                compiled = compile_loaded(loaded, name, kind, with_rbac, profile, supply)
        except LoadError as error:
            return _failed(error)
    diagnostics = [*wrong, *compiled.diagnostics]
    if search is not None:
        from flowdsl.compiler.sweeping import told

        diagnostics = told(diagnostics, loaded, str(target), search)
    return Judged(compiled, suppressed(diagnostics, loaded.sources, codes), loaded.sources)


def _swept(
    loaded: Loaded,
    name: str | None,
    search: Search,
    kind: Literal[Kind, "katib"] | None,
    profile: Profile,
) -> tuple[Loaded, Compiled]:
    """The file of a sweep, or of its trial for Katib if it is valid as a sweep, and what that compiled to."""
    from flowdsl.compiler.compile import compile_loaded
    from flowdsl.compiler.katib import experiment
    from flowdsl.compiler.sweeping import WrongSearch, swept

    try:
        # Katib brings the images of its searches; as a sweep of flowdsl both that learn take the same spaces.
        other = kind == "katib" and search.search == "gp"
        sweep = swept(loaded, name, search._replace(search="tpe") if other else search)
        compiled = compile_loaded(sweep, None, None if kind == "katib" else kind, profile=profile)
        if kind == "katib" and not compiled.failed:
            return experiment(loaded, name, search, profile)
        return sweep, compiled
    except WrongSearch as wrong:
        raise Refused(str(wrong)) from None


def without_lack(judged: Judged, path: Path) -> Judged:
    """The findings of a file that a folder has: it may contain only steps for others, and needs no pipeline."""
    file = judged.sources.file(str(path.absolute()))
    alone = _ALONE if file is not None and "pipeline" not in file.text else ()
    told = [one for one in judged.diagnostics if one.finding.code not in ("FD110", *alone)]
    return judged._replace(diagnostics=told, traceback=judged.traceback if told else "")


def are_parts(found: Sequence[Judged]) -> list[bool]:
    """Of each file, whether all its pipelines are called by those of other files."""
    called: frozenset[Written] = frozenset()
    called = called.union(*(one.compiled.called for one in found if one.compiled is not None))
    compiled = [one.compiled for one in found]
    return [one is not None and bool(one.roots) and one.roots <= called for one in compiled]


def as_part(one: Judged) -> Judged:
    """The findings of a file that is a part of others, which report what its pipelines lack.

    Their arguments, `code`, `packages`, `store` and `checkpoints` apply there, too.
    """
    return one._replace(diagnostics=[each for each in one.diagnostics if each.finding.code not in _LACKING])


def _failed(error: LoadError) -> Judged:
    return Judged(None, [error.diagnostic], error.sources, error.traceback or "")


def parted(target: Path) -> tuple[Path, str | None]:
    """FILE and NAME; a file whose own name contains a colon is FILE alone."""
    head, colon, name = target.name.rpartition(":")
    if colon and head and name and not os.path.lexists(target):
        return target.with_name(head), name
    return target, None


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """Redirects output of the user's code to standard error, and pauses the garbage collector, as cycles are rare.

    This includes output from C code and child processes, so that standard output has nothing but the YAML. A code
    that changes the current folder, as scripts do to find their files, does not move what is written afterwards.
    """
    from flowdsl.compiler.compile import resting_collector

    printed = None if sys.stderr is None else cast("TextIO", _Printed(sys.stderr))
    with resting_collector(), contextlib.chdir("."), contextlib.redirect_stdout(printed), _redirected():
        yield


class _Printed:
    """A stream for output of the user's code, in which run-time values are shown by name, and not by their tokens."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(TOKEN.sub("(a value of the run)", text) if "{{fD" in text else text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _redirected() -> Generator[None]:
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    try:
        _send(1, 2)
        yield
    finally:
        if sys.__stdout__ is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.__stdout__.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _send(descriptor: int, to: int) -> None:
    """Redirect a descriptor to another one; to nowhere if that is closed."""
    try:
        os.dup2(to, descriptor)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def show(found: Sequence[Judged], format: Format, to: Callable[[str], None]) -> None:
    """Write all findings with `out` or `err`; exceptions of the user's code go to standard error."""
    for one in found:
        err(one.traceback)
    stream = sys.stdout if to is out else sys.stderr
    color = format == "text" and colored(stream)
    to(render_all([(one.shown(format), one.sources) for one in found], format, color))


Judging = Callable[[Path], Judged]
"""`judge` with all that it is told besides the file."""


def compile_file(target: Path, judging: Judging, *, output: Path | None, check: bool, format: Format) -> int:
    """Compile a file, or a sweep over it, to standard output or to `output`; returns the exit code."""
    if output is not None:
        refuse_source(output, target)
    judged = judging(target)
    show([judged], format, err)
    if judged.compiled is None or judged.failed:
        return WRONG
    text = judged.compiled.text
    if check:
        changes = difference(text, output or parted(target)[0].with_suffix(".yaml"))
        out(changes)
        return NO if changes else DONE
    give(text, output)
    return DONE


def explain_cache(target: Path, judging: Judging, format: Format) -> int:
    """Show what the keys of the cached steps of a file are made of; returns the exit code."""
    judged = judging(target)
    show([judged], format, err)
    if judged.compiled is None or judged.failed:
        return WRONG
    from flowdsl.compiler.lowering.explain import explained

    out(explained(judged.compiled.programs, as_json=format == "json"))
    return DONE


def refuse_source(output: Path, target: Path) -> None:
    """Refuse to overwrite the pipeline itself; raises `Refused`."""
    if same(output, parted(target)[0]):
        raise Refused(f"{output} is the pipeline itself: name another file to write")
