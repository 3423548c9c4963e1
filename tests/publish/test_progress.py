"""A bar is drawn for those who watch, and for nobody else."""

import io
import sys
from types import SimpleNamespace

import pytest

from neyman.publish._publish import Bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(entries):
    with Bar() as bar:
        for done, entry in enumerate(entries):
            bar(entry, done, len(entries))


@pytest.fixture
def notebook(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


def test_nothing_is_drawn_where_nobody_watches(capsys):
    run(["one", "two"])
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_line_that_is_gone_at_the_end(capsys, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(["one", "two"])
    drawn = terminal.getvalue()
    assert "1/2 one" in drawn
    assert drawn.endswith("\r\x1b[K")
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("notebook")
def test_a_notebook_gets_plain_text_each_line_over_the_last(capsys):
    run(["a long name", "two", "bad\x1b[2J"])
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    lines = out.removesuffix("\n").split("\r")[1:]
    assert [line.strip() for line in lines] == [
        "[....................] 1/3 a long name",
        "[######..............] 2/3 two",
        "[#############.......] 3/3 bad\\x1b[2J",
        "[####################] done",
    ]
    # What is shorter covers all of what was there.
    assert len(lines[1]) >= len(lines[0])


@pytest.mark.usefixtures("notebook")
def test_a_notebook_keeps_the_line_where_it_stopped(capsys):
    def stopped():
        with Bar() as bar:
            bar("one", 0, 2)
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        stopped()
    assert capsys.readouterr().out.endswith("1/2 one\n")
