"""Tidy tables of every question, and files that need no corecurves."""

import subprocess
import sys

import pytest
from helpers import Rote, curriculum

import corecurves as cc
from corecurves.errors import DatasetError

RUNS = {
    "lane": lambda: cc.run_lane("dev", ledger=False, progress=False),
    "rose": lambda: cc.run_rose_eval(
        cc.open_store("rose_bench").demo(), "simulated", samples=1, ledger=False, progress=False
    ),
    "served": lambda: cc.run_served_cases("rose_bench", "simulated", ledger=False, progress=False),
    "recall": lambda: cc.run_recall_eval(
        "demo_store", "bm25", sweep=[0.1, 0.5], ledger=False, progress=False
    ),
}


@pytest.mark.parametrize("question", RUNS)
def test_a_row_a_planned_cell_of_every_question(question):
    ds = RUNS[question]()
    frame = cc.to_frame(ds)
    planned = ds.status.values != ""
    assert len(frame) == planned.sum()
    assert not frame.duplicated(list(ds.status.dims)).any()
    row = frame.iloc[-1]
    where = {dim: row[dim] for dim in ds.status.dims}
    for name, variable in ds.data_vars.items():
        if set(variable.dims) <= set(ds.status.dims):
            value = variable.sel({dim: where[dim] for dim in variable.dims}).item()
            assert row[name] == value or (row[name] != row[name] and value != value)


def test_other_variables_are_asked_for_by_name():
    ds = RUNS["lane"]()
    hashes = cc.to_frame(ds, "trace_hash")
    assert len(hashes) == 80
    assert "replay" in hashes
    assert len(cc.to_frame(ds, ["expected", "introduced"])) == 17


def test_a_summary_has_many_shapes():
    summary = cc.summarize_lane(RUNS["lane"]())
    with pytest.raises(DatasetError, match=r"arm: .*saturation_rate") as caught:
        cc.to_frame(summary)
    assert "\n" not in str(caught.value)
    frame = cc.to_frame(summary, ["saturation_rate", "saturation_rate_ci"])
    assert list(frame.arm) == ["taught", "control"]
    assert (frame.saturation_rate_ci_lower <= frame.saturation_rate).all()
    assert (frame.saturation_rate_ci_upper >= frame.saturation_rate).all()
    assert cc.to_frame(summary, "gate").gate.item() == "passed"
    with pytest.raises(DatasetError, match="did you mean 'saturation_rate'"):
        cc.to_frame(summary, "saturation_rat")


PLAIN = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "corecurves":
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
import xarray as xr
ds = xr.open_dataset(sys.argv[1], engine="h5netcdf").load()
assert not any(name.split(".")[0] == "corecurves" for name in sys.modules)
assert ds.attrs["question"] == "lane", ds.attrs
assert ds.hits.attrs["units"] == "tokens"
assert set(ds.status.values.ravel().tolist()) == {"", "ok", "call_failed"}
lost = ds.isel(concept=0).sel(arm="taught", k=3, sample=0)
assert lost.status.item() == "call_failed" and not lost.surface_recorded.item()
said = ds.isel(concept=0).sel(arm="taught", k=2, sample=0)
assert said.surface.item() and said.surface_recorded.item()
assert "plan_hash" in ds.attrs and '"samples"' in ds.attrs["config"]
print("opened", float(said.hits))
"""


@pytest.mark.filterwarnings("ignore:.*no result")
def test_a_saved_dataset_opens_where_corecurves_is_not_installed(tmp_path):
    fails = Rote(fails_at=lambda heard, text: len(heard) == 4 and text.endswith("?"))
    kinds = [curriculum(), curriculum("courage", ("resolve",))]
    path = cc.save(cc.run_lane(kinds, fails, ledger=False, progress=False), tmp_path / "a.nc")
    done = subprocess.run(
        [sys.executable, "-I", "-c", PLAIN, str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "opened 2.0", done.stderr
