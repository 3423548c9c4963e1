"""`make` finds a Python under whatever name, and says which."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Stands for an interpreter: of the version that it says, and its venv is an empty folder.
FAKE = """#!/bin/sh
case "$1" in
  -c) exec {real} -c "import sys; sys.version_info = ({version}, 0); $2" ;;
  --version) echo "Python {told}" ;;
  -m) mkdir -p "$3" && touch "$3/pyvenv.cfg" ;;
esac
"""
UV = """#!/bin/sh
echo {found}
"""


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def python(path, version):
    told = version.replace(", ", ".")
    script(path, FAKE.format(real=sys.executable, version=version, told=told))


@pytest.fixture
def made(tmp_path):
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "mkdir", "touch"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)

    def run(*words):
        venv = tmp_path / "venv"
        done = subprocess.run(
            [
                str(shutil.which("make")),
                "-C",
                str(ROOT),
                f"VENV={venv}",
                f"{venv}/pyvenv.cfg",
                *words,
            ],
            env={**os.environ, "PATH": str(tmp_path / "bin"), "PYTHON": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


@pytest.mark.parametrize(
    ("name", "version"), [("python3", "3, 14"), ("python3.12", "3, 12"), ("python", "3, 11")]
)
def test_a_python_is_found_under_its_name(tmp_path, made, name, version):
    python(tmp_path / "bin" / "python3", "3, 10")
    python(tmp_path / "bin" / name, version)
    status, out = made()
    assert status == 0
    told = version.replace(", ", ".")
    assert f"make: takes {tmp_path}/bin/{name}, Python {told}\n" in out


def test_a_python_of_uv_is_found_and_one_that_is_named_is_taken(tmp_path, made):
    python(tmp_path / "of uv" / "python", "3, 13")
    script(tmp_path / "bin" / "uv", UV.format(found=f"'{tmp_path}/of uv/python'"))
    assert f"takes {tmp_path}/of uv/python, Python 3.13" in made()[1]
    python(tmp_path / "mine", "3, 11")
    (tmp_path / "venv" / "pyvenv.cfg").unlink()
    assert f"takes {tmp_path}/mine, Python 3.11" in made(f"PYTHON={tmp_path}/mine")[1]


def test_where_there_is_none_it_is_said_what_was_tried_and_what_to_do(tmp_path, made):
    python(tmp_path / "bin" / "python3", "3, 15")
    status, out = made()
    assert status != 0
    assert (
        "no Python from 3.11 to 3.14 with venv and pip was found; tried python3 python3.14" in out
    )
    assert "write make PYTHON=/path/to/python" in out
    assert not (tmp_path / "venv").exists()
