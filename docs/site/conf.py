"""How Sphinx builds the site from the pages that `docs/site/build.py` lays out."""

import re

import neyman

project = "neyman"
author = "The neyman developers"
copyright = author  # noqa: A001
version = release = neyman.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
# Notebooks come with what they show: `make notebooks` ran them.
nb_execution_mode = "off"
nb_merge_streams = True
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
html_static_path = ["static"]
html_css_files = ["neyman.css"]
html_theme = "furo"
html_title = "neyman"
html_show_sourcelink = False
# It is part of the first page.
exclude_patterns = ["README.md"]
myst_heading_anchors = 4
# Examples are copied without their prompts and answers.
copybutton_exclude = ".linenos, .gp, .go"
trim_doctest_flags = True

# Docstrings are plain text with Google's sections.
default_role = "literal"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Direction", "Error", "Guarantee", "Source"]
# Aliases of types have one name in several rooms.
suppress_warnings = ["ref.python"]
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_default_options = {"members": True, "exclude-members": "__new__"}

_NAMES = "Direction|Error|Guarantee|Source"
_SECTION = re.compile(rf"^(Args|Attributes|Returns|Yields|Raises|{_NAMES}):$")
# A section whose text begins beside its name.
_BESIDE = re.compile(rf"^({_NAMES}): (.+)$")
_FORMULA = re.compile(r"^ {4,}\S")
_MARKS = re.compile(r"[|*\\]|_(?!\w)")


def as_restructured(_app, _what, _name, _found, _options, lines):
    """Write a docstring, which is plain text, as Sphinx reads it: formulas as literal blocks."""
    written, inside, literal = [], False, False
    for line in lines:
        if beside := _BESIDE.match(line):
            written += ["", f"{beside[1]}:", f"    {_plain(beside[2])}"]
            inside, literal = True, False
            continue
        if _SECTION.match(line):
            inside, literal = True, False
            written.append("")
        elif line and not line.startswith(" "):
            written += [""] if literal else []
            inside = literal = False
        elif not inside and not literal and _FORMULA.match(line):
            literal = True
            written += ["", "::", ""]
        example = line.lstrip().startswith((">>>", "..."))
        written.append(line if literal or example else _plain(line))
    lines[:] = written


def _plain(line):
    """Take the meaning from signs outside of backticks, but for the mark of a list."""
    bullet = re.match(r"\s*\* |", line)[0]
    parts = line[len(bullet) :].split("`")
    parts[::2] = [_MARKS.sub(r"\\\g<0>", part) for part in parts[::2]]
    return bullet + "`".join(parts)


def setup(app):
    """Read docstrings before napoleon does."""
    app.connect("autodoc-process-docstring", as_restructured, priority=400)
