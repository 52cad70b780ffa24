"""The child processes of a supervisor: finds them, and those that they leave behind. Built-in modules only."""

from __future__ import annotations

import _thread
import ctypes
import os
import select
import time

from flowdsl.runtime.local.pods.sandbox import (
    LINUX,
    NEWNS,
    NEWPID,
    NEWUSER,
    PRIVATE,
    REC,
    Sandbox,
    check,
    libc,
    mount,
    remove,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

TERM, KILL, INT, PIPE, XFSZ = 15, 9, 2, 13, 25
PDEATHSIG, SUBREAPER, CAPBSET_DROP = 1, 36, 24
PIDFD_OPEN = 434
LONGEST_RESULT = 256 * 1024 + 1
KEPT = frozenset((0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 19, 27, 29, 31))
"""The capabilities of root in a Docker container, and that to trace its own processes."""


def isolate(folder: str) -> None:
    """Leave the namespaces of the host, and continue as process 1 of new ones. Raises OSError.

    The original process waits for the end of all, and removes the folder; its sockets close with it.
    """
    user, group = os.getuid(), os.getgid()
    check(libc.unshare(NEWPID | (NEWUSER if user != 0 else 0)), "unshare")
    if user != 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    child = os.fork()
    if child != 0:
        os.waitpid(child, 0)
        remove(folder)
        os._exit(0)
    libc.prctl(PDEATHSIG, ctypes.c_ulong(KILL), 0, 0, 0)
    # After the fork: the process that removes the folder must not see the mounts in it.
    check(libc.unshare(NEWNS), "unshare")
    mount("none", "/", REC | PRIVATE)
    mount("proc", "/proc", 0, "proc")


def spawned(path: str, argv: list[str], env: dict[str, str], files: tuple[int, int, int]) -> int:
    """Start a program in its own process group, with three files for its standard streams; returns its PID.

    Not in its own session: that of the supervisor has no terminal either, and for each session Linux creates and
    removes a scheduler group (autogroup), among which the cores are shared. Raises OSError.

    Not by `os.posix_spawn`, which blocks the other threads until the program has started.
    """
    signals = [PIPE, XFSZ, INT]
    if not LINUX:
        dup = os.POSIX_SPAWN_DUP2
        actions = [(dup, file, number) for number, file in enumerate(files)]
        return os.posix_spawn(path, argv, env, file_actions=actions, setpgroup=0, setsigdef=signals)
    whole = "\0".join([*argv, *[f"{name}={value}" for name, value in env.items()]])
    texts = _encoded(whole).split(b"\0")
    if len(texts) != len(argv) + len(env):
        raise OSError(22, "an argument or variable has a null in it", path)
    if files not in _ACTIONS:
        _ACTIONS[files] = _actions(files)
    number = ctypes.c_int()
    code = libc.posix_spawn(
        ctypes.byref(number),
        os.fsencode(path),
        _ACTIONS[files],
        _ATTRIBUTES,
        (ctypes.c_char_p * (len(argv) + 1))(*texts[: len(argv)], None),
        (ctypes.c_char_p * (len(env) + 1))(*texts[len(argv) :], None),
    )
    if code:
        raise OSError(code, os.strerror(code), path)
    return number.value


def _encoded(text: str) -> bytes:
    """A text as bytes; a lone surrogate, which JSON may have, becomes U+FFFD as in Go."""
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text).encode()


_OPAQUE = 512
"""An upper bound in bytes for the posix_spawn structures of all C libraries."""


def _actions(files: tuple[int, int, int]) -> ctypes.Array[ctypes.c_char]:
    """The file actions that give a program its standard streams."""
    made = ctypes.create_string_buffer(_OPAQUE)
    libc.posix_spawn_file_actions_init(made)
    for at, file in enumerate(files):
        libc.posix_spawn_file_actions_adddup2(made, file, at)
    return made


def _attributes() -> ctypes.Array[ctypes.c_char]:
    """The attributes for a new process group, and for default handlers of all signals. Source: spawn.h."""
    made, wanted = ctypes.create_string_buffer(_OPAQUE), ctypes.create_string_buffer(_OPAQUE)
    libc.posix_spawnattr_init(made)
    libc.sigfillset(wanted)
    libc.posix_spawnattr_setsigdefault(made, wanted)
    libc.posix_spawnattr_setpgroup(made, 0)
    libc.posix_spawnattr_setflags(made, ctypes.c_short(0x02 | 0x04))  # SETPGROUP, SETSIGDEF
    return made


_ATTRIBUTES = _attributes() if LINUX else None
_ACTIONS: dict[tuple[int, int, int], ctypes.Array[ctypes.c_char]] = {}
"""Cached by files: the same few descriptors are used again and again."""


class Job:
    """A program that waits, runs, or has ended.

    `log`: the file for its output; `named`: whether that has a name. `following`: the program that gets its files.
    """

    def __init__(self, asked: Json, sandbox: Sandbox, space: str) -> None:
        self.asked = asked
        self.id = str(asked["id"])
        self.sandbox = sandbox
        self.space = space
        self.pid = 0
        self.log = -1
        self.named = False
        self.freed = locked()
        self.following: Json | None = None


class Processes:
    """The processes of a run. The lock `spawning` is held while one is started or searched for."""

    def __init__(self, isolated: bool) -> None:
        self.isolated = isolated
        self.spawning = _thread.allocate_lock()
        self.mains: set[int] = set()
        self.starting = 0
        # Orphans become children of the first thread of process 1, which starts no programs.
        self.orphans = -1
        if isolated:
            try:
                self.orphans = os.open("/proc/1/task/1/children", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                pass  # the kernel was built without that file

    def signal(self, pid: int, number: int) -> None:
        """Signal the process group in which a program was started."""
        try:
            os.killpg(pid, number)
        except OSError:
            pass

    def copied(self, source: int, log: int, job: Job) -> bytes:
        """Copy standard output to the log until the program ends, whoever else holds the pipe; returns its tail."""
        parts: list[bytes] = []
        size = 0
        ended = watched(job.pid)
        poll = select.poll()
        for one in (source, ended):
            if one >= 0:
                poll.register(one, select.POLLIN)
        while True:
            if source not in [one for one, _ in poll.poll()]:
                self.leftovers(job)
                os.set_blocking(source, False)
            try:
                part = os.read(source, 1 << 16)
            except BlockingIOError:
                part = b""
            if not part:
                break
            os.write(log, part)
            parts.append(part)
            size += len(part)
            while size - len(parts[0]) >= LONGEST_RESULT:
                size -= len(parts.pop(0))
        if ended >= 0:
            os.close(ended)
        os.close(source)
        return b"".join(parts)[-LONGEST_RESULT:]

    def leftovers(self, job: Job) -> None:
        """Kill all remaining processes that a program has started, until there are none."""
        if not self.isolated:
            self.signal(job.pid, KILL)
        over: set[int] = set()
        while True:
            with self.spawning:
                found = False
                for pid in self.strangers():
                    if ended(pid):
                        # Its children may have become children of this process after the list was read.
                        found = found or pid not in over
                        over.add(pid)
                    elif self.belongs(pid, job):
                        found = True
                        try:
                            os.kill(pid, KILL)
                        except OSError:
                            pass  # it has ended
                    if not self.starting:  # else it may be the main process of a program
                        reaped(pid)
            if not found:
                return
            time.sleep(0.001)

    def strangers(self) -> list[int]:
        """The processes of this run that are not the main process of a program."""
        if self.orphans >= 0:
            return [int(one) for one in os.pread(self.orphans, 1 << 16, 0).split()]
        if self.isolated:
            known = {*self.mains, 1}
            return [int(one) for one in os.listdir("/proc") if one.isdecimal() and int(one) not in known]
        found: list[int] = []
        todo = [os.getpid(), *self.mains] if LINUX else []
        while todo:
            for inner in children(todo.pop()):
                if inner not in self.mains:
                    todo.append(inner)
                    found.append(inner)
        return found

    def belongs(self, pid: int, job: Job) -> bool:
        """Whether a process was started by this program, or is ending: its children cannot be seen yet."""
        try:
            if job.space:
                return os.readlink(f"/proc/{pid}/ns/mnt") == job.space
            with open(f"/proc/{pid}/environ", "rb") as file:
                return f"FLOWDSL_CONTAINER={job.id}\0".encode() in file.read()
        except PermissionError:
            return ended(pid)
        except OSError:
            return True


def watched(pid: int) -> int:
    """A descriptor that becomes readable when a process ends; -1 where the kernel has none (Linux 5.3 has).

    Not `os.pidfd_open`: interpreters that were built for old systems lack it, for example those that uv installs.
    """
    return int(libc.syscall(PIDFD_OPEN, ctypes.c_long(pid), ctypes.c_long(0))) if LINUX else -1


def reaped(pid: int) -> None:
    """Reap an orphan, if it has ended."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except OSError:
        pass  # the child of another process


def ended(pid: int) -> bool:
    """Whether a process has ended, including zombies. Source: proc_pid_stat(5)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] in b"ZX"
    except OSError:
        return True


def children(pid: int) -> list[int]:
    """The child processes of a process, including adopted orphans."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    except OSError:
        pass
    return found


def locked() -> _thread.LockType:
    """An acquired lock, which another thread releases as a signal."""
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


def exactly(fd: int, count: int) -> bytes:
    """Read so many bytes of a stream, or fewer at its end."""
    data = os.read(fd, count)
    while len(data) < count and (part := os.read(fd, count - len(data))):
        data += part
    return data
