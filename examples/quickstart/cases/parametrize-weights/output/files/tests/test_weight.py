import pytest

from parcel import parse_weight, volumetric_weight


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("2 kg", 2000),
        ("1.5 kg", 1500),
        ("300 g", 300),
        ("2 lb", 907),
        ("300g", 300),
        ("2 KG", 2000),
        ("  2 kg ", 2000),
        ("0.5kg", 500),
        ("0 g", 0),
    ],
)
def test_parse_weight(text, grams):
    assert parse_weight(text) == grams


def test_volumetric_weight():
    assert volumetric_weight(30, 20, 10) == 1000


def test_volumetric_weight_of_odd_sizes():
    assert volumetric_weight(20, 10, 7) == 233
    assert volumetric_weight(31, 21, 19) == 2061
