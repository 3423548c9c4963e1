"""One peer in a process of its own, JSON lines in and out.

`python -m benchmarks._peer NAME [ROOM]`

In: {"kind": ..., "arguments": {...}, "seconds": limit}. Out: what `_answered` or `_failed` writes.
Needs nothing but the standard library, the peer itself, and what its module in ROOM imports.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TextIO

# Some would take all the memory there is.
MOST_BYTES = 12 * 2**30
_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def main(name: str, room: str = "_accountants") -> None:
    """Say hello, then answer until the input ends."""
    # Some print while they work; only answers belong on this pipe.
    with os.fdopen(os.dup(1), "w") as pipe:
        os.dup2(2, 1)
        _limit_memory()
        signal.signal(signal.SIGALRM, _late)
        try:
            accountant = importlib.import_module(f"benchmarks.{room}.{name}")
        except ImportError as missing:
            _say(pipe, {"absent": str(missing)})
            return
        _say(pipe, {"version": _version(accountant.PACKAGE), "method": accountant.METHOD})
        for line in sys.stdin:
            _say(pipe, answer(accountant.ANSWERS, json.loads(line)))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from its source"


def answer(answers: dict, job: dict) -> dict[str, object]:
    """Return the answer, its time and what memory it took beyond what was there."""
    if job["kind"] not in answers:
        return {"failed": "no such feature"}
    gc.collect()
    before = _resident()
    signal.setitimer(signal.ITIMER_REAL, job["seconds"])
    try:
        start = time.perf_counter()
        found = answers[job["kind"]](**job["arguments"])
        taken = time.perf_counter() - start
        peak = _peak() - before
        wanted = job["bracket"] and found.lower is not None
        lower = [float(value) for value in found.lower()] if wanted else None
    except ImportError:
        return {"failed": "not yet"}
    except TimeoutError:
        return {"failed": f"over {job['seconds']:g} s"}
    except Exception as error:
        return {"failed": type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    values = [float(value) for value in found.values]
    return {"values": values, "lower": lower, "seconds": taken, "bytes": peak}


def _say(pipe: TextIO, message: dict[str, object]) -> None:
    pipe.write(json.dumps(message) + "\n")
    pipe.flush()


def _late(*_: object) -> None:
    raise TimeoutError


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def _resident() -> int:
    """Bytes held now, the peak forgotten; 0 where the system does not tell."""
    if _RESET.exists():
        _RESET.write_text("5")
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(field: str) -> int:
    if not _STATUS.exists():
        return 0
    lines = [line for line in _STATUS.read_text().splitlines() if line.startswith(field)]
    return int(lines[0].split()[1]) * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
