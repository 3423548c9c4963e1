"""Tests of mechanisms in a suite of pytest, with one probability of a false alarm for all of them.

Where neyman is installed, pytest finds the plugin by itself. A test that asks for the fixture
`assert_private` runs a mechanism on two neighbouring inputs, and fails if its outputs refute the
claim:

    def test_noisy_count(assert_private):
        assert_private(noisy_count, [1, 0, 1], [1, 0], pure_dp(1), seconds=2)

The configuration says how often a suite may fail by chance although all its claims hold:

    [tool.pytest.ini_options]
    neyman_level = "0.001"
"""
