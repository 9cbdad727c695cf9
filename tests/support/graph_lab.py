"""Labs drawn from graphs, without files: switches, cables and hosts as numbers. For benchmarks and tests."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from eee_testbed.lab.lags import lags_of
from eee_testbed.lab.model import End, Host, Lab, Link, Port, Switch


def graph_lab(
    switch_count: int,
    edges: Iterable[tuple[int, int]],
    hosts: Sequence[int],
    *,
    switchable: bool = True,
    lag_cables: Mapping[int, int] | None = None,
    pops_tags: bool = False,
) -> Lab:
    """Switches sw1.. with `hosts[i]` hosts on each, and a cable for each edge; an edge given twice is two cables.

    Host ports are h1.., trunk ports t1.. of each switch; every rate is 1000 Mb/s. `lag_cables` makes an edge, by its
    place from 0, a LAG of so many cables. `pops_tags` holds for all hosts.
    """
    ends: list[tuple[End, End, bool]] = []
    found: list[Host] = []
    for number in range(switch_count):
        for place in range(hosts[number]):
            host = _host(len(found) + 1, pops_tags=pops_tags)
            found.append(host)
            ends.append((End(f"sw{number + 1}", f"h{place + 1}"), End(host.name, "eth0"), False))
    used: Counter[int] = Counter()
    groups: dict[int, int] = {}
    for place, (one, other) in enumerate(edges):
        for _ in range((lag_cables or {}).get(place, 1)):
            pair = []
            for number in (one, other):
                used[number] += 1
                pair.append(End(f"sw{number + 1}", f"t{used[number]}"))
            if place in (lag_cables or {}):
                groups[len(ends) + 1] = place + 1
            ends.append((pair[0], pair[1], switchable))
    switches = tuple(
        _switch(number, [f"h{n + 1}" for n in range(hosts[number])] + [f"t{n + 1}" for n in range(used[number])])
        for number in range(switch_count)
    )
    links = tuple(Link(n, a, b, 1000, "copper", may) for n, (a, b, may) in enumerate(ends, start=1))
    lags = lags_of([(link, groups.get(link.number), link.number) for link in links], frozenset(), _refuse)
    return Lab("drawn", "", "198.18.0.0/16", "198.19.0.0/16", switches, tuple(found), links, (), (), lags)


def _refuse(_line: int, _key: str, sentence: str, _remedy: str) -> None:
    raise ValueError(sentence)


def _host(number: int, *, pops_tags: bool) -> Host:
    low = f"{number // 250}.{number % 250 + 1}"
    mac = b"\x02\xee" + number.to_bytes(4)
    return Host(
        f"n{number:02}", "lab", f"198.18.{low}", 22, f"198.19.{low}", mac, "eth0", 1000, 1500, pops_tags=pops_tags
    )


def _switch(number: int, names: Sequence[str]) -> Switch:
    name = f"sw{number + 1}"
    ports = tuple(Port(name, port, place, 1000) for place, port in enumerate(names, start=1))
    address = f"127.30.1.{number + 1}"
    return Switch(name, "netgear_m4300", "drawn", address, 22, 161, "admin", "", "", ports)
