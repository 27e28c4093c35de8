import asyncio

import pytest

from corecurves.errors import UsageError
from corecurves.specs import Identity
from corecurves.systems.base import Session, System, Turn
from corecurves.systems.grounded import GroundedSystem
from corecurves.systems.resolve import Adapter, as_system, system_names


def test_spec_strings_make_systems_with_typed_settings():
    adapter = as_system("grounded?max_hops=2&vault_capacity=none")
    assert adapter.identity.settings["max_hops"] == 2
    assert adapter.identity.settings["vault_capacity"] is None
    assert not adapter.volatile


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("groundet", "did you mean 'grounded'"),
        ("grounded?max_hops=0", "max_hops"),
        ("grounded?hops=2", "`setting` has no 'hops'"),
        (7, "`system` is an int"),
        (GroundedSystem, "is the class GroundedSystem; give an instance"),
    ],
)
def test_what_is_no_system_is_refused_in_one_line(system, message):
    with pytest.raises(UsageError, match=message) as caught:
        as_system(system)
    assert "\n" not in str(caught.value)


def test_an_identity_must_be_one():
    class Odd:
        identity = "me"

        def start(self):
            return str.upper

    with pytest.raises(UsageError, match=r"make it a corecurves\.Identity"):
        as_system(Odd())


def test_a_function_of_text_is_one_turn():
    adapter = as_system(lambda text: text.upper())
    assert adapter.volatile
    assert adapter.start(0).turn("yes").surface == "YES"


def test_a_function_without_parameters_starts_sessions_that_share_nothing():
    def start():
        heard = []

        def turn(text):
            heard.append(text)
            return " ".join(heard)

        return turn

    adapter = as_system(start)
    one, two = adapter.start(0), adapter.start(0)
    one.turn("a")
    assert one.turn("b").surface == "a b"
    assert two.turn("c").surface == "c"


def test_a_start_that_is_async_is_refused():
    class Later:
        identity = Identity("later")

        async def start(self):
            return str.upper

    with pytest.raises(UsageError, match="`start` is async"):
        as_system(Later()).start(0)


def test_an_async_function_is_awaited():
    async def answer(text):
        return text.upper()

    session = as_system(answer).start(0)
    assert session.asynchronous
    assert asyncio.run(session.turn("a")).surface == "A"


def test_an_answer_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="answered an int"):
        as_system(lambda text: 7).start(0).turn("a")


def test_seeds_go_to_those_who_take_them():
    class Seeded:
        identity = Identity("seeded")

        def start(self, *, seed=None):
            return lambda text: str(seed)

    assert as_system(Seeded()).start(41).turn("x").surface == "41"


def test_grounded_satisfies_the_protocols():
    system = GroundedSystem()
    assert isinstance(system, System)
    assert isinstance(system.start(), Session)
    assert isinstance(system.start().turn("What is wisdom?"), Turn)


def test_an_adapter_of_a_spec_string_travels():
    import pickle

    copy = pickle.loads(pickle.dumps(as_system("grounded?seed=3")))
    assert isinstance(copy, Adapter)
    assert copy.identity == as_system("grounded?seed=3").identity


def test_names():
    assert system_names()[0] == "grounded"
