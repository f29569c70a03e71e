# Reports at the times of a renewal process, a bounded backlog, a hold-limit, cold servers, probes one after the other: what is refused.
$ ballast compare --reports det --delay 0.1 --policy rcpb
! ballast: --policy: settings of the network cannot be had with reports by a law; leave out one of them
? 2
$ ballast compare --reports det --policy rcpb:else=hold
! ballast: --policy: any number of jobs that wait at the dispatcher cannot be had with reports by a law; leave out one of them
? 2
$ ballast compare --reports det --engine markov --policy rcpb
! ballast: --policy: engine 'markov' cannot simulate reports by a law; use event or auto
? 2
$ ballast compare --reports det --slotted --policy pod
! ballast: reports at a rate need continuous time
? 2
$ ballast compare --reports det --failures mtbf=100,mttr=1 --policy rcpb
! ballast: --policy: servers that fail (failures) cannot be had with reports by a law; leave out one of them
? 2
$ ballast compare --reports 'pareto(0.9)' --policy rcpb
! ballast: --reports pareto(0.9): law 'pareto(0.9)': with A = 0.9 the mean is infinite; A must be above 1
? 2
$ ballast compare --reports often --policy rcpb
! ballast: --reports often: law 'often': no such law; there are exp, det, erlang, hyper, phase, lognormal, pareto, bounded-pareto, uniform
? 2
$ ballast compare --backlog 0 --policy jiq:else=hold
! ballast: --backlog 0: not a whole number of jobs from 1 to 1M, or none
? 2
$ ballast compare --backlog 2.5 --policy jiq:else=hold
! ballast: --backlog 2.5: not a whole number of jobs from 1 to 1M, or none
? 2
$ ballast compare --backlog 5 --policy jsq --policy random
! ballast: --backlog: no policy here holds jobs; leave it out, or take one that does, such as jiq:else=hold
? 2

$ ballast compare --hold-limit 5 --policy jsq
! ballast: --hold-limit: no policy here holds jobs; leave it out, or take one that does, such as jiq:else=hold
? 2

$ ballast compare --backlog 5 --dispatchers 2 --policy jiq:else=hold
! ballast: --policy: settings of the network cannot be had with a bounded backlog; leave out one of them
? 2
$ ballast compare --backlog 5 --slotted --policy pi
! ballast: a dispatcher that holds jobs (backlog) needs continuous time
? 2
$ ballast compare --backlog 5 --slots 2 --policy jiq:else=hold
! ballast: --policy: a bounded backlog cannot be had with servers of several slots; leave out one of them
? 2
$ ballast compare --backlog 5 --high 0.3 --policy jiq:else=hold
! ballast: --policy: a bounded backlog cannot be had with classes of jobs; leave out one of them
? 2
$ ballast compare --backlog 5 --tasks 2 --policy jiq:else=hold
! ballast: --policy: a bounded backlog cannot be had with jobs of several tasks; leave out one of them
? 2
$ ballast compare --backlog 5 --buffer 2 --policy jiq:else=hold
! ballast: --policy: a bounded backlog cannot be had with buffers at the servers; leave out one of them
? 2
$ ballast compare --backlog 5 --discipline ps --policy jiq:else=hold
! ballast: --policy: a bounded backlog cannot be had with discipline ps; leave out one of them
? 2
$ ballast compare --backlog 5 --steal half --policy jiq:else=hold
! ballast: --policy: policy 'jiq:else=hold' needs a dispatcher that can hold jobs, which a fleet that steals does not have
? 2
$ ballast compare --backlog 5 --patience 'exp(2)' --policy jiq:else=hold
! ballast: --policy: jobs that give up (patience) cannot be had with jobs that wait at the dispatcher; leave out one of them
? 2
$ ballast compare --backlog 5 --failures mtbf=100,mttr=1 --policy jiq:else=hold
! ballast: --policy: servers that fail (failures) cannot be had with jobs that wait at the dispatcher; leave out one of them
? 2
$ ballast compare --patience 'exp(2)' --policy jiq:else=hold
! ballast: --policy: jobs that give up (patience) cannot be had with jobs that wait at the dispatcher; leave out one of them
? 2
$ ballast compare --failures mtbf=100,mttr=1 --policy rcpb:else=hold
! ballast: --policy: servers that fail (failures) cannot be had with jobs that wait at the dispatcher; leave out one of them
? 2
$ ballast compare --backlog 5 --engine markov --policy jiq:else=hold
! ballast: --policy: engine 'markov' cannot simulate jobs that wait at the dispatcher; use event or auto
? 2
$ ballast compare --backlog 5 --engine network --policy jiq:else=hold
! ballast: --policy: engine 'network' cannot simulate a bounded backlog; use event or auto
? 2
$ ballast compare --backlog 5 --policy tabs:none=hold
! ballast: --policy: a bounded backlog cannot be had with policies that switch servers off; leave out one of them
? 2
$ ballast compare --dispatchers 2 --policy pod:d=5,stop=1
! ballast: --policy: policy 'pod:d=5,stop=1' needs replies that take no time, which dispatchers on a network does not have
? 2
$ ballast compare --policy pod:d=5,stop=2
! ballast: --policy pod:d=5,stop=2: policy 'pod': stop=2 is not a whole number from 0 to 1 (1: ask one after the other, and no more once an idle server is found)
? 2
$ ballast compare --hold-limit 3,0 --policy jiq:else=hold
! ballast: --hold-limit 3,0: '3,0' is not how many jobs may wait at a dispatcher: write none, a whole number such as 20, or with the most of each class from 1 on, the most urgent first, 20,20,5
? 2
$ ballast compare --hold-limit 1.5 --policy jiq:else=hold
! ballast: --hold-limit 1.5: '1.5' is not how many jobs may wait at a dispatcher: write none, a whole number such as 20, or with the most of each class from 1 on, the most urgent first, 20,20,5
? 2
$ ballast compare --hold-limit 3 --slotted --policy pi
! ballast: a limit of the jobs that wait at a dispatcher (hold-limit) needs continuous time
? 2
$ ballast compare --hold-limit 3 --backlog 2 --policy jiq:else=hold
! ballast: --policy: jobs beyond a backlog go to a server, those beyond a hold-limit are refused; leave out one of them
? 2
$ ballast compare --hold-limit 3,2,1 --policy jiq:else=hold
! ballast: --policy: a hold-limit for 2 classes of jobs, where there is 1; write the most of all classes, or that and the most of each
? 2
$ ballast compare --hold-limit 3,2 --high 0.3 --policy jiq:else=hold
! ballast: --policy: a hold-limit for 1 classes of jobs, where there are 2; write the most of all classes, or that and the most of each
? 2
$ ballast compare --hold-limit 3 --policy central
! ballast: --policy: one common queue cannot be had with a hold-limit; leave out one of them
? 2
$ ballast compare --cold 5 --churn 100,1
! ballast: --cold 5: '5' is neither none nor how many times as long jobs take at a server that has come back, from 1 on, and for how long that falls, such as 5,20 or, by the number of jobs, 5,100,jobs
? 2
$ ballast compare --cold 5,20 --policy random
! ballast: --policy: cold is for servers that come back; give churn, or events with restart-servers
? 2
$ ballast compare --slow-start 20 --churn 100,1 --policy random
! ballast: --policy: dispatchers do not know which servers have come back, and slow-start needs that; give a heartbeat or ejection
? 2
$ ballast compare --slow-start 20 --churn 100,1 --heartbeat 1 --policy jiq
! ballast: --policy: under policy 'jiq' servers offer their free slots, and slow-start cannot be had; leave it out, or use a policy without idle reports, such as least-conn
? 2
$ ballast compare --cold 5,20 --churn 100,1 --high 0.3 --policy pod-sep
! ballast: --policy: servers that come back cold do not interrupt jobs; use discipline nonpreemptive
? 2
