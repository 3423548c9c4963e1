"""The room's optional packages, asked for by name before anything else is imported."""

from importlib.util import find_spec

from neyman.errors import MissingExtra

__all__ = ["require"]


def require(*packages: str, extra: str = "tables") -> None:
    """Refuse to go on without `packages`.

    Raises:
        MissingExtra: naming the first that is not installed, and the extra that brings it.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(
                f"this needs the package {package}, which is not installed; "
                f"write pip install 'neyman[{extra}]'"
            )
