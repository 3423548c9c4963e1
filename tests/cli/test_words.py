"""What a shell knows of the command: what was meant, how it is used, how it is completed."""

import shutil
import subprocess
from importlib.metadata import version

import pytest

from neyman.cli import main
from neyman.cli._commands import parser_of_all


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("relaese x", "neyman: 'relaese' is not a command; did you mean release?"),
        ("release x --jsn", "neyman release: --jsn is not an option; did you mean --json?"),
        ("ledger shw x", "neyman ledger: 'shw' is not a command; did you mean show?"),
        ("help relese", "neyman help: 'relese' is not a command; did you mean release?"),
        ("completion zhs", "neyman completion: shell does not take 'zhs'; did you mean zsh?"),
        ("density x --outside dorp", "--outside does not take 'dorp'; did you mean drop?"),
        ("release x --js", "--js is not an option; did you mean --json?"),
        ("ledger show --jsn", "neyman ledger show: --jsn is not an option; did you mean --json?"),
        ("count --led x --mu 1", "neyman count: --led is not an option; "),
        ("account --epoch 3", "neyman account: --epoch is not an option; did you mean --epochs?"),
        (
            "account --rate 0.01",
            "neyman account: --rate is not an option; did you mean --sampling-probability?",
        ),
        ("ledger show x y", "neyman ledger show: these words are not understood: y"),
        ("convert --mu 1 --mu 2", "neyman convert: --mu was given twice; write it once"),
        (
            "convert --mu abc",
            "neyman convert: --mu must be a number, 0 or from 1e-300 to 1e300; got 'abc'",
        ),
        ("convert --mu -1", "neyman convert: "),
        (
            "account --delta 1e-5 --records 9 --batch 10",
            "neyman account: --batch must be at most --records; got --batch 10 and ",
        ),
        ("calibrate --advantage 0.1 --noise-multiplier -1 --steps 9", "neyman calibrate: "),
    ],
)
def test_wrong_usage_shows_what_was_meant_and_the_usage_of_its_command(capsys, words, said):
    assert main(words.split()) == 2
    err = capsys.readouterr().err
    assert said in err
    command = err.partition(": ")[0]
    assert f"\nusage: {command} " in err
    assert err.endswith(f"\nfor more: {command} --help\n")


@pytest.mark.parametrize("words", ["version", "-V", "--version"])
def test_the_version_is_told_however_it_is_asked_for(capsys, words):
    assert main([words]) == 0
    assert capsys.readouterr().out == f"neyman {version('neyman')}\n"


def test_every_page_of_help_describes_and_shows_examples_that_are_understood(capsys):
    parser = parser_of_all()
    for words, below in parser.walk():
        if not words:
            continue
        assert main(["help", *words]) == 0
        page = capsys.readouterr().out
        assert page == below.format_help()
        assert below.description
        shown = page.partition("examples:\n")[2].partition("\n\n")[0].splitlines()
        assert shown, words
        for line in shown:
            asked = line.split(" < ")[0].split(" > ")[0].split()
            assert asked[0] == "neyman"
            parser.parse_args(asked[1:])


def test_every_command_and_option_is_completed_in_every_shell(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        for words, below in parser_of_all().walk():
            assert all(word in script for word in words)
            for option in below.options:
                assert option in script or f"-l {option[2:]}" in script, (shell, words)
        program = shutil.which(shell)
        if program is not None:
            checked = subprocess.run(
                [program, "-n"], input=script, text=True, capture_output=True, check=False
            )
            assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["neyman", "rel"], ["release"]),
        (["neyman", "ledger", "ch"], ["check"]),
        (["neyman", "release", "--re"], ["--report", "--records"]),
        (["neyman", "density", "x", "--outside", ""], ["count", "clip", "drop"]),
        (["neyman", "completion", "z"], ["zsh"]),
    ],
)
def test_bash_completes(capsys, typed, found):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    words = " ".join(f"'{word}'" for word in typed)
    run = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _neyman\n"
    run += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", run], text=True, capture_output=True, check=True)
    assert done.stdout.split() == found
