"""The page as a file, and in a headless Chromium in which no name resolves."""

import base64
import hashlib
import json
import random
import re
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from tests.explorer.chromium import BROWSER, chromium

import neyman as ny
from neyman.cli import main
from neyman.cli._commands import parser_of_all
from neyman.curves import group
from neyman.explorer import explorer_html
from neyman.explorer._grid import DELTAS, NOISES, ODDS, PRIORS, RATES, STEPS

NEAR = 1e-9
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
# At this rate and so many steps the library answers in milliseconds.
QUICK = [(rate, steps) for rate in RATES for steps in STEPS if 100 <= rate * steps <= 3000]


def test_the_page_is_small_and_asks_for_nothing():
    page = explorer_html()
    assert len(page.encode()) < 2_000_000
    outside = set(re.findall(r"https?://[^\"'\s]+", page))
    assert outside == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(fetch|XMLHttpRequest|eval|innerHTML|import)\s*[(.]", page)


def test_only_its_own_script_and_style_run():
    page = explorer_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for name, opening in (("script", '<script type="module">'), ("style", "<style>")):
        text = page.partition(opening)[2].partition(f"</{name}>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(
        r"\s(style|on\w+)=", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    )


def test_the_command_writes_the_page_and_replaces_no_other_file(tmp_path, capsys):
    path = tmp_path / "page.html"
    for _ in range(2):
        assert main(["explorer", "-o", str(path)]) == 0
    assert path.read_text("utf-8") == explorer_html()
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    assert main(["explorer", "-o", str(tmp_path / "notes.txt")]) == 1
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"
    assert main(["explorer"]) == 2
    capsys.readouterr()


def test_importing_neyman_loads_none_of_it():
    code = "import sys, neyman; print([name for name in sys.modules if 'explorer' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def states(draw, count):
    """Return addresses, each with its kind, what is read, and the same guarantee of the library."""
    return [state(draw) for _ in range(count)]


def state(draw):
    number = float(f"{10 ** draw.uniform(-1.5, 0.6):.3g}")
    failure = float(f"{10 ** draw.uniform(-9, -3):.2g}")
    times, size = draw.choice([1, 1, draw.randrange(2, 13)]), draw.choice([1, 1, 2, 5])
    noise, (rate, steps) = draw.choice(NOISES), draw.choice(QUICK)
    several = {"count": times, "group": size}
    kind, chosen, curve = draw.choice(
        [
            ("gaussian", {"mu": number} | several, lambda: group(ny.gdp(number), size) ** times),
            (
                "pure",
                {"epsilon": number} | several,
                lambda: group(ny.pure_dp(number), size) ** times,
            ),
            (
                "laplace",
                {"epsilon": number, "group": size},
                lambda: group(ny.laplace(number), size),
            ),
            (
                "approx",
                {"epsilon": number, "failure": failure, "count": times},
                lambda: ny.approx_dp(number, failure) ** times,
            ),
            (
                "training",
                {"phases": f"{noise:g},{rate:g},{steps}"},
                lambda: ny.dp_sgd(noise, rate, steps),
            ),
        ]
    )
    beside = {
        "delta": draw.choice(DELTAS[1::2]),
        "prior": draw.choice(PRIORS),
        "alpha": float(f"{10 ** draw.uniform(-5, -0.1):.2g}"),
    }
    words = "&".join(
        f"{name}={value}" for name, value in ({"kind": kind} | chosen | beside).items()
    )
    return kind, f"#{words}", beside, curve


def shown(page, address):
    """Return the numbers of the page at an address, by their names."""
    before = page.run("document.documentElement.dataset.drawn")
    page.run(f"location.hash = {json.dumps(address)}")
    page.wait(f"document.documentElement.dataset.drawn > {before}")
    found = page.run(
        "Object.fromEntries([...document.querySelectorAll('[data-view]')].map((x) => "
        "[x.dataset.view, [x.dataset.lower, x.dataset.upper]]))"
    )
    return {name: tuple(map(float, ends)) for name, ends in found.items()}


def agrees(found, true, *, exact):
    """Check that the page's bracket holds the library's, and is no wider where it is exact."""
    low, high = found
    assert low <= true.upper * (1 + 1e-12)
    assert high >= true.lower * (1 - 1e-12)
    assert not exact or high <= true.upper * (1 + NEAR) + 1e-300


def compare(found, kind, beside, curve):
    chance = curve.delta(ODDS[PRIORS.index(beside["prior"])], bracket=True)
    agrees(found["epsilon"], curve.epsilon(beside["delta"], bracket=True), exact=True)
    agrees(found["advantage"], curve.advantage(bracket=True), exact=True)
    less = min(float(beside["prior"]), 1 - float(beside["prior"]))
    assert found["guess"][0] <= 1 - less + less * chance.upper + 1e-12
    assert 1 - less + less * chance.lower - 1e-12 <= found["guess"][1]
    assert found["guess"][1] <= 1 - less + less * chance.upper + 1e-9
    if kind != "training":
        agrees(found["tpr"], curve.tpr(beside["alpha"], bracket=True), exact=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = tmp_path_factory.mktemp("explorer") / "page.html"
    place.write_text(explorer_html(), encoding="utf-8")
    with chromium() as browser:
        browser.screen(1280, 900)
        browser.open(place.as_uri())
        yield browser


@pytest.fixture(autouse=True)
def nothing_is_complained_of(request):
    yield
    if "page" in request.fixturenames:
        browser = request.getfixturevalue("page")
        assert browser.complaints == []
        assert all(address.startswith("file:") for address in browser.requests)


@needs_browser
@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.soak)])
def test_random_states_say_what_the_library_says(page, count):
    for kind, address, beside, curve in states(random.Random(count), count):
        compare(shown(page, address), kind, beside, curve())
        # Chromium changes an address 200 times in ten seconds, and then complains.
        time.sleep(0.05 if count > 100 else 0)


@needs_browser
def test_a_state_is_its_address(page):
    address = (
        "#kind=training&group=1&phases=1,0.01,1000;2,0.02,300&delta=1e-6&prior=0.1&alpha=0.003"
    )
    shown(page, address)
    # The address is written anew a little later.
    page.run("new Promise((done) => setTimeout(done, 400))")
    assert page.run("location.hash").replace("1e-6", "0.000001") == address.replace(
        "1e-6", "0.000001"
    )


@needs_browser
def test_what_is_no_state_is_mended(page):
    found = shown(page, "#kind=nonsense&mu=-3&count=1e99&delta=x&prior=2&alpha=<b>")
    page.wait("location.hash.startsWith('#kind=gaussian&mu=0.01&count=200')")
    assert found["epsilon"][1] > 0


@needs_browser
def test_a_phone_shows_all_without_moving_sideways(page):
    for address in (
        "#kind=gaussian",
        "#kind=training&phases=1,0.01,1000;1,0.01,1000",
        "#kind=approx",
    ):
        page.screen(390, 844, mobile=True)
        shown(page, address)
        page.run("document.getElementById('example').click()")
        assert page.run("document.documentElement.scrollWidth") <= 390
    page.run("document.getElementById('clear').click()")
    page.screen(1280, 900)


@needs_browser
def test_the_line_and_the_sliders_move_by_the_keyboard(page):
    shown(page, "#kind=gaussian&alpha=0.05")
    for focus, key, code in (
        ("#tradeoff .handle", "ArrowRight", 39),
        ("#alpha", "ArrowLeft", 37),
        ("#mu-slider", "ArrowRight", 39),
    ):
        before = page.run("location.hash")
        page.run(f"document.querySelector('{focus}').focus()")
        page.key(key, code)
        page.run("new Promise(requestAnimationFrame)")
        page.wait(f"location.hash !== {json.dumps(before)}")
    assert (
        page.run("document.querySelector('#power .handle').getAttribute('aria-valuetext')").count(
            "%"
        )
        == 2
    )


@needs_browser
def test_every_picture_has_words_and_every_field_a_name(page):
    shown(page, "#kind=training&phases=1,0.01,1000")
    page.run("document.getElementById('example').click()")
    unnamed = (
        "[...document.querySelectorAll('input, select, textarea, button, [role=slider]')]"
        ".filter((x) => !(x.labels && x.labels.length) && !x.getAttribute('aria-label')"
        " && !x.textContent.trim()).length"
    )
    assert page.run(unnamed) == 0
    pictures = "[...document.querySelectorAll('figure:not([hidden]) svg.picture')]"
    assert page.run(f"{pictures}.length") >= 6
    assert page.run(
        f"{pictures}.every((x) => x.getAttribute('aria-label') && "
        "document.getElementById(x.getAttribute('aria-describedby')).textContent.length > 20)"
    )
    page.run("document.getElementById('clear').click()")


@needs_browser
def test_scores_are_tested_in_the_page_and_wrong_files_refused(page):
    shown(page, "#kind=gaussian&mu=1")
    page.run("document.getElementById('example').click()")
    assert "refute the claim" in page.run("document.querySelector('#audit figcaption').textContent")
    drop = (
        "(text) => { const files = new DataTransfer();"
        " files.items.add(new File([text], 'x.csv'));"
        " const event = new DragEvent('drop', { dataTransfer: files, cancelable: true });"
        " document.dispatchEvent(event); }"
    )
    page.run(f"({drop})('a,b\\n1,2')")
    page.wait("!document.getElementById('refusal').hidden")
    assert "score" in page.run("document.getElementById('refusal').textContent")
    lines = "\\n".join(["score,inside", *(f"{k % 7},{k % 2}" for k in range(40))])
    page.run(f"({drop})('{lines}')")
    page.wait("!document.getElementById('audit').hidden")
    assert "do not refute" in page.run("document.querySelector('#audit figcaption').textContent")
    page.run("document.getElementById('clear').click()")


def copied(page, form):
    page.run(f"document.getElementById('form-{form}').click()")
    return page.run("document.getElementById('copied').value")


def verdicts(page, address):
    shown(page, address)
    return page.run(
        "Object.fromEntries([...document.querySelectorAll('[data-method]')].map((x) => "
        "[x.dataset.method, x.nextElementSibling.textContent]))"
    )


@needs_browser
def test_a_number_is_called_large_enough_only_where_that_is_known(page):
    often = verdicts(page, "#kind=training&phases=1,0.05,1000")
    assert often["limit"] == "Too small: this is not a guarantee"
    assert often["renyi"].startswith("Valid, 1.")
    # So little is known from below that nobody can say.
    several = verdicts(page, "#kind=training&phases=1,0.05,1000;1,0.05,1000")
    assert several["limit"] == "No proof: it may be too small"
    whole = verdicts(page, "#kind=gaussian&mu=8")
    assert whole["classic"] == "Too small: this is not a guarantee"


@needs_browser
def test_what_is_copied_is_understood(page, capsys):
    paid = set[str]()
    for kind, address, _, curve in states(random.Random(7), 10):
        found = shown(page, address)
        told = {}
        exec(copied(page, "python").replace("print", "told.update").partition("told")[0], told)
        assert told["f"] == curve()
        spec = tomllib.loads(copied(page, "spec"))
        assert kind == "training" or spec["budget"]
        for line in copied(page, "command").splitlines():
            parser_of_all().parse_args(shlex.split(line)[1:])
        if kind == "gaussian" and kind not in paid:
            paid.add(kind)
            assert main(shlex.split(copied(page, "command"))[1:]) == 0
            said = re.search(r"epsilon[^\n]*?([\d.]+)\n", capsys.readouterr().out)
            assert abs(float(said[1]) / found["epsilon"][1] - 1) < NEAR
        assert copied(page, "sentence").count(". ") >= 2


@needs_browser
def test_both_themes_and_paper(page, tmp_path):
    for dark in (False, True):
        page.screen(1280, 900, dark=dark)
        page.shot(Path(tmp_path / "shot.png"), whole=False)
    ground = "getComputedStyle(document.body).backgroundColor"
    night = page.run(ground)
    page.run("document.getElementById('theme').click()")
    assert page.run(ground) != night
    page.run("document.getElementById('theme').click(), document.getElementById('theme').click()")
    page.screen(1280, 900)
    printed = page.call("Page.printToPDF", printBackground=False)
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
