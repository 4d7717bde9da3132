from parcel import check_digit, is_valid


def test_check_digit():
    assert check_digit("47312482") == 9
    assert check_digit("12345678") == 5


def test_valid():
    assert is_valid("RR473124829GB")


def test_as_printed_or_typed():
    assert is_valid("RR 473 124 829 GB")
    assert is_valid(" rr473124829gb\n")
    assert not is_valid("rr 473 124 820 gb")


def test_wrong_check_digit():
    assert not is_valid("RR473124820GB")


def test_other_form():
    assert not is_valid("473124829")
    assert not is_valid("")
