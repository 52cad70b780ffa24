"""The result of a test run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from flowdsl.diagnostic import near
from flowdsl.testing.error import IS_TOLD, RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flowdsl.runtime.local.controller.machine import Machine
    from flowdsl.runtime.local.places import Files
    from flowdsl.runtime.status.tree import Entry
    from flowdsl.values import types as t

R_co = TypeVar("R_co", covariant=True)


__tracebackhide__ = IS_TOLD  # pytest hides the frames of a module for which this is true


class Phase(str):
    """A phase: `Succeeded`, `Failed`, `Error`, `Skipped`, `Omitted`. A failed comparison shows the log."""

    flowdsl_report: Callable[[], list[str]]

    def __new__(cls, text: str, report: Callable[[], list[str]]) -> Phase:
        """A phase of a run or step, which `report` explains."""
        made = super().__new__(cls, text)
        made.flowdsl_report = report
        return made


class StepRun:
    """One step of a run, a loop with its rounds, or a graph of steps."""

    def __init__(self, entry: Entry, folder: Path, returns: Mapping[str, t.Type], files: Files) -> None:
        self._entry = entry
        self._folder = folder
        self._returns = returns
        self._files = files

    @property
    def path(self) -> str:
        """The names on the way to it: `runs(3)`, `inner.train`."""
        return self._entry.path

    @property
    def template(self) -> str:
        """The template that it runs, which has the name of its function; nothing if it has none."""
        return "" if self._entry.node is None else self._entry.node.template

    @property
    def phase(self) -> Phase:
        """How it ended."""
        return Phase(self._entry.phase, self.report)

    @property
    def message(self) -> str:
        """Why it ended so."""
        return self._entry.message

    @property
    def attempts(self) -> int:
        """How many attempts it took."""
        return self._entry.attempts

    @property
    def log(self) -> str:
        """What it wrote; for a retried step, its last attempt."""
        from flowdsl.runtime.local import logs

        return "" if self._entry.node is None else logs.text(self._folder, self._entry.node)

    @property
    def rounds(self) -> list[StepRun]:
        """The rounds of a loop, in their order."""
        return [StepRun(one, self._folder, self._returns, self._files) for one in self._entry.rounds]

    @property
    def inputs(self) -> dict[str, str]:
        """The parameters that it was given, as they travelled."""
        from flowdsl.runtime.names import is_hidden

        node = self._entry.node
        parameters: list[dict[str, Any]] = ((node.inputs if node else None) or {}).get("parameters") or []
        return {one["name"]: one["value"] for one in parameters if not is_hidden(one["name"])}

    @property
    def outputs(self) -> Any:
        """What it returned, as the type that its function returns; of a loop a list. Raises RunFailed."""
        from flowdsl.testing.decode import returned

        if self._entry.rounds:
            return [one.outputs for one in self.rounds if one.phase == "Succeeded"]
        node = self._entry.node
        if node is None or self._entry.phase != "Succeeded":
            raise RunFailed("\n".join(self.report()))
        kind = self._returns.get(node.template)
        if kind is None:
            found: list[dict[str, Any]] = (node.result().outputs or {}).get("parameters") or []
            return {one["name"]: one.get("value") for one in found}
        return returned(node.result().outputs, kind, self._files)

    def report(self) -> list[str]:
        """How it ended, and the end of its log."""
        return report_of([self._entry], self._folder, f"{self.path}: {self._entry.phase}", self.message)

    def __repr__(self) -> str:
        return f"<step {self.path}: {self._entry.phase}>"


class Steps(Mapping[str, StepRun]):
    """The steps of a run by their paths; by their names, or those of their functions, where only one has it."""

    def __init__(self, steps: list[StepRun]) -> None:
        self._steps = {one.path: one for one in steps}
        self._names = _grouped(steps, lambda one: one.path.rpartition(".")[2])
        whole = [one for one in steps if not one.path.endswith(")")]  # without the rounds of loops
        self._functions = _grouped(whole, lambda one: one.template)

    def __getitem__(self, name: str) -> StepRun:
        """The step of that path or name."""
        __tracebackhide__ = True
        hyphened = name.replace("_", "-")
        if (exact := self._steps.get(name) or self._steps.get(hyphened)) is not None:
            return exact
        ways = (by.get(one) for by in (self._names, self._functions) for one in (name, hyphened))
        found = next((one for one in ways if one), list[StepRun]())
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"several steps are {name!r}: name one of {', '.join(one.path for one in found)}")
        from flowdsl.runtime.names import listed

        meant = near(name, self._steps)
        more = f"; did you mean {meant!r}?" if meant else f"; {listed(self._steps)}"
        raise KeyError(f"the run has no step {name!r}{more}")

    def __iter__(self) -> Iterator[str]:
        """The paths."""
        return iter(self._steps)

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self._steps)


def _grouped(steps: list[StepRun], name: Callable[[StepRun], str]) -> dict[str, list[StepRun]]:
    """Steps grouped by a name, which need not be unique."""
    found: dict[str, list[StepRun]] = {}
    for one in steps:
        found.setdefault(name(one), []).append(one)
    return found


class Run(Generic[R_co]):
    """A run that has ended."""

    def __init__(
        self, machine: Machine, folder: Path, kind: t.Type, returns: Mapping[str, t.Type], files: Files
    ) -> None:
        from flowdsl.runtime.status.tree import tree

        self.name: str = machine.run.name
        """The name of the run."""
        self.folder = folder
        """Its folder, with `logs`, `artifacts` and `workflow.json`."""
        self._machine = machine
        self._kind = kind
        self._files = files
        self._entries = tree(machine.run.name, machine.nodes.values())
        walked = (one for top in self._entries for one in top.walk())
        self.steps: Mapping[str, StepRun] = Steps([StepRun(one, folder, returns, files) for one in walked])
        """Its steps, by path: `run.steps["train"]`."""

    @property
    def phase(self) -> Phase:
        """How it ended: `Succeeded`, `Failed` or `Error`."""
        return Phase(self._machine.phase, self.report)

    @property
    def message(self) -> str:
        """Why it ended so."""
        from flowdsl.runtime.status.tree import plain

        return plain(self._machine.message)

    @property
    def outputs(self) -> R_co:
        """What the pipeline returned. Raises RunFailed if the run did not succeed."""
        from flowdsl.testing.decode import returned

        entry = self._machine.nodes.get(self.name)
        if self._machine.phase != "Succeeded" or entry is None:
            raise RunFailed("\n".join(self.report()))
        found: Any = returned(entry.result().outputs, self._kind, self._files)
        return cast(R_co, found)

    def report(self) -> list[str]:
        """How it ended, and the ends of the logs of the steps that failed."""
        first = f"the run {self.name}: {self._machine.phase}"
        return report_of(self._entries, self.folder, first, self.message)

    def __repr__(self) -> str:
        return f"<run {self.name}: {self._machine.phase}>"


def report_of(entries: list[Entry], folder: Path, first: str, message: str) -> list[str]:
    """A first line, and the ends of the logs of failed steps: the last line first, as pytest truncates reports."""
    from flowdsl.cli.display.ending import absent_keys, failures, log_of
    from flowdsl.cli.display.paint import Paint

    lines = [f"{first}{f': {message}' if message else ''}"]
    for one in failures(entries)[:3]:
        lines.append(f"step {one.path}: {one.phase}{f': {one.message}' if one.message else ''}")
        log = log_of(one, folder, Paint(None), 20)[1:]
        if len(log) > 1:
            lines += [log[-1], "the lines before it:"]
        lines.extend(log[:-1] or log)
    return [*lines, *absent_keys(entries)]
