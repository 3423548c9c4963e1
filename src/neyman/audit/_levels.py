"""What a level and a delta must be."""

from neyman.errors import InvalidParameter

__all__ = ["check_delta", "check_level"]


def check_level(level: float) -> None:
    """Refuse what is no level of a test.

    Raises:
        InvalidParameter: if it is outside (0, 1/2).
    """
    if not 0 < level < 0.5:
        raise InvalidParameter(
            f"level must lie in (0, 0.5); {level!r} was given. Write the probability of a false "
            "alarm that you accept, such as 0.05"
        )


def check_delta(delta: float) -> None:
    """Refuse what is no delta.

    Raises:
        InvalidParameter: if it is outside [0, 1).
    """
    if not 0 <= delta < 1:
        raise InvalidParameter(
            f"delta must lie in [0, 1); {delta!r} was given. Write a probability such as 1e-6"
        )
