import pytest

from parcel import parse_weight, volumetric_weight


def test_kilograms():
    assert parse_weight("2 kg") == 2000


def test_fraction_of_kilograms():
    assert parse_weight("1.5 kg") == 1500


def test_grams():
    assert parse_weight("300 g") == 300


def test_pounds():
    assert parse_weight("2 lb") == 907


def test_no_space():
    assert parse_weight("300g") == 300


def test_upper_case():
    assert parse_weight("2 KG") == 2000


def test_outer_spaces():
    assert parse_weight("  2 kg ") == 2000


def test_volumetric_weight():
    assert volumetric_weight(30, 20, 10) == 1000


def test_volumetric_weight_of_odd_sizes():
    assert volumetric_weight(20, 10, 7) == pytest.approx(234, abs=1)
    assert volumetric_weight(31, 21, 19) == pytest.approx(2062, abs=1)
