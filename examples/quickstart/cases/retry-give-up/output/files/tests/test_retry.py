import pytest

from parcel import retry


class Flaky:
    """Fails a number of times, then returns "ok"."""

    def __init__(self, failures):
        self.failures = failures
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError(f"failure {self.calls}")
        return "ok"


def decorated(flaky, **options):
    waits = []

    @retry(sleep=waits.append, **options)
    def call():
        return flaky()

    return call, waits


def test_second_attempt():
    call, waits = decorated(Flaky(1))
    assert call() == "ok"
    assert waits == [0.1]


def test_waits_double():
    call, waits = decorated(Flaky(3), attempts=4, delay_s=1)
    assert call() == "ok"
    assert waits == [1, 2, 4]


def test_last_error_is_raised():
    flaky = Flaky(9)
    call, waits = decorated(flaky)
    with pytest.raises(ConnectionError, match="failure 3"):
        call()
    assert flaky.calls == 3


def test_on_give_up_gets_the_last_error():
    errors = []
    call, _ = decorated(Flaky(9), on_give_up=errors.append)
    with pytest.raises(ConnectionError) as raised:
        call()
    assert errors == [raised.value]


def test_failing_on_give_up_does_not_hide_the_error(caplog):
    def fail(error):
        raise RuntimeError("no network")

    call, _ = decorated(Flaky(9), on_give_up=fail)
    with pytest.raises(ConnectionError, match="failure 3"):
        call()
    assert "no network" in caplog.text


def test_on_give_up_is_not_called_after_a_success():
    errors = []
    call, _ = decorated(Flaky(2), on_give_up=errors.append)
    assert call() == "ok"
    assert errors == []
