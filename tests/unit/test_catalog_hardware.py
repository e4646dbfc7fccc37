"""The hardware catalogue: its own rules, traps of public tables, and files from outside."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from roofline.catalog import hardware
from roofline.catalog.hardware import (
    COMPILED,
    MAX_FILE_BYTES,
    catalog_path,
    compiled,
    facts,
    hardware_ids,
    load_hardware,
    purchase_usd,
    rental_usd_per_h,
    sources,
)
from roofline.errors import CatalogError, MissingFactError, UnknownIdError
from roofline.specs.hardware import Accelerator, Category, Fact, Price

DEVICES = {key: load_hardware(key) for key in hardware_ids(announced=True)}
EVERY = pytest.mark.parametrize("device", DEVICES.values(), ids=lambda d: d.id)

ANNOUNCED = {"rubin-sxm", "mi455x", "tpu-8t", "tpu-8i", "groq-lp30"}

# Where the dense fp8 rate is neither twice the 16-bit rate (own units) nor equal to it (no own units).
FP8_EXCEPTIONS = {
    "l40s": "printed 733 beside 362.05: rounding of the vendor",
    "trainium2": "1299 beside 667 in the vendor's documentation",
    "trainium3": "MXFP8 runs at the MXFP4 rate while BF16 stayed where it was",
    "tt-n150": "8-bit matrix engine with one pass, 16-bit with several",
    "tt-n300": "as tt-n150",
    "tt-p150": "as tt-n150",
    "rubin-sxm": "announced figures, 17.5 beside 4 PFLOP/s",
}

# Lowest and highest that is plausible: GB/s, labelled GB, W, and TFLOP/s of the fastest 16-bit dtype.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "datacentre GPU": {"bandwidth": (200, 25_000), "memory": (16, 450), "tdp": (50, 3_500), "peak": (0.1, 5_100)},
    "TPU": {"bandwidth": (600, 9_000), "memory": (16, 300), "tdp": (100, 1_000), "peak": (40, 2_500)},
    "accelerator": {"bandwidth": (50, 21e6), "memory": (0.2, 220), "tdp": (60, 23_000), "peak": (50, 16_000)},
    "consumer GPU": {"bandwidth": (250, 1_800), "memory": (8, 32), "tdp": (100, 600), "peak": (20, 210)},
    "workstation GPU": {"bandwidth": (200, 1_800), "memory": (12, 96), "tdp": (70, 600), "peak": (30, 510)},
    "embedded GPU": {"bandwidth": (100, 280), "memory": (8, 128), "tdp": (20, 140), "peak": (7, 260)},
    "Apple": {"bandwidth": (60, 820), "memory": (16, 512), "tdp": (15, 180), "peak": (2, 130)},
    "server CPU": {"bandwidth": (80, 1_100), "memory": (480, 6_144), "tdp": (100, 500), "peak": (3, 270)},
    "desktop CPU": {"bandwidth": (50, 410), "memory": (128, 2_048), "tdp": (100, 350), "peak": (2, 32)},
}
GIGA, TERA = 1e9, 1e12


def test_it_covers_the_field() -> None:
    assert len(DEVICES) >= 180
    assert {device.category for device in DEVICES.values()} == set(get_args(Category)) == set(RANGES)


def test_what_does_not_ship_is_hidden_until_asked_for() -> None:
    assert set(hardware_ids(announced=True)) - set(hardware_ids()) == ANNOUNCED
    assert load_hardware("rubin-sxm").announced


def test_sources_name_what_and_when_and_none_is_a_search_page() -> None:
    for key, source in sources().items():
        assert source.title, key
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", source.retrieved), key
        assert not re.search(r"[?&](q|query|search)=|/search\b|google\.com/(?!tpu)|bing\.com", source.url), key
        assert source.url == "" or source.url.startswith("https://"), key


def test_every_source_is_used() -> None:
    used = {fact.source for device in DEVICES.values() for _, fact in facts(device)}
    assert used == set(sources())


def test_names_are_unique_and_lower_case() -> None:
    names = [name for device in DEVICES.values() for name in (device.id, *device.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and " " not in name for name in names)


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("H100", "h100-sxm"),
        ("h100-80gb", "h100-sxm"),
        ("A100", "a100-sxm-80"),
        ("RTX 3090", "rtx3090"),
        ("3090", "rtx3090"),
        ("rtx_4070_ti_super", "rtx4070tis"),
        ("m2-ultra", "apple-m2ultra"),
        ("EPYC-9654", "epyc-9654"),
        (" MI300X ", "mi300x"),
        ("dgx-spark", "gb10"),
        ("ironwood", "tpu-v7x"),
    ],
)
def test_the_names_people_type(typed: str, key: str) -> None:
    assert load_hardware(typed) is load_hardware(key)


@EVERY
def test_unverified_facts_say_so(device: Accelerator) -> None:
    for path, fact in facts(device):
        assert (fact.kind == "unverified") == (fact.source == "unverified"), path
        assert fact.kind == "derived" or fact.source != "derived", path


def fp8_ratio(device: Accelerator) -> float | None:
    """How many times the 16-bit rate the fp8 rate is, where both are published."""
    sixteen = device.peaks.get("bf16") or device.peaks.get("fp16")
    return device.peaks["fp8"].base / sixteen.base if sixteen and "fp8" in device.peaks else None


@EVERY
def test_peaks_are_dense(device: Accelerator) -> None:
    ratio = fp8_ratio(device)
    expected = ratio is None or any(ratio == pytest.approx(wanted, rel=0.01) for wanted in (1, 2))
    assert expected != (device.id in FP8_EXCEPTIONS), ratio


@EVERY
def test_a_rate_with_16_bit_accumulation_is_a_geforce_matter(device: Accelerator) -> None:
    if "fp16_acc16" in device.peaks:
        assert "GeForce RTX" in device.name
        assert device.peaks["fp16_acc16"].base == pytest.approx(2 * device.peaks["fp16"].base)


@EVERY
def test_figures_are_plausible(device: Accelerator) -> None:
    limits = RANGES[device.category]
    sixteen = [device.peaks[dtype].base for dtype in ("bf16", "fp16") if dtype in device.peaks]
    for name, value in {
        "bandwidth": device.bandwidth_bytes_per_s / GIGA,
        "memory": device.memory_bytes / GIGA,
        "tdp": device.tdp.base if device.tdp else None,
        "peak": max(sixteen) / TERA if sixteen else None,
    }.items():
        low, high = limits[name]
        assert value is None or low <= value <= high, (name, value)


@EVERY
def test_visible_memory_is_less_than_the_label_in_gib_but_not_by_much(device: Accelerator) -> None:
    if device.visible_memory is not None:
        assert device.visible_memory.kind == "measured"
        assert 0.9 <= device.visible_memory.base / (device.memory.value * 2**30) <= 1.03


@EVERY
def test_unified_memory_keeps_a_share_for_the_system(device: Accelerator) -> None:
    assert device.configurable_memory == (device.category in ("Apple", "server CPU", "desktop CPU"))
    assert device.wired_frac == (0.74 if device.category == "Apple" else 1)


@EVERY
def test_links_are_per_direction(device: Accelerator) -> None:
    kinds = [link.kind for link in device.links]
    assert len(kinds) == len(set(kinds))
    generation = {"NVLink 3": 300, "NVLink 4": 450, "NVLink 5": 900, "NVLink 6": 1800}
    for link in device.links:
        rate = link.bandwidth.base / GIGA
        if link.name in generation:
            assert rate <= generation[link.name]
        if link.name.startswith("PCIe"):
            assert rate <= {"3": 15.75, "4": 31.5, "5": 63, "6": 121}.get(link.name[8:9], 32)
        assert link.pair is None or link.pair.base < link.bandwidth.base
        assert link.kind == "host" or link.n_devices > 1
        assert not link.in_switch_reduction or link.name in ("NVLink 4", "NVLink 5", "NVLink 6")


def test_reduction_in_the_switch_needs_a_switch() -> None:
    assert load_hardware("h100-sxm").links[0].in_switch_reduction
    assert load_hardware("gb200").links[0].n_devices == 72
    assert not load_hardware("a100-sxm-80").links[0].in_switch_reduction
    assert not load_hardware("h100-nvl").links[0].in_switch_reduction


@EVERY
def test_prices_are_dated_or_say_that_they_are_not(device: Accelerator) -> None:
    for price in device.prices:
        assert re.fullmatch(r"(\d{4}(-\d\d(-\d\d)?)?)?", price.date)
        assert price.amount.unit == ("USD/h" if price.kind == "rental" else "USD")
        assert price.kind == "purchase" or (price.provider and 0.01 < price.amount.value < 100)


def tflops(key: str, dtype: str) -> float:
    return DEVICES[key].peaks[dtype].base / TERA  # type: ignore[index]


@pytest.mark.parametrize(
    ("key", "dtype", "value"),
    [
        ("h100-sxm", "bf16", 989.4),  # aiconfigurator h100_sxm.yaml; 528 x 512 x 2 x 1830 MHz; 1979 is sparse
        ("gh200-96", "fp16", 989),  # ml-engineering; half of the printed sparse value
        ("b100", "fp16", 1750),  # half of the printed sparse value
        ("l40s", "fp8", 733),  # aiconfigurator l40s.yaml; 1466 is sparse
        ("rtx3090", "bf16", 71.2),  # NVIDIA GA102 whitepaper; 142 accumulates in 16 bit
        ("rtx4090", "bf16", 165.2),  # NVIDIA Ada whitepaper
        ("rtx5090", "bf16", 209.5),  # NVIDIA RTX Blackwell whitepaper
        ("rtx4090", "fp8", 330.3),  # Ada whitepaper v2.1, appendix A; 660.6 is the older value
        ("b300-sxm", "int8", 153.5),  # aiconfigurator b300_sxm.yaml; 4500 is a B200
        ("b300-sxm", "fp4", 13500),  # HGX B300: 108 PFLOP/s / 8; not half of the sparse 18000
        ("gb200", "bf16", 2500),  # aiconfigurator gb200.yaml, per GPU and not per superchip
        ("mi250x", "int8", 383),  # ml-engineering: as BF16
        ("tpu-v5p", "fp8", 459),  # Google: as BF16
        ("tpu-v6e", "fp8", 918),  # Google: as BF16
        ("gaudi3", "fp8", 1677),  # ml-engineering: as BF16; 1835 needs a clock that does not ship
        ("jetson-thor", "fp4", 1035),  # 2070 is sparse
        ("mi355x", "fp6", tflops("mi355x", "fp4")),  # AMD runs FP6 at the FP4 rate
    ],
)
def test_traps_of_public_tables_peaks(key: str, dtype: str, value: float) -> None:
    assert tflops(key, dtype) == pytest.approx(value, rel=0.001)


@pytest.mark.parametrize(
    ("key", "gb_per_s"),
    [
        ("h100-sxm", 3350),  # aiconfigurator: 3350000000000, not times 2**30
        ("gb200", 8000),  # per GPU
        ("xeon-6980p-mcr", 844.8),  # 12 channels x 8800 MT/s x 8 B
        ("epyc-9755-6000", 576),  # 12 channels x 6000 MT/s x 8 B
        ("epyc-7763", 204.8),  # 8 channels x 3200 MT/s x 8 B
        ("epyc-7282", 85.3),  # AMD rates it so; two dies cannot take eight channels
        ("rx9070xt", 640),  # 256 bit x 20 Gbit/s
        ("apple-m5pro", 307),  # Apple release
        ("apple-m5max", 614),
        ("rtxpro6000-server", 1597),  # 25 Gbit/s memory; the Workstation edition has 1792
    ],
)
def test_traps_of_public_tables_bandwidth(key: str, gb_per_s: float) -> None:
    assert DEVICES[key].bandwidth_bytes_per_s == pytest.approx(gb_per_s * GIGA)


@pytest.mark.parametrize(
    ("key", "gb_per_s"),
    [("a100-sxm-80", 300), ("h100-sxm", 450), ("b200-sxm", 900), ("h800", 200), ("mi300x", 448)],  # ml-engineering
)
def test_traps_of_public_tables_links(key: str, gb_per_s: float) -> None:
    link = DEVICES[key].link("scale-up")
    assert link is not None
    assert link.bandwidth.base == gb_per_s * GIGA


def test_a_pair_in_a_mesh_has_one_link() -> None:
    link = DEVICES["mi300x"].link("scale-up")
    assert link is not None
    assert link.pair is not None
    assert link.pair.base == 64 * GIGA  # ml-engineering, network


def test_traps_of_public_tables_memory() -> None:
    assert DEVICES["gb200"].memory.value == 186  # per GPU; a superchip has twice that
    assert DEVICES["a10"].memory.value == 24  # one table says 28
    assert DEVICES["h100-sxm"].memory_bytes == 80e9
    assert DEVICES["h100-sxm"].usable_memory_bytes == 81559 * 2**20  # driver record; 80 GiB is 81920 MiB
    assert DEVICES["h100-sxm"].peak_flops_per_s("bf16") / DEVICES["h100-sxm"].bandwidth_bytes_per_s == pytest.approx(295, abs=0.5)


def test_a_peak_that_is_not_published_is_refused() -> None:
    with pytest.raises(MissingFactError, match="bf16 peak; it has fp16, fp32, fp64"):
        DEVICES["v100-sxm2-32"].peak_flops_per_s("bf16")


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(UnknownIdError, match="a40x") as error:
        load_hardware("a40x")
    assert error.value.nearest[0] == "a40"


def priced(*prices: tuple[str, str, str, str, float]) -> Accelerator:
    quotes = tuple(
        Price(
            kind=kind,  # type: ignore[arg-type]
            provider=provider,
            date=date,
            commitment=commitment,
            amount=Fact(value=value, unit="USD", source="me"),
        )
        for kind, provider, date, commitment, value in prices
    )
    return DEVICES["t4"].model_copy(update={"prices": quotes})


def test_rent_is_the_median_of_the_newest_quotes() -> None:
    device = priced(
        ("rental", "a", "2026-01", "on-demand", 9.0),
        ("rental", "a", "2026-02", "on-demand", 2.0),
        ("rental", "a", "2026-02", "on-demand", 4.0),
        ("rental", "b", "", "on-demand", 1.0),
        ("rental", "c", "2026-03-04", "on-demand", 5.0),
        ("rental", "c", "2026-03-04", "spot", 0.1),
        ("purchase", "", "2026", "new, list", 1000.0),
    )
    assert rental_usd_per_h(device) == (
        3.0,
        "median of 3 providers (a, b, c), newest on-demand quotes (4 quotes, 2026-02 to 2026-03-04, 1 undated)",
    )


def test_a_price_is_new_where_there_is_one() -> None:
    device = priced(("purchase", "", "2026", "used, street", 100.0), ("purchase", "", "2025", "new, list", 300.0))
    assert purchase_usd(device) == (300.0, "median of new prices (1 quote, 2025)")
    assert purchase_usd(priced(("purchase", "", "", "used, street", 100.0))) == (
        100.0,
        "median of used prices (1 quote, undated)",
    )


def test_no_quote_is_no_price() -> None:
    assert rental_usd_per_h(priced()) is None
    assert purchase_usd(priced()) is None


def test_the_prices_of_the_catalogue_are_sane() -> None:
    rents = {key: rent[0] for key, device in DEVICES.items() if (rent := rental_usd_per_h(device))}
    assert len(rents) > 50
    assert 1 < rents["h100-sxm"] < 12
    assert 20_000 < (purchase_usd(DEVICES["h100-sxm"]) or (0, ""))[0] < 40_000


def test_the_compiled_catalogue_is_that_of_the_yaml() -> None:
    assert COMPILED.read_text(encoding="utf-8") == compiled(catalog_path().read_bytes()), "run scripts/compile_catalog.py"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch):
    """A module without memory, before and after."""
    caches = (hardware._content, hardware._sources, hardware.hardware_names, hardware._known)
    for cached in caches:
        cached.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()


def test_a_changed_yaml_is_read_itself(fresh, tmp_path) -> None:
    (tmp_path / "hardware_catalog.yaml").write_text(GOOD)
    fresh.setattr(hardware, "COMPILED", tmp_path / "hardware_catalog.json")
    assert hardware_ids() == ("box",)  # no compiled file
    hardware._content.cache_clear()
    (tmp_path / "hardware_catalog.json").write_text(json.dumps({"sha256": "0", "sources": {}, "accelerators": {}}))
    assert hardware_ids() == ("box",)  # one that belongs to another YAML
    hardware._content.cache_clear()
    (tmp_path / "hardware_catalog.json").write_text(compiled(GOOD.encode()))
    assert hardware_ids() == ("box",)
    assert sources()["me"].retrieved == "2026-01-01"


GOOD = """
sources:
  me: {title: My own measurement, retrieved: 2026-01-01}
accelerators:
  box:
    name: Box
    vendor: Me
    category: accelerator
    year: 2026
    grade: C
    memory: {value: 10, unit: GB, source: me}
    bandwidth: {value: 100, unit: GB/s, source: me, kind: measured}
    peaks: {bf16: {value: 1.5e1, unit: TFLOP/s, source: derived, kind: estimate}}
"""


def test_a_device_from_a_file(tmp_path) -> None:
    path = tmp_path / "box.yaml"
    path.write_text(GOOD)
    device = load_hardware(str(path))
    assert device.id == "box"
    assert device.peak_flops_per_s("bf16") == 15e12
    path.write_text(GOOD.split("accelerators:")[0].replace("sources", "accelerators"))
    with pytest.raises(CatalogError, match="me: name: Field required"):
        load_hardware(str(path))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("value: 100,", "value: -100,"), r"box: bandwidth.value: Input should be greater than or equal to"),
        (("value: 100,", "value: .nan,"), r"box: bandwidth.value: Input should be a finite number"),
        (("value: 100,", "value: .inf,"), r"box: bandwidth.value: Input should be a finite number"),
        (("unit: GB,", "unit: GB/s,"), r"box: memory: unit GB/s is not one of B, kB"),
        (("bf16:", "bf17:"), r"box: peaks.bf17"),
        (("source: me}\n    bandwidth", "source: you}\n    bandwidth"), r"box: memory: source 'you' is not in the table"),
        (("grade: C", "grade: C\n    colour: red"), r"box: colour: Extra inputs"),
        (("grade: C", "grade: C\n    grade: B"), r'duplicate key "grade".*line 11'),
        (("title: My own measurement, ", ""), r"sources: title: Field required"),
        (("name: Box", "name: !!str Box"), r"line 6: anchors, aliases, tags"),
        (("name: Box", 'name: !!python/object/apply:os.system ["true"]'), r"line 6: anchors, aliases, tags"),
        (("name: Box", "name: &a Box"), r"line 6: anchors, aliases, tags"),
        (("name: Box", "name: " + "[" * 50 + "]" * 50), r"deep nesting"),
        (("name: Box", "name: ["), r"is not YAML as the catalogue uses it"),
        (("name: Box", "? [1, 2]\n    : Box"), r"is not YAML as the catalogue uses it"),
        (("name: Box", "name: \x00"), r"is not YAML as the catalogue uses it"),
        (("  box:", "  bix: {}\n  box:"), r"holds 2 accelerators"),
        (("accelerators:", "prices: {}\naccelerators:"), r"the tables are 'sources' and 'accelerators'.*'prices'"),
        (("accelerators:\n  box:\n", "accelerators:\n  box: 1\nsources2:\n  box:\n"), r"the tables are"),
        ((GOOD, "accelerators: {box: 1}"), r"box: an accelerator is a table of fields"),
        ((GOOD, "- 1"), r"holds 0 accelerators"),
        ((GOOD, "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"), r"line 1: anchors, aliases, tags"),
        ((GOOD, "#" * (MAX_FILE_BYTES + 1)), r"too large"),
        ((GOOD, "a: 1\n---\nb: 2"), r"is not YAML as the catalogue uses it"),
    ],
)
def test_a_hostile_file_is_refused_with_a_reason(tmp_path, change: tuple[str, str], complaint: str) -> None:
    path = tmp_path / "box.yaml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change, 1))
    with pytest.raises(CatalogError, match=complaint) as error:
        load_hardware(str(path))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path) -> None:
    with pytest.raises(CatalogError, match=r"box\.yml cannot be read: No such file"):
        load_hardware(str(tmp_path / "box.yml"))
    (tmp_path / "box.yml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CatalogError, match="not UTF-8"):
        load_hardware(str(tmp_path / "box.yml"))
    with pytest.raises(CatalogError, match="cannot be read"):
        load_hardware("\0.yaml")
