"""A test run that is interrupted leaves no server, no process and no folder behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LONG = """
import os, time
from pathlib import Path

def test_long(postgres_server, watched):
    folders = [str(postgres_server.folder), str(watched("neyman-test-"))]
    written = Path(os.environ["TOLD"])
    written.with_suffix(".part").write_text("\\n".join([str(os.getpid()), *folders]))
    written.with_suffix(".part").rename(written)
    time.sleep(600)
"""


def waited(true, seconds: float = 90) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.2)
    return true()


def mentioned(folders: list[str]) -> list[bytes]:
    """Return the command lines of processes that are about the folders."""
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(place.read_bytes())
        except OSError:
            continue
    return [line for line in lines if any(folder.encode() in line for folder in folders)]


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks into /proc")
@pytest.mark.parametrize(
    ("whom", "sign"),
    [("worker", signal.SIGKILL), ("run", signal.SIGKILL), ("run", signal.SIGINT)],
)
def test_an_interrupted_run_leaves_nothing_behind(tmp_path, start_postgres, whom, sign):
    assert start_postgres is not None  # Skipped where there is no PostgreSQL.
    (tmp_path / "test_long.py").write_text(LONG)
    told = tmp_path / "told"
    paths = os.pathsep.join([str(TESTS), *sys.path])
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "conftest", "test_long.py"],
        cwd=tmp_path,
        env={**os.environ, "TOLD": str(told), "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert waited(told.exists)
        worker, *folders = told.read_text().splitlines()
        assert mentioned(folders)
        # By itself this does not end a process of xdist.
        os.kill(int(worker), signal.SIGINT)
        os.kill(run.pid if whom == "run" else int(worker), sign)
        assert waited(lambda: not any(map(os.path.exists, folders)))
        assert waited(lambda: not mentioned(folders))
    finally:
        run.kill()
        run.wait()
