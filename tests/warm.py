"""Processes that have imported `fewer` already: copies of one that waits, so a test of a process pays for no imports.

A copy is as separate as a new process: its own id, folder, environment, standard files and end of the interpreter.
"""

import contextlib
import functools
import gc
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

COMMAND = "from fewer.cli import main\nmain(sys.argv[1:])"


class Started:
    """A command of `fewer`, or code, in a copy: what tests use of `subprocess.Popen`.

    Parameters
    ----------
    arguments : the words of the command line
    prelude : code that runs before the command
    code : code in place of the command; it ends with the copy
    stdin, stdout : files or descriptors; nothing is read unless given, `communicate` returns what is printed
    cwd : folder, that of the test unless given
    born : what Python asks of the environment at its start (locale, encoding): copies of a process of their own
    text : whether `communicate` returns text
    """

    def __init__(self, *arguments, prelude="", code=COMMAND, stdin=None, stdout=None, cwd=None, born=None, text=True):
        born = born or {}
        self.text, self.returncode = text, None
        environment = [f"{name}={value}" for name, value in {**os.environ, **born}.items()]
        request = [f"import sys\n{prelude}\n{code}", *map(str, arguments)], [str(cwd or Path.cwd())], environment
        self._ends, told = os.pipe()
        self._out, self._err = _Pipe(), _Pipe()
        with tempfile.TemporaryFile() as letter, open(os.devnull, "rb") as nothing:
            pickle.dump([[os.fsencode(text) for text in texts] for texts in request], letter)
            letter.seek(0)
            files = [letter, stdin or nothing, stdout or self._out.end, self._err.end, told]
            numbers = [file if isinstance(file, int) else file.fileno() for file in files]
            socket.send_fds(_waiting(*born.items())[0], [b"copy"], numbers)
        for end in (told, self._out.end, self._err.end):
            os.close(end)
        self.pid = int(os.read(self._ends, 16))

    def poll(self):
        """Return the exit code, or None while it runs."""
        if self.returncode is None:
            os.set_blocking(self._ends, False)
            try:
                self.returncode = int(os.read(self._ends, 16))
                os.close(self._ends)
            except BlockingIOError:
                return None
        return self.returncode

    def communicate(self, timeout=1800):
        """Wait for the end and return what was printed."""
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                self.kill()
                raise TimeoutError(f"no end after {timeout} seconds")
            time.sleep(0.002)
        printed = [pipe.content() for pipe in (self._out, self._err)]
        return [content.decode("utf-8") for content in printed] if self.text else printed

    def send_signal(self, number):
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # ended since
                os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


class _Pipe:
    """A pipe that is read to its end by a thread, so nobody waits who prints."""

    def __init__(self):
        self._begin, self.end = os.pipe()
        self._read = []
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self):
        with open(self._begin, "rb") as file:
            self._read.append(file.read())

    def content(self):
        self._thread.join()
        return self._read[0]


@functools.cache
def _waiting(*born):
    """Start the process that is copied; it ends when this one, which holds the other end of the wire, ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        place = theirs.fileno()
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import warm; exec(warm.serve({place}))"
        options = {"pass_fds": [place], "start_new_session": True, "env": {**os.environ, **dict(born)}}
        process = subprocess.Popen([sys.executable, "-c", code], **options)
    return ours, process  # who forgets a process is warned


def serve(place):
    """Wait for requests; return in each copy, with the code that it runs."""
    _warm()
    wire = socket.socket(fileno=place)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        asked, files, _, _ = socket.recv_fds(wire, 16, 8)
        if not asked:
            os._exit(0)
        if os.fork() == 0:
            break
        for file in files:
            os.close(file)
    wire.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    letter, *standard, told = files
    ready, go = os.pipe()
    child = os.fork()
    if child:  # the parent of a copy tells its number and its end
        for file in (letter, *standard):
            os.close(file)
        os.write(told, f"{child}\n".encode())
        os.write(go, b"x")
        os.write(told, f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n".encode())
        os._exit(0)
    os.read(ready, 1)
    os.close(told)
    for number, file in enumerate(standard):
        os.dup2(file, number)
    with open(letter, "rb") as file:  # bytes: a copy may read them by another encoding, as a new process would
        (code, *arguments), (folder,), environment = pickle.load(file)
    os.environ.clear()
    os.environb.update(dict(line.split(b"=", 1) for line in environment))
    os.chdir(folder)
    sys.argv = ["fewer", *map(os.fsdecode, arguments)]
    return code


def _warm():
    """Import and compile what most commands need. Nothing here may start threads: a copy would wait for ever."""
    import numpy as np
    import polars  # noqa: F401

    import fewer
    import fewer.cli
    import fewer.evaluate
    import fewer.report
    import fewer.run.folder

    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    X, y = np.random.default_rng(0).normal(size=(40, 4)), np.arange(40) % 2
    fewer.select(X, y, "knn-forward", cv=2, random_state=0)
    gc.freeze()  # or the end of every copy walks over all that was imported
