"""A real cluster: two worker processes over TCP, one of them killed in mid-run."""

import os
import signal
import threading

import pytest

import corecurves as cc

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore:::distributed"),
    pytest.mark.filterwarnings("ignore:::tornado"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, protocol="tcp", host="127.0.0.1",
            dashboard_address=None, silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        assert cluster.scheduler_address.startswith("tcp://127.0.0.1:")
        yield client


def lane(samples, executor=None, ledger=False, system="grounded"):
    ds = cc.run_lane(
        "dev", system, samples=samples, ledger=ledger, progress=False, executor=executor
    )
    return ds.drop_vars("seconds")


def test_a_killed_worker_changes_nothing(client, tmp_path):
    workers = client.run(os.getpid)
    assert len(workers) == 2
    victim = next(iter(workers.values()))
    path = tmp_path / "run.sqlite"
    seen = []

    def kill():
        # In mid-run: some cells are in the ledger, others are still to come.
        while len(seen) < 40 and not ended.is_set():
            ended.wait(0.01)
        seen.append("killed")
        os.kill(victim, signal.SIGKILL)

    from corecurves.engine.ledger import Ledger

    write = Ledger.write

    def counted(self, *records):
        # The client process is the only writer: the workers never come here.
        seen.extend(records)
        write(self, *records)

    ended = threading.Event()
    thread = threading.Thread(target=kill)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "write", counted)
        thread.start()
        try:
            found = lane(40, client, path)
        finally:
            ended.set()
            thread.join()
    records = len(seen) - 1
    assert 40 <= seen.index("killed") < records, "it was killed in mid-run"
    assert records == int((found.replay_status == "ok").sum()) == 3200
    assert found.identical(lane(40))
    assert victim not in client.run(os.getpid).values()


def test_a_system_from_a_notebook_travels(client):
    # Dask's own way of copying takes what a cell defines, a lambda included.
    def system(text):
        return text.upper()

    assert lane(1, client, system=system).identical(lane(1, system=system))


def test_a_rose_run_is_the_same(client):
    store = cc.open_store("rose_bench").demo()

    def rose(executor=None):
        ds = cc.run_rose_eval(
            store, "simulated", samples=1, ledger=False, progress=False, executor=executor
        )
        return ds.drop_vars("seconds")

    assert rose(client).identical(rose())


def test_an_executor_of_the_client_is_taken_too(client):
    assert lane(1, client.get_executor()).identical(lane(1))


def test_a_closed_client_says_so_in_one_line():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
        silence_logs=50,
    ) as cluster:  # fmt: skip
        client = distributed.Client(cluster)
        client.close()
        with pytest.raises(cc.UsageError) as caught:
            lane(1, client)
    assert "\n" not in str(caught.value)
