import pickle

from corecurves.errors import CellFailure, Fault, FileFaults, unknown


def test_faults_come_sorted_and_once_one_a_line():
    faults = FileFaults([Fault("b.yaml", 2, "y"), Fault("a.yaml", 9, "x"), Fault("b.yaml", 2, "y")])
    assert str(faults) == "a.yaml:9: x\nb.yaml:2: y"


def test_errors_travel_between_processes():
    for error in (FileFaults([Fault("a", 1, "x")]), CellFailure("cut_off", "too long")):
        copy = pickle.loads(pickle.dumps(error))
        assert str(copy) == str(error)
    assert copy.status == "cut_off"


def test_unknown_names_the_near_one():
    assert unknown("arm", "plcebo", ["control", "placebo"]).endswith("did you mean 'placebo'?")
