from __future__ import annotations

from tests.show.markup import read

from sharpfront.show import HtmlPage, inline

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"></svg>'


def full_page() -> HtmlPage:
    page = HtmlPage("A <title> & more")
    page.lead("Lead.")
    page.contents()
    page.verdicts([("reproduces", "One", "one"), ("observation", "Two", "two")])
    page.section("First things")
    page.paragraph("A *word* and `code <b>`.")
    page.points(["a", "b"])
    page.finding("one", "does not reproduce", "Title", ["Evidence."])
    page.table(["Name", "Value"], [["x", "1\n[0, 2]"]], "Caption.")
    page.figure(SVG, "Caption.", 'Words with "quotes"')
    return page


def test_marks_become_tags_and_all_else_is_escaped():
    assert inline("a < b & *c* `x*y*z`") == ("a &lt; b &amp; <em>c</em> <code>x*y*z</code>")
    assert inline("2 * 3 * 4") == "2 * 3 * 4"


def test_a_number_and_its_unit_stay_together():
    assert inline("within 2 % of it") == "within 2\u00a0% of it"


def test_items_of_evidence_make_one_list():
    page = HtmlPage("Test")
    page.finding("key", "partly", "Title", ["Before:", "- one", "- two", "After."])
    listed = "<p>Before:</p><ul><li>one</li><li>two</li></ul><p>After.</p>"
    assert listed in page.render()


def test_page_is_well_formed_and_self_contained():
    text = full_page().render()
    reader = read(text)
    for tag, attributes in reader.tags:
        assert tag not in {"link", "iframe", "object"}
        for name in ("src", "href", "srcset", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:"))
    assert "url(" not in text
    assert "@import" not in text


def test_links_lead_somewhere():
    tags = read(full_page().render()).tags
    ids = {attributes["id"] for _, attributes in tags if "id" in attributes}
    wanted = {a["href"][1:] for tag, a in tags if tag == "a"}
    assert wanted - ids == {"two"}  # the one finding that this page does not have
    assert "first-things" in ids


def test_cells_carry_their_heading_for_narrow_screens():
    tags = read(full_page().render()).tags
    labels = [attributes["data-label"] for tag, attributes in tags if tag == "td"]
    assert labels == ["Name", "Value"]


def test_title_is_escaped_once():
    text = full_page().render()
    assert "<title>A &lt;title&gt; &amp; more</title>" in text
    assert "<h1>A &lt;title&gt; &amp; more</h1>" in text
