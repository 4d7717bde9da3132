from decimal import Decimal

from parcel import Shipment, read_shipments


def test_read_shipments(tmp_path):
    path = tmp_path / "shipments.csv"
    path.write_text("zone,weight,size,insured\nA,300 g,,\nB,1.5 kg,30x20x10,250\n", encoding="utf-8")
    assert read_shipments(path) == [
        Shipment("A", 300),
        Shipment("B", 1500, size_cm=(30, 20, 10), insured=Decimal(250)),
    ]


def test_byte_order_mark(tmp_path):
    path = tmp_path / "shipments.csv"
    path.write_text("zone,weight\nA,300 g\n", encoding="utf-8-sig")
    assert read_shipments(path) == [Shipment("A", 300)]


def test_only_needed_columns(tmp_path):
    path = tmp_path / "shipments.csv"
    path.write_text("zone,weight\n A ,2 lb\n", encoding="utf-8")
    assert read_shipments(path) == [Shipment("A", 907)]
