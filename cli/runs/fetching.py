"""`fetch`: downloads what a run produced into a folder."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import RUNS, find
from flowdsl.cli.display.lengths import size
from flowdsl.cli.display.texts import visible
from flowdsl.cli.process import DONE, INTERRUPTED, NO, REFUSED, WRONG, Refused, err, note, out, say
from flowdsl.cli.root import FLAG, FolderOption, JsonOption, option
from flowdsl.diagnostic import near
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.names import meant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.cli.clusters.reach import Found, Reach
    from flowdsl.runtime.artifacts.collect import Outcome, Settings
    from flowdsl.runtime.artifacts.pieces import Chosen, Piece, Run
    from flowdsl.runtime.artifacts.reader import Readers

_SHOWN = 20
"""Reasons that are shown; `run.json` has all."""


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """How a run is fetched."""

    output: FolderOption = None
    """The folder; else one of the run's name."""
    only_list: Annotated[bool, option("--list")] = False
    """Show what there is, and fetch nothing."""
    as_json: JsonOption = False
    """With --list: as JSON."""
    mounts: Annotated[tuple[str, ...], option("--mount")] = ()
    """CLAIM=PATH, the folder that a persistent volume claim is mounted at. Else a pod reads it."""
    endpoint: Annotated[str | None, Parameter(env_var="FLOWDSL_ENDPOINT", show_env_var=True)] = None
    """The address by which the object store is reached from here."""
    own_credentials: Annotated[bool, FLAG] = False
    """Use the credentials of this machine, not those in the secrets of the cluster."""
    logs: Annotated[bool, FLAG] = False
    """Also fetch the logs that the run archived."""
    unpack: Annotated[bool, Parameter(negative="--no-unpack", name="--unpack", show_default=False)] = True
    """Unpack archives; --no-unpack keeps them as they are."""
    max_size: str | None = None
    """The most that one archive may unpack to, such as 200Gi. Default: 64Gi, and at most 200 times its packed size."""
    image: str | None = None
    """The image, with Python, of pods that read claims; else that of the step."""
    jobs: int = 8
    """How many files to fetch at a time."""


DEFAULTS = Options()


def fetch_run(name: str, what: Sequence[str], options: Options, reach: Reach) -> int:
    """Fetch a run or parts of it, or list its outputs; returns the exit code. Raises Refused, ClusterError."""
    from flowdsl.runtime.artifacts.pieces import chosen, read
    from flowdsl.runtime.status.compressed import opened

    if options.as_json and not options.only_list:
        raise Refused("--json is for --list; of what is fetched run.json tells")
    settings = _settings(options)
    _address(options.endpoint)
    mounts = _mounts(options.mounts)
    found = find(name, reach)
    run = read(opened(found.workflow))
    _known(mounts, run)
    meant = chosen(run, what)
    if meant.unknown:
        raise Refused(_unknown(meant.unknown[0], run))
    pieces = [one for one in meant.pieces if options.logs or not one.log or one.name in what]
    if options.only_list:
        rows = _rows(run, meant, pieces, not what)
        out(_listing(run, rows, as_json=options.as_json))
        return DONE
    return _fetched(found, run, pieces, mounts, options, settings, _again(found, what, reach, options))


def _settings(options: Options) -> Settings:
    from flowdsl.grammar.error import GrammarError
    from flowdsl.grammar.quantity import quantity
    from flowdsl.runtime.artifacts.collect import Settings
    from flowdsl.runtime.artifacts.unpack import Limits

    if options.jobs < 1:
        raise Refused(f"--jobs {options.jobs}: must be at least 1")
    limits = Limits()
    if options.max_size is not None:
        try:
            limits = limits._replace(size=int(quantity(options.max_size)), ratio=0)
        except GrammarError as error:
            raise Refused(f"--max-size {options.max_size}: {error}") from None
        if limits.size < 1:
            raise Refused(f"--max-size {options.max_size}: must be more than nothing, such as 200Gi")
    return Settings(options.jobs, options.unpack, limits)


def _address(endpoint: str | None) -> None:
    from flowdsl.runtime.artifacts.buckets import checked

    try:
        checked(endpoint or "localhost")
    except ValueError as error:
        raise Refused(f"--endpoint {error}") from None


def _mounts(given: Sequence[str]) -> dict[str, Path]:
    from flowdsl.cli.runs.given import folders

    found = folders(given)
    for claim, path in found.items():
        if not path.is_dir():
            raise Refused(f"--mount {claim}={path}: there is no such folder")
    return found


def _known(mounts: Mapping[str, Path], run: Run) -> None:
    """Refuse a folder for a claim that the run does not use."""
    claims = sorted(
        {str(one.location.fields["claim"]) for one in run.pieces if one.location.kind == "volume"}
    )
    for one in mounts:
        if one not in claims:
            names = ", ".join(f"`{claim}`" for claim in claims)
            more = meant(one, claims, f"its claims are {names}" if claims else "it has none")
            raise Refused(f"--mount {one}: no file of the run is on a claim of that name; {more}")


def _unknown(name: str, run: Run) -> str:
    from flowdsl.runtime.artifacts.pieces import of_run

    names = list(dict.fromkeys([one.path for one in run.steps] + [one.name for one in run.pieces]))
    own = f"{run.name}.{name}"  # of the run itself
    meant = own if own in of_run(run) else near(name, names)
    more = f"; did you mean `{visible(meant)}`?" if meant else ":"
    return f"the run `{run.name}` has no step or output `{visible(name)}`{more} --list shows what there is"


def _fetched(
    found: Found,
    run: Run,
    pieces: list[Piece],
    mounts: Mapping[str, Path],
    options: Options,
    settings: Settings,
    again: str,
) -> int:
    from flowdsl.runtime.artifacts.fetch import Told, fetch
    from flowdsl.runtime.artifacts.opening import Opener, Ways
    from flowdsl.runtime.artifacts.trouble import FetchError, NoRoom, NotOurs

    path = options.output or Path(run.name)
    namespace = str(found.workflow["metadata"].get("namespace") or "")
    readers = _readers(found, options)
    ways = Ways(
        {**_earlier(found), **mounts},
        found.cluster,
        found.folder,
        RUNS.parent / "volumes" if found.folder is not None else None,
        readers,
        options.endpoint,
        options.own_credentials,
    )
    told = Told(_tell, lambda: err(f"waits for another fetch into {path}\n"))
    try:
        outcomes = fetch(run, pieces, path, Opener(ways, run.name, namespace), settings, told)
    except KeyboardInterrupt:
        say(f"interrupted; what is complete is in {path}. To continue:", f"  {again}")
        return INTERRUPTED
    except (NotOurs, NoRoom) as error:
        more = f"; to continue when there is room: {again}" if isinstance(error, NoRoom) else ""
        say(f"{error}{more}")
        return WRONG
    except FetchError as error:
        say(str(error))
        return WRONG
    finally:
        for text in readers.close() if readers is not None else ():
            note(text)
    return _ended(run, path, outcomes, again)


def _readers(found: Found, options: Options) -> Readers | None:
    if found.cluster is None:
        return None
    from flowdsl.runtime.artifacts.reader import Readers

    return Readers(found.cluster, found.workflow, options.image, lambda text: err(f"{visible(text)}\n"))


def _earlier(found: Found) -> dict[str, Path]:
    """The folders that a local run used for claims."""
    if found.folder is None:
        return {}
    from flowdsl.cli.runs.given import paths
    from flowdsl.runtime.local.earlier import settings
    from flowdsl.runtime.local.error import RunError

    try:
        return paths(settings(found.folder).get("mounts") or (), "--mount")
    except RunError:
        return {}


def _tell(outcome: Outcome) -> None:
    """Print one line for each output that is new or missing."""
    name = visible(outcome.piece.name)
    if outcome.record is not None and outcome.found is not None and outcome.new:
        files = outcome.found.files
        number = f"{len(files)} {'file' if len(files) == 1 else 'files'}, " if outcome.found.folder else ""
        err(f"{name}: {number}{size(sum(one.size for one in files))}\n")


def _ended(run: Run, path: Path, outcomes: Sequence[Outcome], again: str) -> int:
    """Print what was fetched and what was not; returns the exit code."""
    from flowdsl.runtime.artifacts.pieces import stored
    from flowdsl.runtime.artifacts.trouble import StoreError

    lines = _missing(outcomes)
    if len(lines) > _SHOWN:
        lines = [*lines[:_SHOWN], f"... and {len(lines) - _SHOWN} more, in {path / 'run.json'}\n"]
    err("".join(lines))
    new = sum(one.new for one in outcomes)
    there = sum(one.record is not None for one in outcomes)
    whole = sum(file.size for one in outcomes if one.found is not None for file in one.found.files)
    brought = f"{there} of {len(outcomes)} outputs, {size(whole)}"
    said = f"{path}: {brought if outcomes else 'no files; the values are in run.json'}"
    out(said + ("" if new == there else f"; {there - new} were there before") + "\n")
    targets = {one.piece.name: one.record["target"] for one in outcomes if one.record is not None}
    files = stored(run)
    for name, value in run.status.outputs().items():
        if value in files and files[value].name in targets:
            out(f"{visible(name)} of the run is {visible(str(path / targets[files[value].name]))}\n")
    going = [one.path for one in run.steps if one.leaf and not one.node.ended]
    if going or not run.status.ended:
        steps = ": 1 step has not ended" if len(going) == 1 else f": {len(going)} steps have not ended"
        out(f"the run continues{steps if going else ''}. To fetch the rest later:\n  {again}\n")
    bad = [trouble for one in outcomes for trouble in one.trouble]
    if any(isinstance(trouble, StoreError) for trouble in bad):
        err(f"to continue: {again}\n")
        return REFUSED
    return NO if bad else DONE


def _missing(outcomes: Sequence[Outcome]) -> list[str]:
    """What is missing, a line for each reason."""
    lines: dict[str, None] = {}
    for outcome in outcomes:
        packed = outcome.record is not None and outcome.record["mode"] not in ("", "unpacked")
        name = visible(outcome.piece.name) + (" is kept packed" if packed else "")
        for trouble in outcome.trouble:
            reasons = getattr(trouble, "reasons", ()) or (str(trouble),)
            lines |= {f"{name}: {visible(one)}\n": None for one in reasons}
    return [*lines]


class _Row(NamedTuple):
    """A listed output of a step or the run."""

    step: str
    output: str
    kind: Literal["value", "file", "log", "deleted"]
    said: str
    """The value, or the place of the file."""


def _rows(run: Run, meant: Chosen, pieces: Sequence[Piece], whole: bool) -> list[_Row]:
    """Each value and file, in the order of the steps; for the `whole` run its own, too."""
    from flowdsl.runtime.artifacts.pieces import stored

    rows: dict[str, list[_Row]] = {one.path: [] for one in run.steps}
    for step, name, value in meant.values:
        if name != "exitCode":
            rows[step.path].append(_Row(step.path, name, "value", value))
    for piece in pieces:
        kind: Literal["file", "log", "deleted"] = (
            "deleted" if piece.deleted else "log" if piece.log else "file"
        )
        rows[piece.step.path].append(_Row(piece.step.path, piece.output, kind, piece.location.said))
    found = [one for several in rows.values() for one in several]
    if whole:
        files = stored(run)
        for name, value in run.status.outputs().items():
            file = files.get(value)
            found.append(
                _Row(run.name, name, "file", file.name) if file else _Row(run.name, name, "value", value)
            )
    return found


def _listing(run: Run, rows: Sequence[_Row], *, as_json: bool) -> str:
    """The outputs as a table or for programs."""
    from flowdsl.cli.display.paint import paint_of_output
    from flowdsl.cli.display.rounds import readable
    from flowdsl.cli.display.tables import Cell, Column, Table

    if as_json:
        listed = [
            {
                "step": one.step,
                "output": one.output,
                "kind": one.kind,
                "value" if one.kind == "value" else "place": one.said,
            }
            for one in rows
        ]
        return json.dumps(listed, indent=2) + "\n"
    if not rows:
        return f"the run `{run.name}` has nothing to fetch\n"
    columns = [
        Column("STEP", least=12),
        Column("OUTPUT", least=8),
        Column("KIND"),
        Column("VALUE OR PLACE", least=16),
    ]
    paint = paint_of_output()
    shown = (one._replace(said=readable(one.said)) if one.kind == "value" else one for one in rows)
    cells = [[Cell(visible(text)) for text in one] for one in shown]
    return Table(columns, cells, paint.width()).text(paint)


def _again(found: Found, what: Sequence[str], reach: Reach, options: Options) -> str:
    """The command that resumes the fetch."""
    words = ["flowdsl", "fetch", found.name, *what]
    if options.output is not None:
        words += ["-o", str(options.output)]
    for one in options.mounts:
        words += ["--mount", one]
    for flag, given in (
        ("--own-credentials", options.own_credentials),
        ("--logs", options.logs),
        ("--no-unpack", not options.unpack),
    ):
        words += [flag] if given else []
    for word, value in (
        ("--endpoint", options.endpoint),
        ("--max-size", options.max_size),
        ("--image", options.image),
    ):
        words += [word, value] if value is not None else []
    return shlex.join(words) + reach.flags()
