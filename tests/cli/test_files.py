"""Files that a command writes: whole or not at all, by no name that somebody could guess."""

import os
import stat

import pytest

from neyman.files import replace_whole


def test_a_link_of_the_old_fixed_name_leads_nowhere(tmp_path):
    page, victim = tmp_path / "r.html", tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "r.html.part").symlink_to(victim)
    replace_whole(page, lambda file: file.write(b"page"))
    assert (page.read_bytes(), victim.read_text()) == (b"page", "mine")
    assert not page.is_symlink()


def test_a_link_in_the_place_of_the_page_is_replaced_and_not_followed(tmp_path):
    page, victim = tmp_path / "r.html", tmp_path / "victim"
    victim.write_text("mine")
    page.symlink_to(victim)
    replace_whole(page, lambda file: file.write(b"page"))
    assert (page.read_bytes(), victim.read_text()) == (b"page", "mine")


@pytest.mark.parametrize("error", [OSError(28, "full"), KeyboardInterrupt(), MemoryError()])
def test_nothing_is_left_behind_by_a_failure_or_an_interrupt(tmp_path, error):
    page = tmp_path / "r.html"
    page.write_text("before")

    def half(file):
        file.write(b"half")
        raise error

    with pytest.raises(type(error)):
        replace_whole(page, half)
    assert page.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_only_this_user_reads_what_is_not_whole_and_then_the_mask_decides(tmp_path):
    page, modes = tmp_path / "r.html", []

    def look(file):
        (part,) = tmp_path.glob(".neyman-*")
        modes.append(stat.S_IMODE(part.stat().st_mode))
        file.write(b"page")

    before = os.umask(0o027)
    try:
        replace_whole(page, look)
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert stat.S_IMODE(page.stat().st_mode) == 0o640
