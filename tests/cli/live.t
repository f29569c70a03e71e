# ballast live: what is refused before anything is started. What is started is tried by tests/nginx/live.
$ ballast live
! ballast: live: name the file: ballast live FILE.yaml
? 2
$ ballast live nothing.yaml
! ballast: nothing.yaml: cannot be read: No such file or directory
? 2
$ cat >base <<'END'
> title: small
> fleet: {servers: 4}
> workload: {load: 0.5, service: exp(0.02)}
> network: {dispatchers: 2}
> END
$ file() { cat base - >f.yaml; }; file <<'END'
> policies: [random]
> END
> ballast live f.yaml
! ballast: f.yaml: it has no `live`, which says how to measure; `ballast run` simulates it
? 2

# Every mistake at once, each with its place.
$ cat base - >f.yaml <<'END'
> policies:
>   - nginx: most_conn
>   - haproxy: leastconn
>     policy: random
>   - {label: nobody}
> live: {seconds: 0, rounds: 2.5, stations: perhaps, burn: yes, minutes: 3}
> END
> ballast check f.yaml
! ballast: f.yaml:6: policies: 'most_conn' is not one of least_conn, random two least_conn, random two, random, round_robin, least_time header, least_time last_byte
! ballast: f.yaml:7: haproxy: `policy` says already what distributes the jobs; give one of them
! ballast: f.yaml:10: live: there is no field 'minutes'; there are seconds, rounds, timeout, stations, apart, keepers, burn, hosts, ipv6, urgent, faults
! ballast: f.yaml:10: seconds: '0' is not a number from 0.1 to 100000
! ballast: f.yaml:10: rounds: '2.5' is not a whole number from 1 to 10000
! ballast: f.yaml:10: stations: 'perhaps' is none of auto, yes, no
! ballast: f.yaml:9: policies: field 'policy' is missing: name or name:key=value,...: `pod:d=2`
? 2
$ cat base - >f.yaml <<'END'
> policies: [{nginx: least_conn}]
> END
> ballast check f.yaml
! ballast: f.yaml:5: nginx: other proxies can be measured, not simulated: `live` says how
! ballast: f.yaml:1: experiment: field 'policies' is missing: the policies to run at every point, on the same arrivals
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live:
>   seconds: 5
>   faults:
>     - {fault: explode, at: 1}
>     - {fault: hang, at: 4.5}
>     - {fault: kill-station, at: 1}
>     - {fault: kill-keeper, at: 1}
>     - {fault: reload}
> END
> ballast check f.yaml
! ballast: f.yaml:9: fault: 'explode' is none of reload, kill-worker, restart-dispatcher, kill-station, kill-keeper, fail, hang, slow, refuse, datagram-loss, kill-dispatcher, stop-dispatcher, stop-worker, restart-station, stop-station, abort, deploy, link-down, cut, deaf, mute, delay, mtu, move-address, reload-station, freeze
! ballast: f.yaml:10: faults: it ends 5.5 s from the beginning of a block, which has 5 (`seconds`)
! ballast: f.yaml:11: faults: it would happen to all stations at once; add `apart: yes` to `live`
! ballast: f.yaml:12: faults: there are no keepers; add `keepers: yes` to `live`
! ballast: f.yaml:13: faults: field 'at' is missing: when, in seconds from the beginning of a block
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live: {faults: [{fault: reload, at: 1, of: 2}]}
> END
> ballast check f.yaml
! ballast: f.yaml:6: faults: `of: 2`: there are 2 dispatchers, counted from 0
? 2

# Hosts, and faults of their network.
$ cat base - >f.yaml <<'END'
> policies: [random]
> live:
>   seconds: 5
>   faults:
>     - {fault: link-down, at: 1}
>     - {fault: stop-station, at: 1}
> END
> ballast check f.yaml
! ballast: f.yaml:9: faults: all is on loopback; add `hosts: 2` or more to `live`
! ballast: f.yaml:10: faults: it would happen to all stations at once; add `apart: yes` to `live`
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live: {hosts: 3, faults: [{fault: cut, at: 1, of: 1, to: 1}]}
> END
> ballast check f.yaml
! ballast: f.yaml:6: faults: `to: 1`: it must be another of the 3 hosts, counted from 0
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live: {hosts: 3, faults: [{fault: deaf, at: 1, of: 3}]}
> END
> ballast check f.yaml
! ballast: f.yaml:6: faults: `of: 3`: there are 3 hosts, counted from 0
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live: {hosts: 3, ipv6: yes, faults: [{fault: mtu, at: 1, of: 1, bytes: 576}]}
> END
> ballast check f.yaml
! ballast: f.yaml:6: faults: IPv6 needs an MTU of 1280 or more
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live: {ipv6: yes}
> END
> ballast check f.yaml
! ballast: f.yaml:6: ipv6: all is on loopback; add `hosts: 2` or more to `live`
? 2

$ cat base - >f.yaml <<'END'
> policies: [tabs]
> live: {seconds: 1}
> END
> ballast check f.yaml
! ballast: f.yaml:5: policies: 'tabs' switches servers off: add `keepers: yes` to `live`
? 2
$ cat base - >f.yaml <<'END'
> policies: [random]
> live: {seconds: 1}
> run: {replications: 3}
> END
> ballast check f.yaml
! ballast: f.yaml:7: replications: `seconds` and `rounds` of `live` say how long and how often; leave it out
? 2
$ sed 's/exp(0.02)/exp/; s/servers: 4/servers: 201/' base >f.yaml; cat >>f.yaml <<'END'
> policies: [random]
> live: {seconds: 1, stations: no, keepers: yes}
> END
> ballast check f.yaml
! ballast: f.yaml:2: servers: 201 are too many: at most 200 can be started on one machine
! ballast: f.yaml:6: keepers: keepers work for stations; leave out `stations: no`
? 2
$ sed 's/dispatchers: 2/dispatchers: 129/' base >f.yaml; cat >>f.yaml <<'END'
> policies: [random]
> live: {seconds: 1}
> END
> ballast check f.yaml
! ballast: f.yaml:4: dispatchers: 129 are too many: at most 128 can be started on one machine
? 2

# How long messages take can be measured there, and there alone.
$ sed 's/dispatchers: 2/&, delay: measured/' base >f.yaml; cat >>f.yaml <<'END'
> policies: [random]
> live: {seconds: 1}
> END
> ballast check f.yaml
| f.yaml: in order; plain 10 trials, quick 10 trials, full 10 trials
$ sed -i '/^live/d' f.yaml; ballast check f.yaml
! ballast: f.yaml:4: delay: 'measured': only `ballast live` measures it; give a time, a law, or none
? 2
$ ballast compare --servers 4 --delay measured --policy random
! ballast: --delay measured: 'measured': only `ballast live` measures it; give a time, a law, or none
? 2

# What is measured is not simulated, and has its own place among the results.
$ cat base - >f.yaml <<'END'
> policies: [jiq, {nginx: random two}]
> live: {seconds: 1, rounds: 2}
> END
> ballast check f.yaml && ballast run f.yaml; ls f.db 2>&1
| f.yaml: in order; plain 8 trials, quick 8 trials, full 8 trials
| ls: cannot access 'f.db': No such file or directory
! ballast: f.yaml: its policies are measured on real processes: use `ballast live` instead of `run`
? 2
$ PATH=$(dirname "$(command -v ballast)") ballast live f.yaml --module nowhere.so
! ballast: --module nowhere.so: cannot be read
? 2
# least_time came with nginx 1.31. Relatives of nginx have versions of their own.
$ cat base - >f.yaml <<'END'
> policies: [{nginx: least_time last_byte}]
> live: {seconds: 1, rounds: 1, timeout: 1}
> END
> mkdir bin; PATH=$PWD/bin:$PATH
> for version in nginx/1.30.4 nginx/0.9.31 nothing; do
>     printf '#!/bin/sh\necho "nginx version: %s" >&2\n' $version >bin/nginx; chmod +x bin/nginx
>     ballast live f.yaml 2>&1 | sed "s|$PWD/||"
> done | sed 's/; put a newer.*//'; ballast check f.yaml
| ballast: least_time came with nginx 1.31, and bin/nginx says 'nginx version: nginx/1.30.4'
| ballast: least_time came with nginx 1.31, and bin/nginx says 'nginx version: nginx/0.9.31'
| ballast: nginx least_time last_byte: a dispatcher did not start: nginx version: nothing
| f.yaml: in order; plain 1 trials, quick 1 trials, full 1 trials
$ ballast test-server --slots 0
! ballast: --slots 0: not a whole number from 1 to 1M
? 2
$ ballast test-server --servers 3000
! ballast: --servers 3000: at most 2000 servers
? 2
$ ballast test-server --port 65535 --servers 2
! ballast: test-server: there are no 2 ports from 65535 on
? 2

# Classes: policies that route by class tell the first from the others as long as there are urgencies for that.
$ cat >f.yaml <<'END'
> title: small
> fleet: {servers: 4}
> workload: {load: 0.5, service: exp(0.02), classes: '0.2,0.2,0.2,0.1,0.1,0.1,0.1'}
> policies: [least-conn, pod-sep:d=2]
> live: {seconds: 1}
> END
> ballast check f.yaml
! ballast: f.yaml:4: policies: 'pod-sep:d=2' can tell the first class from the others with up to 6 classes, not with 7: there are eight urgencies
? 2
$ sed -i 's/pod-sep:d=2/pod-ssp/; s/0.2,0.2,0.2,0.1,0.1,0.1,0.1/0.2,0.3,0.5/' f.yaml; ballast check f.yaml
! ballast: f.yaml:4: policies: engine 'network' cannot simulate jobs of more than two classes that move; use markov or auto
? 2
$ sed -i 's/, pod-ssp//' f.yaml; ballast check f.yaml
| f.yaml: in order; plain 10 trials, quick 10 trials, full 10 trials
