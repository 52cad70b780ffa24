"""`stop`, `terminate`, `suspend`, `resume`, `retry` and `delete`."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.cli.clusters.reach import RUNS, Found, code_of, find
from flowdsl.cli.display.texts import line, visible
from flowdsl.cli.files import shown
from flowdsl.cli.process import DONE, NO, REFUSED, WRONG, Refused, agreed, can_ask, err, out, say
from flowdsl.cli.root import filled, seconds_of
from flowdsl.diagnostic import suggest
from flowdsl.grammar.labels import ARTIFACTS
from flowdsl.runtime.cluster import gates, made, verbs
from flowdsl.runtime.cluster.kinds import WORKFLOW
from flowdsl.runtime.cluster.retrying import retried
from flowdsl.runtime.cluster.trouble import (
    ClusterError,
    Refusal,
    Uncertain,
    Unconfigured,
    Unreachable,
    Vanished,
)
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.prepare import valued
from flowdsl.runtime.logs.source import called, place
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import FAILURES, over
from flowdsl.runtime.phases import phase as phase_of
from flowdsl.runtime.status.compressed import opened, without_nodes
from flowdsl.runtime.status.node import nodes as in_order
from flowdsl.runtime.times import rfc3339, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from flowdsl.cli.clusters.reach import Reach
    from flowdsl.cli.runs.selection import Manner, Selection
    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]
Ending = Literal["stop", "terminate", "delete"]

_SHOWN = 10
_SAID = {"stop": "stopping", "terminate": "terminating", "suspend": "suspended"}


# --- which runs ----------------------------------------------------------------------------------------------


def chosen(
    names: Sequence[str], selection: Selection, reach: Reach, *, ended: bool, local: bool = False
) -> list[Found]:
    """The selected runs: those that are named, else those that match the selection.

    Without `ended`, the selection matches only unfinished runs, and a named one has to be readable; with `local`, only
    runs of this folder are meant.
    Raises Refused and ClusterError.
    """
    filled("--selector", selection.selector)
    if local and reach.named:
        raise Refused("--local is about runs of this folder: leave out what names a cluster or namespace")
    if names:
        if selection.given:
            raise Refused("name runs, or select them with -l, --all, --status or --older-than, not both")
        return [find(name, reach, nodes=False, local=local, broken=ended) for name in dict.fromkeys(names)]
    if not selection.given:
        raise Refused("name a run, or select several with -l, --status, --older-than or --all")
    phases = selection.status or ()
    old = selection.older_than
    age = None if old is None else seconds_of("--older-than", old)
    found: list[Found] = []
    for workflow, cluster in _selected(selection.selector or "", reach, local=local, instead=ended):
        phase = phase_of(workflow)
        fits = (not phases or phase in phases) and (ended or not over(workflow))
        if fits and (age is None or time.time() - _since(workflow) >= age):
            folder = RUNS / workflow["metadata"]["name"] if cluster is None else None
            found.append(Found(workflow, folder, cluster))
    return sorted(found, key=lambda one: one.name)


def _selected(
    selector: str, reach: Reach, *, local: bool, instead: bool
) -> list[tuple[Json, Cluster | None]]:
    """The Workflows with certain labels: those of this folder if `local`, or `instead` if no cluster is configured.

    A local run cannot be ended from another process, and is no substitute for one of a cluster.
    """
    from flowdsl.cli.runs.listing import local_runs

    if not local:
        try:
            cluster = reach.connect()
        except Unconfigured:
            if not instead or reach.named or not RUNS.is_dir():
                raise
        else:
            found = cluster.list(WORKFLOW, labels=selector, keep=without_nodes).items
            return [(one, cluster) for one in found]
    return [(workflow, None) for workflow in local_runs(selector)]


def _since(workflow: Json) -> float:
    """When a run ended, or was created if it is unfinished."""
    stamp = part(workflow, "status").get("finishedAt") or workflow["metadata"]["creationTimestamp"]
    return seconds(stamp) or 0.0


# --- ending them ---------------------------------------------------------------------------------------------


def end(
    verb: Ending,
    names: Sequence[str],
    selection: Selection,
    manner: Manner,
    reach: Reach,
    *,
    local: bool = False,
) -> int:
    """Stop, terminate or delete runs; with `local` those of this folder; returns the exit code."""
    runs = chosen(names, selection, reach, ended=verb == "delete", local=local)
    if not runs:
        out("no run is selected\n")
        return DONE
    if not manner.dry_run and not _agreed(verb, runs, selection, manner):
        out("nothing was changed\n")
        return NO
    return _each(runs, lambda one: _end(verb, one, manner))


def _agreed(verb: Ending, runs: Sequence[Found], selection: Selection, manner: Manner) -> bool:
    """Whether the user confirms what cannot be undone: several runs, or the deletion of an unfinished one."""
    going = [one for one in runs if not over(one.workflow)]
    many = len(runs) > 1 and (selection.given or verb == "delete")
    if manner.yes or not (many or (verb == "delete" and going)):
        return True
    if len(runs) == 1:
        what = f"{verb} {runs[0].name}, which has not ended"
    else:
        still = f", {len(going)} of them unfinished" if going and verb == "delete" else ""
        what = f"{verb} {len(runs)} runs{still}"
    if not can_ask():
        raise Refused(f"to {what}, say --yes; --dry-run shows what would be done")
    for one in runs[:_SHOWN] if len(runs) > 1 else ():
        err(f"  {one.name}  {phase_of(one.workflow)}\n")
    if len(runs) > _SHOWN:
        err(f"  ... and {len(runs) - _SHOWN} more\n")
    return agreed(what)


def _each(runs: Sequence[Found], do: Callable[[Found], int]) -> int:
    """Act on each run; returns the largest exit code. A failure does not stop the others."""
    code = DONE
    for one in runs:
        try:
            code = max(code, do(one))
        except (Refused, RunError) as error:
            if len(runs) == 1:
                raise
            say(str(error))
            code = max(code, WRONG)
        except ClusterError as error:
            if len(runs) == 1 or (isinstance(error, Unreachable) and not isinstance(error, Uncertain)):
                raise
            say(str(error))
            code = max(code, code_of(error))
    return code


@contextmanager
def _changing(run: Found) -> Generator[None]:
    """On an interruption inside, report that the state of the action is unknown."""
    try:
        yield
    except KeyboardInterrupt:
        what = f"interrupted: whether {run.name} was changed is unknown; repeat the command"
        raise KeyboardInterrupt(what) from None


def _end(verb: Ending, run: Found, manner: Manner) -> int:
    if run.cluster is None:
        return _end_here(verb, run, manner)
    workflow, cluster = run.workflow, run.cluster
    ended = over(workflow)
    jobs = made.Made([], []) if manner.keep_jobs else made.jobs(cluster, workflow)
    if verb != "delete":  # results of those that have ended may be wanted
        jobs = jobs._replace(jobs=[one for one in jobs.jobs if not made.has_ended(one[1])])
    if verb != "delete" and (not ended or not jobs.jobs):
        verbs.check(verb, workflow)
    if manner.dry_run:
        if verb == "delete" or not ended:
            out(f"would {verb} {run.name} ({phase_of(workflow)})\n")
        for kind, job in jobs.jobs:
            out(f"would delete {kind.name} {job['metadata']['name']} of {run.name}\n")
        return _problems(run, jobs)
    if verb == "delete":
        with _changing(run):
            delete(cluster, workflow)
        waits = workflow["metadata"].get("finalizers")
        more = ", once its artifacts are away" if ARTIFACTS in (waits or ()) else ""
        out(f"{run.name}: deleted{more}\n")
    elif not ended:
        with _changing(run):
            after = cluster.act(verb, workflow)
        shutdown = after["spec"].get("shutdown")
        out(f"{run.name}: {_SAID['terminate' if shutdown == 'Terminate' else verb]}\n")
    with _changing(run):
        after_jobs = made.delete(cluster, jobs, workflow["metadata"].get("namespace"))
    for kind, job in after_jobs.jobs:
        out(f"{run.name}: deleted {kind.name} {job['metadata']['name']}\n")
    return _problems(run, after_jobs)


def _problems(run: Found, jobs: made.Made) -> int:
    for problem in jobs.problems:
        say(f"{run.name}: jobs that it has made may be left: {problem}")
    return REFUSED if jobs.problems else DONE


def delete(cluster: Cluster, workflow: Json) -> None:
    """Delete a run, but not another one of its name. One that is gone is no error."""
    metadata = workflow["metadata"]
    try:
        cluster.delete(
            WORKFLOW, str(metadata["name"]), uid=str(metadata["uid"]), namespace=metadata.get("namespace")
        )
        return
    except Unreachable as error:
        if not error.sent:
            raise
        problem: Unreachable | Refusal = error
    except Refusal as refusal:
        if not verbs.may_be_done(refusal):
            raise
        problem = refusal
    try:
        found = verbs.again(cluster, workflow)
    except Vanished:
        return
    except (Refusal, Unreachable):
        raise verbs.uncertain(workflow, problem) from None
    if not found["metadata"].get("deletionTimestamp"):
        raise problem


def _end_here(verb: Ending, run: Found, manner: Manner) -> int:
    """Delete a run on this machine. Raises RunError, and Refused for other actions."""
    from flowdsl.runtime.local.removal import delete as remove

    if verb != "delete" or run.folder is None:
        raise _here(run)
    if manner.dry_run:
        out(f"would delete {shown(run.folder)} ({phase_of(run.workflow)})\n")
        return DONE
    remove(run.folder)
    out(f"{run.name}: deleted {shown(run.folder)}\n")
    return DONE


def _here(run: Found, ended: str = "") -> Refused:
    if over(run.workflow):
        return Refused(f"`{run.name}` is a run on this machine that has ended{ended}")
    return Refused(
        f"`{run.name}` is a run on this machine: Ctrl-C ends it, and flowdsl run --resume {run.name} continues it, "
        "with --approve past what waits for somebody"
    )


# --- going on with them --------------------------------------------------------------------------------------


def suspend(names: Sequence[str], reach: Reach) -> int:
    """Suspend runs, so that nothing new starts; returns the exit code."""
    if not names:
        raise Refused("name a run")
    runs = [find(name, reach, nodes=False) for name in dict.fromkeys(names)]

    def one(run: Found) -> int:
        cluster = _way(run)
        with _changing(run):
            cluster.act("suspend", run.workflow)
        out(f"{run.name}: suspended; flowdsl resume {run.name}{reach.flags()} resumes it\n")
        return DONE

    return _each(runs, one)


def resume(name: str, parameters: Mapping[str, str], step: str | None, reach: Reach) -> int:
    """Resume a suspended run, or one of its gates; returns the exit code."""
    run = find(name, reach, nodes=False)
    cluster = _way(run)
    verbs.check("resume", run.workflow)
    workflow = opened(run.workflow)
    waiting = gates.gates(workflow)
    if not gates.is_suspended(workflow) and not parameters and step is None:
        out(f"{run.name}: is not suspended\n")
        return DONE
    gate = ""
    if step is not None:
        (gate,) = nodes(workflow, step, [one.node for one in waiting], lacks="waits at no step")
    gates.supplied(workflow, gate, parameters)  # nothing is asked of the cluster for a wrong answer
    with _changing(run):
        cluster.act("resume", run.workflow, {"gate": gate, "parameters": parameters})
    passed = [one.step for one in waiting if gate in ("", one.node)]
    past = f" from {', '.join(passed)}" if passed else ""
    out(visible(f"{run.name}: continues{past}") + "\n")
    return DONE


def retry(name: str, step: str | None, parameters: Mapping[str, str], dry_run: bool, reach: Reach) -> int:
    """Retry a run that has ended, from the steps that failed, or from a given step on; returns the exit code."""
    run = find(name, reach, nodes=False)
    step_again = f": flowdsl run FILE --from STEP --of {run.name} runs a step of it again, and what follows"
    cluster = _way(run, ended=step_again)
    workflow = opened(run.workflow)
    _known(workflow, parameters)
    before: Mapping[str, Json] = part(workflow, "status").get("nodes") or {}
    again = nodes(workflow, step, before) if step is not None else []
    planned = retried(workflow, again, parameters, rfc3339(time.time()))
    if before and not planned.gone:
        raise Refused(
            f"`{run.name}` has no failed step that runs again by itself, so it would fail as before: name the step "
            f"from which it runs again, as in flowdsl retry {run.name} {_closed(before.values()) or 'STEP'}"
        )
    leaves = [one for one in in_order(workflow).values() if one.id in planned.gone and _leaf(before[one.id])]
    steps = list(dict.fromkeys(called(run.name, one.name) for one in leaves))
    if not dry_run:
        with _changing(run):
            cluster.act("retry", run.workflow, {"nodes": again, "parameters": parameters})
    word = "would continue" if dry_run else "continues"
    more = f", and {len(steps) - _SHOWN} more" if len(steps) > _SHOWN else ""
    again_said = f"; again: {', '.join(steps[:_SHOWN])}{more}" if steps else ""
    out(visible(f"{run.name}: {word}{again_said}") + "\n")
    return DONE


def _closed(nodes: Iterable[Json]) -> str:
    """The name of a gate at which a run was stopped; empty if there is none."""
    found = (node for node in nodes if node["type"] == "Suspend" and node["phase"] in FAILURES)
    return next((line(str(node["displayName"])) for node in found), "")


def _leaf(node: Json) -> bool:
    return node["type"] in ("Pod", "HTTP", "Plugin", "Suspend")


def _known(workflow: Json, parameters: Mapping[str, str]) -> None:
    """Raise Refused for a parameter that a run does not have, and RunError for a value that it cannot have."""
    stored = part(part(workflow, "status"), "storedWorkflowTemplateSpec")
    known = {
        str(one["name"]): one
        for spec in (stored, workflow["spec"])
        for one in several(part(spec, "arguments"), "parameters")
    }
    for name, value in parameters.items():
        if name not in known:
            what = f"-p {name}: `{workflow['metadata']['name']}` has no such parameter"
            raise Refused(f"{what}: {suggest(name, known)}" if known else f"{what}, nor any other")
        valued(known[name], value)


def nodes(
    workflow: Json, step: str, among: Mapping[str, Json] | Sequence[str], lacks: str = "has no step"
) -> list[str]:
    """The id of a step's node, by its name as it is shown or displayed, its full name, or its id. Raises Refused."""
    run = str(workflow["metadata"]["name"])
    known: dict[str, Json] = {each: workflow["status"]["nodes"][each] for each in among}
    own = [each for each, node in known.items() if not part(node, "nodeFlag").get("retried")]
    names = {each: called(run, str(node["name"])) for each, node in known.items()}
    found = (
        [each for each, node in known.items() if step in (each, node["name"], _path(run, node))]
        or [each for each, node in known.items() if step == node["displayName"]]
        or [each for each in own if place(run, str(known[each]["name"])).ends(step)]
    )
    if len(found) == 1:
        return found
    if found:
        ways = {names[each] for each in found}
        if len(ways) < len(found):  # in lists of steps
            ways = {_path(run, known[each]) for each in found}
        raise Refused(f"`{run}` has several steps called {step}: say which, {', '.join(sorted(ways))}")
    if not names:
        raise Refused(f"`{run}` waits nowhere")
    shown = sorted({names[each] for each in own if known[each]["name"] != run})
    raise Refused(f"`{run}` {lacks} `{step}`: {suggest(step, shown)}")


def _path(run: str, node: Json) -> str:
    return str(node["name"]).removeprefix(run).lstrip(".")


def _way(run: Found, *, ended: str = "") -> Cluster:
    """The cluster of a run. Raises Refused for one on this machine; `ended`: the message about one that has ended."""
    if run.cluster is None:
        raise _here(run, ended)
    return run.cluster
