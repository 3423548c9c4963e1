"""Row expressions, as a spec writes them: text, as in Python."""

from typing import Annotated

from pydantic import AfterValidator

from neyman.tables import expression_of_text

__all__ = ["Form"]


def _checked(text: str) -> str:
    expression_of_text(text)
    return text


Form = Annotated[str, AfterValidator(_checked)]
