"""A lint of the docs: short bullets and sentences, answers that say more than True, plain words."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Not yet in plain English: a folder, or a page.
LISTS = ("theory.md", "decisions/README.md", "notebooks/README.md")
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
# Pages for contributors speak of rooms and doors.
FOR_USERS = [p for p in PAGES if p.parent.name != "contributing" and p.stem != "how_it_works"]
BULLET, SENTENCE, BARE = 90, 45, 0.05
# What is written from the source is its own words.
CODE = re.compile(r"```.*?```|<!-- keys.*?<!-- end of keys -->|`[^`\n]*`", re.DOTALL)
TRUTH = re.compile(r"\(?((np\.)?(True|False)_?(, ?)?)+\)?")
# Words of ours alone, or grammar of no one's. Beside each stands what the field says.
DIALECT = {
    r"doors?": "release",
    r"the readings?|(?:a|another|each|every|such a) reading": "estimate, interpretation",
    r"(?:is|are|was|were|be) (?:told(?! apart)|asked of|said|held)": "the active voice",
    r"told from|held against": "distinguished from, compared with",
    r"of a unit's": "a unit's",
    r"the house": "neyman",
    r"so too|(?:is|are) so": "also",
    r"(?-i:(?:Lost|Shown|Protected|Released|Asked) (?:is|are))": "the subject first",
    r"heaps to it": "heaped",
    r"in the mean over": "on average over",
    r"as it stands|stands? (?:beside|as) one": "as it is",
    r"of whom (?:neither|some)": "neither of whom",
    r"what is (?:wanted|meant of)": "what you want",
    r"to mend": "to correct",
}


def spoken(text):
    """Return the text without its code and comments."""
    return CODE.sub("x", text)


def bullets(text):
    """Return the items of lists, each as one string."""
    items = re.split(r"^ *(?:[*-]|\d+\.) ", spoken(text), flags=re.MULTILINE)[1:]
    return [re.split(r"\n\s*\n|\n(?=[^ \n])", item)[0] for item in items]


def sentences(text):
    """Return the sentences of paragraphs, bullets and cells of tables."""
    parts = re.split(r"\n\s*\n|^ *[*-] |\||^#.*$", spoken(text), flags=re.MULTILINE)
    return [each for part in parts for each in re.split(r"(?<=[.!?])\s", part)]


def long(parts, most):
    """Return the parts that have more words than that."""
    return [part for part in parts if len(part.split()) > most]


def outputs(text):
    return [
        found.want.strip() for found in doctest.DocTestParser().get_examples(text) if found.want
    ]


def dialect(text):
    words = "|".join(DIALECT)
    return re.findall(rf"\b(?:{words})\b", spoken(text), flags=re.IGNORECASE)


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_bullet_is_long(page):
    assert long(bullets(page.read_text(encoding="utf-8")), BULLET) == []


def test_a_long_bullet_is_found():
    text = f"# A\n\n* short\n* {'word ' * BULLET}\n  and one more\n\nA paragraph of its own.\n"
    assert [len(each.split()) for each in bullets(text)] == [1, BULLET + 3]
    assert len(long(bullets(text), BULLET)) == 1


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_sentence_is_long(page):
    assert long(sentences(page.read_text(encoding="utf-8")), SENTENCE) == []


def test_a_long_sentence_is_found():
    text = f"One. {'word ' * SENTENCE}ends.\n\n| {'cell ' * 30} | {'cell ' * 30} |\n"
    assert len(long(sentences(text), SENTENCE)) == 1


def test_answers_say_more_than_true():
    found = [output for page in PAGES for output in outputs(page.read_text(encoding="utf-8"))]
    bare = [output for output in found if TRUTH.fullmatch(output)]
    assert len(bare) <= BARE * len(found), f"{len(bare)} of {len(found)}"


@pytest.mark.parametrize(
    ("want", "bare"),
    [("True", True), ("(np.True_, False)", True), ("(1, True)", False), ("1", False)],
)
def test_a_bare_answer_is_found(want, bare):
    (found,) = outputs(f"```python\n>>> x\n{want}\n\n```\n")
    assert bool(TRUTH.fullmatch(found)) == bare


@pytest.mark.parametrize("page", FOR_USERS, ids=name)
def test_words_are_those_of_the_field(page):
    assert dialect(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "It goes through the door.",
        "The rows are asked of a table.",
        "Small groups are not told from noise.",
        "The rows of a unit's visits.",
        "Lost are all rows.",
    ],
)
def test_a_word_of_ours_alone_is_found(text):
    assert dialect(text)
    assert not dialect("`door` and what you asked; indoors, the two are told apart.")


def ordered(index):
    """Return the pages that the site puts in an order, so that each has a next one.

    They stand in a toctree of its index, or in a page there that lists the others of its folder.
    """
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", index, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line[:1] not in ("", ":")]
    named = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    found = {page for each in named for page in ROOT.glob(f"{each}.md")}
    for page in found & {DOCS / each for each in LISTS}:
        links = re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8"))
        found |= {(page.parent / link).resolve() for link in links}
    return found


def test_every_page_is_in_the_order_of_the_site():
    index = (DOCS / "site/index.md").read_text(encoding="utf-8")
    pages = {page for page in DOCS.rglob("*.md") if page.name != "index.md"}
    assert {name(page) for page in pages - ordered(index)} == set()
    assert DOCS / "howto/publish.md" not in ordered(index.replace("docs/howto/publish", ""))
