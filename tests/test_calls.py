"""What a newcomer types first gets an answer or a sentence."""

import pickle

import pytest

import neyman as ny
from neyman.calls import plain_calls, plain_calls_of
from neyman.errors import InvalidCall, NeymanError

F = ny.gdp(1)


def test_the_three_numbers_of_a_training_may_be_written_without_their_names():
    named = ny.dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    assert ny.dp_sgd(1, 0.01, 1000) == named


def test_a_guarantee_is_drawn_without_a_name_for_it():
    assert ny.plots.tradeoff(F).axes


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: F.delta(eps=1), "has no argument 'eps'; did you mean epsilon?"),
        (F.epsilon, "epsilon() needs delta. Write epsilon(delta)"),
        (lambda: F.mu(1e-5), "mu() takes no arguments without names; got 1"),
        (lambda: F.tpr(0.1, fpr=0.2), "tpr() got fpr twice"),
        (lambda: ny.approx_dp(1), "approx_dp() needs delta. Write approx_dp(epsilon, delta)"),
        (lambda: ny.gdp(sigma=1), "gdp() has no argument 'sigma'. Write gdp(); it also takes mu"),
        (lambda: ny.dp_sgd(1, 0.01), "dp_sgd() needs steps"),
        (lambda: ny.calibrate(epsilon=1), "calibrate() has no argument 'epsilon'"),
        (lambda: ny.Gaussian(2), "Gaussian() takes no arguments without names; got 1"),
        (lambda: ny.Gaussian.calibrate(mu=1), "calibrate() needs sensitivity"),
        (lambda: ny.Laplace(epsilon=1), "Laplace() has no argument 'epsilon'"),
        (lambda: ny.Bounds(0, 1), "Bounds() needs grid"),
        (ny.Entity, "Entity() needs column"),
        (ny.Keys, "Keys() needs domains"),
        (lambda: ny.EpsilonDelta(1), "EpsilonDelta() needs delta"),
        (lambda: ny.open("visits.csv", unit="patient", max_row=5), "did you mean max_rows?"),
        (lambda: ny.open_table("visits.csv"), "open_table() needs unit"),
        (lambda: ny.release(1), "release() needs mechanism, ledger, entry"),
        (lambda: ny.Ledger("a.ledger"), "Ledger is not made by hand"),
        (
            lambda: ny.Ledger.open("a.ledger", ny.gdp(1)),
            "open() takes one argument without names; got 2",
        ),
        (ny.plots.tradeoff, "tradeoff() needs curves"),
        (lambda: F @ 1, "f @ g composes two guarantees; g is of type int"),
        (lambda: F + F, "write f @ g"),
        (lambda: 2 * F, "f ** n for running f n times"),
        (lambda: F * 2, "f ** n for running f n times"),
        (lambda: sum([F, F]), "write f @ g"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_in_a_sentence(call, said):
    with pytest.raises(NeymanError) as refused:
        call()
    assert said in str(refused.value)
    assert isinstance(refused.value, TypeError)


def test_a_table_without_a_unit_is_refused_in_a_sentence():
    with pytest.raises(NeymanError, match="unit must be the privacy unit"):
        ny.open("visits.csv")


def test_an_error_from_inside_a_function_is_not_taken_for_a_wrong_call():
    @plain_calls
    def broken(x: int) -> int:
        return len(x)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len") as raised:
        broken(1)
    assert not isinstance(raised.value, InvalidCall)


def test_what_was_given_is_not_in_the_sentence():
    with pytest.raises(InvalidCall) as refused:
        ny.gdp(patients=["Ada", "Bo"])
    assert "Ada" not in str(refused.value)
    assert refused.value.__context__ is None


def test_methods_of_every_kind_are_spoken_for_and_private_ones_are_left_alone():
    @plain_calls_of
    class Kind:
        def plain(self, x: int) -> int:
            return x

        @staticmethod
        def fixed(x: int) -> int:
            return x

        @classmethod
        def made(cls, x: int) -> int:
            return x

        def _inner(self, x: int) -> int:
            return x

    one = Kind()
    assert one.plain(1) == Kind.fixed(1) == Kind.made(1) == one._inner(1) == 1
    for call in (one.plain, Kind.fixed, Kind.made):
        with pytest.raises(InvalidCall, match="needs x"):
            call()
    with pytest.raises(TypeError, match="missing"):
        one._inner()


def test_wrapped_functions_are_pickled_and_keep_their_words():
    assert pickle.loads(pickle.dumps(ny.gdp)) is ny.gdp
    assert "mu-GDP" in (ny.gdp.__doc__ or "")
    assert pickle.loads(pickle.dumps(F)) == F


def test_a_name_that_is_far_from_all_is_not_guessed():
    @plain_calls
    def mean(column: str, by: str = "") -> str:
        return column + by

    with pytest.raises(InvalidCall, match=r"has no argument 'bounds'\. Write mean\(column\)"):
        mean(bounds=1)  # pyright: ignore[reportCallIssue]
