"""The process that starts the containers of a run, and outlives none of them.

A program of its own, `LAUNCH` of helper.py says how it is started: with built-in modules only, and without the rest
of flowdsl, it is ready in a third of the time. It has two sockets. Messages are dictionaries as `marshal` writes
them; a long one is a file, and `{"at"}` its path. On the first, whole packets: its threads take programs to run,

- `{"id", "argv", "env", "cwd", "log", "mounts": [[source, path, read-only]], "files": [[path, bytes, mode]],
  "result", "keep", "tell", "place"}`; `log`: a path in the folder of logs; `result`: its standard output is wanted
  back; `keep`: its files stay until they are freed; `tell`: say when it has started; `place`: what of the machine it
  leaves to another one;

and answer with `{"id", "started"}`, and in the end `{"id", "code", "room", "kept", "rss", "killed", "result",
"missing", "why", "place", "next"}`: the exit code as a shell has it, the folder in which there is what it has written,
the most memory it had in KiB, whether KILL ended it, what it printed. `missing`, `why`: why it could not be found, or
started; `next`: what begins in its place. `{"broken"}` is the trace of what went wrong in a thread itself. On the
second:

- `{"folder", "logs", "needed", "isolate"}`, first of all: where the rooms and logs are kept, the paths of the
  machine that are to be seen in rooms, and whether to isolate; the answer `{"isolated"}` comes on the first;
- `{"do": "ahead", "what"}`: a program that is to begin in the place of one that ends;
- `{"do": "place", "place"}`: there is one more place; `{"place", "next"}` on the first says what begins in it;
- `{"do": "grow", "workers"}`: so many programs are to run at a time; `{"ready"}` says for each one more that it can;
- `{"do": "stop", "id", "grace"}`: TERM, and after `grace` seconds KILL to all that it started;
- `{"do": "free", "id"}`: its files are not needed any more;
- `{"do": "name", "id"}`: it runs for long, and what it prints is to be found by the name of its log;
- `{"do": "exec", "id", "of", "argv", "env", "seconds"}`: run a program beside another one, for a probe.

Where the system allows it the supervisor is process 1 of a PID namespace: when it ends, the kernel kills
everything that it started, and it ends with the socket. Each of its threads has a mount namespace of its own. Where
that is not allowed, programs run in the file system of the machine, and what they leave behind is found among the
children of this process.
"""

from __future__ import annotations

import _thread
import ctypes
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
    reaped,
    spawned,
)
from flowdsl.runtime.local.pods.rooms import (
    FS,
    LINUX,
    NEWNS,
    Changes,
    Ground,
    Missing,
    PlainRoom,
    Room,
    check,
    found,
    libc,
    remove,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Json = dict[str, Any]

LONGEST_MESSAGE = 48 * 1024
_ENTERED = b"entered"
"""The packet that stands for a program which is here already."""
SWITCH = 0.0002
"""Seconds for which a thread keeps the others waiting at most: by default it is more than a short step takes."""
REAPED = 5.0
"""Seconds between two looks for orphans of programs that run for long."""


class Supervisor(Processes):
    """What its threads share."""

    def __init__(self, jobs: int, entry: int, control: int, settings: Json) -> None:
        super().__init__(bool(settings["isolate"]))
        self.fd = jobs
        self.entry = entry
        self.control = control
        self.folder = str(settings["folder"])
        self.ground = Ground(self.folder, settings["needed"]) if self.isolated else None
        self.changes = Changes()
        self.jobs: dict[str, Job] = {}
        self.stopped: set[str] = set()
        self.lasting: set[str] = set()  # whose logs get their names as they begin
        self.ahead: dict[str, list[Json]] = {}  # by their places
        self.entered: list[Json] = []
        self.due: list[tuple[float, str]] = []
        self.workers = 0
        self.long = 0
        # By this descriptor all threads have the folder from the same mount, without which a file cannot get its name.
        self.logs = os.open(settings["logs"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.nameless = LINUX
        self.null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def serve(self) -> None:
        """Until the sockets end."""
        while True:
            wait = max(0.0, self.due[0][0] - time.monotonic()) if self.due else REAPED if self.jobs else None
            if select.select([self.control], [], [], wait)[0]:
                size = os.read(self.control, 4)
                if not size:
                    return
                self.asked(marshal.loads(exactly(self.control, int.from_bytes(size, "little"))))
            elif not self.due:
                with self.spawning:
                    for pid in self.strangers():
                        reaped(pid)
            else:
                name = self.due.pop(0)[1]
                if (job := self.jobs.get(name)) is not None and job.pid:
                    self.signal(job.pid, KILL)
                    self.leftovers(job)

    def asked(self, what: Json) -> None:
        """Do one thing, without waiting for it."""
        do = what["do"]
        if do == "grow":
            while self.workers < what["workers"]:
                self.apart(self.work, f"room-{self.workers}", True)
                self.workers += 1
        elif do == "ahead":
            with self.spawning:
                self.ahead.setdefault(what["what"]["place"], []).append(what["what"])
        elif do == "place":
            first = self.following(what["place"])
            self.say({"place": what["place"], "next": "" if first is None else first["id"]})
            if first is not None:
                self.enter(first)
        elif do == "exec":
            self.apart(self.beside, what)
        elif do == "free":
            self.jobs.pop(what["id"]).freed.release()
        elif do == "name":
            with self.spawning:
                job = self.jobs.get(what["id"])
                if job is None or not job.pid:
                    self.lasting.add(what["id"])
                else:
                    self.show(job)
        elif do == "stop":
            with self.spawning:
                self.stopped.add(what["id"])
                job = self.jobs.get(what["id"])
                if job is not None and job.pid:
                    self.signal(job.pid, TERM)
            self.due = sorted([*self.due, (time.monotonic() + what["grace"], what["id"])])

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
            os.write(self.fd, data)
        except OSError:
            pass  # nobody listens any more: this process is about to end

    def apart(self, function: Callable[..., None], *given: object) -> None:
        """Do something in a thread; what is wrong in it is said, because nobody would wait for it in vain."""

        def work() -> None:
            try:
                function(*given)
            except Exception as error:
                import traceback

                self.say({"broken": "".join(traceback.format_exception(error))})

        _thread.start_new_thread(work, ())

    # --- one program, in the thread of its room ---------------------------------------------------

    def work(self, name: str, more: bool) -> None:
        """Run one program after the other, until one fails to leave the room as it was."""
        room, space = self.moved_in(name)
        if more:
            self.say({"ready": True})
        queue = select.poll()
        queue.register(self.fd, select.POLLIN)
        following: Json | None = None
        while True:
            asked = following or self.taken()
            if asked is None:
                return
            job = self.jobs[asked["id"]] = Job(asked, room, space)
            kept, place = bool(asked.get("keep")), str(asked.get("place", ""))
            answer: Json = {"id": job.id, "room": room.written, "kept": kept, "place": place}
            try:
                self.start(job, answer)
            except OSError as error:
                answer |= {"code": 128, "why": f"{error.filename or asked['argv'][0]}: {error.strerror}"}
            self.stopped.discard(job.id)
            self.lasting.discard(job.id)
            if not kept:
                del self.jobs[job.id]
            following = self.following(place)
            answer["next"] = "" if following is None else following["id"]
            self.say(answer)  # before the next one begins, whose answer comes later
            if following is not None and (kept or queue.poll(0)):
                self.enter(following)
                following = None
            if kept:
                job.freed.acquire()
            try:
                room.undo()
                fresh = not room.dirty() or room.clean()
            except OSError:
                fresh = False  # what is still mounted is not touched
            if not fresh:
                if following is not None:
                    self.enter(following)
                self.apart(self.work, f"{name}+", False)
                return

    def following(self, place: str) -> Json | None:
        """What begins in a place that has become free."""
        with self.spawning:
            waiting = self.ahead.get(place)
            return waiting.pop(0) if waiting else None

    def taken(self) -> Json | None:
        """The program that is the next, for the thread that is free first; None when nobody asks any more."""
        data = os.read(self.fd, 1 << 16)
        if not data:
            return None
        if data == _ENTERED:
            return self.entered.pop(0)
        asked: Json = marshal.loads(data)
        if "at" in asked:
            with open(asked["at"], "rb") as file:
                asked = marshal.load(file)
            os.unlink(file.name)
        return asked

    def enter(self, asked: Json) -> None:
        """Leave a program to the thread that is free first, after those that were sent before."""
        with self.spawning:
            self.entered.append(asked)
            os.write(self.entry, _ENTERED)

    def moved_in(self, name: str) -> tuple[Room, str]:
        """The room of this thread, in its own mount namespace where that is allowed, and the name of that."""
        if LINUX:
            libc.unshare(FS)
        if self.ground is None:
            return PlainRoom(), ""
        check(libc.unshare(NEWNS), "unshare")
        for one in range(41):
            if one not in KEPT:
                libc.prctl(CAPBSET_DROP, ctypes.c_ulong(one), 0, 0, 0)
        space = os.readlink(f"/proc/self/task/{_thread.get_native_id()}/ns/mnt")
        return Room(name, self.ground, self.changes), space

    def start(self, job: Job, answer: Json) -> None:
        """Run a program to its end, and note in the answer how it went."""
        asked, room = job.asked, job.room
        for source, path, only_read in asked.get("mounts", ()):
            room.place(source, path, only_read)
        log = job.log = self.log(job)
        pipe = os.pipe() if asked.get("result") else None
        try:
            self.spawn(job, pipe[1] if pipe else log, log)
        except Missing as error:
            answer |= {"code": 64, "missing": str(error)}
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
            room.blank = log
            return
        try:
            self.name(job)
        finally:
            os.close(log)

    def log(self, job: Job) -> int:
        """A file for what a program prints.

        Where the file system can do that it has no name at first: many steps of a big run print nothing, and a folder
        and a file for each would cost as much as the steps. One that stayed empty is used again.
        """
        path, room = job.asked["log"], job.room
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        if self.nameless and not os.access(path, os.F_OK, dir_fd=self.logs):
            if room.blank >= 0:
                log, room.blank = room.blank, -1
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
        """Give the log of a program that runs its name; what is in the way of that is said when it has ended."""
        try:
            self.name(job)
        except OSError:
            pass

    def log_folder(self, path: str) -> None:
        """Make the folder that a log is in, in that of all logs."""
        try:
            os.mkdir(os.path.dirname(path), dir_fd=self.logs)
        except FileExistsError:
            pass

    def spawn(self, job: Job, out: int, err: int) -> None:
        """Start the program of a job, unless it was stopped before. Raises OSError and Missing."""
        asked, room = job.asked, job.room
        room.inside()
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
            path = room.program(asked["argv"][0], asked["env"].get("PATH", ""))
            with self.spawning:
                if job.id in self.stopped:
                    return
                self.starting += 1
            pid = 0
            try:
                pid = spawned(path, asked["argv"], asked["env"], (self.null, out, err))
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
            room.outside()

    # --- beside -----------------------------------------------------------------------------------

    def beside(self, what: Json) -> None:
        """Run a program in the file system of another one; its exit code, or 128."""
        answer: Json = {"id": what["id"], "code": 128, "probe": True}
        job = self.jobs.get(what["of"])
        try:
            if job is None or not job.pid:
                raise OSError
            if LINUX:
                libc.unshare(FS)
            if self.isolated:
                space = os.open(f"/proc/{job.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
                check(libc.setns(space, NEWNS), "setns")
                os.close(space)
            job.room.inside()
            os.chdir("/")
            sink = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
            path = found(what["argv"][0], what["env"].get("PATH", ""))
            with self.spawning:
                pid = spawned(path, what["argv"], what["env"], (self.null, sink, sink))
                self.mains.add(pid)
            os.close(sink)
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


def main(jobs: int, entry: int, control: int) -> None:
    """Be the supervisor, with the descriptors of the sockets; `entry`: the other end of the first."""
    for end in (jobs, entry, control):
        os.set_inheritable(end, False)  # programs could read there what is meant for others
    settings: Json = marshal.loads(exactly(control, int.from_bytes(exactly(control, 4), "little")))
    if settings["isolate"]:
        isolate(settings["folder"])
    elif LINUX:
        libc.prctl(SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.setswitchinterval(SWITCH)
    boss = Supervisor(jobs, entry, control, settings)
    boss.say({"isolated": boss.isolated})
    boss.serve()
    if not boss.isolated:
        for job in list(boss.jobs.values()):
            if job.pid:
                boss.leftovers(job)
        remove(boss.folder)
    os._exit(0)
