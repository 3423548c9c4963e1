"""A guarantee in words: every number is read back and held to the views."""

import json
import re
import string
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neyman as ny
from neyman.errors import InvalidParameter, NotCertified, RelationMismatch
from neyman.numerics import exact
from neyman.released import Guarantee
from neyman.report import _language, explain
from neyman.report._explained_numbers import Attacks
from neyman.report._language import read_language

LANGUAGES = ("en", "ko", "zh")
CURVES = {
    "nothing learnt": ny.curves.identity(),
    "gaussian": ny.gdp(1),
    "weak gaussian": ny.gdp(12),
    "pure": ny.pure_dp(1),
    "approximate": ny.approx_dp(1, 1e-5),
    "laplace and gaussian": ny.laplace(1) @ ny.gdp(0.5),
    "training": ny.dp_sgd(noise_multiplier=1.1, sampling_probability=0.01, steps=500),
    "unlike directions": ny.TradeOff(ny.gdp(1).remove, ny.laplace(2).remove),
    "no privacy": ny.approx_dp(0, 1),
}
PRIORS, FPRS, FLAGGED, DELTAS = [0.5, 0.1, 0.97], [1e-5, 0.01, 0.05], [0.1], [1e-5, 0]


def of(curve, language="en", **changes):
    asked = {"priors": PRIORS, "fprs": FPRS, "flagged": FLAGGED, "deltas": DELTAS}
    return explain(curve, language=language, **{**asked, **changes})


@pytest.fixture(scope="module", params=CURVES)
def named(request):
    """A curve, and what is said of it in every language."""
    curve = CURVES[request.param]
    # The contour takes its time, and once is enough for it.
    languages = LANGUAGES if curve.method == "closed form" else ("en",)
    return curve, {language: of(curve, language) for language in languages}


def sentences(explanation, name=None):
    found = [said for section in explanation.sections for said in section.sentences]
    return [said for said in found if name in (None, said.name)]


def read_back(language, name, text):
    """Return the numbers that a reader of the sentence finds, by the fields of its template."""
    words = read_language(language)
    pattern, seen = "", set()
    for before, field, _, _ in string.Formatter().parse(words.sentences[name]):
        pattern += re.escape(before)
        if field:
            pattern += f"(?P={field})" if field in seen else f"(?P<{field}>.+?)"
            seen.add(field)
    found = re.fullmatch(pattern, text)
    assert found, (name, text)
    return {
        field: word.replace(words.group, "").replace(words.decimal, ".")
        for field, word in found.groupdict().items()
    }


# -- what is printed is what was found -------------------------------------------------------------


@pytest.mark.shows("explanation")
def test_every_number_in_the_text_is_the_number_of_the_record(named):
    for language, told in named[1].items():
        for said in sentences(told):
            if said.name in ("curve", "unit", "assumption"):
                continue
            found = read_back(language, said.name, said.text)
            assert {k: str(v) for k, v in said.values.items()} == found


def test_every_language_says_the_same_with_the_same_numbers(named):
    first, *others = (
        [(said.name, said.values) for said in sentences(told)] for told in named[1].values()
    )
    assert all(other == first for other in others)


# -- the numbers are on the attacker's side, and near ----------------------------------------------


def test_powers_are_those_of_the_view_rounded_up(named):
    curve, told = named
    said = sentences(told["en"], "power")
    assert len(said) == len(FPRS)
    for sentence, fpr in zip(said, FPRS, strict=True):
        base, wrong, found = (sentence.values[k] for k in ("base", "wrong", "found"))
        assert Fraction(wrong, base) == exact(fpr, "fpr")
        lower, upper = curve.tpr(fpr, bracket=True)
        assert found >= exact(lower, "tpr") * base
        assert found <= upper * base * (1 + 1e-9) + 1
    (gain,) = sentences(told["en"], "advantage")
    lower, upper = curve.advantage(bracket=True)
    assert exact(lower, "x") * gain.values["base"] <= gain.values["gain"]
    assert gain.values["gain"] <= upper * gain.values["base"] + 1


def test_what_is_settled_for_certain_is_the_power_without_false_alarms(named):
    curve, told = named
    certain = curve.tpr(0.0)
    none, some = sentences(told["en"], "certain_none"), sentences(told["en"], "certain")
    assert bool(none) == (certain == 0) != bool(some)
    for said in some:
        assert certain * 0.999 <= said.values["found"] / said.values["base"] <= certain * 1.11
    assert bool(sentences(told["en"], "no_limit")) == (certain == 1)


def test_guesses_are_those_of_the_bayes_error(named):
    curve, told = named
    for said, prior in zip(sentences(told["en"], "guess"), PRIORS, strict=True):
        base, true = said.values["base"], said.values["true"]
        assert Fraction(true, base) == exact(prior, "prior")
        least, most = curve.bayes_error(prior, bracket=True)
        assert said.values["right"] >= (1 - most - 1e-15) * base
        assert said.values["right"] <= (1 - least) * base + 1
        assert said.values["chance"] == max(true, base - true)


def test_contents_are_found_as_often_as_the_views_say(named):
    curve, told = named
    said = {one.values["candidates"]: one.values for one in sentences(told["en"], "one_of")}
    assert list(said) == [10, 1000]
    for many, values in said.items():
        lower, upper = curve.identification(many, bracket=True)
        assert values["chance"] * many == values["base"]
        assert exact(lower, "x") * values["base"] <= values["found"] <= upper * values["base"] + 1
    (once,) = sentences(told["en"], "reconstructed")
    values = once.values
    lower, upper = curve.reconstruction(1e-6, bracket=True)
    assert Fraction(values["chance"], values["base"]) == Fraction(1, 10**6)
    assert exact(lower, "x") * values["base"] <= values["found"] <= upper * values["base"] + 1


def test_contents_that_are_neighbours_of_each_other_are_harder_to_tell_apart():
    found = [
        sentences(of(curve, candidates=[2], chances=[]), "one_of")[0].values["found"]
        for curve in (
            Guarantee(curve=ny.gdp(1), neighbors=relation, unit="a row", assumptions=())
            for relation in ("add_remove", "replace_one")
        )
    ]
    assert found == [1683, 1383]
    for wrong in ({"candidates": [1]}, {"candidates": 10}, {"chances": [0]}):
        with pytest.raises(InvalidParameter):
            of(ny.gdp(1), **wrong)


def test_no_test_that_flags_so_many_is_right_more_often(named):
    """Every false positive rate, with the power that the lower bound proves possible."""
    curve, told = named
    rates = [0.0, *(10.0 ** (-k / 3) for k in range(24, -1, -1))]
    powers = curve.tpr(rates, bracket=True).lower
    pairs = [(prior, share) for prior in PRIORS for share in FLAGGED]
    for said, (prior, share) in zip(sentences(told["en"], "flagged"), pairs, strict=True):
        values = said.values
        assert Fraction(values["flagged"], values["base"]) == exact(share, "flagged")
        assert values["wrong"] + values["right"] == values["flagged"]
        assert values["chance"] + values["rest"] == values["flagged"]
        shown = values["right"] / values["flagged"]
        best = 0.0
        for rate, power in zip(rates, powers, strict=True):
            named_share = prior * power + (1 - prior) * rate
            if named_share >= share:
                # A coin confirms some of them: the share of the right ones stays.
                best = max(best, prior * power / named_share)
        assert shown >= best - 1e-12
        assert shown >= prior - 1e-12


@pytest.mark.parametrize("name", [name for name in CURVES if CURVES[name].method == "closed form"])
def test_the_share_of_the_right_ones_is_near_the_best(name):
    """Solve prior tpr + (1 - prior) alpha = flagged by halving, apart from the code."""
    curve = CURVES[name]
    pairs = [(prior, share) for prior in PRIORS for share in FLAGGED]
    for said, (prior, share) in zip(sentences(of(curve), "flagged"), pairs, strict=True):
        low, high = 0.0, share
        for _ in range(30):
            middle = (low + high) / 2
            under = prior * curve.tpr(middle) + (1 - prior) * middle <= share
            low, high = (middle, high) if under else (low, middle)
        right = min(share - (1 - prior) * low, prior) * said.values["base"]
        assert right - 1e-3 <= said.values["right"] <= right * (1 + 1e-5) + 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), 1, 5, 30])
@pytest.mark.parametrize("prior", [Fraction(1, 1000), Fraction(1, 2), Fraction(9, 10)])
def test_few_confirmations_by_pure_privacy_are_right_as_often_as_the_odds_allow(epsilon, prior):
    """Up to tpr = 1 - 1 / (1 + e^epsilon) the odds of a confirmation are e^epsilon to one."""
    with mp.workdps(40):
        factor = mp.e ** mp.mpf(Fraction(epsilon).numerator / mp.mpf(Fraction(epsilon).denominator))
        chance = mp.mpf(prior.numerator) / prior.denominator
        share = Fraction(1, 10**6)
        best = chance * factor / (chance * factor + 1 - chance) / 10**6
        found = Attacks(ny.pure_dp(epsilon)).rightly(prior, share)
        found = mp.mpf(found.numerator) / found.denominator
        assert best <= found <= best * (1 + 1e-5)


def test_beliefs_after_any_outcome_are_those_of_pure_privacy():
    for epsilon in (0.1, 1, 8):
        for prior, said in zip(PRIORS, sentences(of(ny.pure_dp(epsilon)), "outcome"), strict=True):
            odds = prior / (1 - prior)
            most, least = (odds * 2.718281828459045**sign for sign in (epsilon, -epsilon))
            base = said.values["base"]
            assert base - said.values["most"] >= 9
            assert 0 <= said.values["most"] - most / (1 + most) * base < 1 + 1e-9
            assert 0 <= least / (1 + least) * base - said.values["least"] < 1 + 1e-9


@pytest.mark.parametrize("curve", [ny.gdp(0.1), ny.approx_dp(0.1, 1e-9), ny.pure_dp(50)])
def test_without_a_limit_on_single_outcomes_none_is_claimed(curve):
    assert sentences(of(curve), "outcome_unlimited")
    assert not sentences(of(curve), "outcome")


def test_the_terms_of_the_field_are_rounded_up(named):
    curve, told = named
    said = {each.values["delta"]: each for each in sentences(told["en"], "epsilon")}
    for delta in DELTAS:
        epsilon = curve.epsilon(float(delta))
        written = "0" if delta == 0 else "1e-5"
        assert (written in said) == (epsilon < float("inf"))
        if written in said:
            printed = float(said[written].values["epsilon"])
            assert epsilon <= printed <= epsilon * (1 + 1e-5)
    none = [each.values["delta"] for each in sentences(told["en"], "epsilon_none")]
    assert len(none) + len(said) == len(DELTAS)
    for each in sentences(told["en"], "mu"):
        assert curve.mu() <= float(each.values["mu"]) <= curve.mu() * (1 + 1e-5)
    for each in sentences(told["en"], "mu_slack"):
        mu = curve.mu(slack=1e-5)
        assert mu <= float(each.values["mu"]) <= mu * (1 + 1e-5)


# -- the extremes ----------------------------------------------------------------------------------


def test_a_mu_that_says_far_less_than_the_curve_is_left_out():
    sampled = ny.accounting.dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    assert sampled.mu() > 30
    assert not sentences(of(sampled, deltas=()), "mu")
    assert sentences(of(sampled, deltas=(Fraction(1, 10**5),)), "mu_slack")
    assert sentences(of(ny.gdp(1), deltas=()), "mu")


def test_perfect_privacy_leaves_chance_exactly():
    told = of(ny.curves.identity())
    for said in sentences(told, "power"):
        assert said.values["found"] == said.values["wrong"]
    for said in sentences(told, "guess"):
        assert said.values["right"] == said.values["chance"]
    for said in sentences(told, "flagged"):
        assert said.values["right"] == said.values["chance"]
    for said in sentences(told, "outcome"):
        assert said.values["least"] == said.values["true"] == said.values["most"]
    assert sentences(told, "advantage")[0].values["gain"] == 0
    assert len(sentences(told, "outcome")) == len(PRIORS)


def test_a_guarantee_of_nothing_says_so():
    told = of(ny.approx_dp(0, 1))
    for said in sentences(told, "power"):
        assert said.values["found"] == said.values["base"]
    for said in sentences(told, "guess"):
        assert said.values["right"] == said.values["base"]
    for said in sentences(told, "flagged"):
        true, flagged = said.values["true"], said.values["flagged"]
        assert said.values["right"] == min(true, flagged)
    assert len(sentences(told, "no_limit")) == 1
    assert len(sentences(told, "epsilon_none")) == 2


def test_a_billionth_is_still_counted():
    (said,) = sentences(of(ny.approx_dp(0, 1e-30)), "certain")
    assert said.values == {"base": 10**9, "found": 1}


# -- a weaker guarantee never reads as a stronger one ----------------------------------------------

WORSE_IF_LARGER = {
    "power": "found",
    "advantage": "gain",
    "guess": "right",
    "flagged": "right",
}


def readings(curve):
    told = of(curve, priors=[0.5, 0.1], fprs=[0.01], flagged=[0.1], deltas=[1e-5])
    read = {
        name: [said.values[field] for said in sentences(told, name)]
        for name, field in WORSE_IF_LARGER.items()
    }
    beliefs = [said.values["most"] / said.values["base"] for said in sentences(told, "outcome")]
    certain = [said.values["found"] / said.values["base"] for said in sentences(told, "certain")]
    epsilons = [
        float("inf") if said.name == "epsilon_none" else float(said.values["epsilon"])
        for said in sentences(told)
        if said.name.startswith("epsilon")
    ]
    # No limit on single outcomes is the weakest claim of all.
    return read | {
        "beliefs": beliefs or [1.0] * 2,
        "certain": certain or [0.0],
        "epsilon": epsilons,
    }


FAMILIES = {
    "gaussian": ny.gdp,
    "pure": ny.pure_dp,
    "approximate": lambda x: ny.approx_dp(x, x / 100),
}


def check_no_stronger(curve, weaker):
    less, more = readings(curve), readings(weaker)
    for name, stronger in less.items():
        for first, second in zip(stronger, more[name], strict=True):
            assert first <= second, name


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=4, deadline=None, derandomize=True)
@given(x=st.integers(1, 800), step=st.integers(1, 80))
def test_a_weaker_guarantee_never_reads_as_a_stronger_one(family, x, step):
    make = FAMILIES[family]
    check_no_stronger(make(Fraction(x, 100)), make(Fraction(x + step, 100)))


@pytest.mark.parametrize("name", [name for name in CURVES if name != "unlike directions"])
def test_composition_never_reads_as_stronger(name):
    check_no_stronger(CURVES[name], CURVES[name] @ ny.gdp(0.25))


# -- who, and what is not said ---------------------------------------------------------------------


def guarantee(**changes):
    whole = {
        "curve": ny.gdp(1),
        "neighbors": "add_remove",
        "unit": "all rows of one patient",
        "assumptions": ("Noise is fresh.", "Bounds are public."),
    }
    return Guarantee(**{**whole, **changes})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_unit_the_relation_and_the_assumptions_are_said(language, neighbors):
    told = of(guarantee(neighbors=neighbors), language)
    names = [said.name for said in told.sections[0].sentences]
    assert names == ["unit", neighbors]
    assert "all rows of one patient" in told.text
    assert "“Noise is fresh.”" in told.text
    assert "“Bounds are public.”" in told.text


def test_a_bare_curve_says_that_unit_relation_and_assumptions_are_missing():
    names = [said.name for said in sentences(of(ny.gdp(1)))]
    assert names[:2] == ["unit_unnamed", "relation_unnamed"]
    assert "assumed_unnamed" in names


def test_a_curve_that_is_proved_for_one_relation_names_it():
    run = CURVES["training"]
    told = explain(run, language="en", priors=[0.5], fprs=[0.01], flagged=[])
    assert sentences(told)[1].name == "add_remove"
    with pytest.raises(RelationMismatch, match="'add_remove'"):
        of(guarantee(curve=run, neighbors="replace_one"))


def test_what_is_not_promised_is_always_said(named):
    for told in named[1].values():
        (section,) = (each for each in told.sections if each.name == "not_promised")
        names = {said.name for said in section.sentences}
        assert {"population", "elsewhere", "together", "others", "delta"} <= names


# -- the object ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_record_and_the_page_hold_what_the_text_holds(language):
    told = of(guarantee(unit="<b>one & all</b>"), language)
    record = json.loads(json.dumps(told.to_json()))
    assert record["format"] == "neyman.explanation"
    texts = [said["text"] for section in record["sections"] for said in section["sentences"]]
    assert [said.text for said in sentences(told)] == texts
    assert all(text in str(told) for text in texts)
    assert ny.read(record["curve"]) == ny.gdp(1)
    page = told._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;one &amp; all" in page
    assert page.startswith(f'<section lang="{language}">')


def test_what_cannot_be_said_is_refused():
    for wrong in ({"priors": [1]}, {"fprs": [Fraction(1, 3)]}, {"flagged": [1e-9]}):
        with pytest.raises(InvalidParameter, match="must be decimals of at most nine places"):
            of(ny.gdp(1), **wrong)
    with pytest.raises(InvalidParameter, match="priors must have at least one share"):
        of(ny.gdp(1), priors=[])
    with pytest.raises(InvalidParameter, match="deltas must be in \\[0, 1\\); got 1"):
        of(ny.gdp(1), deltas=[1])
    with pytest.raises(InvalidParameter, match="'en', 'ko', 'zh'"):
        of(ny.gdp(1), "../en")
    with pytest.raises(InvalidParameter, match="must be a Guarantee"):
        of(ny.gdp(1).remove)


def test_estimates_are_not_explained():
    half = np.log(2 * np.pi) / 2
    curve = ny.curves.densities(
        lambda x: -x * x / 2 - half, lambda x: -((x - 1) ** 2) / 2 - half, low=-30, high=31
    )
    with pytest.raises(NotCertified):
        of(curve)


# -- the languages ---------------------------------------------------------------------------------


def fields(template):
    return {field for _, field, _, _ in string.Formatter().parse(template) if field}


def test_every_language_has_every_sentence_with_the_same_fields():
    places = Path(_language.__file__).with_name("languages").glob("*.toml")
    known = {place.stem: read_language(place.stem) for place in places}
    assert sorted(known) == sorted(LANGUAGES)
    first = known["en"]
    for words in known.values():
        assert list(words.headings) == list(first.headings)
        assert list(words.sentences) == list(first.sentences)
        assert words.title.strip()
        for name, template in words.sentences.items():
            assert template.strip()
            assert fields(template) == fields(first.sentences[name]), name
        texts = [*words.headings.values(), *words.sentences.values()]
        assert len(set(texts)) == len(texts)


def test_every_sentence_of_a_language_file_is_said_by_something():
    said = {
        sentence.name
        for curve in (ny.gdp(1), ny.pure_dp(1), ny.approx_dp(0, 1))
        for given in (curve, guarantee(), guarantee(neighbors="replace_one"))
        for deltas in (DELTAS, ())
        for sentence in sentences(of(given, priors=[0.5], deltas=deltas))
    }
    kept = {name for name in read_language("en").sentences if not name.startswith("training")}
    assert said == kept


def test_no_korean_number_is_followed_by_a_particle_that_depends_on_it():
    """After a count comes a counter; after other numbers what no final consonant changes."""
    counts = {"base", "true", "false", "wrong", "found", "gain", "right", "chance", "flagged"}
    counts |= {"rest", "least", "most"}
    for name, template in read_language("ko").sentences.items():
        for field, after in re.findall(r"\{(\w+)\}(.?.?)", template):
            if field in counts:
                assert after.startswith("건"), name
            else:
                assert (
                    after.startswith((".", ",", ")", "-", "”", "배", "만큼", "단계")) or not after
                ), (
                    name,
                    after,
                )


@pytest.mark.parametrize(("language", "script"), [("ko", "[가-힣]"), ("zh", "[一-龥]")])
def test_every_sentence_is_written_in_its_script(language, script):
    words = read_language(language)
    for name, template in {**words.headings, **words.sentences}.items():
        if name != "assumption":
            assert re.search(script, template), name
            assert not re.search(
                "[A-Za-z]{5,}", re.sub(r"\{\w+\}|noise multiplier|epsilon|delta", "", template)
            )
