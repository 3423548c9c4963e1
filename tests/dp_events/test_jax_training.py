"""DP-SGD in plain jax on the digits, from a plan: what runs is what is counted."""

import functools

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dp_accounting import dp_event
from sklearn.datasets import load_digits

from neyman.accounting import dp_sgd
from neyman.dp_accounting import NeymanAccountant, to_dp_event
from neyman.training import TrainingPlan, TruncatedPoissonBatches, plan_training

DELTA = 1e-5


@pytest.fixture(scope="module")
def digits():
    images, labels = load_digits(return_X_y=True)
    images = jnp.asarray(images / 16, dtype=jnp.float32)
    return images, jnp.asarray(labels)


def planned() -> TrainingPlan:
    return plan_training(
        records=1797, batch=32, accumulation=4, epochs=6, clip=1, epsilon=4, delta=DELTA
    )


def loss(weights, image, label):
    return -jax.nn.log_softmax(image @ weights[:-1] + weights[-1])[label]


def clipped(weights, images, labels, clip):
    """Return the gradients of each record by itself, of norm at most `clip`."""
    gradients = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(weights, images, labels)
    norms = jnp.sqrt(jnp.sum(gradients**2, axis=(1, 2)))
    return gradients * jnp.minimum(1, clip / jnp.maximum(norms, 1e-30))[:, None, None]


@functools.partial(jax.jit, static_argnames=("clip",))
def masked_sum(weights, images, labels, mask, clip):
    """Sum over a physical batch of one shape; what is masked gives nothing."""
    return jnp.sum(clipped(weights, images, labels, clip) * mask[:, None, None], axis=0)


def summed(weights, digits, batch, physical, clip):
    """Return the sum over an update's sample, cut into physical batches of one shape."""
    images, labels = digits
    total = jnp.zeros_like(weights)
    for start in range(0, len(batch), physical):
        part = batch[start : start + physical]
        places = np.zeros(physical, dtype=np.int64)
        places[: len(part)] = part
        mask = jnp.arange(physical) < len(part)
        total += masked_sum(weights, images[places], labels[places], mask, clip)
    return total


def update(weights, total, noise, key, size, rate=4.0):
    noisy = total + noise * jax.random.normal(key, weights.shape)
    return weights - rate * noisy / size


def accuracy(weights, digits) -> float:
    images, labels = digits
    return float(jnp.mean(jnp.argmax(images @ weights[:-1] + weights[-1], axis=1) == labels))


def test_a_training_from_a_plan_is_counted_as_it_runs(digits):
    """The accountant is told each update and agrees with the plan and with dp_sgd."""
    plan = planned()
    accountant = NeymanAccountant()
    noise = dp_event.GaussianDpEvent(float(plan.noise_multiplier))
    key = jax.random.key(0)
    weights = jnp.zeros((65, 10))
    updates = used = 0
    for batch in plan.sampler():
        key, fresh = jax.random.split(key)
        total = summed(weights, digits, batch, plan.batch, float(plan.clip))
        weights = update(weights, total, plan.noise_on_sum, fresh, plan.logical_batch)
        accountant.compose(dp_event.PoissonSampledDpEvent(float(plan.rate), noise))
        updates += 1
        used += len(batch)
    assert updates == plan.steps == 85
    # A binomial of 152,745 draws: six standard deviations.
    assert abs(used - plan.steps * plan.logical_batch) < 6 * (plan.steps * 128) ** 0.5
    told = accountant.get_epsilon(DELTA)
    # The event's rate is a float, which is not 128/1797.
    assert told == pytest.approx(plan.epsilon, rel=1e-12)
    assert plan.guarantee == dp_sgd(plan.noise_multiplier, plan.rate, updates)
    assert plan.epsilon <= 4
    assert accountant.compose(dp_event.NoOpDpEvent()).get_epsilon(DELTA) == told
    assert accuracy(weights, digits) > 0.75


def test_an_event_of_the_plan_is_priced_alike():
    plan = planned()
    event = to_dp_event(plan.guarantee, neighbors="add_remove")
    told = NeymanAccountant().compose(event).get_epsilon(DELTA)
    assert plan.epsilon * (1 - 1e-12) <= told <= plan.epsilon * (1 + 1e-9)
    peer = dp_accounting.pld.PLDAccountant().compose(event).get_epsilon(DELTA)
    assert told <= peer <= told * 1.001


def test_one_record_moves_an_updates_sum_by_at_most_the_clipping_norm(digits):
    """Whatever the physical batches; a sum that is not clipped by record moves by more."""
    plan = planned()
    weights = 3 * jax.random.normal(jax.random.key(1), (65, 10))
    batch = plan.sampler().batch(0)
    with_all = summed(weights, digits, batch, plan.batch, 1.0)
    unclipped = summed(weights, digits, batch, plan.batch, 1e9)
    moved, broken = [], []
    for left_out in (0, len(batch) // 2, len(batch) - 1):
        rest = np.delete(batch, left_out)
        moved.append(float(jnp.linalg.norm(with_all - summed(weights, digits, rest, 32, 1.0))))
        broken.append(float(jnp.linalg.norm(unclipped - summed(weights, digits, rest, 32, 1e9))))
    assert max(moved) <= 1 + 1e-4
    assert max(broken) > 1.5


def test_the_noise_of_an_update_is_the_plans():
    """30,000 normal draws: their standard deviation is within 2.5 % but once in 10^8 trials."""
    plan = planned()
    weights = jnp.zeros((3000, 10))
    moved = update(weights, weights, plan.noise_on_sum, jax.random.key(2), plan.logical_batch, 1.0)
    spread = float(jnp.std(moved))
    assert spread == pytest.approx(plan.noise_on_mean, rel=0.025)
    # Divided by the batch once more, it is 128 times too small.
    assert spread / plan.logical_batch < 0.01 * plan.noise_on_mean


def test_truncated_batches_have_one_shape_and_their_own_price(digits):
    """One compilation for all updates; the price is that of truncated samples, not of Poisson's."""
    plan = planned()
    batches = TruncatedPoissonBatches(
        records=plan.records, rate=plan.rate, most=160, steps=plan.steps
    )
    images, labels = digits
    masked_sum.clear_cache()
    weights, key = jnp.zeros((65, 10)), jax.random.key(3)
    for step in range(batches.steps):
        key, fresh = jax.random.split(key)
        indices, mask = batches.padded(step)
        total = masked_sum(weights, images[indices], labels[indices], jnp.asarray(mask), 1.0)
        weights = update(weights, total, plan.noise_on_sum, fresh, plan.logical_batch)
    assert masked_sum._cache_size() == 1
    assert accuracy(weights, digits) > 0.75
    last = batches.batch(step)
    padded = masked_sum(weights, images[indices], labels[indices], jnp.asarray(mask), 1.0)
    alone = jnp.sum(clipped(weights, images[last], labels[last], 1.0), axis=0)
    assert jnp.allclose(padded, alone, atol=1e-4)

    event = dp_event.TruncatedSubsampledGaussianDpEvent(
        plan.records, float(plan.rate), 160, float(plan.noise_multiplier)
    )
    special = dp_accounting.NeighboringRelation.REPLACE_SPECIAL
    told = NeymanAccountant(special).compose(event, batches.steps).get_epsilon(DELTA)
    own = batches.guarantee(noise_multiplier=plan.noise_multiplier).epsilon(DELTA)
    assert told == pytest.approx(own, rel=1e-9)
    assert own == pytest.approx(plan.epsilon, rel=0.01)
    assert own != plan.epsilon
