"""Nothing that a step has started survives its step, and nothing survives the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from tests.local.harness import Harness, harness, result, sh, until

Json = dict[str, Any]
ESCAPES = "setsid sh -c 'sleep {0}' > /dev/null 2>&1 & (sh -c 'sleep {0} &' > /dev/null 2>&1 &) ; sleep {0} & sleep 0.2"


def sleepers(mark: str) -> list[str]:
    """The processes on this machine with a word in their command line."""
    found: list[str] = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                words = (one / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(one.name)
    return found


def test_what_a_step_leaves_behind_is_killed_at_its_end(pods: Harness) -> None:
    mark = f"7{os.getpid()}1.5"
    start = time.monotonic()
    assert pods.run(sh(ESCAPES.format(mark))).phase == "Succeeded"
    assert time.monotonic() - start < 60
    until(lambda: not sleepers(mark), 20)


def test_a_step_is_ended_by_term_and_then_by_kill(pods: Harness) -> None:
    pods.start(sh("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done"), "soft")
    pods.start(sh("trap '' TERM; echo up; while :; do sleep 0.01; done"), "hard")
    until(lambda: pods.log("soft") == pods.log("hard") == "up\n")
    pods.stop("soft")
    pods.stop("hard", "Pod was active on the node longer than the specified deadline")
    done = pods.ended(2)
    assert (done["soft"].phase, done["soft"].message) == ("Failed", "main: Error (exit code 7)")
    assert pods.log("soft").endswith("bye\n")
    assert done["hard"].phase == "Failed"
    assert done["hard"].message == "Pod was active on the node longer than the specified deadline"
    assert done["hard"].outputs == {"exitCode": "137"}


def test_kill_reaches_what_has_left_the_group(pods: Harness) -> None:
    mark = f"7{os.getpid()}2.5"
    pods.start(sh(f"trap '' TERM; {ESCAPES.format(mark)}; while :; do sleep 0.01; done"))
    until(lambda: len(sleepers(mark)) >= 3)
    pods.stop()
    assert pods.ended()["one"].outputs == {"exitCode": "137"}
    until(lambda: not sleepers(mark), 20)


def test_a_step_that_was_stopped_before_it_began_does_not_run(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=1) as pods:
        busy = {"resources": {"requests": {"cpu": 1}}}
        pods.start(sh("sleep 100", **busy), "first")
        pods.running()
        pods.start(sh("echo ran", **busy), "second")
        pods.stop("second", "stopped")
        assert pods.ended()["second"].message == "stopped"
        pods.stop("first")
        assert pods.ended()["first"].message == "main: Error (exit code 143)"
        assert pods.log("second") == ""


def test_a_step_that_was_stopped_before_any_can_run_does_not_run(tmp_path: Path) -> None:
    with harness(tmp_path, ready=False) as pods:
        pods.start(sh("echo ran"), "first")
        pods.start(sh("echo ran"), "second")
        pods.stop("first", "stopped")
        done = pods.ended(2)
        assert (done["first"].message, done["second"].phase) == ("stopped", "Succeeded")
        assert (pods.log("first"), pods.log("second")) == ("", "ran\n")


def test_those_behind_a_step_that_was_stopped_before_it_began_begin(tmp_path: Path) -> None:
    def busy(cpu: int) -> Any:
        return {"resources": {"requests": {"cpu": cpu}}}

    with harness(tmp_path, cpu=4) as pods:
        pods.start(sh("sleep 100", **busy(2)), "first")
        pods.start(sh(":", **busy(4)), "large")
        pods.start(sh("echo ran", **busy(2)), "small")
        pods.stop("large", "stopped")
        done = pods.ended(2)
        assert (done["large"].message, done["small"].phase) == ("stopped", "Succeeded")
        assert pods.log("small") == "ran\n"
        pods.stop("first")


def test_a_log_that_cannot_be_made_ends_its_own_step_only(pods: Harness) -> None:
    (pods.folder / "run/logs/one").write_text("where the folder of its logs would be")
    pods.start(sh("sleep 0.1; echo x"), "one")
    pods.start(sh("sleep 0.2; echo y"), "two")
    done = pods.ended(2)
    assert done["one"].phase == "Failed"
    assert done["one"].message.endswith(": logs/one/main.log: Not a directory")
    assert (done["two"].phase, pods.log("two")) == ("Succeeded", "y\n")


def test_a_step_that_is_killed_by_another_says_so(pods: Harness) -> None:
    done = pods.run(sh("kill -9 $$$$"))
    assert (done.phase, done.message) == ("Failed", "main: Error (exit code 137)")


def test_a_step_that_used_all_of_its_memory_and_was_killed_was_out_of_memory(pods: Harness) -> None:
    source = "import os; x = bytearray(80 << 20); os.kill(os.getpid(), 9)"
    body = {"command": ["python", "-c", source], "resources": {"limits": {"memory": "64Mi"}}}
    done = pods.run({"container": body})
    assert (done.phase, done.message) == ("Failed", "main: OOMKilled (exit code 137)")


def test_the_end_of_the_pods_ends_their_programs(tmp_path: Path) -> None:
    for isolate in (None, False):
        mark = f"7{os.getpid()}{3 if isolate is None else 4}.5"
        with harness(tmp_path / str(isolate), isolate=isolate) as pods:
            pods.start(sh(f"{ESCAPES.format(mark)}; sleep {mark}"))
            until(lambda mark=mark: len(sleepers(mark)) >= 3)
        assert not sleepers(mark)
        assert not (tmp_path / str(isolate) / "run/pods").exists()


@pytest.mark.parametrize("isolate", [None, False])
def test_what_waits_does_not_begin_when_the_pods_end(tmp_path: Path, isolate: bool | None) -> None:
    mark = f"7{os.getpid()}{7 if isolate is None else 8}.5"
    for cpu in (0, 1):
        with harness(tmp_path / str(cpu), isolate=isolate, cpu=2) as pods:
            for number in range(40):
                pods.start(sh(f"sleep {mark}", resources={"requests": {"cpu": cpu}}), f"n{number}")
            pods.pods.attend(0)  # which requests them, if that has not been done yet
            until(lambda: sleepers(mark))
        assert not sleepers(mark)


@pytest.mark.parametrize("isolate", [None, False])
def test_the_death_of_the_runner_ends_their_programs(tmp_path: Path, isolate: bool | None) -> None:
    mark = f"7{os.getpid()}{5 if isolate is None else 6}.5"
    code = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path
        from tests.local.harness import sh, harness
        with harness(Path(sys.argv[1]), isolate={isolate}) as pods:
            pods.start(sh({(ESCAPES + "; sleep {0}").format(mark)!r}))
            time.sleep(60)
        """
    )
    root = Path(__file__).parents[2]
    runner = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=root)
    until(lambda: len(sleepers(mark)) >= 3)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    until(lambda: not sleepers(mark), 20)
    until(lambda: not (tmp_path / "run/pods").exists(), 20)


@pytest.mark.skipif(sys.platform != "linux", reason="it asks Linux")
@pytest.mark.parametrize("isolate", [None, False])
def test_a_step_has_its_three_streams_and_nothing_else_of_the_runner(
    tmp_path: Path, isolate: bool | None
) -> None:
    with harness(tmp_path, isolate=isolate) as pods:
        found = result(pods.run(sh("ls /proc/self/fd"), result=True)).split()
    assert found == ["0", "1", "2", "3"], "the last is the folder that is listed"


def test_a_thousand_steps_leave_no_zombies_and_no_descriptors(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        pods.run(sh("(sleep 0.01 &) ; :"))

        def held() -> tuple[int, int]:
            """Descriptors of the processes of the run, and zombies below this process."""
            files = zombies = 0
            todo = [os.getpid()]
            while todo:
                pid = todo.pop()
                try:
                    files += len(list(Path(f"/proc/{pid}/fd").iterdir()))
                    for task in Path(f"/proc/{pid}/task").iterdir():
                        todo += map(int, (task / "children").read_text().split())
                    zombies += "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
            return files, zombies

        before = held()[0]
        for at in range(0, 1000, 20):
            for number in range(at, at + 20):
                pods.start(sh("(sleep 0.01 &) ; :" if number % 50 == 0 else ":"), f"n{number}")
            assert {one.phase for one in pods.ended(20).values()} == {"Succeeded"}
        until(lambda: held()[1] == 0, 20)
        assert held()[0] < before + 60  # the sandboxes of four workers at most, and a thread each


def test_steps_that_wait_for_each_other_all_run(tmp_path: Path) -> None:
    volume: Json = {"name": "v", "persistentVolumeClaim": {"claimName": "met"}}
    meet = sh("touch /met/$0; while [ $(ls /met | wc -l) -lt 24 ]; do sleep 0.05; done")
    with harness(tmp_path) as pods:
        for number in range(24):
            one = {
                **meet["container"],
                "args": [str(number)],
                "volumeMounts": [{"name": "v", "mountPath": "/met"}],
            }
            pods.start({"container": one}, f"n{number}", volumes=[volume])
        assert {one.phase for one in pods.ended(24).values()} == {"Succeeded"}


def test_many_short_steps_share_a_few_rooms(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        for number in range(400):
            pods.start(sh(":"), f"n{number}")
        pods.ended(400)
        assert len(list(tmp_path.glob("run/pods-*/sandbox-*"))) < 100


def test_the_output_of_a_step_does_not_pass_through_this_process(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        assert pods.run(sh("head -c 60000000 /dev/zero")).phase == "Succeeded"
        assert (tmp_path / "run/logs/one/main.log").stat().st_size == 60_000_000
        done = pods.run(sh("head -c 60000000 /dev/zero; echo end"), "two", result=True)
        assert done.outputs is not None
        assert len(done.outputs["result"]) == 256 * 1024
        assert done.outputs["result"].endswith("end")


@pytest.mark.parametrize("ready", [True, False])
def test_where_namespaces_are_not_allowed_the_other_way_is_taken(tmp_path: Path, ready: bool) -> None:
    """A step may not create namespaces, so pods within a pod are on a system without them."""
    root = Path(__file__).parents[2]
    source = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(root)!r})
        from pathlib import Path
        from tests.local.harness import result, sh, harness
        with harness(Path("/tmp/inner"), ready={ready}) as pods:
            one = {{"resources": {{"requests": {{"cpu": 1}}}}, "volumeMounts": [{{"name": "d", "mountPath": "/data"}}]}}
            template, volumes = sh("echo 1 > /data/x; cat /data/x", **one), [{{"name": "d", "emptyDir": {{}}}}]
            print(result(pods.run(template, volumes=volumes, result=True)))
            print(pods.pods.notices[0][:42])
        """
    )
    with harness(tmp_path) as pods:
        if pods.pods.context.isolated:
            script = {"script": {"command": ["python"], "source": source, "workingDir": str(root)}}
            assert (
                result(pods.run(script, result=True)) == "1\nthis system gives steps no file system of t"[:44]
            )


def test_a_bug_in_the_process_that_starts_the_steps_ends_the_run(pods: Harness) -> None:
    pods.pods.wait()
    pods.pods.supervisor.run({"id": "one", "log": "one/log"})  # without a command to run
    with pytest.raises(RuntimeError, match=r"(?s)supervisor\.py.*KeyError: 'argv'"):
        pods.event()
