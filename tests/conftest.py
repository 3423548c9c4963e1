"""For all rooms: the same examples in every run, and a PostgreSQL server of our own."""

import gc
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, settings

# Imported by tests under its own name; collected, it would be defined twice.
collect_ignore = ["leaves.py", "laws/examples.py", "random_cases.py"]
# So that tests of several rooms can share the fuzzer; last, for rooms are called like packages.
sys.path.append(str(Path(__file__).parent))

from random_cases import SOAK  # noqa: E402

# A deadline and the check of slow generation measure the load of the machine, not the code.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")
settings.register_profile(SOAK, settings.get_profile("repeatable"))

# Files here need no disk, which takes milliseconds for each step that a ledger takes.
MEMORY = Path("/dev/shm")
ROOM = 2 << 30

SPARK = "tests/tables/engines/"
# What forks comes before Spark, whose client must not be forked: the child would answer for it; and
# before JAX, whose threads do not live in the child. Spark's tests stay in one process, and so must
# not be left to the end.
FIRST = ("tests/ledger/", "tests/opacus/", SPARK)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the id of a row of the docs' tables, to run the tests that show it."""
    parser.addoption("--shows", metavar="ID", help="run the tests of this row of the docs alone")


def pytest_configure(config: pytest.Config) -> None:
    """Write to memory where there is room, but in long trials: those are of a real disk."""
    if config.option.markexpr == "soak":
        settings.load_profile(SOAK)
    elif MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of a row, if one is given; begin with the slowest rooms, in this order."""
    if row := config.option.shows:
        others = [i for i in items if not any(row in mark.args for mark in i.iter_markers("shows"))]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]
    items.sort(key=lambda item: [not item.nodeid.startswith(room) for room in FIRST])


def pytest_collection_finish() -> None:
    """Keep the tests themselves out of each search for garbage, and of what forks must copy."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter end as it does without."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`, give a process whole files, in order, and to one of them all that need Spark."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return SPARK if nodeid.startswith(SPARK) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Files(config, log)


def pytest_report_header() -> str:
    """Say which engines the run has."""
    return "engines: " + ", ".join(map(_version, ("duckdb", "pyspark", "psycopg", "sqlglot")))


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


_WATCH = """
import os, shutil, signal, sys, time
from pathlib import Path

folder = Path(sys.argv[1])
sys.stdin.read()
try:
    server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(server, signal.SIGQUIT)
    for _ in range(300):
        os.kill(server, 0)
        time.sleep(0.1)
except (OSError, ValueError, IndexError):
    pass
shutil.rmtree(folder, ignore_errors=True)
"""


class Watch:
    """Takes a folder away, and a PostgreSQL server in it, when this process ends in any way.

    A process of its own waits for the end of a pipe, which the kernel closes whatever happens; it
    is in a session of its own, so that neither Ctrl-C nor the end of a terminal reaches it.
    """

    def __init__(self, folder: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _WATCH, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end(self) -> None:
        """Let it do so now."""
        self.process.communicate(timeout=60)


class PostgresServer:
    """A PostgreSQL server on a socket in a directory of its own. It does not run as root."""

    def __init__(self, binaries: Path, folder: Path):
        self.binaries, self.folder = binaries, folder
        self.watch = Watch(folder)
        root = os.geteuid() == 0
        self.user = "postgres" if root else pwd.getpwuid(os.geteuid()).pw_name
        self.switch = self.user if root else None
        shutil.chown(folder, self.user)
        folder.chmod(0o755)
        self._run("initdb", "-U", "neyman", "--auth=trust", "--encoding=UTF8", "--locale=C", "-N")
        self.start()

    @property
    def address(self) -> str:
        return f"host={self.folder} user=neyman dbname=postgres"

    @property
    def url(self) -> str:
        return f"postgresql://neyman@{quote(str(self.folder), safe='')}/postgres"

    def start(self, *settings: str) -> None:
        options = ["listen_addresses=''", f"unix_socket_directories={self.folder}", *settings]
        given = " ".join(f"-c {option}" for option in options)
        self._run("pg_ctl", "start", "-w", "-t", "120", "-o", given, "-l", f"{self.folder}/log")

    def stop(self, *, mode: str) -> None:
        self._run("pg_ctl", "stop", "-m", mode)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.binaries / program, "-D", self.folder / "data", *arguments],
            user=self.switch,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=300,
        )


@pytest.fixture(scope="session")
def missing() -> Callable[[str], None]:
    """Skip for want of an engine; where all must be, fail."""

    def refuse(what: str) -> None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{what} is missing; CI tests every engine")
        pytest.skip(f"{what} is missing")

    return refuse


@pytest.fixture(scope="session")
def watched() -> Iterator[Callable[[str], Path]]:
    """Make folders that are gone after the run, however it ends."""
    watches: list[Watch] = []

    def make(prefix: str) -> Path:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        watches.append(Watch(folder))
        return folder

    yield make
    for watch in watches:
        watch.end()


@pytest.fixture(scope="session")
def start_postgres(missing: Callable[[str], None]) -> Iterator[Callable[[], PostgresServer]]:
    """Start servers, which end with the run."""
    if find_spec("psycopg") is None:
        missing("psycopg")
    found = shutil.which("initdb") or max(
        map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), default=None
    )
    if found is None:
        missing("PostgreSQL (initdb)")
    servers: list[PostgresServer] = []

    def start() -> PostgresServer:
        room = os.environ.get("PYTEST_DEBUG_TEMPROOT")
        folder = Path(tempfile.mkdtemp(prefix="neyman-pg-", dir=room))
        servers.append(PostgresServer(Path(found or "").resolve().parent, folder))
        return servers[-1]

    yield start
    for server in servers:
        server.watch.end()


@pytest.fixture(scope="session")
def postgres_server(start_postgres: Callable[[], PostgresServer]) -> PostgresServer:
    """Return the server of the run."""
    return start_postgres()
