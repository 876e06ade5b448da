"""The account of what was fused."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest

import fusion
from fusion.explain import Explanation
from fusion.picture import Edge, Node, Picture

REPORT = {
    "target": "sm_90",
    "numerics": "strict",
    "kernels": [
        {
            "name": "k0_exp",
            "hero": "elementwise",
            "schedule": "elementwise",
            "ops": ["exp", "add"],
            "bytes_read": 1_000_000,
            "bytes_written": 1_000_000,
            "producers": [],
        },
        {
            "name": "k1_softmax",
            "hero": "reduce",
            "schedule": "row_reduce",
            "ops": ["softmax"],
            "bytes_read": 1_000_000,
            "bytes_written": 1_000_000,
            "producers": [0],
        },
    ],
    "remarks": [
        {
            "rule": "elementwise",
            "fused": True,
            "producer": "exp",
            "consumer": "add",
            "producer_location": "a.py:2:5",
            "consumer_location": "a.py:3:5",
            "bytes": 2_000_000,
            "reason": "saves a round trip",
        },
        {
            "rule": "fan-out",
            "fused": False,
            "producer": "add",
            "consumer": "softmax",
            "producer_location": "a.py:2:5",
            "consumer_location": "a.py:4:5",
            "bytes": 2_000_000,
            "reason": "recomputing exp & add twice costs more",
        },
    ],
    "traffic": {
        "unfused_bytes": 6_000_000,
        "fused_bytes": 4_000_000,
        "minimum_bytes": 2_000_000,
        "unfused_kernels": 3,
    },
    "peak_bytes": 1_000_000,
}


@pytest.fixture
def account():
    return Explanation(REPORT, "module {}")


def test_numbers(account):
    assert account.kernels_before == 3 and len(account.kernels) == 2
    assert account.bytes_saved == 2_000_000
    assert [r["rule"] for r in account.unfused] == ["fan-out"]
    assert [r["rule"] for r in account.fused] == ["elementwise"]


def test_table(account):
    text = str(account)
    assert "kernels: 3 before fusion, 2 after" in text
    assert "6.0 MB before, 4.0 MB after, 2.0 MB at least" in text
    assert "add -> softmax" in text and "a.py:4:5" in text
    assert "recomputing exp & add twice costs more" in text


def test_why(account):
    assert "not fused, rule fan-out" in account.why("softmax", "add")
    assert "at a.py:3:5: fused" in account.why("exp")
    assert "neither reads the other" in account.why("exp", "softmax")


def test_pictures(account, tmp_path):
    assert "n0 -> n1" in account.dot()
    root = xml.fromstring(account.svg())
    assert root.tag.endswith("svg")
    texts = "".join(root.itertext())
    assert "k1_softmax" in texts and "recomputing exp & add" in texts
    for suffix in (".svg", ".dot", ".txt", ".mlir"):
        account.save(tmp_path / f"graph{suffix}")
        assert (tmp_path / f"graph{suffix}").stat().st_size > 0
    with pytest.raises(fusion.FusionError, match="'.png'"):
        account.save(tmp_path / "graph.png")
    with pytest.raises(fusion.FusionError, match="cannot write"):
        account.save(tmp_path / "missing" / "graph.svg")


def test_notebook_forms(account):
    assert account._repr_svg_().startswith("<svg")
    assert "exp &amp; add" in account._repr_html_()


def test_layers_of_a_picture():
    picture = Picture(
        [Node([name]) for name in "abcd"],
        [Edge(0, 1), Edge(0, 2), Edge(1, 3), Edge(2, 3)],
    )
    assert picture._layers() == [[0], [1, 2], [3]]
    xml.fromstring(picture.svg())
    xml.fromstring(Picture().svg())


def test_symbolic_counts():
    report = dict(REPORT, traffic=dict(REPORT["traffic"], fused_bytes="32 * N"))
    account = Explanation(report, "")
    assert account.bytes_saved is None and "32 * N after" in str(account)


# From here on with the compiler.


@pytest.mark.parametrize("machine", ["cpu", "sm_90"])
def test_softmax_is_one_kernel(machine):
    account = fusion.explain(
        lambda x, b: fusion.softmax(np.tanh(x) * 2 + b, -1),
        np.ones((64, 256), np.float32),
        np.ones(256, np.float32),
        target=machine,
    )
    assert len(account.kernels) == 1 < account.kernels_before
    assert account.bytes_saved > 0
    traffic = account.report["traffic"]
    assert traffic["fused_bytes"] >= traffic["minimum_bytes"]
    xml.fromstring(account.svg())


def test_unfused_edges_have_reasons():
    def f(a, b, c):
        return (a @ b) @ c

    squares = [np.ones((64, 64), np.float32)] * 3
    account = fusion.explain(f, *squares)
    assert len(account.kernels) >= 2 and account.unfused
    for remark in account.unfused:
        assert remark["reason"] and remark["rule"]
    assert "n0 -> n1" in account.dot()
    assert any("test_explain.py" in r["consumer_location"] for r in account.unfused)


def test_of_jit_and_executable():
    x = np.ones(10)
    jitted = fusion.jit(lambda x: x + 1)
    assert str(fusion.explain(jitted, x)) == str(fusion.explain(jitted.compile(x)))


def test_doctor():
    facts = fusion.doctor()
    assert facts and ":" in str(facts)
