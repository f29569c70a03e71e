# Where stability ends: constants, loads, the map, and what cannot be asked.
$ ballast stability stealing --n 16 --load 0.5 --hosts 1 --steal constant --width 2
| stealing on 16 servers, generators hosts(1), victims all, load 0.5; seed 1
|
| constant  verdict            drift  looks    run
| ────────────────────────────────────────────────
|        7  unstable  +3.113 ± 0.070      1   2000
|       11  unstable    +1.36 ± 0.12      1   2000
|       13  unstable    +0.65 ± 0.14      1   2000
|       15  stable    -0.072 ± 0.055      4  16000
|
| critical constant: between 13 (unstable) and 15 (stable); the drift is 0 at about 14.8.
| The probability that chance makes any of these claims wrong is at most 0.01.
| Proved unstable: constants below 7.00 (Theorem 9), below 14.08 (who is asked counted).
| Proved stable: none, Theorem 1 begins at n = 17325 for this load.
| drift: of all tasks together, in a step, while the hosts have more than they can lose.
| ±: as wide as a claim needs. run: length of the 32 runs of the last look.
$ ballast stability stealing --n 16 --load 0.5 --hosts 1 --steal=constant --width 2 --format json --threads 1 | jq -c '.test, .unstable, .stable, .theorem_9, .spec, (.points | length), .points[0].verdict'
| "saturated"
| 13
| 15
| 7
| {"policy":"stealing","servers":"16","time":"slotted","load":0.5,"placement":"hosts(1)","victims":"all","axis":"constant","error":0.01,"seed":1}
| 4
| "unstable"
$ ballast stability stealing --n 16 --hosts 2 --steal 'constant(3)' --width 0.1 --victims others --format csv | cut -d , -f 1,2,7
| at,verdict,looks
| 0.3,stable,1
| 0.4,unstable,1
| 0.5,unstable,1
$ ballast stability stealing --n 16 --hosts 1 --steal half --to 0.9 --width 0.2
| stealing on 16 servers, generators hosts(1), victims all, steal half; seed 1
|
| load  verdict           drift  looks   run
| ──────────────────────────────────────────
|  0.5  stable   -8.005 ± 0.038      1  2000
|  0.7  stable   -4.814 ± 0.046      1  2000
|  0.9  stable   -1.601 ± 0.036      1  2000
|
| Stable at every load tried, up to 0.9.
| The probability that chance makes any of these claims wrong is at most 0.01.
| drift: of all tasks together, in a step, while the hosts have more than they can lose.
| ±: as wide as a claim needs. run: length of the 32 runs of the last look.
$ ballast stability stealing --n 8 --hosts 1 --steal constant --map --from 0.25 --to 0.75 --points 3 --width 2 --error 0.05
| stealing on 8 servers, generators hosts(1), victims all; seed 1
|
| load  unstable  stable  drift 0 at  Theorem 9  asked
| ────────────────────────────────────────────────────
| 0.25                 2                    1.0    1.7
|  0.5         6       7         6.2        3.0    5.9
| 0.75        14      16        15.6        5.0   12.9
|
| unstable, stable: the nearest constants that are so, all claims together wrong with probability 0.05 at most.
| Proved unstable: constants below Theorem 9; below `asked`, which counts who is asked.
$ ballast stability stealing --n 8 --hosts 1 --steal constant --map --from 0.25 --to 0.75 --points 3 --width 2 --error 0.05 --format csv --figure map.svg | cut -d , -f 1-3; grep -c '<svg' map.svg
| load,unstable,stable
| 0.25,,2
| 0.5,6,7
| 0.75,14,16
| 1
$ ballast stability random --servers 1x1,1x3 --width 0.1 --time 32k --seed 2
| random on 1x1,1x3 servers, service exp; seed 2, time 32000
|
| load  verdict               drift  looks    run       growth
| ────────────────────────────────────────────────────────────
|  0.3  stable                           1   2000  1.01 ± 0.19
|  0.4  stable                           1   2000  1.09 ± 0.34
|  0.5  undecided  -0.0013 ± 0.0085      5  32000  1.68 ± 0.77
|  0.6  unstable     +0.207 ± 0.044      1   2000  2.85 ± 0.29
|  0.7  unstable     +0.393 ± 0.033      1   2000  2.94 ± 0.16
|
| critical load: between 0.4 (stable) and 0.6 (unstable); 1 point between them undecided.
| The probability that chance makes any of these claims wrong is at most 0.01.
| drift: of the total queue, per unit of time, from long queues on. growth: from 0, the total queue in the second
| half of a run over that in the first; 1 settled, 1.83 on the border, 3 in proportion to time.
| ±: as wide as a claim needs. run: length of the 32 runs of the last look.
$ ballast stability jsq --servers 10 --to 0.8 --width 0.3 --time 32k --format json | jq -c '.stable, .unstable, .estimate, .test, .spec.axis'
| 0.8
| null
| null
| "starts"
| "load"
$ ballast stability
! ballast: stability: of which policy? Write ballast stability jiq
? 2
$ ballast stability jiq --steal constant
! ballast: --steal constant: a critical constant is sought for stealing, not for 'jiq'; give the number: --steal 'constant(4)'
? 2
$ ballast stability jiq --load 0.5
! ballast: --load: it is what is sought; leave it out
? 2
$ ballast stability jiq --map
! ballast: --map: it shows the critical constant of policy stealing; add --hosts 1 --steal constant
? 2
$ ballast stability jiq --figure a.svg
! ballast: --figure: it draws the map; add --map
? 2
$ ballast stability stealing --n 16 --hosts 17 --steal constant
! ballast: placement 'hosts(17)' on 16 servers; write hosts(1) to hosts(16)
? 2
$ ballast stability stealing --n 16 --hosts 1 --steal constant --map --to 1.5
! ballast: --from and --to: the loads of a map go up, above 0 and below 1
? 2
$ ballast stability nonsense
! ballast: unknown policy 'nonsense': the policies are random, round-robin, jsq, pod, pod-memory, least-work, jiq, pi, rcpb, last-idle, pod-scp, pod-sep, pod-ssp, tabs, rate-idle, least-conn, weighted-random, weighted-round-robin, sed, fastest-idle, lsq, scd, care, board, ewma, prequal, central, delayed-off, windowed, stealing
? 2
$ ballast stability tabs --slotted
! ballast: --policy: policy 'tabs:mu=0.1,nu=0.1' needs servers that switch off and are woken, which slotted time does not have
? 2
$ ballast stability jiq --from 0.5 --to 0.4
! ballast: a search from 0.5 to 0.4; it must go up from 0 or more
? 2
$ ballast stability jiq --from 0.9999
! ballast: a search from 0.9999 to 0.999; it must go up from 0 or more
? 2
$ ballast stability stealing --n 16 --hosts 1 --load 0.5 --steal constant --from 1.5
! ballast: a search for constants from or to 1.5; they are whole numbers up to 100000
? 2
$ ballast stability stealing --n 16 --hosts 1 --load 0.5 --steal constant --points 3
! ballast: --points: it says how many loads the map has; add --map
? 2
$ ballast stability pod-ssp --high 0.3 --servers 10 --to 0.8 --width 0.5 --time 4k --format json | jq -c .spec,.stable
| {"policy":"pod-ssp:d1=2,d2=2","servers":"10","time":"continuous","service":"exp","high":0.3,"steal":"none","axis":"load","error":0.01,"seed":1}
| 0.8
# What is proved of constants: nothing below 0, Theorem 1 only if victims are drawn from all.
$ ballast stability stealing --n 8 --hosts 8 --load 0.5 --steal constant | grep Proved
| Proved unstable: none.
| Proved stable: all constants (no processor gets more than a task in a step).
$ ballast stability stealing --n 8 --hosts 1 --load 0.5 --steal constant --victims others --from 20 --to 30 | grep Proved
| Proved unstable: constants below 3.00 (Theorem 9), below 5.28 (who is asked counted).
| Proved stable: none, Theorem 1 draws victims from all.
# A function that grows is judged at the longest queue that can be counted: log2 takes 30 tasks there, 15 at
# the 64 000 tasks that 16 processors can serve in a run, where a load of 0.6 is too much.
$ ballast stability stealing --n 16 --hosts 1 --steal log2 --from 0.6 --to 0.7 --width 0.1 --format csv | cut -d , -f 1,2
| at,verdict
| 0.7,stable
$ ballast stability jiq --error 0.6
! ballast: --error 0.6: not a probability from 1e-9 to 0.4, such as 0.01
? 2
$ ballast stability stealing --n 64 --load 0.5 --hosts 1 --steal constant --time 1000
! ballast: runs of at most 1000; here they must be 2560 long to forget how they began
? 2
