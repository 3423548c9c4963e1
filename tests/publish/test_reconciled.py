"""One publication shows one number for each fact, with an interval that holds."""

import json
import pickle
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main
from neyman.publish._reconciled import reconciled
from neyman.released import Release
from neyman.tables import Bins, Count, Keys, Mean, Sum, Values
from neyman.testing import SeededBits

WARDS = {"ward": ["north", "south"]}
CELLS = WARDS | {"sex": ["f", "m"]}


def rows(n=3000, seed=1):
    draw = np.random.default_rng(seed)
    sex = draw.choice(["f", "m"], n)
    return pa.table(
        {
            "patient": draw.integers(0, n // 3, n),
            "ward": draw.choice(["north", "south"], n, p=[0.7, 0.3]),
            "sex": sex,
            "age": draw.integers(20, 90, n),
            "minutes": pa.array(draw.gamma(2, 20, n).round(), mask=draw.random(n) < 0.2),
        }
    )


def opened(place, data=None, **given):
    given = {"unit": ny.Rows(), "complete": ["age"]} | given
    return ny.open(
        rows() if data is None else data,
        name="visits",
        budget=ny.gdp(50),
        ledger=place / "visits.ledger",
        bounds={"age": (0, 100), "minutes": (0, 240)},
        **given,
    )


def published(db, **asked):
    """Release what is asked, each as (question, mu), and return what a page shows of it."""
    for name, (question, mu) in asked.items():
        question.release(name, mu=mu)
    found = db.publication("Visits")
    return dict(zip(found.names, found.releases, strict=True))


def drawn_again(release, exact, seed):
    """Return the same release with other noise, of a fixed seed."""
    drawn = release.drawn
    noisy = drawn.noise.add_noise(exact, SeededBits(seed))
    again = replace(release.alone, drawn=replace(drawn, integers=noisy), notes=("made again",))
    return again.alone


def many(draws, confidence=0.95, **asked):
    """Yield what a page shows, draw after draw."""
    first = {name: question.release(name, **spent) for name, (question, spent) in asked.items()}
    exact = {name: question.compute() for name, (question, _) in asked.items()}
    for seed in range(draws):
        again = [
            replace(
                drawn_again(one, exact[name], 100 * seed + place),
                confidence=confidence,
            )
            for place, (name, one) in enumerate(first.items())
        ]
        yield dict(zip(first, reconciled(list(first), again), strict=True))


def counts(release):
    return [release.columns[name] for name in ("count", "lower", "upper")]


@pytest.mark.shows("reconciled")
@pytest.mark.parametrize("draws", [150, pytest.param(2000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("spent", [{"mu": 0.2}, {"epsilon": 0.3}], ids=["Gaussian", "Laplace"])
def test_a_combined_count_has_the_variance_that_is_said_and_its_interval_holds(
    tmp_path, spent, draws
):
    db, times = opened(tmp_path), {"a": 1, "b": 2, "c": 4}
    (word, base) = next(iter(spent.items()))
    asked = {name: (db.count(by=WARDS), {word: k * base}) for name, k in times.items()}
    truth, errors, held, short = db.count(by=WARDS).compute(), [], 0, 0
    for page in many(draws, **asked):
        found = page["a"].columns
        assert all(one.columns["count"] == found["count"] for one in page.values())
        errors += list(np.array(found["count"]) - truth)
        low, high = np.array(found["lower"]), np.array(found["upper"])
        held += int(np.sum((low <= truth) & (truth <= high)))
        # The broken twin: an interval of 0.8 of its width.
        middle, part = (low + high) / 2, 0.8 * (high - low) / 2
        short += int(np.sum(np.abs(middle - truth) <= part))
    number, said = 2 * draws, found["stddev"][0] ** 2 + 1 / 12
    alone = 1 / sum(1 / one.alone.columns["stddev"][0] ** 2 for one in page.values())
    assert found["stddev"][0] ** 2 == pytest.approx(alone)
    # Four standard deviations of a mean of squares: kurtosis at most 6.
    assert np.mean(np.square(errors)) == pytest.approx(said, rel=4 * np.sqrt(5 / number))
    assert abs(np.mean(errors)) < 4 * np.sqrt(said / number)
    least = 0.95 - 3 * np.sqrt(0.0475 / number)
    assert held >= least * number
    if word == "mu":
        assert short < least * number


@pytest.mark.shows("reconciled")
def test_every_count_of_a_group_is_one_number(tmp_path):
    db = opened(tmp_path)
    page = published(
        db,
        visits=(db.count(by=WARDS), 0.2),
        again=(db.count(by=WARDS), 0.3),
        age=(db.mean("age", by=WARDS), 0.3),
        spread=(db.variance("age", by=WARDS), 0.3),
        several=(
            db.several([Count(), Mean(db.table.measured("age"))], by=WARDS),
            0.3,
        ),
        by_line=(db.linear_regression("age", ["minutes"], by=WARDS), 0.3),
    )
    found = {tuple(page[name].columns["count"]) for name in ("visits", "again", "age", "spread")}
    found |= {tuple(page["several"].columns[name]) for name in ("count", "mean_age_count")}
    assert len(found) == 1
    assert all(isinstance(count, int) for count in found.pop())
    # Rows with known minutes are fewer, and another number.
    assert page["by_line"].columns["count"][0] < 0.9 * page["visits"].columns["count"][0]
    assert page["by_line"].notes == (
        "These counts are of rows with a known minutes; those of all rows are in visits, "
        "again, age, spread and several.",
    )
    (said,) = page["visits"].notes
    assert said == (
        "The counts of rows are combined from 5 releases (visits, again, age, spread, several), "
        "which show the same number."
    )
    means = {tuple(page[name].columns["mean"]) for name in ("age", "spread")}
    assert means == {tuple(page["several"].columns["mean_age"])}


def test_a_mean_times_its_count_is_the_total(tmp_path):
    db = opened(tmp_path)
    page = published(
        db,
        mean=(db.mean("minutes", by=WARDS), 0.2),
        total=(db.sum("minutes", by=WARDS), 0.2),
        spread=(db.variance("minutes", by=WARDS), 0.2),
    )
    means, totals = page["mean"].columns, page["total"].columns["sum"]
    assert np.array(means["mean"]) * np.array(means["count"]) == pytest.approx(totals, rel=1e-12)
    assert page["spread"].columns["mean"] == means["mean"]
    assert any(
        "total of minutes is combined from 3 releases" in note for note in page["mean"].notes
    )
    for name in ("mean", "spread"):
        head = "" if name == "mean" else "mean_"
        columns = page[name].columns
        for low, mean, high in zip(
            columns[f"{head}lower"], columns["mean"], columns[f"{head}upper"], strict=True
        ):
            assert low <= mean <= high


@pytest.mark.parametrize("draws", [40, pytest.param(400, marks=pytest.mark.soak)])
def test_intervals_of_combined_means_and_totals_hold(tmp_path, draws):
    db, held, narrower = opened(tmp_path), {}, 0
    asked = {
        "count": (db.count(), {"mu": 0.05}),
        "mean": (db.mean("age"), {"mu": 0.05}),
        "sum": (db.sum("age"), {"mu": 0.05}),
        "variance": (db.variance("age"), {"mu": 0.05}),
    }
    ages = np.array(rows()["age"])
    truth = {"count": len(ages), "mean": ages.mean(), "sum": ages.sum(), "variance": ages.var()}
    for page in many(draws, **asked):
        for name, one in page.items():
            cells = {key: column[0] for key, column in one.columns.items()}
            held.setdefault(name, []).append(cells["lower"] <= truth[name] <= cells["upper"])
            own = one.alone.columns
            narrower += cells["upper"] - cells["lower"] < own["upper"][0] - own["lower"][0]
        cells = page["variance"].columns
        inside = cells["mean_lower"][0] <= truth["mean"] <= cells["mean_upper"][0]
        held.setdefault("mean of variance", []).append(inside)
        count, mean, total = (page[name].columns[name][0] for name in ("count", "mean", "sum"))
        assert count * mean == pytest.approx(total, rel=1e-12)
    least = 0.95 - 3 * np.sqrt(0.0475 / draws)
    assert {name: np.mean(flags) for name, flags in held.items() if np.mean(flags) < least} == {}
    assert narrower > 0.9 * 3 * draws


def test_what_only_one_release_tells_stays_as_it_is_bit_for_bit(tmp_path):
    db = opened(tmp_path, complete=[])
    asked = {
        "count": db.count(by=WARDS),
        "mean": db.mean("age", by={"sex": ["f", "m"]}),
        "quantiles": db.quantiles("minutes", by=WARDS),
        "table": db.crosstab(CELLS, [["ward"], []]),
        "patients": db.where("age >= 50").count(by=WARDS),
        "all": db.sum("age"),
    }
    own = {name: question.release(name, mu=0.3) for name, question in asked.items()}
    found = db.publication("Visits")
    assert all(one is own[name] for name, one in zip(found.names, found.releases, strict=True))


def test_groups_are_combined_whichever_list_they_stand_in_and_columns_nobody_uses_do_not_matter(
    tmp_path,
):
    db = opened(tmp_path)
    more = db.with_columns(old="age >= 65")
    page = published(
        db,
        both=(db.count(by=WARDS), 0.3),
        north=(more.count(by={"ward": ["north"]}), 0.3),
        unknown=(db.where("age >= 65").count(by=WARDS), 0.3),
    )
    assert page["north"].columns["count"][0] == page["both"].columns["count"][0]
    assert page["both"].columns["stddev"][0] < page["both"].columns["stddev"][1]
    assert page["both"].columns["count"][1] == page["both"].alone.columns["count"][1]
    assert page["both"].notes == (
        "The counts of rows in 1 of 2 groups are combined from 2 releases (both, north), which "
        "show the same number.",
    )
    assert page["unknown"].notes == ()


def test_a_column_made_anew_is_another(tmp_path):
    db = opened(tmp_path)
    other = db.with_columns(age="age + 1").with_bounds({"age": (0, 100)})
    page = published(db, one=(db.sum("age"), 0.3), two=(other.sum("age"), 0.3))
    assert page["one"].notes == page["two"].notes == ()


MORE = {
    "other rows of a unit": "at most 2 rows of each patient",
    "other rows in a group": "each patient once in each group",
}
LIMITS = {
    "other rows of a unit": ((2, None), False),
    "other rows in a group": ((None, 1), False),
    "the same": ((3, None), True),
}


@pytest.mark.parametrize("case", LIMITS)
def test_counts_are_combined_under_the_same_limits_only(tmp_path, case):
    (most, in_each), same = LIMITS[case]
    db = opened(tmp_path, unit="patient", max_rows=3)
    page = published(
        db, one=(db.count(by=WARDS), 0.3), two=(db.bounded(most, in_each).count(by=WARDS), 0.3)
    )
    assert (page["one"].columns["count"] == page["two"].columns["count"]) is same
    (said,) = page["one"].notes
    assert said.startswith("The counts of rows are combined" if same else "The same groups are")
    # A reader is told how the other one counts.
    assert same or f"({MORE[case]}) by the release two" in said
    if not same:
        assert page["one"].columns == page["one"].alone.columns


def test_limits_on_all_groups_together_make_other_lists_of_groups_other_facts(tmp_path):
    db = opened(tmp_path, unit="patient", max_rows=3)
    north = {"ward": ["north"]}
    page = published(db, both=(db.count(by=WARDS), 0.3), one=(db.count(by=north), 0.3))
    assert "counted under other limits (beside other groups)" in page["one"].notes[0]
    assert page["one"].columns == page["one"].alone.columns
    # Where a unit adds once to a group and to all, nothing depends on the other groups.
    once = db.bounded(2, 1)
    found = published(once, x=(once.count(by=WARDS), 0.3), y=(once.count(by=north), 0.3))
    assert found["x"].columns["count"][0] == found["y"].columns["count"][0]


def test_units_and_rows_are_two_facts_unless_a_row_is_a_unit(tmp_path):
    for name, more, same in (("a", {"unit": "patient", "max_rows": 3}, False), ("b", {}, True)):
        (tmp_path / name).mkdir()
        db = opened(tmp_path / name, **more)
        page = published(db, rows=(db.count(), 0.3), units=(db.count_units(), 0.3))
        assert (page["rows"].columns["count"] == page["units"].columns["count_units"]) is same


@pytest.mark.shows("reconciled")
@pytest.mark.parametrize("shares", [(), (4, 1, 1)])
def test_a_crosstab_goes_on_adding_up_and_the_others_show_its_cells(tmp_path, shares):
    db = opened(tmp_path)
    page = published(
        db,
        table=(db.crosstab(CELLS, [["ward"], []], shares=shares), 0.3),
        cells=(db.count(by=CELLS), 0.3),
        ages=(db.mean("age", by=CELLS), 0.3),
        some=(db.count(by={"ward": ["north"], "sex": ["f"]}), 0.3),
    )
    table, width = page["table"].columns, len(page["table"].columns["count"])
    assert width == 7
    cells, north, south, total = (table["count"][:4], *table["count"][4:])
    assert cells[0] + cells[1] == north
    assert cells[2] + cells[3] == south
    assert sum(cells) == total
    assert page["cells"].columns["count"] == cells == page["ages"].columns["count"]
    assert page["cells"].columns["lower"] == table["lower"][:4]
    assert page["some"].columns["count"] == cells[:1]
    assert page["table"].notes == (
        "The counts are combined from 3 releases (table, cells, ages), and add up.",
    )
    assert max(table["stddev"][:4]) < min(page["table"].alone.columns["stddev"][:4])
    unbiased = np.array(table["unbiased"])
    assert unbiased[:4].sum() == pytest.approx(unbiased[6])


def test_a_part_of_the_cells_of_a_crosstab_shows_what_the_crosstab_shows(tmp_path):
    db = opened(tmp_path)
    page = published(
        db,
        table=(db.crosstab(CELLS, [["ward"]]), 0.3),
        some=(db.count(by={"ward": ["north"], "sex": ["f"]}), 0.3),
        both=(db.several([Count(), Mean(db.table.measured("age"))]), 0.3),
    )
    assert page["table"].notes == ()
    assert page["some"].columns["count"] == page["table"].columns["count"][:1]
    assert page["some"].columns["upper"] == page["table"].columns["upper"][:1]
    assert page["some"].notes == ("The counts of rows are those of the release table.",)
    columns, (said,) = page["both"].columns, page["both"].notes
    assert columns["count"] == columns["mean_age_count"]
    assert said == "The counts of rows are combined from several statistics of this release."


def test_a_crosstab_that_is_combined_holds_the_truth(tmp_path):
    db, draws = opened(tmp_path), 60
    asked = {
        "table": (db.crosstab(CELLS, [["ward"], []]), {"mu": 0.2}),
        "cells": (db.count(by=CELLS), {"mu": 0.2}),
    }
    truth, errors, held = db.count(by=CELLS).compute(), [], []
    for page in many(draws, **asked):
        columns = {name: np.array(page["table"].columns[name][:4]) for name in ("lower", "upper")}
        errors += list(np.array(page["table"].columns["unbiased"][:4]) - truth)
        held += list((columns["lower"] <= truth) & (truth <= columns["upper"]))
    said = page["table"].columns["stddev"][0] ** 2
    assert said == pytest.approx(page["cells"].alone.columns["stddev"][0] ** 2 / 2)
    assert np.mean(np.square(errors)) == pytest.approx(said, rel=4 * np.sqrt(2 / len(errors)))
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.0475 / len(held))


def test_a_group_shown_for_its_large_noisy_count_takes_the_count_that_is_shown_anyway(tmp_path):
    place = tmp_path / "l"
    db = ny.open(
        rows(),
        name="visits",
        unit=ny.Rows(),
        budget=ny.gdp(9) @ ny.approx_dp(0, 1e-6),
        delta_aside=1e-6,
        ledger=place,
    )
    declared = db.count(by=WARDS).release("declared", mu=0.3)
    noise = ny.mechanisms.Thresholded.calibrate(
        db.count(by="ward").aggregate.sensitivity,
        noise=ny.Gaussian.calibrate(db.count(by="ward"), mu=1),
        delta=1e-7,
    )
    db.count(by="ward").release("found", noise=noise)
    first, found = db.publication("Visits").releases
    assert first is declared
    assert found.columns["count"] == declared.columns["count"]
    assert found.columns["stddev"] == declared.columns["stddev"]


def test_answers_about_two_joined_tables_are_two_facts(tmp_path):
    db = opened(tmp_path, unit="patient", max_rows=3, data=rows(600))
    draw = np.random.default_rng(3)
    page, asked = None, {}
    for name in ("a", "b"):
        people = {"patient": np.arange(200), "group": draw.choice(["x", "y"], 200)}
        joined = db.join(pa.table(people), on="patient", how="inner", name=name)
        asked[name] = (joined.count(by={"group": ["x", "y"]}), 0.3)
    page = published(db, **asked)
    assert page["a"].notes == page["b"].notes == ()


def test_a_combined_release_can_be_stored_and_says_that_it_is_one(tmp_path):
    db = opened(tmp_path)
    page = published(db, a=(db.count(by=WARDS), 0.3), b=(db.count(by=WARDS), 0.2))
    one = page["a"]
    assert "combined from 2 releases (a, b)" in str(one).replace("\n", " ")
    record = json.loads(json.dumps(one.to_json()))
    again = Release.from_json(record)
    assert again == one
    assert again.notes == one.notes
    assert Release.from_arrow(one.to_arrow()).notes == one.notes
    own = one.alone
    assert own.notes == ()
    assert own == db.releases["a"]


def test_bins_are_the_same_group_with_the_same_edges_only(tmp_path):
    db = opened(tmp_path)
    wide, narrow = Bins([20, 40, 90], outside="drop"), Bins([20, 40, 60], outside="drop")
    page = published(
        db,
        one=(db.count(by={"age": wide}), 0.3),
        two=(db.mean("minutes", by={"age": wide}), 0.3),
        three=(db.mean("age", by={"age": wide}), 0.3),
        four=(db.count(by={"age": narrow}), 0.3),
    )
    # Whoever is in a group by age has a known age.
    assert page["three"].columns["count"] == page["one"].columns["count"]
    (said,) = page["two"].notes
    assert said == (
        "These counts are of rows with a known minutes; those of all rows are in one and three."
    )
    assert page["four"].notes == ()


SPEC = """
title = "Visits"
[data]
path = "visits.parquet"
[unit]
entity = "patient"
max_rows = 15
[columns.age]
lower = 0
upper = 100
grid = 1
complete = true
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "visits.ledger"
mu = 3
[[query]]
entry = "visits"
statistic = "count"
by = "wards"
mu = 0.5
[[query]]
entry = "age"
statistic = "mean"
column = "age"
by = "wards"
mu = 0.5
"""


def test_the_page_and_the_shell_show_the_same_numbers(tmp_path, capsys):
    pq.write_table(rows(), tmp_path / "visits.parquet")
    spec = tmp_path / "visits.toml"
    spec.write_text(SPEC, encoding="utf-8")
    assert main(["release", str(spec), "--json", "--report", str(tmp_path / "v.html")]) == 0
    first, second = json.loads(capsys.readouterr().out.partition("\n" + str(tmp_path))[0])
    north, south = first["columns"]["count"]
    assert second["columns"]["count"] == [north, south]
    page = (tmp_path / "v.html").read_text("utf-8")
    assert page.count(f"<td>{north:,}</td>") >= 2
    assert "combined from 2 releases (visits, age)" in page
    assert main(["release", str(spec)]) == 0
    said = capsys.readouterr().out
    assert said.count(str(north)) >= 2
    assert main(["release", str(spec), "--csv"]) == 0
    written = capsys.readouterr().out
    assert written.count(f",{north},") == 2


def test_rows_with_a_known_value_are_no_more_than_all_rows(tmp_path):
    db, draws, moved = opened(tmp_path, complete=[]), 100, 0
    asked = {
        "visits": (db.count(by=WARDS), {"mu": 0.05}),
        # Every row has an age, which nobody said.
        "age": (db.mean("age", by=WARDS), {"mu": 0.05}),
        "minutes": (db.mean("minutes", by=WARDS), {"mu": 0.05}),
    }
    truth, held = db.count(by=WARDS).compute(), []
    for page in many(draws, **asked):
        visits, age = page["visits"], page["age"]
        for group in range(2):
            every, known = visits.columns["count"][group], age.columns["count"][group]
            assert known <= every
            low, high = (visits.columns[name][group] for name in ("lower", "upper"))
            held.append(low <= truth[group] <= high)
            assert low <= every <= high
            if known == every:
                moved += 1
                assert "larger than the count of all rows" in " ".join(age.notes)
        assert page["minutes"].columns == page["minutes"].alone.columns
    # As likely as not, noise has them in the other order.
    assert 60 < moved < 140
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.0475 / len(held))


def test_only_columns_of_the_table_can_be_complete(tmp_path):
    with pytest.raises(ny.errors.UnknownColumn, match="agee"):
        opened(tmp_path, complete=["agee"])
    db = opened(tmp_path)
    made = db.with_columns(stay="minutes + 1").with_bounds({"stay": (0, 240)}, complete=["stay"])
    assert made.complete == {"age", "stay"}
    # Made anew, it is another column, of which nobody said so.
    assert db.with_columns(age="age + 1").complete == set()


def test_one_draw_under_two_names_is_not_taken_for_two(tmp_path):
    db = opened(tmp_path)
    one = db.count(by=WARDS).release("one", mu=0.3)
    assert reconciled(["a", "b"], [one, one]) == (one, one)
    other = db.count(by=WARDS).release("other", mu=0.3)
    first, again, last = reconciled(["a", "b", "c"], [one, one, other])
    assert first.columns == again.columns
    assert first.columns["stddev"] == pytest.approx([last.alone.columns["stddev"][0] / 2**0.5] * 2)


NOISES = {
    "laplace": {"epsilon": 0.2},
    "discrete_gaussian": {"rho": 0.02, "noise": "discrete_gaussian"},
    "discrete_laplace": {"epsilon": 0.2, "noise": "discrete_laplace"},
    "staircase": {"epsilon": 0.2, "noise": "staircase"},
    "canonical": {"mu": 0.2, "noise": "canonical"},
}


@pytest.mark.parametrize("noise", NOISES)
def test_counts_with_any_two_noises_are_combined_and_their_interval_holds(tmp_path, noise):
    db, draws = opened(tmp_path), 200
    asked = {"one": (db.count(), {"mu": 0.2}), "two": (db.count(), NOISES[noise])}
    truth, errors, held = rows().num_rows, [], []
    for page in many(draws, **asked):
        found = {name: column[0] for name, column in page["one"].columns.items()}
        assert page["two"].columns["count"] == [found["count"]]
        errors.append(found["count"] - truth)
        held.append(found["lower"] <= truth <= found["upper"])
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.0475 / draws)
    # Kurtosis at most 6.
    variance = found["stddev"] ** 2 + 1 / 12
    assert np.mean(np.square(errors)) == pytest.approx(variance, rel=4 * np.sqrt(5 / draws))


def test_means_and_variances_with_laplace_noise_fit_their_counts(tmp_path):
    db, draws, held = opened(tmp_path), 30, []
    asked = {
        "several": (
            db.several([Count(poisson=True), Sum(db.table.measured("age"))]),
            {"epsilon": 1},
        ),
        "mean": (db.mean("age"), {"epsilon": 1}),
        "spread": (db.variance("age"), {"epsilon": 1}),
    }
    truth = float(np.mean(rows()["age"]))
    for page in many(draws, **asked):
        several, mean, spread = (page[name].columns for name in asked)
        assert several["count"] == mean["count"] == spread["count"]
        assert mean["mean"] == spread["mean"]
        total = mean["mean"][0] * mean["count"][0]
        assert several["sum_age"] == pytest.approx([total], rel=1e-12)
        assert several["count_total_lower"][0] <= several["count_lower"][0]
        held.append(mean["lower"][0] <= truth <= mean["upper"][0])
        assert spread["variance"] == page["spread"].alone.columns["variance"]
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.0475 / draws)


def test_rows_with_a_known_value_are_no_more_than_a_crosstab_shows(tmp_path):
    db, same = opened(tmp_path, complete=[]), 0
    asked = {
        "table": (db.crosstab(CELLS, [["ward"]]), {"mu": 0.1}),
        "ages": (db.variance("age", by=CELLS), {"mu": 0.1}),
    }
    for page in many(20, **asked):
        table, ages = page["table"], page["ages"].columns
        assert table.notes == ()
        for shown, known, mean in zip(
            table.columns["count"], ages["count"], ages["mean"], strict=False
        ):
            assert known <= shown
            same += known == shown
            assert 20 <= mean <= 90
    assert 20 < same < 60


def test_units_of_a_mean_per_unit_are_those_that_are_counted(tmp_path):
    db = opened(tmp_path, unit="patient", max_rows=3)
    page = published(
        db,
        units=(db.count_units(by=WARDS), 0.3),
        ages=(db.mean_per_unit("age", by=WARDS), 0.3),
        stays=(db.mean_per_unit("minutes", by=WARDS), 0.3),
        totals=(db.sum_per_unit("minutes", by=WARDS, lower=0, upper=480), 0.3),
    )
    assert page["units"].columns["count_units"] == page["ages"].columns["count"]
    assert page["units"].notes == (
        "The counts of patients are combined from 2 releases (units, ages), which show the same "
        "number.",
    )
    known, every = page["stays"].columns["count"], page["units"].columns["count_units"]
    assert all(one <= other for one, other in zip(known, every, strict=True))
    assert page["totals"].notes == ()


def test_a_long_page_is_put_together_in_no_time(tmp_path):
    groups = {"ward": [f"w{i}" for i in range(500)]}
    db = opened(tmp_path, data=rows(2000).set_column(1, "ward", pa.array(["w7"] * 2000)))
    db.count(by=groups).release("count", mu=0.3)
    db.mean("age", by=groups).release("mean", mu=0.3)
    db.variance("age", by=groups).release("spread", mu=0.3)
    start = time.process_time()
    found = db.publication("Visits").releases
    assert time.process_time() - start < 5
    assert found[0].columns["count"] == found[1].columns["count"] == found[2].columns["count"]


@pytest.mark.parametrize(("most", "same"), [(2, False), (15, True)])
def test_statistics_that_keep_other_rows_where_limits_cut_are_not_combined(tmp_path, most, same):
    db = opened(tmp_path, unit="patient", max_rows=most)
    asked = {
        "visits": (db.count(by=WARDS), 0.5),
        "again": (db.count(by=WARDS), 0.5),
        "age": (db.mean("age", by=WARDS), 0.5),
        "years": (db.sum("age", by=WARDS), 0.5),
    }
    page = published(db, **asked)
    # Each keeps a pseudo-random part, which is the same for the same columns.
    truth, kept = asked["visits"][0].compute(), asked["age"][0].compute()[::2] // 50
    assert (list(truth) == list(kept)) is same
    counts = [page[name].columns["count"] for name in ("visits", "again", "age")]
    assert counts[0] == counts[1]
    assert (counts[1] == counts[2]) is same
    total = np.array(page["age"].columns["mean"]) * np.array(counts[2])
    assert total == pytest.approx(page["years"].columns["sum"], rel=1e-9 if same else 1e-3)
    said = "Limits cut rows of many patients, and the release age can keep other rows of them"
    assert any(note.startswith(said) for note in page["visits"].notes) is not same


def test_with_one_row_of_a_unit_in_a_group_rows_are_units(tmp_path):
    db = opened(tmp_path, unit="patient", max_rows=3)
    once = db.bounded(None, 1)
    page = published(db, rows=(once.count(by=WARDS), 0.3), units=(db.count_units(by=WARDS), 0.3))
    assert page["rows"].columns["count"] == page["units"].columns["count_units"]
    assert page["rows"].notes[0].startswith("The counts of patients are combined")


def test_a_pickled_answer_tells_nothing_of_the_rows_it_is_of(tmp_path):
    found = []
    for seed in (1, 2):
        place = tmp_path / str(seed)
        place.mkdir()
        db = opened(place, data=rows(seed=seed))
        one, other = (db.count().release(name, mu=0.3) for name in "ab")
        assert one.drawn.source is other.drawn.source
        found.append(pickle.dumps(one.drawn.source))
        assert pickle.loads(pickle.dumps(one)).drawn.source not in (one.drawn.source, None)
    assert found[0] == found[1]


def test_a_value_that_is_no_number_is_counted_among_the_others_alone(tmp_path):
    cells = ["1"] * 100 + ["2"] * 100 + ["9"] * 50 + ["abc"] * 200
    place = tmp_path / "a.csv"
    place.write_text("x,y\n" + "".join(f"{cell},1\n" for cell in cells), encoding="utf-8")

    def page(name, by):
        db = ny.open(
            place,
            unit=ny.Rows(),
            budget=ny.gdp(50),
            ledger=tmp_path / name,
            bounds={"x": (0, 10)},
        )
        return published(db, visits=(db.count(by=by), 2), x=(db.mean("x", by=by), 2))

    found = page("others", Keys({"x": Values([1, 2], other="rest")}))
    assert abs(found["visits"].columns["count"][2] - 250) < 10
    assert abs(found["x"].columns["count"][2] - 50) < 10
    assert "those of all rows are in visits" in found["x"].notes[-1]
    # Rows of these groups have a number.
    found = page("numbers", {"x": [1, 2]})
    assert found["visits"].columns["count"] == found["x"].columns["count"]
    found = page("text", {"x": ["1", "abc"]})
    assert found["x"].columns["count"][1] < 20 < found["visits"].columns["count"][1]


def test_a_group_of_others_is_one_fact_in_a_margin_and_alone(tmp_path):
    db = opened(tmp_path)
    wards = Values(["north"], missing="none", other="rest")
    cells = Keys({"ward": wards, "sex": Values(["f"], missing="-", other="x")})
    page = published(
        db,
        table=(db.crosstab(cells, [["ward"], []]), 0.3),
        wards=(db.count(by=Keys({"ward": wards})), 0.3),
        # Others than of other keys.
        more=(db.count(by=Keys({"ward": Values(["north", "south"], other="rest")})), 0.3),
    )
    table, alone = page["table"].columns, page["wards"].columns
    margin = [at for at, name in enumerate(table["margin"]) if name == "by ward"]
    for name in ("count", "lower", "upper"):
        assert [table[name][at] for at in margin] == alone[name]
    assert page["more"].columns["count"][0] == alone["count"][0]
    assert page["more"].columns["count"][2] < 100 < alone["count"][2]


def test_others_are_those_of_all_keys_that_were_listed(tmp_path):
    db = opened(tmp_path)
    keys = Keys({"ward": Values(["north", "south"], other="rest")})
    some = keys.filter(lambda row: row["ward"] != "north")
    page = published(
        db,
        some=(db.count(by=some), 0.3),
        all=(db.count(by=Keys({"ward": Values(["south"], other="rest")})), 0.3),
        same=(db.count(by=keys), 0.3),
    )
    assert page["some"].columns["count"][1] < 100 < page["all"].columns["count"][1]
    assert page["some"].columns["count"] == page["same"].columns["count"][1:]


def test_what_a_count_is_made_of_is_named_also_where_that_is_a_total(tmp_path):
    db = opened(tmp_path)
    page = published(db, mean=(db.mean("age"), 0.3), years=(db.sum("age"), 0.3))
    assert page["mean"].columns["count"] != page["mean"].alone.columns["count"]
    assert page["mean"].notes[0] == "The counts of rows are combined from 2 releases (mean, years)."


def test_without_groups_no_note_speaks_of_them(tmp_path):
    db = opened(tmp_path, complete=[])
    asked = {"visits": (db.count(), {"mu": 0.05}), "age": (db.mean("age"), {"mu": 0.05})}
    found = {note for page in many(20, **asked) for note in page["age"].notes}
    said = "Noise made the count of rows with a known value larger than the count of all rows."
    assert f"{said} Both show the same number." in found
    assert not any("group" in note for note in found)
