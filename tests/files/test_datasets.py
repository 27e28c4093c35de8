import numpy as np
import pytest
import xarray as xr
from helpers import curriculum
from hypothesis import given, settings
from hypothesis import strategies as st

import corecurves as cc
from corecurves.errors import DatasetError


def lane(answer="x"):
    return cc.run_lane([curriculum()], lambda text: answer, ledger=False, progress=False)


ODD = "nul\x00 sur\ud800 sep\u2028 back\\u0041slash \\\\ 😀\r\n"


@pytest.mark.parametrize("answer", ["", "plain", ODD])
def test_load_gives_what_was_saved(tmp_path, answer):
    ds = lane(answer)
    path = cc.save(ds, tmp_path / "lane.nc")
    loaded = cc.load(path)
    xr.testing.assert_identical(loaded, ds)
    assert loaded.surface.dtype == loaded.concept.dtype == object
    assert loaded.surface_recorded.sel(k=0).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(), min_size=0, max_size=4), st.floats())
def test_any_text_and_number_survives(tmp_path_factory, texts, number):
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    ds = xr.Dataset(
        {"t": ("i", array), "x": ("i", np.full(len(texts), number))}, {"i": range(len(texts))}
    )
    path = tmp_path_factory.mktemp("any") / "a.nc"
    xr.testing.assert_identical(cc.load(cc.save(ds, path)), ds)


def test_attributes_reload_as_they_were(tmp_path):
    ds = lane()
    odd = {"none": None, "flag": True, "map": {"a": 1}, "one": ["only"], "mix": ["a", 1], "no": []}
    ds.attrs |= odd
    ds.hits.attrs["note"] = ["x"]
    loaded = cc.load(cc.save(ds, tmp_path / "a.nc"))
    assert loaded.attrs == ds.attrs
    assert loaded.hits.attrs["note"] == ["x"]


def test_plain_xarray_opens_it(tmp_path):
    path = cc.save(lane("answer"), tmp_path / "a.nc")
    with xr.open_dataset(path) as ds:
        assert ds.attrs["question"] == "lane"
        assert str(ds.surface.values.ravel()[0]) == "answer"
        assert ds.hits.attrs["units"] == "tokens"


def test_no_part_of_a_file_loads(tmp_path):
    path = cc.save(lane(), tmp_path / "a.nc")
    raw = path.read_bytes()
    part = tmp_path / "part.nc"
    for size in [0, 8, 100, *range(512, len(raw), len(raw) // 12)]:
        part.write_bytes(raw[:size])
        with pytest.raises(DatasetError):
            cc.load(part)


def test_changed_bytes_do_not_load(tmp_path):
    path = cc.save(lane("find me here"), tmp_path / "a.nc")
    path.write_bytes(path.read_bytes().replace(b"find me", b"lost me"))
    with pytest.raises(DatasetError, match="damaged"):
        cc.load(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.nc"
    xr.Dataset({"a": ("i", [1.0])}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(DatasetError, match="does not hold a whole corecurves Dataset"):
        cc.load(path)
    with pytest.raises(DatasetError, match="there is no file"):
        cc.load(tmp_path / "gone.nc")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(["a", {"b": 1}], dtype=object), r"`bad` holds \{'b': 1\} at \(1,\)"),
        (np.array(["a", None], dtype=object), r"`bad` holds (None|nan)"),
        (np.array(["2025-03-04", "2025-03-05"], dtype="datetime64[ns]"), "`bad` has the dtype"),
    ],
)
def test_a_save_that_fails_leaves_the_old_file(tmp_path, value, message):
    path = tmp_path / "a.nc"
    cc.save(lane(), path)
    before = path.read_bytes()
    bad = xr.Dataset({"bad": ("i", value)})
    with path.open("rb"), pytest.raises(DatasetError, match=message):
        cc.save(bad, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.nc"]


def test_an_attribute_that_cannot_be_saved_is_named(tmp_path):
    ds = lane()
    ds.attrs["when"] = np.datetime64("2025-03-04")
    with pytest.raises(DatasetError, match=r"attrs\['when'\]"):
        cc.save(ds, tmp_path / "a.nc")


def test_only_netcdf_is_written(tmp_path):
    with pytest.raises(DatasetError, match=r"write a\.nc"):
        cc.save(lane(), tmp_path / "a.zarr")


def test_a_tidy_table_has_a_row_a_cell():
    frame = cc.to_frame(lane("judgment"))
    assert len(frame) == 8
    assert frame.query("k == 3 and arm == 'control'").hits.item() == 1
