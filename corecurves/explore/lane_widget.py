"""The controls of the lane's explorer."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets

from corecurves.errors import UsageError, unknown
from corecurves.explore.edits import Edits, curriculum_yaml, save_curriculum
from corecurves.explore.edits_widget import EditsTable
from corecurves.explore.html import nothing, paragraphs
from corecurves.explore.lane_runs import Runs
from corecurves.explore.lane_view import (
    Curves,
    curves_alt,
    curves_table,
    draw_curves,
    turn_html,
)
from corecurves.explore.layout import columns, row
from corecurves.explore.settings_widget import SettingsRow
from corecurves.explore.shell import Explorer
from corecurves.explore.steps_svg import svg_image
from corecurves.explore.systems import choices
from corecurves.markup import printable
from corecurves.specs import Curriculum

__all__ = ["LaneExplorer"]


class LaneExplorer(Explorer):
    """The explorer that `explore_lane` makes.

    Parameters
    ----------
    curricula : sequence of Curriculum
        What can be chosen.
    system : object
        What is taught at first.
    systems : sequence or None
        What else can be chosen.
    concept : str or None
        What is chosen at first.
    seed, mode, max_concurrency
        See `explore_lane`.
    """

    def __init__(
        self,
        curricula: Sequence[Curriculum],
        system: object,
        *,
        systems: Sequence[object] | None,
        concept: str | None,
        seed: int,
        mode: str,
        max_concurrency: int,
    ) -> None:
        super().__init__("What if the curriculum were another?")
        self._curricula = {curriculum.concept: curriculum for curriculum in curricula}
        if concept is not None and concept not in self._curricula:
            raise UsageError(unknown("concept", concept, self._curricula))
        self._choices = choices(system, systems)
        self._runs = Runs(seed, mode, max_concurrency)
        first = concept or next(iter(self._curricula))
        self._edits = Edits.of(self._curricula[first])
        self._curves: Curves | None = None
        self._saved: set[str] = set()
        self._make(first)
        self.guarded(self._refresh)

    @property
    def edited(self) -> Curriculum:
        """The curriculum as it stands in the table; FileFaults if it is at fault."""
        return self._edits.curriculum()

    def twin(self) -> str:
        """Figure, table and turn as they are now."""
        if self._curves is None:
            going = self._job is not None
            return nothing("the run is still going on" if going else "there is no run")
        return f"{self.figure.value}{curves_table(self._curves)}{self.turn.value}"

    def _make(self, concept: str) -> None:
        self.concept = ipywidgets.Dropdown(
            options=list(self._curricula), value=concept, description="Concept",
            tooltip="What is taught about",
        )  # fmt: skip
        labels = [(choice.label, i) for i, choice in enumerate(self._choices)]
        self.system = ipywidgets.Dropdown(
            options=labels, value=0, description="System", tooltip="What is taught"
        )
        self.settings = SettingsRow(self, self._refresh)
        self.k = ipywidgets.IntSlider(
            value=len(self._edits.corrections), min=0, max=len(self._edits.corrections),
            description="k", tooltip="Corrections given: whose turn is shown",
            layout={"width": "auto", "max_width": "540px"},
        )  # fmt: skip
        self.figure, self.turn = ipywidgets.HTML(), ipywidgets.HTML()
        self.table = EditsTable(self, self._edit)
        self.table.show(self._edits)
        self.yaml = ipywidgets.Textarea(
            description="YAML", rows=8, continuous_update=False,
            tooltip="The curriculum of the table; corrections can be changed here too",
            layout={"width": "auto"},
        )  # fmt: skip
        self.path = ipywidgets.Text(
            description="Save to", value="edited.yaml", tooltip="A new file, relative or absolute",
            continuous_update=False, layout={"flex": "1 1 200px"},
        )  # fmt: skip
        self.save = ipywidgets.Button(description="Save", tooltip="Write the YAML to the file")
        self.said = ipywidgets.HTML()
        self.fill(
            ipywidgets.VBox([row(self.concept, self.system), self.settings.box]),
            columns(
                [self.figure, self.k, self.turn],
                [self.table.box, self.yaml, row(self.path, self.save), self.said],
            ),
        )
        self.settings.show(self._choices[0])
        self.watch(self.concept, self._choose_concept)
        self.watch(self.system, self._choose_system)
        self.watch(self.k, lambda _: self._draw())
        self.watch(self.yaml, lambda text: self._edit(self._edits.read(text)))
        self.press(self.save, self._save)

    @property
    def _system(self) -> object:
        return self.settings.system

    def _choose_concept(self, concept: str) -> None:
        self._edit(Edits.of(self._curricula[concept]))

    def _choose_system(self, number: int) -> None:
        # A system that cannot be had leaves the one before, with its settings, at work.
        try:
            self.settings.show(self._choices[number])
        except Exception:
            with self.quietly():
                self.system.value = self._choices.index(self.settings.choice)
            raise
        self._refresh()

    def _edit(self, edits: Edits) -> None:
        self._edits = edits
        self.table.show(edits)
        self._refresh()

    def _refresh(self) -> None:
        """Run what is new, then draw; a table at fault leaves what is drawn."""
        original, system = self._edits.original, self._system
        wanted = list(dict.fromkeys([original, self._edits.curriculum()]))
        job = self._runs.begin(wanted, system)

        def ended() -> None:
            self._runs.finish(job)
            self._show(original, wanted[-1], system)

        self.run(job, ended)

    def _show(self, original: Curriculum, edited: Curriculum, system: object) -> None:
        self._curves = Curves(
            self._runs.of(original, system),
            None if edited is original else self._runs.of(edited, system),
            system if isinstance(system, str) else self.settings.choice.label,
        )
        with self.quietly():
            # At the end of the curve one stays there.
            at_end = self.k.value == self.k.max
            self.k.max = self._curves.longest
            if at_end:
                self.k.value = self.k.max
            self.yaml.value = printable(curriculum_yaml(edited))
        self._draw()

    def _draw(self) -> None:
        if self._curves is None:
            return
        k = self.k.value
        drawing, alt = draw_curves(self._curves, k), curves_alt(self._curves, k)
        self.figure.value = svg_image(drawing, alt)
        self.turn.value = turn_html(self._curves, k)

    def _save(self) -> None:
        self.said.value = ""
        path = self.path.value
        target = save_curriculum(self.edited, path, replaces=path in self._saved)
        self._saved.add(path)
        self.said.value = paragraphs(f"Saved: {target}")
