# Names of earlier versions are read, and not shown.
$ ballast compare --servers 5 --jobs 5k --replications 2 --policy own --policy jiq:else=own2 --format csv | cut -d , -f 1
| policy
| "least-conn"
| "jiq:else=least-conn2"
$ ballast compare --servers 5 --jobs 5k --replications 2 --policy jiq --sinkhole 0.2 --quarantine --format json | jq -c .settings.network
| {"fail-fast":"0.2","ejection":"yes"}
$ printf 'title: t\nfleet: {servers: 6}\nworkload: {load: 0.5}\nnetwork: {sinkhole: 0.2, quarantine: yes}\npolicies: [own]\nrun: {jobs: 5k, replications: 2}\n' >old.yaml; ballast check old.yaml
| old.yaml: in order; plain 2 trials, quick 2 trials, full 2 trials
$ ballast run old.yaml --quiet | sed -n 2p
| servers 6, load 0.5, fail-fast 0.2, ejection yes, jobs 5000, replications 2, seed 1
$ for c in frontier price share serve; do ballast help $c | head -n 1; done
| usage: ballast stability POLICY [options]
| usage: ballast cheapest [options]
| usage: ballast priority-share [options]
| usage: ballast test-server [options]
$ ballast help | grep -wE 'frontier|price|share|serve'
|   priority-share  how many jobs may have high priority, for a wanted gain and loss
$ ballast serve --with 1000000000
! ballast: --exit-with-pid 1000000000: not the number of a process
? 2
$ for i in 1 2 3 4 5; do echo "{\"time\":\"2026-11-15T10:00:0$i.500Z\",\"request_time\":0.1,\"path\":\"/a\",\"server\":\"s\"}"; done >five.json
$ ballast replay five.json --policy jsq --policy tabs --keeper --price 1 --class all=. --servers 2 --quiet | grep -E '^(policy|cost|class)'
| classes  all: 100 % of jobs
| policy  mean, ms  p50  p99  other logs  waits  msgs     Wh  watts    cost  server h
| cost: servers that are on, 1 an hour each.
| class  jobs  policy  mean, ms  p50  p99
$ ballast twin --log five.json --now own --fewer 0 --traffic 1 --once --servers 2
| 4 requests in the last 5 min: too few to say anything
? 1
$ ballast help twin | grep -E -- '--(now|fewer|traffic) '
? 1
