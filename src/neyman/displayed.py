"""What a notebook shows of an object that a cell ends in."""

from importlib import import_module

__all__ = ["Displayed"]


class Displayed:
    """An object that JupyterLab, VS Code and other notebooks show as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the HTML. What makes it is a face, and lies above all this: it is loaded now."""
        made: str = import_module("neyman.notebook").html_of(self)
        return made
