import re
import time

import ipywidgets
import pytest
from explore_data import PLANTED, Slow, inside, shown
from helpers import Rote, curriculum

import corecurves as cc
from corecurves.errors import FileFaults, UsageError
from corecurves.explore import lane_widget, shell


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A busy machine takes its time, and no run goes on behind a test's back."""
    monkeypatch.setattr(shell, "_PATIENCE", 30.0)


@pytest.fixture
def impatient(monkeypatch, patient):
    monkeypatch.setattr(shell, "_PATIENCE", 0.05)


@pytest.fixture
def explorer(dev):
    return cc.explore_lane(dev, concept="wisdom")


@pytest.fixture
def drawn(monkeypatch):
    """The k of each drawing."""
    found = []
    draw = lane_widget.draw_curves

    def counted(curves, k):
        found.append((curves.concept, k))
        return draw(curves, k)

    monkeypatch.setattr(lane_widget, "draw_curves", counted)
    return found


def alt(explorer):
    return re.search('alt="([^"]*)"', explorer.figure.value)[1]


def test_it_opens_with_the_original_curve(explorer):
    assert "original 0, 1, 2, 3, 4, 5. Marked: k=5." in alt(explorer)
    assert explorer.fault.value == ""
    assert explorer.running.layout.display == "none"
    ds = cc.run_lane("dev", "grounded", ledger=False, progress=False)
    last = ds.sel(concept="wisdom", arm="taught", sample=0, k=5)
    for text in (last.surface, last.trace_hash.isel(replay=0), last.correction):
        assert str(text.item()) in shown(explorer)


def test_sliding_k_reads_the_turn(explorer):
    explorer.k.value = 0
    assert "none yet" in explorer.turn.value
    assert "I have not been taught anything about wisdom." in explorer.turn.value
    explorer.k.value = 2
    assert "The turn at k = 2" in explorer.turn.value
    assert "Judgment is careful discernment." in explorer.turn.value


def test_each_edit_redraws_once(explorer, drawn):
    rows = explorer.table.rows
    steps = [
        lambda: rows[0].down.click(),
        lambda: rows[2].up.click(),
        lambda: rows[4].drop.click(),
        lambda: explorer.table.reset.click(),
        lambda: setattr(rows[0].text, "value", "No, wisdom supports judgment."),
        lambda: setattr(explorer.k, "value", 1),
        lambda: setattr(explorer.concept, "value", "hope"),
        lambda: setattr(explorer.settings.controls["max_hops"], "value", 2),
        lambda: setattr(explorer.system, "value", explorer.system.options[-1][1]),
    ]
    for number, step in enumerate(steps, start=1):
        step()
        assert len(drawn) == number, f"step {number}"
        assert explorer.fault.value == ""


def test_two_calls_make_two_explorers(drawn, dev):
    first, second = (cc.explore_lane(dev, concept="wisdom") for _ in range(2))
    drawn.clear()
    second.k.value = 1
    assert drawn == [("wisdom", 1)]
    assert first.k.value == 5
    first.table.rows[0].drop.click()
    assert len(drawn) == 2
    assert len(second.edited) == 5


def test_the_edited_curve_stands_beside_the_original(explorer):
    explorer.table.rows[0].drop.click()
    # Nothing leads from wisdom to the rest.
    assert "original 0, 1, 2, 3, 4, 5; edited 0, 0, 0" in alt(explorer)
    assert explorer.k.max == 5
    assert len(explorer.edited) == 4
    edited = cc.run_lane(explorer.edited, "grounded", ledger=False, progress=False)
    hits = edited.hits.sel(arm="taught", sample=0).values[0]
    assert f"edited {', '.join(f'{x:.0f}' for x in hits)}." in alt(explorer)
    explorer.table.reset.click()
    assert "edited" not in alt(explorer)


def test_what_was_run_is_not_run_again():
    system = Slow(0)
    explorer = cc.explore_lane(curriculum(), system)
    assert system.turns == 14
    explorer.table.rows[0].down.click()
    assert system.turns == 28, "the edited curriculum alone"
    explorer.k.value = 0
    explorer.table.reset.click()
    explorer.table.rows[0].down.click()
    assert system.turns == 28


def test_a_fault_keeps_the_last_good_curve(explorer, drawn):
    before = explorer.figure.value
    explorer.table.rows[1].text.value = "Something else."
    assert "correction 2: the correction does not contain the token" in explorer.fault.value
    assert 'role="alert"' in explorer.fault.value
    assert explorer.figure.value == before
    assert drawn == []
    with pytest.raises(FileFaults):
        explorer.edited  # noqa: B018
    explorer.table.rows[1].text.value = "Judgment is careful discernment."
    assert explorer.fault.value == ""
    assert explorer.figure.value == before


def test_edits_are_live():
    """The time of the processor: another process's work is no delay of ours."""
    explorer = cc.explore_lane()
    rows, taken = explorer.table.rows, []
    moves = [rows[0].down, rows[1].down, rows[2].up, rows[4].drop, rows[1].drop]
    moves += [explorer.table.reset, rows[3].up, rows[0].drop, rows[0].down, rows[2].down]
    for step in moves:
        began = time.process_time()
        step.click()
        taken.append(time.process_time() - began)
        assert explorer.fault.value == ""
    assert sorted(taken)[len(taken) // 2] < 0.3


def test_adding_a_correction(explorer):
    explorer.table.add.click()
    assert "correction 6: it is empty" in explorer.fault.value
    row = explorer.table.rows[5]
    row.text.value = "Wisdom supports patience."
    row.adds.value = "patience"
    assert explorer.fault.value == ""
    assert "edited 0, 1, 2, 3, 4, 5, 6. Marked: k=6." in alt(explorer)


def test_settings_change_the_curve(explorer):
    explorer.settings.controls["max_hops"].value = 2
    assert "wisdom, grounded?max_hops=2" in alt(explorer)
    before = alt(explorer)
    explorer.settings.controls["max_hops"].value = 0
    assert "`max_hops` must be a whole number of at least 1" in explorer.fault.value
    assert alt(explorer) == before
    explorer.settings.controls["max_hops"].value = 16
    assert "wisdom, grounded," in alt(explorer)
    explorer.settings.controls["vault_capacity"].value = "2"
    assert "vault_capacity=2" in alt(explorer)


def test_settings_are_kept_by_system(explorer):
    explorer.settings.controls["max_hops"].value = 2
    labels = [label for label, _ in explorer.system.options]
    explorer.system.value = labels.index("parrot")
    assert "wisdom, parrot" in alt(explorer)
    explorer.system.value = labels.index("grounded")
    assert "grounded?max_hops=2" in alt(explorer)


def test_a_system_that_cannot_be_had_leaves_the_one_before():
    explorer = cc.explore_lane("dev", systems=["parrot", "in-context:nowhere"][:1])
    explorer._choices += (type(explorer._choices[0])("in-context:nowhere", "in-context:nowhere"),)
    explorer.system.options = [(c.label, i) for i, c in enumerate(explorer._choices)]
    explorer.system.value = 2
    assert "nowhere" in explorer.fault.value
    assert explorer.system.value == 0
    assert "grounded" in alt(explorer)


def test_yaml_follows_the_table_and_leads_it(explorer):
    explorer.table.rows[0].down.click()
    assert "contract: false" in explorer.yaml.value
    explorer.yaml.value = explorer.yaml.value.replace("careful", "patient")
    assert explorer.table.rows[0].text.value == "Judgment is patient discernment."
    explorer.yaml.value = "concept: ["
    assert "YAML:1:" in explorer.fault.value


def test_saving(explorer, tmp_path):
    explorer.path.value = str(tmp_path / "edited.yaml")
    explorer.table.rows[0].down.click()
    explorer.save.click()
    assert "Saved" in explorer.said.value
    assert cc.load_curricula(tmp_path / "edited.yaml")[0].content() == explorer.edited.content()
    explorer.table.reset.click()
    explorer.save.click()
    assert explorer.fault.value == "", "its own file may be replaced"
    (tmp_path / "other.yaml").write_text("")
    explorer.path.value = str(tmp_path / "other.yaml")
    explorer.save.click()
    assert "is there already" in explorer.fault.value
    assert explorer.said.value == ""


def test_errors_of_handlers_are_shown_inside(explorer, monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError("division <b>by</b> zero")

    monkeypatch.setattr(lane_widget, "draw_curves", broken)
    explorer.k.value = 1
    assert "ZeroDivisionError: division &lt;b&gt;by&lt;/b&gt; zero (broken)" in explorer.fault.value
    assert capsys.readouterr().err == ""


def test_secrets_in_errors_are_hidden(explorer, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")

    def broken(*_):
        raise ValueError("refused: sk-test-0123456789")

    monkeypatch.setattr(lane_widget, "draw_curves", broken)
    explorer.k.value = 1
    assert "refused" in explorer.fault.value
    assert "sk-test-0123456789" not in explorer.fault.value


def test_failed_snapshots_say_so():
    system = Rote(fails_at=lambda heard, text: len(heard) == 2 and text.endswith("?"))
    explorer = cc.explore_lane(curriculum(), system)
    assert "original 0, –, 2, 3" in alt(explorer)
    explorer.k.value = 1
    assert "call_failed: RuntimeError: no answer" in explorer.turn.value


def test_the_twin_shows_what_the_controls_show(explorer):
    explorer.k.value = 2
    bundle = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "<explorer: What if the curriculum were another?>"
    assert explorer.figure.value in bundle["text/html"]
    assert explorer.turn.value in bundle["text/html"]
    assert "<td>Judgment is careful discernment.</td>" in bundle["text/html"]


def test_every_control_has_a_label(explorer, unlabelled):
    assert unlabelled(explorer) == []


def test_tab_order_is_visual_order(explorer):
    order = [w for w in inside(explorer) if isinstance(w, ipywidgets.ValueWidget)]
    named = [explorer.concept, explorer.system, explorer.settings.controls["max_hops"], explorer.k,
             explorer.table.rows[0].text, explorer.table.rows[1].text, explorer.yaml,
             explorer.path]  # fmt: skip
    at = [order.index(control) for control in named]
    assert at == sorted(at)


def test_nothing_from_data_is_live(live):
    hostile = curriculum(concept=f"wisdom {PLANTED}")
    explorer = cc.explore_lane(hostile, Rote(name=f"rote {PLANTED}"))
    assert "planted" in shown(explorer), "it stands there as text"
    explorer.table.rows[0].text.value = f"No, judgment. {PLANTED}"
    explorer.table.rows[1].text.value = PLANTED
    assert explorer.fault.value != ""
    assert live(explorer) == []


def test_texts_that_no_browser_takes():
    hostile = curriculum(words=("judgment\ud800", "patience\x00"))
    explorer = cc.explore_lane(hostile, Rote())
    assert explorer.fault.value == ""
    assert explorer.edited is hostile
    explorer.table.rows[0].down.click()
    assert explorer.edited.corrections[1].text == hostile.corrections[0].text
    for widget in inside(explorer):
        str(getattr(widget, "value", "")).encode("utf-8")


def test_unknown_concepts():
    with pytest.raises(UsageError, match="did you mean 'wisdom'"):
        cc.explore_lane("dev", concept="wisdm")


def wait_for(condition, seconds=5):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def test_a_slow_run_shows_its_progress_and_ends_in_the_curve(impatient):
    explorer = cc.explore_lane(curriculum(), Slow(0.08), max_concurrency=1)
    assert explorer.running.layout.display is None
    assert explorer.bar.max == 4
    assert "still going on" in explorer._repr_mimebundle_()["text/html"]
    wait_for(lambda: explorer.bar.value > 0)
    assert explorer.wait(20)
    assert explorer.running.layout.display == "none"
    assert "original 0, 1, 2, 3" in alt(explorer)


def test_cancel_begins_no_further_call(impatient):
    system = Slow(0.08)
    explorer = cc.explore_lane(curriculum(), system, max_concurrency=2)
    explorer.cancel.click()
    assert explorer.wait(20)
    begun = system.turns
    assert begun < 14, "the whole run takes 14 turns"
    time.sleep(0.3)
    assert system.turns == begun
    assert "cancelled: " in explorer.fault.value
    assert "of 4 snapshots were done" in explorer.fault.value
    assert explorer.running.layout.display == "none"
    # What was changed afterwards runs again.
    system.seconds = 0
    explorer.table.rows[0].down.click()
    assert explorer.wait(20)
    assert explorer.fault.value == ""
    assert "edited" in alt(explorer)


def test_a_change_in_a_slow_run_cancels_it(impatient):
    system = Slow(0.08)
    explorer = cc.explore_lane(curriculum(), system, max_concurrency=1)
    system.seconds = 0
    explorer.table.rows[0].down.click()
    assert explorer.wait(20)
    assert explorer.fault.value == ""
    assert "original 0, 1, 2, 3; edited 0, 1, 2, 3" in alt(explorer)
