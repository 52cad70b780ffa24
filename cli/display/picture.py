"""A run as text: its properties, its steps and its Events."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.ending import repeats
from flowdsl.cli.display.lengths import age, length
from flowdsl.cli.display.rounds import ROUNDS, readable
from flowdsl.cli.display.signs import SIGNS, shown, style_of
from flowdsl.cli.display.tables import Cell, Column, Table
from flowdsl.cli.display.texts import clip, line, wrap
from flowdsl.runtime.local.logs import last_words
from flowdsl.runtime.local.rounds import differing, texts_of
from flowdsl.runtime.parts import part, text
from flowdsl.runtime.phases import OMITTED, SKIPPED, SUCCEEDED
from flowdsl.runtime.status.reasons import seen
from flowdsl.runtime.status.run import Run, of_a_child
from flowdsl.runtime.status.tree import question
from flowdsl.runtime.times import rfc3339, seconds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from flowdsl.cli.display.paint import Paint
    from flowdsl.runtime.status.gpu import Amounts
    from flowdsl.runtime.status.tree import Entry

Json = dict[str, Any]

_VALUE = 24
"""Columns of a value beside the number of its round."""
_NAMED = 3
"""Steps with one message that are named."""


class Picture:
    """A run as text: its properties, and then its steps.

    `room` is the width in columns, None for unlimited. `folder`: that of a local run, which has no pods.
    `everything`: no step is left out, and each is shown with its template and pod.
    """

    def __init__(
        self,
        run: Run,
        paint: Paint,
        room: int | None,
        now: float,
        *,
        folder: Path | None = None,
        everything: bool = False,
        ascii_only: bool = False,
    ) -> None:
        self._run = run
        self._paint = paint
        self._room = room
        self._now = now
        self._folder = folder
        self._pods = folder is None
        self._everything = everything
        self._ascii = ascii_only

    def text(self, hint: str = "") -> str:
        """The whole text."""
        steps = self._steps()
        return self._head(hint) + (f"\n{steps}" if steps else "")

    # --- what it is ----------------------------------------------------------------------------------------

    def _head(self, hint: str) -> str:
        run = self._run
        style = style_of(run.phase)
        rows: list[tuple[str, str, str]] = [
            ("Name", run.name, "bold"),
            ("Namespace", run.namespace if self._pods else "", ""),
            ("Folder", "" if self._folder is None else str(self._folder), ""),
            ("Status", run.status, style),
            ("Message", run.reason if run.ended else run.message, style if run.ended else ""),
            ("", hint, "yellow"),
            ("Created", self._when(run.created), ""),
            ("Started", self._when(run.started), ""),
            ("Finished", self._when(run.finished), ""),
            ("Duration", length(run.duration(self._now)), ""),
            ("Progress", run.progress, ""),
            ("Steps", self._counts(), ""),
        ]
        if self._pods:
            asked, hours = run.requested(), run.gpu_hours(self._now)
            rows.append(("GPUs", f"{asked} requested now" if asked else "", ""))
            rows.append(("GPU-hours", f"{hours:.2f}" if hours else "", ""))
        rows.extend((kind, message or "yes", "yellow") for kind, message in run.conditions())
        rows.extend((kind, message, "yellow") for kind, message in self._replaced())
        label = max(len(line(name)) for name, value, _ in rows if value) + 1
        made: list[str] = []
        for name, value, how in rows:
            if value:
                first = f"{line(name) + ':' if name else '':<{label}}  "
                lines = wrap(line(value), self._room and self._room - len(first))
                made.extend(
                    (first if at == 0 else " " * len(first)) + self._paint(one, how)
                    for at, one in enumerate(lines)
                )
        texts = self._texts()
        outputs = {name: readable(value, name, texts) for name, value in run.outputs().items()}
        for title, values in (("Parameters", run.parameters()), ("Outputs", outputs)):
            if values:
                made.append(f"{title}:")
                made.extend(self._pairs(values))
        return "".join(f"{one}\n" for one in made)

    @cached_property
    def _settings(self) -> Json:
        """What a run on this machine was started with."""
        if self._folder is None:
            return {}
        from flowdsl.runtime.local.earlier import settings

        return settings(self._folder)

    def _replaced(self) -> Iterator[tuple[str, str]]:
        """What did not run here, but was given, or taken from an earlier run."""
        if fakes := self._settings.get("fakes"):
            from flowdsl.runtime.local.substitutes import step_of

            yield "Faked", ", ".join(dict.fromkeys(map(step_of, fakes)))
        if since := self._settings.get("from"):
            yield "Reused", f"the results of {since[0]}, except for {', '.join(since[1:])} and what follows"
        if only := self._settings.get("only"):
            yield "Only", f"{only}, with its inputs in {self._settings['of']}"

    def _texts(self) -> Collection[str] | None:
        """The outputs that are plain text, for a pipeline that ran here; else nothing is known."""
        entry = self._run.nodes.get(self._run.name)
        known = None if entry is None else texts_of(self._settings).get(entry.template)
        return None if known is None else known.outputs

    def _pairs(self, values: dict[str, str]) -> Iterator[str]:
        rows = [(line(name), line(value)) for name, value in values.items()]
        table = Table(
            [Column("", least=8), Column("", least=8)],
            [(Cell(name), Cell(value)) for name, value in rows],
            self._room and self._room - 2,
        )
        return (f"  {one}" for one in table.text(self._paint).splitlines()[1:])

    def _when(self, time: float | None) -> str:
        return "" if time is None else f"{rfc3339(time)} ({age(self._now - time)} ago)"

    def _counts(self) -> str:
        """The number of steps, in total and in each phase."""
        found: dict[str, int] = {}
        for top in self._run.entries:
            for one in top.walk():
                if one.leaf:
                    found[one.phase] = found.get(one.phase, 0) + 1
        return ", ".join(f"{found[phase]} {phase.lower()}" for phase in SIGNS if phase in found)

    # --- its steps -----------------------------------------------------------------------------------------

    def _steps(self) -> str:
        rows: list[list[Cell]] = []
        paths: list[str] = []
        for entry, depth, name in self._listed(self._run.entries, 0):
            rows.append(self._row(entry, depth, name))
            paths.append(entry.path if entry is not None else "")
        if not rows:
            return ""
        columns = [Column("STEP", least=16), Column("STATUS"), Column("DURATION", right=True)]
        if self._pods:
            columns += [Column("GPU", right=True), Column("NODE", least=8)]
        if self._everything:
            columns += [Column("TEMPLATE", least=8)]
            columns += [Column("POD", least=8)] if self._pods else []
        columns += [Column("MESSAGE", least=24)]
        table = Table(columns, rows, self._room, first=2)
        cut: dict[str, list[str]] = {}
        for at, row in enumerate(rows):
            if len(row) == len(columns) and table.cut(at):
                cut.setdefault(row[-1].text, []).append(paths[at])
        return table.text(self._paint) + self._whole(cut)

    def _listed(
        self, entries: Sequence[Entry], depth: int, *, loop: bool = False
    ) -> Iterator[tuple[Entry | None, int, str]]:
        """The entry, depth and name of each line; None for those left out."""
        chosen = entries
        if loop and len(entries) > ROUNDS and not self._everything:
            wanted = sorted(entries, key=lambda one: one.phase == SUCCEEDED)[:ROUNDS]
            kept = {one.name for one in wanted}
            chosen = [one for one in entries if one.name in kept]
        inputs = differing(entries, self._run.name) if loop else {}
        for one in chosen:
            yield one, depth, _called(one, inputs.get(one.name, {}))
            for earlier in one.earlier:
                yield from self._listed([earlier], depth + 1)
            yield from self._listed(one.rounds, depth + 1, loop=True)
            yield from self._listed(one.children, depth + 1)
        if len(chosen) < len(entries):
            yield None, depth, f"... {len(entries) - len(chosen)} more: -o wide"

    def _row(self, entry: Entry | None, depth: int, name: str) -> list[Cell]:
        indented = "  " * depth + line(name)
        if entry is None:
            return [Cell(indented, "dim")]
        sign, style = SIGNS.get(entry.phase, ("?", ""))
        row = [
            Cell(indented),
            Cell(f"{shown(sign, self._ascii)} {line(entry.phase)}", style),
            Cell(self._took(entry)),
        ]
        node = None if entry.node is None else self._run.nodes[entry.node.result().id]
        if self._pods:
            row.append(Cell("" if node is None else _amounts(self._run.gpus(node))))
            row.append(Cell("") if node is None else _place(self._run.host(node), self._run.card(node)))
        if self._everything:
            row.append(Cell("" if node is None else line(node.template)))
            if self._pods:
                has = node is not None and node.type == "Pod"
                row.append(Cell(line(self._run.pod_name(node)) if has and node is not None else ""))
        row.append(Cell(self._said(entry), "red" if entry.failed else "dim" if entry.ended else ""))
        return row

    def _took(self, entry: Entry) -> str:
        begun, ended = entry.times()
        if entry.phase in (SKIPPED, OMITTED) or not begun:
            return ""
        last = self._run.finished if self._run.ended else None
        return length((ended or last or self._now) - begun)

    def _said(self, entry: Entry) -> str:
        """The rounds or attempts of a step, and why it is in its phase."""
        parts = [repeats(entry)]
        if entry.node is not None:
            node = self._run.nodes[entry.node.result().id]
            outer = self._run.nodes[entry.node.id]
            if (outer.memo or {}).get("hit"):
                parts.append("from the cache")
            if self._run.waits(node):
                parts += ["waits to be resumed", question(node)]
            message = self._run.why(node) or self._run.why(outer)
            if message and not (of_a_child(message) or (entry.rounds and entry.ended)):
                parts.append(message.removeprefix("omitted: "))
            if entry.leaf and self._folder is not None:
                parts.append(last_words(self._folder, node))
        return line(": ".join(filter(None, parts)))

    def _whole(self, cut: dict[str, list[str]]) -> str:
        """The truncated messages in full, each with the steps that have it."""
        made: list[str] = []
        for message, paths in cut.items():
            names = ", ".join(map(line, paths[:_NAMED]))
            more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
            made.append("")
            made.extend(self._paint(one, "bold") for one in wrap(f"{names}{more}:", self._room))
            made.extend(wrap(message, self._room, "  "))
        return "".join(f"{one}\n" for one in made)

    # --- its Events ----------------------------------------------------------------------------------------

    def events(self, found: Sequence[Json]) -> str:
        """The Events about it and its pods, the oldest first."""
        steps = {self._run.pod_name(node): node.name for node in self._run.pods_of()}
        made = ["", self._paint("Events:", "bold")]
        for one in found:
            at = seconds(seen(one))
            about = text(part(one, "involvedObject"), "name")
            step = steps.get(about, "").removeprefix(f"{self._run.name}.") or about
            number = text(part(one, "series"), "count") or text(one, "count")
            words = [
                "" if at is None else f"{age(self._now - at)} ago",
                text(one, "type"),
                text(one, "reason"),
                step,
                f"({number} times)" if number not in ("", "1") else "",
            ]
            head = clip("  ".join(line(word) for word in words if word), self._room and self._room - 2)
            made.append(f"  {self._paint(head, 'yellow' if text(one, 'type') == 'Warning' else '')}")
            made.extend(wrap(line(text(one, "message")), self._room, "    "))
        if not found:
            made.append("  none: the cluster forgets them after an hour")
        return "".join(f"{one}\n" for one in made)


def _called(entry: Entry, differing: Mapping[str, str]) -> str:
    """The name of an entry: of a round its number, and the inputs that differ."""
    parts = [f"{name}={clip(line(value), _VALUE)}" for name, value in differing.items()]
    return " ".join([entry.name, *parts])


def _amounts(amounts: Amounts) -> str:
    """GPUs as a short text: `2`, and what is no whole GPU with its kind: `1 mig-1g.5gb`."""
    kinds = [(number, name.rpartition("/")[2]) for name, number in amounts.items()]
    return line(", ".join(str(number) if kind == "gpu" else f"{number} {kind}" for number, kind in kinds))


def _place(host: str, card: str) -> Cell:
    return Cell(line(f"{host} ({card})" if host and card else host), short=line(host))
