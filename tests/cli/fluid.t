# ballast fluid: paths of fluid models, simulated ones beside them, and what cannot be.
$ ballast fluid pod:d=2 --until 4 --points 5
| pod:d=2 at load 0.9 from empty: fluid model
|
|     t    jobs     s_1     s_2     s_3
| ─────────────────────────────────────
|     0  0.0000  0.0000  0.0000  0.0000
|     1  0.5895  0.5091  0.0795  0.0010
|     2  0.8966  0.6532  0.2262  0.0172
|     3  1.1073  0.7189  0.3329  0.0546
|     4  1.2674  0.7579  0.4061  0.0992
| limit  2.3527  0.9000  0.7290  0.4783
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| limit: what the path tends to; jobs then wait 1.6141 on average.

$ ballast fluid rcpb:c=2,mu=9 --load 0.9 --until 10 --points 3 --simulate 1000 --seed 7
| rcpb:c=2,mu=9 at load 0.9 from empty: fluid model, c and mu fixed
| sim: one simulated system of 1000 servers, seed 7
|
|     t    jobs     sim     s_1     sim     s_2     sim     s_3     sim     s_4     sim
| ─────────────────────────────────────────────────────────────────────────────────────
|     0  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
|     5  1.0157  1.0330  0.8563  0.8590  0.1382  0.1430  0.0188  0.0250  0.0022  0.0060
|    10  1.1525  1.1440  0.8829  0.8760  0.2099  0.2200  0.0472  0.0370  0.0100  0.0070
| limit  1.2857          0.9000          0.2700          0.0810          0.0243
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| limit: what the path tends to; jobs then wait 0.4286 on average.
| The two paths are never farther apart than 0.0406, in s_1 at time 2.68.

# The three variants: paths from a full system, and what they tend to.
$ ballast fluid rcpb:c=5,mup=0.5 --variant high-memory --from full --until 300 --points 4 --levels 3
| rcpb:c=5,mup=0.5 at load 0.9 from full: fluid model, high memory: c grows with the number of
| servers
|
|     t     jobs     s_1     s_2     s_3
| ──────────────────────────────────────
|     0  20.0000  1.0000  1.0000  1.0000
|   100  10.7215  0.9812  0.8808  0.7973
|   200   4.1314  0.9473  0.6750  0.4917
|   300   1.7492  0.9049  0.4319  0.2075
| limit   1.6364  0.9000  0.4050  0.1823
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| limit: what the path tends to; jobs then wait 0.8182 on average.
$ ballast fluid rcpb:c=1,mu=9 --variant high-message --load 0.8 --until 60 --points 4 --from full --format csv --levels 2
| t,jobs,s1,s2
| 0,20,1,1
| 20,16,1,0.9943021832
| 40,12,1,0.9391593744
| 60,8,1,0.8304357368
$ ballast fluid jiq --load 0.8 --until 60 --points 4 --from full --format csv --levels 2
| t,jobs,s1,s2
| 0,20,1,1
| 20,16,1,0.9943021832
| 40,12,1,0.9391593744
| 60,8,1,0.8304357368

# Above full load there is nothing to tend to.
$ ballast fluid random --load 1.2 --until 30 --points 4 --levels 4
| random at load 1.2 from empty: fluid model
|
|  t    jobs     s_1     s_2     s_3     s_4
| ──────────────────────────────────────────
|  0  0.0000  0.0000  0.0000  0.0000  0.0000
| 10  4.3743  0.8973  0.7824  0.6616  0.5417
| 20  7.1202  0.9448  0.8812  0.8107  0.7351
| 30  9.5652  0.9640  0.9222  0.8749  0.8228
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| There is no limit: at a load of 1 or more the queues grow for ever.

# A starting state from a file, and JSON.
$ printf '# half of the servers are busy\n0.5, 0.25\n  0.1\n' >state
$ ballast fluid pod-scp:d1=1,d2=3 --high 0.25 --from state --until 2 --points 2 --levels 3 --simulate 200 --format json
| {
|   "version": "1.0.0",
|   "spec": {
|     "policy": "pod-scp:d1=1,d2=3",
|     "load": 0.9,
|     "from": "state",
|     "until": 2,
|     "servers": 200,
|     "seed": 1
|   },
|   "settings": {
|     "fleet": {"servers": "200"},
|     "workload": {"load": "0.9", "high": "0.25"}
|   },
|   "limit": {"waiting_mean": 3.3088375565, "jobs": 3.8779538008, "s": [0.9, 0.771525, 0.624110826]},
|   "distance": {"norm": 0.0574585383, "difference": 0.0751672264, "time": 0.888, "level": 1},
|   "path": [
|     {"t": 0, "fluid": {"jobs": 0.85, "s": [0.5, 0.25, 0.1]}, "simulated": {"jobs": 0.85, "s": [0.5, 0.25, 0.1]}},
|     {"t": 2, "fluid": {"jobs": 1.3804948023, "s": [0.7027335239, 0.3941049994, 0.1802374203]}, "simulated": {"jobs": 1.47, "s": [0.75, 0.405, 0.215]}}
|   ]
| }

# Figures.
$ ballast fluid pod:d=3 --until 5 --points 2 --levels 1 --figure path.svg --output path.txt && grep -c '^<svg' path.svg && wc -l <path.txt
| 1
| 10

# What cannot be.
$ ballast fluid
! ballast: fluid: name a policy: ballast fluid POLICY, such as pod:d=2 or rcpb:c=2,mu=9 or tabs
? 2
$ ballast fluid jsq
! ballast: policy 'jsq' has no fluid model here; those that have one are random, pod, pod-scp, pod-sep, pod-ssp, rcpb, jiq, tabs and rate-idle
? 2
$ ballast fluid pod:d=2 --variant high-memory
! ballast: policy 'pod' has one fluid model only; variants are those of rcpb
? 2
$ ballast fluid rcpb:c=2,mu=9,mup=1
! ballast: policy 'rcpb': mu and mup both say how often servers report; give one of them
? 2
$ ballast fluid rcpb:c=2,mu=0
! ballast: policy 'rcpb': mu=0 is not a number from 1e-09 to 1000000000 (reports of an idle server in a mean service time)
? 2
$ ballast fluid rcpb:c=0,mu=1
! ballast: policy 'rcpb': c=0 is not a whole number from 1 to 100000000 (names of idle servers that the dispatcher keeps)
? 2
$ ballast fluid rcpb:c=2 --load 1
! ballast: policy 'rcpb': mup is in units of load/(1 - load) and the load is 1; below 1 it works, else give mu
? 2
$ ballast fluid rcpb:c=100 --simulate 100
! ballast: policy 'rcpb': c=100 names cannot be had of 100 servers; c must be below their number
? 2
$ ballast fluid pod-scp:d1=1,d2=2
! ballast: policy 'pod-scp' needs two classes of jobs; say which share of them is high
? 2
$ ballast fluid rcpb --variant high
! ballast: --variant high: not one of constrained, high-memory, high-message
? 2
$ ballast fluid rcpb --until 0
! ballast: --until 0: not a time above 0 (to 1G), such as 50
? 2
$ ballast fluid rcpb --figure path.gif
! ballast: --figure path.gif: the name must end in .svg, .png, .pdf, .eps or .csv
? 2
$ ballast fluid rcpb --from nowhere
! ballast: --from nowhere: neither empty nor full, nor a file that can be read: No such file or directory
? 2
$ printf '0.5\n0.6\n' >rising && ballast fluid rcpb --from rising
! ballast: rcpb: starting state: s_2 = 0.6; it must lie between 0 and s_1 = 0.5
? 2
$ printf '0.5 x\n' >strange && ballast fluid rcpb --from strange
! ballast: --from strange:1: 'x' is not a fraction from 0 to 1
? 2
$ printf '1.5\n' >strange && ballast fluid rcpb --from strange
! ballast: --from strange:1: '1.5' is not a fraction from 0 to 1
? 2
$ ballast fluid pod --output nowhere/file
! ballast: --output: 'nowhere/file' cannot be written: No such file or directory; choose another place
? 2

# Servers that steal.
$ ballast fluid random --steal half --until 8 --points 3 --simulate 500 --levels 3
| random at load 0.9 from empty: fluid model, idle servers steal half
| sim: one simulated system of 500 servers, seed 1
|
|     t    jobs     sim     s_1     sim     s_2     sim     s_3     sim
| ─────────────────────────────────────────────────────────────────────
|     0  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000  0.0000
|     4  1.4380  1.4020  0.7296  0.7140  0.3943  0.3800  0.1845  0.1700
|     8  1.9026  1.9260  0.8208  0.8420  0.5147  0.5340  0.2837  0.2860
| limit  2.5520          0.9000          0.6459          0.4129
|
| jobs: mean number at a server; s_i: fraction of servers with at least i. Time in mean service times.
| limit: what the path tends to; jobs then wait 1.8356 on average.
| The two paths are never farther apart than 0.0566, in s_3 at time 5.216.
$ ballast fluid pod:d=2 --steal one --until 4 --points 2 --levels 2 --format json | jq -c .spec,.limit
| {"policy":"pod:d=2","steal":"one","load":0.9,"from":"empty","until":4}
| {"waiting_mean":0.8270941974,"jobs":1.6443847777,"s":[0.9,0.533466688]}
$ ballast fluid jiq --steal half
! ballast: policy 'jiq' has no fluid model with stealing; use random, pod or steal none
? 2

# At rest, where the signs of what the modes depend on are noise, a path goes on.
$ ballast fluid tabs --load 0.9 --from idle --until 60 --format csv | tail -n 1 | cut -c 1-30
| 60,0.9,0.9,0,0,0.1
