import pytest
from helpers import Rote

from corecurves.errors import UsageError
from corecurves.explore.systems import choices, configured
from corecurves.systems.resolve import as_system


def test_settings_are_those_of_the_system():
    (choice,) = choices("grounded?max_hops=2", [])
    settings = {s.name: (s.value, s.kind) for s in choice.settings()}
    assert settings["max_hops"] == (2, int)
    assert settings["vault_capacity"] == (None, None)
    assert settings["vault_threshold"] == (0.3, float)


def test_an_object_has_no_settings_to_change():
    rote = Rote()
    found = choices(rote)
    assert found[0].label == "rote"
    assert found[0].settings() == ()
    assert "grounded" in [one.label for one in found]
    assert configured(rote, {}) is rote


@pytest.mark.parametrize(
    ("source", "given", "made"),
    [
        ("grounded", {"max_hops": "16"}, "grounded"),
        ("grounded", {"max_hops": "2", "vault_capacity": "none"}, "grounded?max_hops=2"),
        ("grounded?max_hops=3", {"vault_capacity": "2"}, "grounded?max_hops=3&vault_capacity=2"),
        ("grounded?max_hops=3", {"max_hops": "1"}, "grounded?max_hops=1"),
    ],
)
def test_spec_strings_say_what_differs(source, given, made):
    assert configured(source, given) == made
    as_system(made)


@pytest.mark.parametrize("given", [{"max_hops": "x"}, {"hops": "2"}])
def test_values_that_do_not_fit(given):
    with pytest.raises(UsageError):
        configured("grounded", given)


def test_unknown_systems_are_told_at_once():
    with pytest.raises(UsageError, match="did you mean 'grounded'"):
        choices("grounde")
