"""How far a judge can be trusted: what people say of the same work, and certificates of it."""

from adjudge.trust.certificate import (
    CERTIFICATE,
    Certificate,
    DimensionTrust,
    Targets,
    calibrate,
    calibration_of,
    read_certificate,
    write_certificate,
)
from adjudge.trust.labels import Item, LabelError, Labels, read_labels, sheet, stratified

__all__ = [
    "CERTIFICATE",
    "Certificate",
    "DimensionTrust",
    "Item",
    "LabelError",
    "Labels",
    "Targets",
    "calibrate",
    "calibration_of",
    "read_certificate",
    "read_labels",
    "sheet",
    "stratified",
    "write_certificate",
]
