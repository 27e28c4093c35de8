import pickle
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from helpers import curriculum

import corecurves as cc
from corecurves.engine import executors
from corecurves.engine.executors import Remote, as_executor, explain
from corecurves.errors import PermanentFailure, UsageError
from corecurves.lane.plan import prepare
from corecurves.rose.job import prepare as prepare_rose


def lane(executor=None, **more):
    ds = cc.run_lane(
        "dev", "grounded", ledger=False, progress=False, executor=executor, **more
    )  # fmt: skip
    return ds.drop_vars("seconds")


def rose(executor=None, **more):
    store = cc.open_store("rose_bench").demo()
    ds = cc.run_rose_eval(
        store, "simulated", samples=1, ledger=False, progress=False, executor=executor, **more
    )  # fmt: skip
    return ds.drop_vars("seconds")


@pytest.mark.parametrize("evaluation", [lane, rose])
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_same_dataset(evaluation, pool):
    with pool(2) as executor:
        assert evaluation(executor).identical(evaluation())


@pytest.mark.parametrize("mode", ["fresh", "prefix"])
def test_the_part_of_a_lane_that_travels_gives_the_same_records(mode):
    plan, work = prepare("dev", "grounded", ("taught", "control"), 1, 2, 0, mode)
    with ProcessPoolExecutor(1) as pool:
        remote = Remote(work, pool, True)
        cells = list(plan)[-12:]
        whole, error = executors._run(None, None, pickle.dumps(work), cells, True)
        part, other = executors._run(*remote.parcel(cells), cells, True)
    assert error is None
    assert other is None
    assert [(r.key, r.values["trace_hash"], r.values["surface"]) for r in part] == [
        (r.key, r.values["trace_hash"], r.values["surface"]) for r in whole
    ]


def test_what_travels_with_a_batch_does_not_grow_with_the_plan():
    def sent(samples):
        job = prepare_rose(
            cc.open_store("rose_bench").demo(), "simulated", "contrast", None,
            ("control", "ceiling"), None, samples, 0, "drop", 0.7, 512,
        ).stages  # fmt: skip
        with ProcessPoolExecutor(1) as pool:
            remote = Remote(job.work, pool, False)
            cells = list(job.plan)[:20]
            return len(pickle.dumps((*remote.parcel(cells), cells)))

    few, many = sent(1), sent(4)
    assert many < 1.5 * few
    assert few < 20 * 2000, "bytes a batch of 20"


class Counting:
    """Counts how often it arrived in a process."""

    arrived = 0

    def __init__(self):
        self.identity = cc.Identity("counting", "1")

    def __reduce__(self):
        return _arrive, ()

    def start(self):
        return self

    def turn(self, text):
        return str(Counting.arrived)


def _arrive():
    Counting.arrived += 1
    return Counting()


def test_who_answers_arrives_once_in_a_process():
    Counting.arrived = 0
    executors._thaw.cache_clear()
    plan, work = prepare([curriculum()], Counting(), ("taught",), 1, 2, 0, "fresh")
    cells = list(plan)
    with ProcessPoolExecutor(1) as pool:
        remote = Remote(work, pool, True)
    for at in range(0, len(cells), 2):
        batch = cells[at : at + 2]
        sent = pickle.loads(pickle.dumps((*remote.parcel(batch), batch, True)))
        executors._run(*sent)
    assert Counting.arrived == 1


class Quota:
    """Answers a few turns, then its quota is used up."""

    def __init__(self):
        self.identity = cc.Identity("quota", "1")
        self.left = 7

    def start(self):
        return self

    def turn(self, text):
        self.left -= 1
        if self.left < 0:
            raise PermanentFailure("the quota is used up")
        return cc.Turn("yes")


def test_what_a_batch_had_done_before_it_stopped_is_kept(tmp_path):
    path = tmp_path / "run.sqlite"
    options = {"arms": ("taught",), "replays": 1, "progress": False, "max_concurrency": 1}
    many = [curriculum(f"concept{i}") for i in range(10)]
    with ThreadPoolExecutor(1) as pool, pytest.raises(PermanentFailure, match="quota"):
        cc.run_lane(many, Quota(), ledger=path, executor=pool, **options)
    plan, _ = prepare(many, Quota(), ("taught",), 1, 1, 0, "fresh")
    from corecurves.engine.ledger import Ledger

    with Ledger(path, plan) as book:
        # Of 2, 3 and 4 turns, the first two snapshots were whole.
        assert len(book.done()) == 2


def test_other_objects_are_no_executors():
    assert as_executor(None) is None
    with pytest.raises(UsageError, match="`executor` is 'dask'; give a concurrent"):
        as_executor("dask")


def test_a_closed_executor_says_so_in_one_line():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(UsageError, match="takes no work") as caught:
        lane(pool)
    assert "\n" not in str(caught.value)


def test_other_errors_stay_what_they_are():
    error = ValueError("of the work")
    assert explain(error) is error


def test_an_executor_of_another_kind_gets_bytes_and_gives_the_same():
    class Elsewhere(Executor):
        """Runs what was pickled and read back, as another machine would."""

        def __init__(self):
            self.pool = ThreadPoolExecutor(2)

        def submit(self, call, *args):
            sent = pickle.dumps((call, args))
            return self.pool.submit(self.run, sent)

        @staticmethod
        def run(sent):
            call, args = pickle.loads(sent)
            return pickle.loads(pickle.dumps(call(*args)))

    elsewhere = Elsewhere()
    assert lane(elsewhere).identical(lane())
    elsewhere.pool.shutdown()


def test_dask_is_not_loaded():
    code = (
        "import sys, corecurves as cc; from concurrent.futures import ThreadPoolExecutor as T\n"
        "with T(1) as pool: cc.run_lane('dev', 'blank', ledger=False, progress=False,"
        " executor=pool)\n"
        "print('distributed' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
