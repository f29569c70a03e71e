# The texts of the program about itself.

$ ballast --version
| ballast 1.0.0
$ ballast --help
| usage: ballast COMMAND [options]
|
| Ballast compares and tunes policies that distribute work over many servers.
|
| commands:
|   compare         compare policies on one fleet: response times, messages, memory
|   replay          replay access logs: which policy, how many servers, what energy
|   twin            follow live traffic and predict what other policies, or fewer servers, would do with it
|   fit             fit a workload to access logs: an experiment file to ask what if
|   cheapest        what policies cost in messages and memory, and the cheapest for a wanted delay
|   priority-share  how many jobs may have high priority, for a wanted gain and loss
|   tune            find how long idle servers should stay on, or how many requests they should work on at once
|   stability       find where stability ends: the highest stable load, the least that must be stolen
|   fluid           solve the fluid model of a policy over time, and compare with a simulation
|   report          make a page of results: claims, figures, tables
|   figure          draw the figures of an experiment as SVG, PNG, PDF or EPS
|   paper           run a paper's experiments and judge its claims
|   run             run an experiment file: a sweep over loads, fleets, policies
|   check           check experiment files without running them
|   results         list the runs in a file of results, or print what came out
|   live            benchmark policies on real servers of this machine and compare with the simulator
|   load            send open-loop HTTP load to real servers and measure their answers
|   test-server     run test servers in place of an app, to try and measure a load balancer
|   watch           show a running fleet in the terminal: servers, queues, response times
|   server          list, drain, change, add and remove servers of running dispatchers
|   policies        list the policies, their parameters, costs and papers
|   help            explain a command
|
| ballast help COMMAND tells more about one; ballast --version prints the version.
| To begin: ballast compare
$ ballast
! usage: ballast COMMAND [options]
!
! Ballast compares and tunes policies that distribute work over many servers.
!
! commands:
!   compare         compare policies on one fleet: response times, messages, memory
!   replay          replay access logs: which policy, how many servers, what energy
!   twin            follow live traffic and predict what other policies, or fewer servers, would do with it
!   fit             fit a workload to access logs: an experiment file to ask what if
!   cheapest        what policies cost in messages and memory, and the cheapest for a wanted delay
!   priority-share  how many jobs may have high priority, for a wanted gain and loss
!   tune            find how long idle servers should stay on, or how many requests they should work on at once
!   stability       find where stability ends: the highest stable load, the least that must be stolen
!   fluid           solve the fluid model of a policy over time, and compare with a simulation
!   report          make a page of results: claims, figures, tables
!   figure          draw the figures of an experiment as SVG, PNG, PDF or EPS
!   paper           run a paper's experiments and judge its claims
!   run             run an experiment file: a sweep over loads, fleets, policies
!   check           check experiment files without running them
!   results         list the runs in a file of results, or print what came out
!   live            benchmark policies on real servers of this machine and compare with the simulator
!   load            send open-loop HTTP load to real servers and measure their answers
!   test-server     run test servers in place of an app, to try and measure a load balancer
!   watch           show a running fleet in the terminal: servers, queues, response times
!   server          list, drain, change, add and remove servers of running dispatchers
!   policies        list the policies, their parameters, costs and papers
!   help            explain a command
!
! ballast help COMMAND tells more about one; ballast --version prints the version.
! To begin: ballast compare
? 2
$ ballast help compare
| usage: ballast compare [options]
|
| Simulates each policy on the same fleet with the same arrivals and prints the mean response time with its
| 95 % confidence interval, percentiles, messages and memory, compared with theory. Best first.
|
| fleet:
|   --servers FLEET          how many, or COUNTxSPEED,...: 50x1,50x10; slotted also 50xuniform(1,19) (default 100)
|   --weights NAME           what the dispatcher knows of unequal servers: speeds, or none (default speeds)
|   --slots K                jobs that a server works on at once, each at its full speed unless speeds are given;
|                            all: with these (default 1)
|   --speeds RATES           speed of a server by the jobs in service, which share it: cores(4), batch(8,0.15),
|                            table(1:1 2:1.8 8:4.5) (default none)
|   --discipline NAME        how servers work: fifo, preemptive, nonpreemptive, ps, lifo; auto: as the policy asks
|                            (default auto)
|   --buffer B               most jobs at a server, one more is lost (default none)
|   --standby LAW            idle time before a server switches off, in place of 1/mu: 10, det(10), ...
|   --setup LAW              time to switch a server on, in place of 1/nu: 10, det(10), erlang(4,10), ...
|   --reports LAW            times between reports of an idle server, by their form: det, erlang(4), ...; the
|                            policy says how many (default exp)
|   --failures HOW           servers fail and are repaired: mtbf=1000,mttr=10, also ...,jobs=restart or lost,
|                            seen=no (default none)
|   --start STATE            how servers start: idle, or fractions such as busy=0.3,off=0.7; busy=0.3,jobs=5: with
|                            five jobs each (default idle)
|   --watts B,I,S,O          watts of a server: BUSY,IDLE,SETUP,OFF (default 200,140,200,0)
|
| workload:
|   --slotted                slotted: time in slots, with a batch of jobs in each; or continuous
|   --load X                 arriving work over the fleet's capacity, where batch does not tell it (default 0.9)
|   --service LAW            law of the job sizes: exp, det, erlang(K), hyper(C2), pareto(A), ... (default exp)
|   --tasks M                tasks of a job, routed together and divided among servers (default 1)
|   --high P                 two classes of jobs: the share of the high one, 0 to 1 (default none)
|   --classes P,P,...        two to eight classes of jobs: the share of each, the most urgent first: 0.2,0.3,0.5
|                            (default none)
|   --arrivals HOW           how jobs come: poisson, mmpp(R1,T1;R2,T2;...), renewal(LAW) or batch(LAW) (default
|                            poisson)
|   --curve SHAPE            load over time: sine(A,P), table(T:F ...), file(PATH); table(...) repeat (default
|                            constant)
|   --patience LAW           time after which jobs whose service has not begun give up: exp(2), det(10), ...
|                            (default none)
|   --batch LAW              slotted: jobs in a slot: poisson (the default), geometric, table(0:0.5 8:0.5), ...
|   --split                  slotted: batches may be divided among servers
|   --steal F                idle servers steal: half, one, a number, log2, sqrt, fraction(A), table(F ...)
|                            (default none)
|   --victims WHOM           whom they ask: one of all servers, themselves included, or of the others (default
|                            all)
|   --placement P            policy stealing: where jobs are made: even, hosts(K), moving, walk, longest,
|                            shortest, cycling, map(H:C ...) (default even)
|
| network:
|   --dispatchers M          how many, each with a view of its own; or the share of the jobs of each: 0.5,0.3,0.2
|                            (default 1)
|   --backlog B              most jobs that a dispatcher holds (else=hold), one more goes to a uniform server
|                            (default none)
|   --hold-limit N           most jobs that a dispatcher holds, one more is refused, or a less urgent one; of each
|                            class: 20,20,5 (default none)
|   --delay LAW              time that every message takes, and a job and its response: 0.1, exp(0.1), ...
|                            (default none)
|   --loss P                 probability that a message gets lost; jobs and responses never do (default 0)
|   --heartbeat TIME         how often each server tells each dispatcher what is so; not heard three times: not
|                            chosen (default none)
|   --timeout TIME           how long a job waits for replies to probes (none: ten delays, or 0.1 service times)
|                            (default none)
|   --churn UP,DOWN          mean times for which servers work and are down; jobs there are retried, or lost:
|                            1000,10,lose (default none)
|   --cold FACTOR,TIME       jobs take so many times as long at a server that has come back; falls to 1 in that
|                            time, or in so many jobs: 5,20, 5,100,jobs (default none)
|   --slow-start TIME        for so long dispatchers give a server that has come back a growing share (default
|                            none)
|   --fail-fast SHARE        share of servers that answer fast and wrongly, and how fast: 0.1, 0.1,0.05 (default
|                            none)
|   --ejection               dispatchers eject servers that fail several times in a row, and try them again later
|   --events LIST            what happens when: restart-dispatchers@1k+10, restart-servers:0.5,1@1k+10,
|                            cut:0.3@1k+50, loss:0.1@1k+50, ... (default none)
|
| policies:
|   --policy POLICY          name or name:key=value,...; repeat it (default: all that fit)
|
| run:
|   --jobs J                 length of a replication in expected jobs (default 2M, 100 a server, 100k slots, or
|                            more)
|   --time T                 or in time: in slots where time is slotted
|   --replications R         independent runs of each policy; two at least make an interval (default 10)
|   --precision P            simulate until the mean response time is known to within this: 1% (default none)
|   --most R                 most replications that precision may ask for (default 1000)
|   --warmup PART            part of a run to cut; auto: a fifth, or more; mser: what MSER-5 finds in each run
|                            (default auto)
|   --window W               or measure this last span of a run alone; with the time given it is a span of a path,
|                            which need not be settled (default none)
|   --engine NAME            markov, event, network, live-core, slotted, pooled, stealing; auto: by the model
|                            (default auto)
|   --seed S                 another seed, other random numbers (default 1)
|   --threads K              threads to use (default: all processors); results do not depend on it
|
| answer:
|   --percentiles LIST       percentiles of response times to show: 50,95,99.9 (any, at most 8)
|   --explain                say below the table what it means and what to do
|   --theory                 columns of theory next to percentiles, in place of bars
|   --exact                  theory: solve the Markov chains of a few servers, or of short queues (seconds)
|   --format FORM            text, markdown, csv or json (default text)
|   --output FILE            write the results there (default: standard output)
|   --quiet                  no progress bar
|
| examples:
|   ballast compare
|   ballast compare --servers 50x1,50x10 --load 0.8
|   ballast compare --policy pod:d=2 --policy jiq --service 'lognormal(4)' --precision 0.01
$ ballast help policies
| usage: ballast policies [POLICY] [options]
|
| Lists all policies, or tells everything about one.
|
| options:
|   --format FORM            text, json or markdown
|   --check FILE.so          examine a policy of your own: does it keep the contract?
|
| examples:
|   ballast policies
|   ballast policies pod
|   ballast policies --check ./mine.so
$ ballast help help
| usage: ballast help [COMMAND] [options]
|
| Lists the commands, or explains one of them with all its options.
|
| options:
|   --manual                 the whole manual page, as mdoc source
|   --completion             completion of command lines, as bash source
|   --columns                what the columns of the command's csv and JSON are; without a command, of all, in
|                            Markdown
|   --schema                 the JSON schema of what the command prints as JSON; without a command, of all
$ ballast policies
| policy                      cost a job         bits, N=1000  paper
|
| random                      nothing                       0  classic
|     a uniform server
| round-robin                 nothing                      10  classic
|     the next server in turn
| jsq                         N probes                      0  Winston 1977
|     the shortest queue of all, ties uniform
| pod:d=2                     d probes                      0  Mitzenmacher; Vvedenskaya et al. 1996
|     the shortest queue of d uniform servers (power of d choices)
| pod-memory:d=1,b=1          d + b or d probes            10  Mitzenmacher et al. 2002
|     as pod, the b best servers of the last dispatch compete too
| least-work*                 N probes                      0  classic
|     the server with the least remaining work (in time), ties uniform
| jiq                         at most 1 report           1000  Lu et al. 2011; Stolyar 2015
|     an idle server that has reported, else a uniform server
| pi                          at most 1 report           1010  Atar et al. 2020
|     an idle server that has reported, else the one that was last idle
| rcpb:c=1                    mup reports                  10  Gamarnik et al. 2016
|     one of c stored names of idle servers, which report at a rate; else a uniform server
| last-idle:mu=1              mu reports an idle server            10  Gamarnik et al. 2022
|     the server that was the last to say that it is idle, which idle ones do at a rate
| pod-scp:d1=1,d2=2           d1 or d2 probes               0  Niu et al. 2022
|     pod with d2 probes for a high job and d1 for a low one; servers blind to class
| pod-sep:d=2                 d probes                      0  Niu et al. 2022
|     routed as pod; servers let high jobs interrupt low ones
| pod-ssp:d1=2,d2=2           d1 or d2 probes               0  Niu et al. 2022
|     high jobs to the fewest high of d2, a low job giving way; servers let them interrupt
| tabs:mu=0.1,nu=0.1          at most 2 reports          2000  Mukherjee et al. 2017
|     an idle server that is on, else a busy one, and an idle one that is off is started
| rate-idle:mu=0.1,nu=0.1     at most 2 reports         12000  Anselmi 2024
|     as tabs, but servers are started when fewer become idle than jobs come, ahead of need
| least-conn                  nothing                   10000  classic; nginx, HAProxy, Envoy
|     the fewest requests in flight of this dispatcher (least connections), of all or of d
| weighted-random             nothing                       0  classic
|     a server drawn in proportion to its weight (speed)
| weighted-round-robin        nothing                   10000  classic; nginx
|     the servers in turn, each as often as its weight (speed) says
| sed                         nothing                   10000  Shenker and Weinrib 1989; Linux IPVS
|     the shortest expected delay: the fewest own requests, this one included, over the weight
| fastest-idle                nothing                   10000  Armony 2005; Linux IPVS (never queue)
|     the fastest of the servers without own requests, else the shortest expected delay
| lsq:p=1                     d probes, at most 1 report         10000  Vargaftik et al. 2020
|     the shortest queue by the dispatcher's own estimates, which reports and probes correct
| scd:m=2                     N probes                      0  Goren et al. 2021
|     jsq for m dispatchers at once: servers drawn so that together they fill the short queues
| care:x=5                    1/x reports              192000  Mendelson and Xu 2022
|     the shortest queue by estimates; a server reports its queue after each x-th job
| board:t=1                   N probes a period         10000  Mitzenmacher 2000
|     pod or jsq by queue lengths that are looked at once in a period
| ewma:d=2,decay=10           nothing                  128000  Finagle, Linkerd (peak EWMA)
|     of d servers the least (requests in flight + 1) times average response time, peaks at once
| prequal:r=3                 r probes                   3008  Wydrowski et al. 2024
|     from a pool of replies the least latency, unless many requests are in flight there
| central                     none counted                  0  M/M/N, Erlang 1917
|     one common queue for all servers: nothing is routed
| delayed-off:mu=0.1,nu=0.1   none counted                  0  Gandhi et al. 2013
|     one common queue; idle servers switch off, a job that waits starts one
| windowed:nu=0.1             none counted                  0  Knative Pod Autoscaler
|     one common queue; as many servers on as the average number of jobs over a window asks for
| stealing                    a probe when idle             0  Berenbrink et al. 2001
|     slotted: jobs are made at the servers, and a server without work steals from another
|
| A policy is written name or name:key=value,... ; ballast policies NAME tells its parameters.
| *: must know how long every job will take: a lab does, a proxy does not.
| central and delayed-off are one common queue, to compare with; in stealing jobs are made at the
| servers. A dispatcher cannot host these three.
$ ballast policies pod
| pod:d=2: the shortest queue of d uniform servers (power of d choices)
|
|   cost a job   d probes
|   memory       0 bits for 100 servers, 0 for 10000
|   paper        Mitzenmacher; Vvedenskaya et al. 1996
|   symmetric    yes
|
| parameters:
|   d          servers probed for a job
|              whole number from 1 to 1000000, default 2
|   replace    1: sample with replacement; 0: different servers; default 1, with pertask 0
|              whole number from 0 to 1, default none
|   pertask    1: a job of m tasks probes d*m servers for all of them
|              whole number from 0 to 1, default 0
|   stop       1: ask one after the other, and no more once an idle server is found
|              whole number from 0 to 1, default 0
$ ballast policies jiq
| jiq: an idle server that has reported, else a uniform server
|
|   cost a job   at most 1 report
|   memory       100 bits for 100 servers, 10000 for 10000
|   paper        Lu et al. 2011; Stolyar 2015
|   symmetric    yes
|
| parameters:
|   else       where a job goes that finds no idle server: to any; to the one with the fewest requests in flight, of all or of two; or it waits
|              uniform, least-conn, least-conn2, hold; default uniform
|   report     dispatchers that an idle server asks for one with the fewest tokens
|              whole number from 1 to 64, default 1
|   idle       which of the idle servers gets a job: any, the fastest (by weight), or the lowest number: servers are filled in order
|              any, fastest, lowest; default any
