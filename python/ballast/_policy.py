# SPDX-License-Identifier: BSD-2-Clause
"""Policies written in Python, for trying an idea out: a function route(servers, job, rng) that returns the
number of a server. Each decision costs tens of microseconds, a hundred times what one in C costs."""
import random
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _native
from ._native import Error


class Job(NamedTuple):
    """What arrives."""

    tasks: int  # they go together
    rank: int  # its class; 0 is the most urgent


class Servers(Sequence[int]):
    """The servers as a dispatcher may see them: servers[i] probes server i for its jobs, the one in service
    included, and is counted as a probe. It is valid until route returns."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._fleet: Optional[int] = None

    def _view(self, server: int) -> int:
        if self._fleet is None:
            raise RuntimeError('servers can be looked at only while route runs')
        if not 0 <= server < self._count:
            raise IndexError(f'server {server}: they are numbered from 0 to {self._count - 1}')
        return self._fleet

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, server: Any) -> Any:
        return _native.fleet_probe(self._view(server), server)

    def __iter__(self) -> Iterator[int]:
        return map(self.__getitem__, range(self._count))

    def work(self, server: int) -> float:
        """The time until a job that joins now would begin. A probe, too."""
        return _native.fleet_work(self._view(server), server)

    def weight(self, server: int) -> float:
        """Its speed, where the dispatcher knows it; else 1."""
        return _native.fleet_weight(self._view(server), server)

    @property
    def open(self) -> List[int]:
        """The numbers of those that may be chosen: all, unless some have failed or are full."""
        return _native.fleet_open(self._view(0), self._count)


class Rng(random.Random):
    """Random numbers from the stream of this policy: the seed of the comparison decides them."""

    stream: Optional[int] = None  # valid until route returns

    def _bits(self) -> int:
        if self.stream is None:
            raise RuntimeError('random numbers can be drawn only while route runs, from the rng of that call')
        return _native.random_bits(self.stream)

    def random(self) -> float:
        return (self._bits() >> 11) * 2.0 ** -53

    def getrandbits(self, count: int) -> int:
        bits = 0
        for _ in range((count + 63) // 64):
            bits = bits << 64 | self._bits()
        return bits >> -count % 64


Route = Callable[[Servers, Job, Rng], int]


def name_of(policy: Any) -> str:
    """As policies are called: LastOrRandom and last_or_random are last-or-random."""
    given = getattr(policy, '__name__', type(policy).__name__)
    name = re.sub(r'[^a-z0-9]+', '-', re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '-', given).lower()).strip('-')
    if not name:
        raise Error(f'policies: {given!r} is no name of a policy; use a function with a name of letters')
    return name


def _is_taken(name: str) -> bool:
    try:  # in a thread of its own, where those of a comparison that is under way in this one are not known
        _native.run(['policies', '--', name])
    except Error:
        return False
    return True


class Policies:
    """Those of one comparison, and the states that their dispatchers have. What a function raises is kept
    until the command has ended, because it cannot pass through C."""

    def __init__(self, policies: Sequence[Any]) -> None:
        self.policies = list(policies)
        self.names = [name_of(policy) for policy in policies]
        self.states: Dict[int, Tuple[Route, Servers, Rng]] = {}
        self.failure: Optional[BaseException] = None
        for name in self.names:
            if self.names.count(name) > 1:
                raise Error(f'policies: two functions are called {name!r}; give one another name')
            if _is_taken(name):
                raise Error(f'policies: there is a policy {name!r} already; give the function another name')

    def start(self, policy: int, servers: int) -> int:
        """A class has an instance for each dispatcher of each replication; a function keeps nothing."""
        made = self.policies[policy]
        try:
            if self.failure is None:
                route = made(servers) if isinstance(made, type) else made
                self.states[len(self.states)] = route, Servers(servers), Rng()
        except BaseException as failure:
            self.failure = failure
        return len(self.states) - 1

    def route(self, policy: int, state: int, fleet: int, count: int, rank: int, stream: int) -> int:
        """Returns a server, or -1: it has failed."""
        if self.failure is not None:
            return -1
        route, servers, rng = self.states[state]
        servers._fleet, rng.stream = fleet, stream
        try:
            return self._checked(policy, route(servers, Job(count, rank), rng), servers)
        except BaseException as failure:
            self.failure = failure
            return -1
        finally:
            servers._fleet = rng.stream = None

    def _checked(self, policy: int, server: Any, servers: Servers) -> int:
        number = int(server) if hasattr(server, '__index__') and not isinstance(server, bool) else -1
        if not 0 <= number < len(servers):
            raise Error(f'policy {self.names[policy]!r}: route returned {server!r}; a server is a number '
                        f'from 0 to {len(servers) - 1}')
        if not _native.fleet_is_open(servers._view(number), number):
            raise Error(f'policy {self.names[policy]!r}: route returned {number}, which may not be chosen '
                        'now; servers.open are those that may')
        return number
