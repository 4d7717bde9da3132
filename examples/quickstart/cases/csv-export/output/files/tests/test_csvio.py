from decimal import Decimal

from parcel import Shipment, read_shipments, write_quotes

LIGHT = Shipment("A", 300)
LARGE = Shipment("B", 1250, size_cm=(30, 20, 10), insured=Decimal(250))
QUOTES = [(LIGHT, Decimal("4.41")), (LARGE, Decimal("9.3"))]


def test_read_shipments(tmp_path):
    path = tmp_path / "shipments.csv"
    path.write_text("zone,weight,size,insured\nA,300 g,,\nB,1.5 kg,30x20x10,250\n", encoding="utf-8")
    assert read_shipments(path) == [
        Shipment("A", 300),
        Shipment("B", 1500, size_cm=(30, 20, 10), insured=Decimal(250)),
    ]


def test_only_needed_columns(tmp_path):
    path = tmp_path / "shipments.csv"
    path.write_text("zone,weight\n A ,2 lb\n", encoding="utf-8")
    assert read_shipments(path) == [Shipment("A", 907)]


def test_write_quotes(tmp_path):
    path = tmp_path / "quotes.csv"
    write_quotes(path, QUOTES)
    assert path.read_text(encoding="utf-8").splitlines() == [
        "zone,weight,size,insured,price",
        "A,0.300 kg,,0.00,4.41",
        "B,1.250 kg,30x20x10,250.00,9.30",
    ]


def test_write_quotes_with_decimal_comma(tmp_path):
    path = tmp_path / "quotes.csv"
    write_quotes(path, QUOTES, decimal_comma=True)
    assert path.read_text(encoding="utf-8").splitlines() == [
        "zone;weight;size;insured;price",
        "A;0,300 kg;;0,00;4,41",
        "B;1,250 kg;30x20x10;250,00;9,30",
    ]


def test_no_quotes(tmp_path):
    path = tmp_path / "quotes.csv"
    write_quotes(path, [])
    assert path.read_text(encoding="utf-8") == "zone,weight,size,insured,price\n"


def test_a_zone_that_needs_quoting(tmp_path):
    path = tmp_path / "quotes.csv"
    islands = Shipment("A, islands", 300)
    write_quotes(path, [(islands, Decimal("4.41"))])
    assert read_shipments(path) == [islands]


def test_quotes_are_read_back(tmp_path):
    path = tmp_path / "quotes.csv"
    write_quotes(path, QUOTES)
    assert read_shipments(path) == [LIGHT, LARGE]
