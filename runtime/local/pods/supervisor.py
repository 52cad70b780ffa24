"""The supervisor process: starts the containers of a run, and never leaves one of them running after its end.

A separate program, started by `LAUNCH` of supervisor_client.py: with only built-in modules, and without the rest of
flowdsl, it is ready in a third of the time. It has two sockets. Messages are dictionaries serialized by `marshal`.
Requests are a stream of messages, each preceded by its length in four bytes (little-endian). The first:

- `{"folder", "logs", "needed", "isolate", "most"}`: the folders for sandboxes and logs, the host paths to make
  visible in sandboxes, whether to isolate, and how many programs start at a time; the answer is `{"isolated"}`.

Then:

- `{"do": "run", "what"}`: run a program;
- `{"do": "offer", "total"}`: set the total of a resource;
- `{"do": "ask", "id", "wanted", "what"}`: request resources, which are held until `leave`, or until the optional
  program `what`, which starts as soon as they are granted, has ended;
- `{"do": "leave", "id"}`: release or withdraw a request; its program does not run, or is killed;
- `{"do": "stop", "id", "grace"}`: send TERM, and after `grace` seconds KILL to all processes of a program;
- `{"do": "free", "id"}`: its files are no longer needed;
- `{"do": "exec", "id", "of", "argv", "env", "seconds"}`: run a program in the file system of another one, for a probe.

A program is `{"id", "argv", "env", "cwd", "log", "mounts": [[source, path, read-only]], "files": [[path, bytes,
mode]], "in", "result", "keep", "tell"}`; `log`: a path in the folder of logs; `in`: it goes on with the files of this
program, which were kept and are its own now; `result`: return its standard output; `keep`: keep its files until they
are freed; `tell`: report when it has started.

Answers are packets on the other socket; a long one is written to a file, and sent as its path, `{"at"}`. They are
`{"id", "started"}`, and at the end `{"id", "code", "written", "rss", "killed", "result", "missing", "why", "short",
"next", "left"}`: the exit code as in a shell, the folder with the files that it wrote, its peak memory in KiB, whether
KILL ended it, and its standard output. `missing`, `why`: why it was not found, or not started; `short`: it failed, and
this is the error number of what the machine has no more of, such as space on the disk of the run; `next`, which is
also sent alone: the requests that have now been granted; `left`: how many programs still wait. `{"broken"}` is the
traceback of an error in a thread of the supervisor, and `{"short"}` alone such an error number.

Where the system allows it, the supervisor is process 1 of a PID namespace: it ends when the socket closes, and the
kernel then kills everything that it started. Each of its threads has its own mount namespace. Otherwise, programs run
in the file system of the host, and the processes that they leave behind are found among the children of this process.
"""

from __future__ import annotations

import _thread
import ctypes
import errno
import marshal
import os
import resource
import select
import sys
import time

from flowdsl.runtime.local.pods.processes import (
    CAPBSET_DROP,
    KEPT,
    KILL,
    SUBREAPER,
    TERM,
    Job,
    Processes,
    exactly,
    isolate,
    locked,
    reaped,
    spawned,
)
from flowdsl.runtime.local.pods.sandbox import (
    FS,
    LINUX,
    NEWNS,
    SHORT,
    Changes,
    Missing,
    PlainSandbox,
    Sandbox,
    SandboxBase,
    Unstarted,
    check,
    found,
    in_thread,
    libc,
    remove,
)
from flowdsl.runtime.local.pods.slots import Slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Json = dict[str, Any]

LONGEST_MESSAGE = 48 * 1024
CHUNK = 8 * 1024
"""Bytes of messages that are read at a time: between two reads, the workers get to run."""
NEVER = float("inf")
BRIEF = 0.01
"""Seconds after which a program counts as long-running: its log gets its name, and another one may start."""
SWITCH = 0.0002
"""The longest time in seconds that a thread holds the GIL: the default is longer than a short step takes."""
REAPED = 5.0
"""Seconds between two searches for orphans of long-running programs."""

NO_PROGRAM = (errno.EACCES, errno.ENOENT, errno.ENOEXEC)
"""Why a file cannot be started: no permission, its interpreter is missing, or its format is unknown."""
SMALL = 64 * 1024
"""Bytes that fit on every disk that does not count as full."""


class Worker:
    """A thread with a sandbox, and the next program for it."""

    def __init__(self) -> None:
        self.bell = locked()
        self.asked: Json = {}


class Supervisor(Processes):
    """The state that its threads share.

    At most `most` programs are in their first `BRIEF` seconds: the next one starts when one of these has ended, or
    has run for that long; a sandbox is created for it if none is free. So short programs use few sandboxes, each of
    which costs as much as several of them, and long ones soon all run.
    """

    def __init__(self, answers: int, control: int, settings: Json) -> None:
        super().__init__(bool(settings["isolate"]))
        self.answers = answers
        self.control = control
        self.most = int(settings["most"])
        self.folder = str(settings["folder"])
        self.base = SandboxBase(self.folder, settings["needed"]) if self.isolated else None
        self.changes = Changes()
        self.slots = Slots()
        self.held: dict[str, Json] = {}  # programs of requests that are not granted yet, by request
        self.owners: dict[str, str] = {}  # running programs of granted requests, by request
        self.begin: list[Json] = []  # programs that wait for a worker
        self.fresh: dict[str, float] = {}  # start times of programs not yet long-running, in order
        self.idle: list[Worker] = []
        self.starting_workers = self.workers = 0
        self.jobs: dict[str, Job] = {}
        self.stopped: set[str] = set()
        self.lasting: set[str] = set()  # programs whose logs get their names as they start
        self.due: list[tuple[float, str]] = []
        self.closed = False
        self.looks = 0.0  # when the main thread wakes up next
        self.reaped = time.monotonic()  # when it last searched for orphans
        self.heard, self.bell = os.pipe()
        self.long = 0
        # With this descriptor, all threads use the same mount of the folder, which linking a file to a name requires.
        self.logs = os.open(settings["logs"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.nameless = LINUX
        self.null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self.sink = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)

    def serve(self) -> None:
        """Serve requests until the sockets close."""
        poll = select.poll()
        for one in (self.control, self.heard):
            poll.register(one, select.POLLIN)
        data = bytearray()
        self.add_worker()  # while the runner prepares the first programs
        while True:
            found = [one for one, _ in poll.poll(self.pause())]
            self.looks = 0.0
            if self.heard in found:
                os.read(self.heard, 1 << 10)
            if self.control in found:
                part = os.read(self.control, CHUNK)
                if not part:
                    return
                data += part
                may: list[str] = []
                while len(data) >= 4 + (size := int.from_bytes(data[:4], "little")):
                    may += self.asked(marshal.loads(data[4 : 4 + size]))
                    del data[: 4 + size]
                if may:
                    self.say({"next": may})
                    self.spread(may)
            self.look(time.monotonic())

    def close(self) -> None:
        """Kill all programs, where the end of this process does not."""
        while True:
            with self.spawning:
                self.closed = True
                if not self.starting:
                    break
            time.sleep(0.001)
        for job in list(self.jobs.values()):
            if job.pid:
                self.leftovers(job)
        remove(self.folder)

    def pause(self) -> float | None:
        """The milliseconds until the next scheduled action, or None."""
        with self.spawning:
            times = [self.due[0][0]] if self.due else []
            times += [self.reaped + REAPED] if self.jobs else []
            times += [next(iter(self.fresh.values())) + BRIEF] if self.fresh else []
            self.looks = min(times, default=NEVER)
        return max(0.0, self.looks - time.monotonic()) * 1000 if times else None

    def look(self, now: float) -> None:
        """Perform the actions that are due."""
        while self.due and self.due[0][0] <= now:
            name = self.due.pop(0)[1]
            if (job := self.jobs.get(name)) is not None and job.pid:
                self.signal(job.pid, KILL)
                self.leftovers(job)
        with self.spawning:
            if self.jobs and self.reaped + REAPED <= now:
                self.reaped = now
                if not self.starting:  # else one may be the main process of a program
                    for pid in self.strangers():
                        reaped(pid)
            while self.fresh and (oldest := next(iter(self.fresh))) and self.fresh[oldest] + BRIEF <= now:
                del self.fresh[oldest]
                job = self.jobs.get(oldest)
                if job is None or not job.pid:
                    self.lasting.add(oldest)
                else:
                    self.show(job)
            self.flow()
            for _ in range(self.needs()):
                self.add_worker()

    def asked(self, what: Json) -> list[str]:
        """Handle a request, without waiting for its end; returns the requests that are granted by it."""
        do = what["do"]
        if do == "run":
            before = self.jobs.pop(what["what"].get("in"), None)
            if before is not None:
                with self.spawning:
                    self.lasting.add(what["what"]["id"])
                before.following = what["what"]
                before.freed.release()
                return []
            with self.spawning:
                self.begin.append(what["what"])
                self.flow()
        elif do == "ask":
            with self.spawning:
                if what["what"] is not None:
                    self.held[what["id"]] = what["what"]
                return self.slots.ask(what["id"], what["wanted"])
        elif do == "leave":
            with self.spawning:
                waits = self.held.pop(what["id"], None) is not None
                program = None if waits else self.owners.get(what["id"])
                if program is None:
                    return self.slots.leave(what["id"])
            self.stop(program, 0)
        elif do == "offer":
            with self.spawning:
                self.slots.offer(what["total"])
        elif do == "exec":
            self.apart(self.beside, what)
        elif do == "free":
            job = self.jobs.pop(what["id"], None)
            if job is not None:
                job.freed.release()
        elif do == "stop":
            self.stop(what["id"], what["grace"])
        return []

    def stop(self, name: str, grace: float) -> None:
        """Stop a program, also one that has not started."""
        with self.spawning:
            self.stopped.add(name)
            job = self.jobs.get(name)
            if job is not None and job.pid:
                self.signal(job.pid, TERM)
        self.due = sorted([*self.due, (time.monotonic() + grace, name)])

    # --- requests and workers ---------------------------------------------------------------------

    def permit(self, names: list[str]) -> None:
        """Queue the programs of granted requests, after the grants were sent: messages about these come later."""
        for name in names:
            what = self.held.pop(name, None)
            if what is not None:
                self.owners[name] = what["id"]
                what["owner"] = name
                self.begin.append(what)

    def spread(self, names: list[str]) -> None:
        """Start the programs of granted requests, in other workers."""
        with self.spawning:
            self.permit(names)
            self.flow()

    def flow(self) -> None:
        """Give waiting programs to idle workers, and have more workers created; requires `spawning`."""
        if not self.begin:
            return
        now = time.monotonic()
        while self.begin and self.idle and len(self.fresh) < self.most:
            worker = self.idle.pop()
            worker.asked = self.begin.pop(0)
            self.fresh[worker.asked["id"]] = now
            worker.bell.release()
        if self.looks > (now if self.needs() > 0 else now + BRIEF):
            self.looks = now
            os.write(self.bell, b".")

    def needs(self) -> int:
        """How many more workers are needed."""
        if self.idle:
            return 0
        return min(len(self.begin), self.most - len(self.fresh)) - self.starting_workers

    def add_worker(self) -> None:
        """Start a worker; only called from the main thread, which is in no sandbox itself."""
        self.starting_workers += 1
        self.workers += 1
        self.apart(self.work, f"sandbox-{self.workers}")

    def say(self, answer: Json) -> None:
        """Send one message."""
        data = marshal.dumps(answer)
        if len(data) > LONGEST_MESSAGE:
            with self.spawning:
                self.long += 1
                path = f"{self.folder}/answer-{self.long}"
            with open(path, "wb") as file:
                file.write(data)
            data = marshal.dumps({"at": path})
        try:
            os.write(self.answers, data)
        except OSError:
            pass  # the runner has closed the socket: this process is about to end

    def apart(self, function: Callable[..., None], *given: object) -> None:
        """Call a function in a thread; an exception is reported, so that the runner does not wait in vain."""

        def work() -> None:
            try:
                function(*given)
            except Exception as error:
                if isinstance(error, OSError) and error.errno in SHORT:
                    self.say({"short": error.errno})
                    return
                import traceback

                self.say({"broken": "".join(traceback.format_exception(error))})

        try:
            in_thread(work)
        except OSError as error:
            self.say({"short": error.errno})

    # --- one program, in its worker ---------------------------------------------------------------

    def work(self, name: str) -> None:
        """Run one program after the other, until the sandbox cannot be restored after one."""
        sandbox, space = self.moved_in(name)
        worker = Worker()
        with self.spawning:
            self.starting_workers -= 1
        following: list[str] = []
        asked: Json | None = None
        while True:
            asked = asked or self.turn(worker, following)
            job = self.jobs[asked["id"]] = Job(asked, sandbox, space)
            answer: Json = {"id": job.id, "written": sandbox.written}
            try:
                self.start(job, answer)
            except OSError as error:
                answer |= {"code": 128, "why": f"{error.filename or asked['argv'][0]}: {error.strerror}"}
                if error.errno in SHORT:
                    answer["short"] = error.errno
            if answer["code"] != 0 and self.full():
                answer["short"] = errno.ENOSPC
            kept = bool(asked.get("keep"))
            if not kept:
                del self.jobs[job.id]
            following = self.over(asked, answer)
            if kept:
                self.spread(following)
                job.freed.acquire()
            asked = job.following
            if asked is not None:
                continue
            try:
                sandbox.undo()
                if not sandbox.dirty():
                    continue
                self.spread(following)
                if sandbox.clean():
                    continue
            except OSError:
                pass  # what is still mounted is not touched
            self.spread(following)  # a new worker is started for waiting programs
            return

    def turn(self, worker: Worker, following: list[str]) -> Json:
        """The next program for a worker, which may be that of one of the granted requests `following`."""
        with self.spawning:
            self.permit(following)
            self.idle.append(worker)
            self.flow()
        worker.bell.acquire()
        return worker.asked

    def over(self, asked: Json, answer: Json) -> list[str]:
        """Report how a program has ended; returns the requests that are granted by its end."""
        name = asked["id"]
        with self.spawning:
            self.stopped.discard(name)
            self.lasting.discard(name)
            self.fresh.pop(name, None)
            owner = asked.get("owner")
            found: list[str] = []
            if owner is not None:
                del self.owners[owner]
                found = self.slots.leave(owner)
            answer |= {"next": found, "left": len(self.begin) + len(self.held)}
        self.say(answer)
        return found

    def moved_in(self, name: str) -> tuple[Sandbox, str]:
        """The sandbox of this thread, in its own mount namespace where allowed, and the name of the namespace."""
        if LINUX:
            libc.unshare(FS)
        if self.base is None:
            return PlainSandbox(), ""
        check(libc.unshare(NEWNS), "unshare")
        for one in range(41):
            if one not in KEPT:
                libc.prctl(CAPBSET_DROP, ctypes.c_ulong(one), 0, 0, 0)
        space = os.readlink(f"/proc/self/task/{_thread.get_native_id()}/ns/mnt")
        return Sandbox(name, self.base, self.changes), space

    def start(self, job: Job, answer: Json) -> None:
        """Run a program to its end, and fill in the answer."""
        asked, sandbox = job.asked, job.sandbox
        for source, path, only_read in asked.get("mounts", ()):
            sandbox.place(source, path, only_read)
        log = job.log = self.log(job)
        pipe = os.pipe() if asked.get("result") else None
        try:
            self.spawn(job, pipe[1] if pipe else log, log)
        except Missing as error:
            answer |= {"code": 64, "missing": str(error)}
        except Unstarted as error:
            answer |= {"code": 64, "why": f"failed to start command: {error}"}
        finally:
            if pipe:
                os.close(pipe[1])
            if not job.pid:
                os.close(log)
                if pipe:
                    os.close(pipe[0])
        if not job.pid:
            answer.setdefault("code", 143)
            return
        if asked.get("tell"):
            self.say({"id": job.id, "started": True})
        if pipe:
            self.show(job)
            answer["result"] = self.copied(pipe[0], log, job)
        os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)
        self.leftovers(job)
        with self.spawning:
            _pid, status, usage = os.wait4(job.pid, 0)
            self.mains.discard(job.pid)
            job.pid = 0
        code = os.waitstatus_to_exitcode(status)
        answer |= {"code": code if code >= 0 else 128 - code, "rss": usage.ru_maxrss, "killed": code == -KILL}
        if not job.named and not os.fstat(log).st_size:
            sandbox.blank = log
            return
        try:
            self.name(job)
        finally:
            os.close(log)

    def log(self, job: Job) -> int:
        """A file for the output of a program.

        Where the file system supports it, the file has no name at first: many steps of a big run print nothing, and
        a folder and a file for each would cost as much as the steps. One that stayed empty is used again.
        """
        path, sandbox = job.asked["log"], job.sandbox
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        if self.nameless and not os.access(path, os.F_OK, dir_fd=self.logs):
            if sandbox.blank >= 0:
                log, sandbox.blank = sandbox.blank, -1
                return log
            try:
                return os.open(".", flags | os.O_TMPFILE, 0o644, dir_fd=self.logs)
            except OSError:
                self.nameless = False
        job.named = True
        self.log_folder(path)
        return os.open(path, flags | os.O_CREAT, 0o644, dir_fd=self.logs)

    def name(self, job: Job) -> None:
        """Give the log of a job its name, if it has none. Raises OSError."""
        if job.named:
            return
        path = job.asked["log"]
        self.log_folder(path)
        try:
            os.link(
                f"/proc/self/fd/{job.log}",
                path,
                src_dir_fd=self.null,
                dst_dir_fd=self.logs,
                follow_symlinks=True,
            )
        except FileExistsError:
            pass
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"logs/{path}") from None
        job.named = True

    def show(self, job: Job) -> None:
        """Give the log of a running program its name; a failure is reported when the program has ended."""
        try:
            self.name(job)
        except OSError:
            pass

    def full(self) -> bool:
        """Whether the disk of the run is full, at least for this user.

        Checked before any file of a program is removed. Writing a file also takes quotas, and blocks reserved for
        root, into account.
        """
        flags = os.O_WRONLY | os.O_CLOEXEC
        name = f".sandbox-{_thread.get_native_id()}"
        try:
            if self.nameless:
                file = os.open(".", flags | os.O_TMPFILE, 0o600, dir_fd=self.logs)
            else:
                file = os.open(name, flags | os.O_CREAT, 0o600, dir_fd=self.logs)
                os.unlink(name, dir_fd=self.logs)
            try:
                return os.write(file, bytes(SMALL)) < SMALL
            finally:
                os.close(file)
        except OSError as error:
            return error.errno in (errno.ENOSPC, errno.EDQUOT)

    def log_folder(self, path: str) -> None:
        """Create the folder of a log, in that of all logs."""
        try:
            os.mkdir(os.path.dirname(path), dir_fd=self.logs)
        except FileExistsError:
            pass

    def spawn(self, job: Job, out: int, err: int) -> None:
        """Start the program of a job, unless it was stopped before. Raises OSError, Missing and Unstarted.

        Its first word is the file that was found. Source: runEmissary in cmd/argoexec/commands/emissary.go of Argo 4.1.
        """
        asked, sandbox = job.asked, job.sandbox
        sandbox.inside()
        try:
            for path, data, mode in asked.get("files", ()):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, mode)
                with open(file, "wb") as written:
                    written.write(data)
                os.chmod(path, mode)
            cwd = asked.get("cwd") or "/"
            try:
                os.chdir(cwd)
            except OSError:
                os.makedirs(cwd)
                os.chdir(cwd)
            path = sandbox.program(asked["argv"][0], asked["env"].get("PATH", ""))
            with self.spawning:
                if self.closed or job.id in self.stopped:
                    return
                self.starting += 1
            pid = 0
            try:
                pid = spawned(path, [path, *asked["argv"][1:]], asked["env"], (self.null, out, err))
            except OSError as error:
                if error.errno not in NO_PROGRAM:
                    raise
                raise Unstarted(f"fork/exec {path}: {(error.strerror or '').lower()}") from None
            finally:
                with self.spawning:
                    self.starting -= 1
                    if pid:
                        self.mains.add(pid)
                        job.pid = pid
                        if job.id in self.stopped:
                            self.signal(pid, TERM)
                        if job.id in self.lasting:
                            self.show(job)
        finally:
            sandbox.outside()

    # --- beside -----------------------------------------------------------------------------------

    def beside(self, what: Json) -> None:
        """Run a program in the file system of another one; the answer has its exit code, or 128."""
        answer: Json = {"id": what["id"], "code": 128, "probe": True}
        job = self.jobs.get(what["of"])
        try:
            if job is None or not job.pid:
                raise OSError
            if LINUX:
                libc.unshare(FS)
            if self.isolated:
                # By chroot to its root: `setns` leaves the changed root of this process, if it has one.
                root = os.open(f"/proc/{job.pid}/root", os.O_PATH | os.O_CLOEXEC)
                space = os.open(f"/proc/{job.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    check(libc.setns(space, NEWNS), "setns")
                    os.fchdir(root)
                    os.chroot(".")
                finally:
                    os.close(space)
                    os.close(root)
            os.chdir("/")
            path = found(what["argv"][0], what["env"].get("PATH", ""))
            with self.spawning:
                pid = spawned(path, what["argv"], what["env"], (self.null, self.sink, self.sink))
                self.mains.add(pid)
            end = time.monotonic() + what["seconds"]
            while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                if time.monotonic() > end:
                    self.signal(pid, KILL)
                time.sleep(0.005)
            with self.spawning:
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                self.mains.discard(pid)
            answer["code"] = code if time.monotonic() <= end else 128
        except (OSError, Missing):
            pass
        self.say(answer)


def main(answers: int, control: int) -> None:
    """Run the supervisor, with the descriptors of the sockets."""
    for end in (answers, control):
        os.set_inheritable(end, False)  # programs could read the messages for others there
    settings: Json = marshal.loads(exactly(control, int.from_bytes(exactly(control, 4), "little")))
    if settings["isolate"]:
        isolate(settings["folder"])
    elif LINUX:
        libc.prctl(SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.setswitchinterval(SWITCH)
    boss = Supervisor(answers, control, settings)
    boss.say({"isolated": boss.isolated})
    boss.serve()
    if not boss.isolated:
        boss.close()
    os._exit(0)
