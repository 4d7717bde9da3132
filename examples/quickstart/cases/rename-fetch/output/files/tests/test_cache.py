from parcel import Cache


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_get_or_make_keeps_the_value():
    cache = Cache(ttl_s=10, clock=Clock())
    assert cache.get_or_make("a", lambda: 1) == 1
    assert cache.get_or_make("a", lambda: 2) == 1


def test_get_or_make_after_the_ttl():
    clock = Clock()
    cache = Cache(ttl_s=10, clock=clock)
    cache.get_or_make("a", lambda: 1)
    clock.now = 10
    assert cache.get_or_make("a", lambda: 2) == 2


def test_contains():
    cache = Cache(ttl_s=10, clock=Clock())
    cache.get_or_make("a", lambda: 1)
    assert "a" in cache
    assert len(cache) == 1
