"""Canaries: coins that are fair and committed, and canaries that are what they are said to be."""

import hashlib

import numpy as np
import pytest
from scipy.stats import binom

from neyman.audit import aligned_scores, canaries, one_run
from neyman.errors import InvalidParameter

SEED = bytes(range(32))
OTHER = bytes(range(1, 33))


def test_a_commitment_is_kept_by_its_own_seed_alone():
    made = canaries(200)
    assert (
        canaries(200, seed=made.seed, commitment=made.commitment).included == made.included
    ).all()
    for number, seed in ((200, SEED), (201, made.seed)):
        with pytest.raises(InvalidParameter, match=r"commitment to .* must be"):
            canaries(number, seed=seed, commitment=made.commitment)
    assert len({canaries(200).commitment for _ in range(20)}) == 20


def test_the_coins_are_those_of_the_stated_hash_on_every_machine():
    made = canaries(13, seed=SEED)
    digest = hashlib.shake_256(b"neyman: coins of canaries\n" + SEED).digest(2)
    assert [int(coin) for coin in made.included] == [
        digest[i // 8] >> (7 - i % 8) & 1 for i in range(13)
    ]
    text = b"neyman: commitment to canaries\n" + (13).to_bytes(8, "big") + SEED
    assert made.commitment == hashlib.sha256(text).hexdigest()


def test_the_seed_is_in_no_text():
    made = canaries(50)
    said = f"{made!r} {made}" + str(one_run(scores=np.zeros(50), included=made, delta=0))
    assert made.seed.hex() not in said
    assert repr(made.seed) not in said


@pytest.mark.parametrize("seed", [b"short", bytes(32), 7, "a" * 32, bytearray(range(32))])
def test_a_seed_that_can_be_guessed_is_refused_and_not_quoted(seed):
    with pytest.raises(InvalidParameter, match="not shown"):
        canaries(10, seed=seed)


def fair(coins: np.ndarray) -> bool:
    """Whether coins, a row for each seed, pass three exact tests, each at level 1e-6."""
    half = coins.shape[1] // 2
    counts = (
        (int(coins.sum()), coins.size),
        (int((coins[:, 1:] == coins[:, :-1]).sum()), coins[:, 1:].size),
        (int((coins[:, :half] == coins[:, half : 2 * half]).sum()), coins.shape[0] * half),
    )
    return all(2 * min(binom.cdf(k, n, 0.5), binom.sf(k - 1, n, 0.5)) > 1e-6 for k, n in counts)


def test_coins_are_fair_and_those_of_a_half_draw_are_not_independent():
    seeds = (hashlib.sha256(bytes([i])).digest() for i in range(200))
    coins = np.array([canaries(100, seed=seed).included for seed in seeds])
    assert fair(coins)
    # Fair, exactly half of each row would never be the rule: the variance of the sums is m / 4.
    sums = coins.sum(axis=1)
    assert 15 < sums.var() < 38
    # Twins: a coin of 6/10, and one that repeats.
    assert not fair(np.random.default_rng(0).random((200, 100)) < 0.6)
    assert not fair(np.repeat(coins[:, :50], 2, axis=1))


def test_what_is_made_of_a_seed_is_not_what_its_coins_are():
    """Canaries that their contents betrayed would be found without any training."""
    labels, seeds = np.arange(4000) % 10, range(30)
    found = []
    for seed in seeds:
        made = canaries(400, seed=hashlib.sha256(bytes([seed])).digest())
        moved = made.mislabelled(labels, classes=10)
        for values in (made.dirac(1000), moved.records, moved.labels, made.inputs(1)[:, 0]):
            top = values > np.median(values)
            found.append(int((top == made.included).sum()))
    total = 400 * len(found)
    assert binom.ppf(1e-6, total, 0.5) < sum(found) < binom.isf(1e-6, total, 0.5)


def test_gradients_are_apart():
    made = canaries(30, seed=SEED)
    places = made.dirac(1000)
    assert len(set(places.tolist())) == 30
    assert places.max() < 1000
    rows = made.orthogonal(50)
    np.testing.assert_allclose(rows @ rows.T, np.eye(30), atol=1e-12)
    assert np.abs(rows - canaries(30, seed=OTHER).orthogonal(50)).max() > 0.1
    for maker in (made.dirac, made.orthogonal):
        with pytest.raises(InvalidParameter, match="from 30 to"):
            maker(29)


def test_inputs_labels_and_tokens_are_within_what_they_come_from():
    made = canaries(40, seed=SEED)
    inputs = made.inputs(3, 4, low=-1, high=2)
    assert inputs.shape == (40, 3, 4)
    assert -1 <= inputs.min() < -0.8 < 1.8 < inputs.max() <= 2
    own = np.arange(100) % 7
    records, labels = made.mislabelled(own, classes=7)
    assert len(set(records.tolist())) == 40
    assert np.all(labels != own[records])
    assert set(labels.tolist()) == set(range(7))
    lengths = np.arange(60) % 5
    sequences, places, tokens = made.inserted_tokens(lengths, vocabulary=11)
    assert len(set(sequences.tolist())) == 40
    assert np.all((places >= 0) & (places <= lengths[sequences]))
    assert np.any(places == lengths[sequences])
    assert set(tokens.tolist()) == set(range(11))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda made: made.inputs(2, low=1, high=1),
        lambda made: made.inputs(0),
        lambda made: made.mislabelled([0.5] * 20, classes=3),
        lambda made: made.mislabelled([3] * 20, classes=3),
        lambda made: made.mislabelled([1] * 9, classes=3),
        lambda made: made.inserted_tokens([-1] * 20, vocabulary=3),
        lambda made: made.inserted_tokens([[2]] * 20, vocabulary=3),
    ],
)
def test_what_canaries_cannot_be_made_of_is_refused(wrong):
    with pytest.raises(InvalidParameter, match=r"must .*; got "):
        wrong(canaries(10, seed=SEED))


def test_a_result_is_a_bound_where_the_coins_were_committed():
    made = canaries(300, seed=SEED)
    scores = made.included + np.linspace(0, 0.5, 300)
    bound = one_run(scores=scores, included=made, delta=1e-5, seed=1)
    plain = one_run(scores=scores, included=made.included, delta=1e-5, seed=1)
    assert (bound.epsilon, bound.mu) == (plain.epsilon, plain.mu)
    assert bound.bound
    assert bound.commitment == made.commitment
    assert str(bound).startswith("epsilon >= ")
    assert made.commitment in str(bound)
    assert not plain.bound
    assert str(plain).startswith("If the coins of the 300 canaries were fair and independent: ")


def test_aligned_scores_are_the_privacy_loss():
    """Under both laws of a sampled Gaussian, against its densities."""
    draw = np.random.default_rng(3)
    x = draw.normal(0.5, 2, (5, 40))
    for q in (0.1, 1.0):
        with_it = q * np.exp(-((x - 1) ** 2) / 4.5) + (1 - q) * np.exp(-(x**2) / 4.5)
        loss = np.log(with_it / np.exp(-(x**2) / 4.5)).sum(axis=0)
        found = aligned_scores(x, noise_multiplier=1.5, sampling_probability=q)
        np.testing.assert_allclose(found, loss, rtol=1e-12, atol=1e-12)
    far = aligned_scores([[1e9, -1e9]], noise_multiplier=0.1, sampling_probability=0.01)
    assert np.all(np.isfinite(far))


@pytest.mark.parametrize(
    ("signals", "sigma", "q"),
    [([1.0], 1, 0.5), ([[np.nan]], 1, 0.5), ([[1.0]], 0, 0.5), ([[1.0]], 1, 0), ([[1.0]], 1, 2)],
)
def test_signals_that_are_none_are_refused(signals, sigma, q):
    with pytest.raises(InvalidParameter, match="must be"):
        aligned_scores(signals, noise_multiplier=sigma, sampling_probability=q)
