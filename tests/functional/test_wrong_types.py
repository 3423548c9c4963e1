"""A call with an argument of a wrong type says which argument, and never fails as bare Python.

Each row below is a call that works. Each of its arguments is replaced in turn by None, text, a list
of text, NaN, an object of no meaning here and a class; what a few of them may be is written beside.
"""

import inspect
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import accounting, functional, plots, publish, report
from neyman.errors import InvalidParameter, NeymanError
from neyman.functional import (
    Box,
    Circle,
    Density,
    Huber,
    Interval,
    Logistic,
    Matern,
    SquaredExponential,
    Units,
)

WRONG = {
    "None": None,
    "text": "a",
    "list": ["a", "b"],
    "nan": float("nan"),
    "object": SimpleNamespace(query=5),
    "class": Density,
}
DOMAIN = Interval(-2, 2, outside="clip")
SMOOTH, ROUGH = SquaredExponential(1), Matern(1.5, 1)
WORDS = {"unit": "one row", "name": "x"}
VALUES = np.linspace(-1, 1, 40)
POINTS = [0.0, 1.0]


def answer(aggregate):
    noisy = aggregate.compute()
    columns = aggregate.reading.columns(noisy, ny.Gaussian(scale=1), 0.95)
    return SimpleNamespace(query=aggregate.query, columns=columns)


def answer_by(aggregate):
    found = answer(aggregate)
    return SimpleNamespace(query=found.query, columns=aggregate.keys | found.columns)


DENSITY = {"domain": DOMAIN, "bandwidth": 0.2, "neighbors": "add_remove", **WORDS}
SURVIVAL = {"horizon": 2, "bandwidth": 0.1, "neighbors": "add_remove", **WORDS}
AT = {"domain": DOMAIN, "bandwidth": 1, "neighbors": "add_remove", **WORDS}
RELEASE = answer(functional.density(VALUES, **DENSITY))
F = functional.function(RELEASE)
K = F.raw
S = functional.function(
    answer(functional.survival(np.abs(VALUES), np.ones(40, bool), **SURVIVAL | {"horizon": 1}))
)
OTHERS = functional.function(
    answer(functional.survival(np.abs(VALUES) / 2, np.ones(40, bool), **SURVIVAL | {"horizon": 1}))
)
THROUGH = functional.function(answer(functional.density_at(VALUES, POINTS, **AT)))
P = F
REGRESSION = {
    "domain": DOMAIN,
    "bandwidth": 0.2,
    "response": Interval(-1, 1, outside="clip"),
    "neighbors": "add_remove",
    **WORDS,
}
ADDITIVE = {
    "domains": [DOMAIN, DOMAIN],
    "response": Interval(-1, 1, outside="clip"),
    "neighbors": "add_remove",
    **WORDS,
}
PLACES = np.column_stack([VALUES, VALUES])
A = functional.function(
    answer(functional.additive_regression(PLACES, VALUES, degree=2, **ADDITIVE))
)
C = functional.function(answer(functional.regression(VALUES, VALUES, **REGRESSION)))
FIT = C.gaussian_process()
MANY = functional.function(answer(functional.density(np.tile(VALUES, 50), **DENSITY)))
CURVES = functional.Functions(("ward",), {("north",): MANY, ("south",): MANY})
JOINT = functional.GroupedDensity(CURVES)
BOX = {"domain": Box(DOMAIN, DOMAIN), "bandwidth": (0.2, 0.2)}
G = functional.function(answer(functional.density(np.ones((9, 2)), **DENSITY | BOX)))
R = G.raw
ROWS = ny.open_table(
    pa.table({"x": VALUES, "g": ["a", "b"] * 20}),
    unit=ny.Rows(),
    bounds={"x": ny.Bounds(-2, 2, 1)},
    name="x",
)
COUNTS = SimpleNamespace(
    query={"statistic": "count", "keys": {"columns": ["x"]}},
    columns={"x": [0, 1, 2, 3], "count": [9, 5, 3, 1], "stddev": [1.0] * 4},
)
M = functional.masses(COUNTS)
BY_GROUP = answer_by(publish.density(ROWS, "x", bandwidth=0.2, by=ny.Keys({"g": ["a", "b"]})))


def draws():
    return np.random.default_rng(1)


def call(function, /, *may, **arguments):
    """Return a row: what is called, with what, and which wrong ones are none."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return pytest.param(function, arguments, set(may), id=name)


CALLS = [
    call(
        functional.density,
        "target=None",
        "units=None",
        "unit=text",
        "name=text",
        values=VALUES,
        target=None,
        units=None,
        **DENSITY,
    ),
    call(
        functional.additive_regression,
        "units=None",
        "unit=text",
        "name=text",
        "interactions=[]",
        x=PLACES,
        y=VALUES,
        degree=2,
        interactions=[(0, 1)],
        units=None,
        **ADDITIVE,
    ),
    call(A, x=[0.0, 0.0]),
    call(A.sd, x=[0.0, 0.0]),
    call(A.effect(0), x=[0.0]),
    call(functional.pilot_bandwidth, domain=DOMAIN, records=5),
    call(functional.Octaves, number=5),
    call(functional.select_bandwidth, function=K),
    call(
        functional.survival,
        "unit=text",
        "name=text",
        durations=VALUES,
        observed=VALUES,
        **SURVIVAL,
    ),
    call(
        functional.density_at,
        "kernel=None",
        "unit=text",
        "name=text",
        values=VALUES,
        points=POINTS,
        kernel=SMOOTH,
        **AT,
    ),
    call(
        functional.kernel_machine,
        "unit=text",
        "name=text",
        x=VALUES,
        y=VALUES,
        points=POINTS,
        loss=Huber(1),
        regularization=5,
        kernel=SMOOTH,
        **WORDS,
    ),
    call(
        functional.kernel_machine,
        "unit=text",
        "name=text",
        x=VALUES,
        y=VALUES,
        points=POINTS,
        loss=Huber(1),
        penalty=0.1,
        kernel=SMOOTH,
        **WORDS,
    ),
    call(
        functional.curve_mean,
        "unit=text",
        "name=text",
        curves=np.ones((3, 2)),
        points=POINTS,
        kernel=SMOOTH,
        nugget=0.1,
        radius=1,
        neighbors="add_remove",
        **WORDS,
    ),
    call(
        functional.normal_risk,
        domain=DOMAIN,
        bandwidth=0.2,
        records=5,
        mu=1,
        neighbors="replace_one",
        spread=1,
    ),
    call(
        functional.density_norm,
        kernel=SMOOTH,
        bandwidth=1,
        dimension=1,
        diameter=1,
        neighbors="replace_one",
    ),
    call(functional.machine_norm, loss=Logistic(), regularization=1, neighbors="replace_one"),
    call(functional.machine_norm, loss=Logistic(), penalty=1, records=5, neighbors="replace_one"),
    call(functional.mean_norm, radius=1, neighbors="replace_one"),
    call(
        functional.quantiles,
        "units=None",
        "unit=text",
        "name=text",
        values=VALUES,
        probabilities=[0.5],
        lower=-1,
        upper=1,
        grid=0.5,
        units=None,
        **WORDS,
    ),
    call(functional.masses, release=COUNTS),
    call(M.__call__, x=POINTS),
    call(M.cdf, x=POINTS),
    call(M.ppf, q=[0.1, 0.5]),
    call(M.rvs, size=3, generator=draws()),
    call(M.band, level=0.9, kind="total"),
    call(functional.functions, release=BY_GROUP, kind=functional.Function),
    call(functional.read_functions, record=functional.functions(BY_GROUP).to_json()),
    call(functional.function, release=RELEASE, kind=functional.Function),
    call(functional.read, record=F.to_json(), kind=functional.Function),
    call(functional.simulate_grid, kernel=ROUGH, step=0.5, shape=(4,), generator=draws()),
    call(Interval, lower=0, upper=1, outside="clip"),
    call(Circle, period=1),
    call(functional.Asinh, unit=1),
    call(Units, ids=np.arange(3), max_values=2),
    call(SquaredExponential, length_scale=1),
    call(Matern, smoothness=0.5, length_scale=1),
    call(functional.Hinge, smoothing=0.5),
    call(Huber, threshold=1),
    call(SMOOTH.covariance, x=POINTS, y=POINTS),
    call(SMOOTH.bump_norm_squared, bandwidth=1, dimension=1),
    call(ROUGH.bump_distance_squared, bandwidth=1, dimension=1, diameter=1),
    call(functional.MaternPath, kernel=ROUGH, lower=0, upper=1, seed=1),
    call(functional.MaternPath(ROUGH, 0, 1, seed=1).__call__, x=POINTS),
    call(K.__call__, x=POINTS, derivative=1),
    call(K.grid, points=5),
    call(K.integral, a=0, b=1),
    call(K.cdf, x=POINTS),
    call(K.smooth, bandwidth=0.3),
    call(K.noise_sd, x=POINTS, derivative=1),
    call(F.band, level=0.9, kind="noise"),
    call(F.smooth, bandwidth=0.3),
    call(F.noise_sd, x=POINTS),
    call(S.__call__, t=[0.0, 0.1]),
    call(S.quantile, q=[0.1, 0.5]),
    call(S.restricted_mean, t=0.1),
    call(S.cumulative_hazard, t=[0.0, 0.1]),
    call(S.cumulative_incidence, t=[0.0, 0.1], cause=1),
    call(S.interval, t=[0.0, 0.1], level=0.9, kind="total", of="survival", cause=1),
    call(S.quantile_interval, q=[0.1, 0.5], level=0.9, kind="total"),
    call(S.restricted_mean_interval, t=0.1, level=0.9, kind="noise"),
    call(functional.logrank, first=S, second=OTHERS, cause=1),
    call(S.at_risk, t=POINTS),
    call(S.at_risk_sd, t=POINTS),
    call(S.band, level=0.9, kind="total", generator=draws(), repetitions=3),
    call(P.__call__, x=POINTS),
    call(P.cdf, x=POINTS),
    call(functional.regression, "unit=text", "name=text", x=VALUES, y=VALUES, **REGRESSION),
    call(C.nadaraya_watson, bandwidth=0.2),
    call(C.ridge, bandwidth=0.2, regularization=1),
    call(FIT.__call__, x=POINTS),
    call(FIT.grid, points=3),
    call(FIT.noise_sd, x=POINTS),
    call(FIT.band, level=0.9, kind="noise", generator=draws(), repetitions=3),
    call(plots.regression, "generator=None", fit=FIT, generator=draws(), level=0.9, repetitions=3),
    call(functional.GroupedDensity, curves=CURVES),
    call(JOINT.conditional, key=("north",)),
    call(JOINT.pdf, key=("north",), x=POINTS),
    call(JOINT.probabilities_at, x=POINTS),
    call(JOINT.rvs, size=3, generator=draws()),
    call(JOINT.difference, first=("north",), second=("south",), level=0.9),
    call(P.ppf, q=[0.1, 0.5]),
    call(P.rvs, size=3, generator=draws()),
    call(R.__call__, x=[POINTS]),
    call(R.grid, points=5),
    call(R.integral, lower=(0, 0), upper=[1, 1]),
    call(R.marginal, axis=1),
    call(R.plane, first=0, second=1),
    call(R.smooth, bandwidth=(0.2, 0.3)),
    call(R.noise_sd, x=[POINTS]),
    call(R.band, level=0.5, kind="total", generator=draws(), points=4, repetitions=3),
    call(G.__call__, x=[POINTS]),
    call(G.grid, points=5),
    call(G.integral, lower=(0, 0), upper=[1, 1]),
    call(G.marginal, axis=1),
    call(S.grid, points=5),
    call(G.rvs, size=3, generator=draws()),
    call(
        plots.heatmap,
        "generator=None",
        field=R,
        generator=draws(),
        level=0.5,
        points=4,
        repetitions=3,
    ),
    call(THROUGH.__call__, x=POINTS),
    call(THROUGH.noise_sd, x=POINTS),
    call(plots.density, "truth=None", function=F, level=0.9, truth=None),
    call(plots.survival, "generator=None", curve=S, generator=draws(), level=0.9, repetitions=3),
    call(report.explain, guarantee=ny.gdp(1), language="en", priors=[0.5], deltas=[]),
    call(ny.curves.compare, f=ny.gdp(1), g=ny.gdp(2)),
    call(accounting.functionals, pair=ny.gdp(1).remove),
]


@pytest.mark.parametrize(("function", "arguments", "may"), CALLS)
def test_a_wrong_type_is_refused_by_the_name_of_the_argument(function, arguments, may):
    function(**arguments)
    for name in arguments:
        for label, wrong in WRONG.items():
            if f"{name}={label}" in may:
                function(**arguments | {name: wrong})
                continue
            with pytest.raises(NeymanError) as refused:
                function(**arguments | {name: wrong})
            said = str(refused.value)
            assert re.search(rf"\b{name}\b", said), (name, label, said)
            assert re.search("(?s)must .*got ", said), said


def test_every_public_callable_is_in_the_table():
    called = {getattr(row.values[0], "__name__", "") for row in CALLS}
    made = (functional.Basis, functional.Band, functional.Risk, functional.ReleasedFunction)
    made += (functional.SurvivalCurve, functional.Interpolant, functional.TabulatedDensity)
    made += (functional.RegressionCurve, functional.RegressionFit)
    made += (functional.FieldBasis, functional.ReleasedField, functional.DensityFunction)
    made += (functional.AdditiveCurve, functional.AdditiveTerms, functional.Effect)
    made += (functional.OutsideCounts, functional.LogRank, functional.MassFunction)
    made += (functional.ScaledInterval,)
    made += (functional.Box, functional.NoisyCount)
    # What publish asks on behalf of tables is no user's call.
    rooms = {"density_of", "survival_of", "regression_of", "quantiles_of"}
    # Files, weights and boxes have tests of their own; what functions are made of is no call.
    apart = (
        {"save", "load", "load_functions", "Functions", "Weights"}
        | rooms
        | {one.__name__ for one in made}
    )
    for name in functional.__all__:
        thing = getattr(functional, name)
        bare = inspect.isclass(thing) and (
            inspect.isabstract(thing) or not inspect.signature(thing).parameters
        )
        if not bare and name not in apart and thing is not functional.Generator:
            assert name in called, name


@pytest.mark.parametrize("wrong", [None, "a", ["a"], float("nan"), object(), Density])
def test_weights_and_made_functions_refuse_too(wrong):
    with pytest.raises(InvalidParameter, match="weight"):
        functional.Weights(1, wrong)
    for fields in (
        {"domain": wrong},
        {"bandwidth": wrong},
        {"target": wrong},
    ):
        good = {"domain": DOMAIN, "bandwidth": K.bandwidth, "target": Density(), "counted": True}
        with pytest.raises(InvalidParameter, match=next(iter(fields))):
            functional.Basis(**good | fields)
    with pytest.raises(InvalidParameter):
        functional.ReleasedFunction(K.basis, K.integers, wrong, None, 1, K.bandwidth)
    with pytest.raises(InvalidParameter):
        functional.SurvivalCurve(wrong, S.integers, S.stddev, None, 1)


@pytest.mark.parametrize("junk", [b"", b"junk", b"PK\x03\x04junk", b"\x93NUMPY"], ids=repr)
def test_a_file_of_something_else_is_refused(tmp_path, junk):
    place = tmp_path / "a.npz"
    place.write_bytes(junk)
    with pytest.raises(
        InvalidParameter, match=r"must have a function; got .*a\.npz', which has none. Write"
    ):
        functional.load(place)
    for parts in ({"record": "1", "integers": [1]}, {"record": "{"}, {"integers": [1]}):
        np.savez(place, **{name: np.array(part) for name, part in parts.items()})
        with pytest.raises(InvalidParameter, match=r"(?s)must .*got "):
            functional.load(place)
    np.save(tmp_path / "a.npy", np.ones(3))
    with pytest.raises(InvalidParameter, match="must have a function; got"):
        functional.load(tmp_path / "a.npy")


def test_what_is_saved_and_where_is_named(tmp_path):
    with pytest.raises(InvalidParameter, match=r"function must be.* got a value of type int"):
        functional.save(3, tmp_path / "a")
    for wrong in (None, 5, [tmp_path]):
        with pytest.raises(InvalidParameter, match="path must be"):
            functional.save(F, wrong)
        with pytest.raises(InvalidParameter, match="path must be"):
            functional.load(wrong)


@pytest.mark.parametrize("read", [functional.load, functional.load_functions])
def test_a_file_that_is_not_there_is_refused(tmp_path, read):
    with pytest.raises(InvalidParameter, match=r"nope\.npz' cannot be read: No such file.*; write"):
        read(tmp_path / "nope.npz")
    with pytest.raises(InvalidParameter, match="cannot be read: Is a directory"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["no/f.npz", "", "a\0b"])
def test_a_file_that_cannot_be_written_is_refused(tmp_path, name):
    with pytest.raises(InvalidParameter, match=r"cannot be written: .*; write the path"):
        functional.save(F, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "word"),
    [("unit", ""), ("unit", None), ("name", ""), ("name", None), ("name", "two\nlines")],
)
def test_who_is_protected_and_what_the_data_are_called_is_said(name, word):
    for ask, declared in (
        (lambda **d: functional.density(VALUES, **d), DENSITY),
        (lambda **d: functional.survival(VALUES, VALUES, **d), SURVIVAL),
        (lambda **d: functional.density_at(VALUES, POINTS, **d), AT),
    ):
        with pytest.raises(InvalidParameter, match=rf"^{name} must "):
            ask(**declared | {name: word})


@pytest.mark.parametrize("name", ["domain", "bandwidth", "neighbors", "target", "units", "name"])
def test_private_values_in_the_wrong_place_are_not_shown(name):
    secret = np.full(3, 1234.5)
    for given in (secret, secret.tolist(), {"a": secret}):
        with pytest.raises(InvalidParameter) as refused:
            functional.density(VALUES, **DENSITY | {name: given})
        assert "1234" not in str(refused.value)
    with pytest.raises(InvalidParameter) as refused:
        Interval(0, 1, outside=secret)
    assert "1234" not in str(refused.value)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda: functional.density_at(VALUES, POINTS, **AT | {"bandwidth": 0}),
            "bandwidth must be.* got 0",
        ),
        (
            lambda: functional.curve_mean(
                np.ones((3, 2)),
                POINTS,
                kernel=SMOOTH,
                nugget=2,
                radius=1,
                neighbors="add_remove",
                **WORDS,
            ),
            r"nugget must be from 2\^-16 to 1; got 2",
        ),
        (
            lambda: functional.kernel_machine(
                VALUES, VALUES, POINTS, loss=Huber(1), regularization=-1, kernel=SMOOTH, **WORDS
            ),
            "regularization=-1 is not positive",
        ),
        (
            lambda: functional.kernel_machine(
                VALUES, VALUES, POINTS, loss=Huber(1), penalty=-1, kernel=SMOOTH, **WORDS
            ),
            "penalty=-1 is not positive",
        ),
        (lambda: functional.density(VALUES, **DENSITY | {"domain": (0, 1)}), "Interval"),
        (
            lambda: functional.density(VALUES, **DENSITY | {"target": functional.Scales}),
            "got the class",
        ),
        (lambda: plots.density(RELEASE), r"functional\.function\(release"),
        (lambda: plots.survival(F, generator=draws()), r"SurvivalCurve"),
        (lambda: report.explain(ny.gdp(1), language="en", priors=0.5), r"priors=\[0\.5\]"),
        (lambda: accounting.functionals(ny.gdp(1)), r"f\.remove or f\.add"),
        (lambda: ny.curves.compare(ny.gdp(1), 1), r"g must be .*gdp\(1\); got a value of type int"),
        (lambda: K.grid(1e3), "points must be .*; got 1000"),
        (lambda: P.rvs(-1, generator=draws()), "size must be .*; got -1"),
    ],
)
def test_what_to_write_is_said(ask, said):
    with pytest.raises(InvalidParameter, match=said):
        ask()


def test_whole_numbers_of_numpy_are_whole_numbers():
    assert len(K.grid(np.int64(5))[0]) == 5
    assert Units(np.arange(3), np.int8(2)).max_values == 2
    assert P.rvs(np.uint8(3), generator=draws()).shape == (3,)
