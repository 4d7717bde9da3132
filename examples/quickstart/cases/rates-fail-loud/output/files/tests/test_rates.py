from decimal import Decimal

import pytest

from parcel import Bracket, load_rates, price_for

RATES = {
    "A": [Bracket(1000, Decimal("4.20")), Bracket(5000, Decimal("6.90"))],
    "B": [Bracket(2000, Decimal("6.50")), Bracket(5000, Decimal("7.90"))],
}


def test_load_rates(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("zone,up_to_g,price\nA,5000,6.90\nA,1000,4.20\nB,2000,6.50\n")
    rates = load_rates(path)
    assert rates["A"] == [Bracket(1000, Decimal("4.20")), Bracket(5000, Decimal("6.90"))]
    assert rates["B"] == [Bracket(2000, Decimal("6.50"))]


@pytest.mark.parametrize("row", ["A,heavy,4.20", "A,1000,cheap"])
def test_bad_row_names_the_line(tmp_path, row):
    path = tmp_path / "rates.csv"
    path.write_text(f"zone,up_to_g,price\nA,5000,6.90\n{row}\n")
    with pytest.raises(ValueError, match=r"rates\.csv, line 3"):
        load_rates(path)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_rates(tmp_path / "missing.csv")


def test_price_for():
    assert price_for(RATES, "A", 300) == Decimal("4.20")
    assert price_for(RATES, "A", 1200) == Decimal("6.90")


def test_too_heavy():
    with pytest.raises(ValueError, match="9000 g"):
        price_for(RATES, "A", 9000)


def test_unknown_zone():
    with pytest.raises(ValueError, match="zone X"):
        price_for(RATES, "X", 300)
