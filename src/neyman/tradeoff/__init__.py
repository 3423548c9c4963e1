"""What a guarantee is: trade-off functions, their views and their algebra.

No randomness and no data are known here.
"""

from neyman.tradeoff._constructors import approx_dp, gdp, identity, laplace, pure_dp
from neyman.tradeoff._curve import Curve
from neyman.tradeoff._pair import Pair, Tails
from neyman.tradeoff._tradeoff import TradeOff

__all__ = [
    "Curve",
    "Pair",
    "Tails",
    "TradeOff",
    "approx_dp",
    "gdp",
    "identity",
    "laplace",
    "pure_dp",
]
