from parcel import Cache


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_fetch_keeps_the_value():
    cache = Cache(ttl_s=10, clock=Clock())
    assert cache.fetch("a", lambda: 1) == 1
    assert cache.fetch("a", lambda: 2) == 1


def test_fetch_after_the_ttl():
    clock = Clock()
    cache = Cache(ttl_s=10, clock=clock)
    cache.fetch("a", lambda: 1)
    clock.now = 10
    assert cache.fetch("a", lambda: 2) == 2


def test_oldest_entry_is_dropped():
    cache = Cache(ttl_s=10, clock=Clock(), max_entries=3)
    for key in "abcdef":
        cache.fetch(key, lambda: 1)
    assert "a" not in cache
    assert "f" in cache


def test_contains():
    cache = Cache(ttl_s=10, clock=Clock())
    cache.fetch("a", lambda: 1)
    assert "a" in cache
    assert len(cache) == 1
