# ballastd on the command line: its help, its version, and what it says of configurations. What it does with
# processes is tried by tests/live/ballastd.

$ ballastd --help
| usage: ballastd [--config FILE]                    run the keeper
|        ballastd [--config FILE] --check            tell all mistakes of the configuration
|        ballastd [--config FILE] status             show the apps and replicas of the keeper that runs
|        ballastd [--config FILE] wake|rest APP      wake an app, or let it rest
|        ballastd --ids ADDRESS...                   print the ids that these addresses have in datagrams
|
| Starts apps when they are wanted and stops them when they have no work. Stations and dispatchers of a
| fleet say when; replicas of one thing are scaled by one command. SIGTERM ends the keeper and leaves or
| stops the apps as the configuration says, SIGHUP reads it again. Killed and started again, it finds its
| apps.
|
|   --config FILE   the configuration (default /etc/ballast/keeper.yaml)
|   --check         read it, print each mistake as FILE:LINE:COLUMN: ..., and do nothing else
|   --ids           print the number that stands for each address, IP:PORT or unix:PATH, in datagrams and in
|                   debug lines of nginx
|   --keys          print all keys of the configuration with their defaults
|   --version       print the version
|   --help          print this
|
| Exit status: 0 success, 1 it could not run or the keeper did not answer, 2 bad input.
# The same address, written in two ways, is one.
$ ballastd --ids 10.0.0.11:8080 '[fd00:0::11]:80' '[fd00::11]:80' unix:/run/app
| 7927567596076270976 10.0.0.11:8080
| 59270984097459728 [fd00:0::11]:80
| 59270984097459728 [fd00::11]:80
| 15824627993254598374 unix:/run/app
$ ballastd --ids; ballastd --ids 10.0.0.11
! ballastd: --ids: name addresses, as in 10.0.0.11:8080
! ballastd: --ids: '10.0.0.11' is no address; write IP:PORT, [IPV6]:PORT or unix:PATH
? 2
$ ballastd --version
| ballastd 1.0.0
$ ballastd --nonsense
! ballastd: unrecognized option '--nonsense'
! ballastd: see ballastd --help
? 2
$ ballastd --config none.yaml --check
! none.yaml: No such file or directory
? 2

# A good one.
$ mkdir etc && umask 027 && cat >etc/good.yaml <<END
> key: 000102030405060708090a0b0c0d0e0f
> apps:
>   - {name: web, id: 7, run: [/bin/true]}
> END
$ ballastd --config etc/good.yaml --check
| etc/good.yaml: in order, 1 app
$ ballastd --config etc/good.yaml --check web
! ballastd: --check takes no 'web'; the file is named with --config
? 2
$ ballastd --config etc/good.yaml status
! ballastd: /run/ballastd: no keeper runs there
? 1
$ ballastd --config etc/good.yaml sleep web
! ballastd: sleep: say status, wake APP or rest APP
? 2
$ ballastd --config etc/good.yaml wake wob
! ballastd: wob: the configuration has no app of that name
? 2

# Who may write it, or in its directory, could have anything run.
$ chmod 666 etc/good.yaml && ballastd --config etc/good.yaml --check
! etc/good.yaml: others may write it
? 2
$ chmod 664 etc/good.yaml && ballastd --config etc/good.yaml --check
! etc/good.yaml: others may write it
? 2
$ chmod 640 etc/good.yaml && chmod 777 etc && ballastd --config etc/good.yaml --check
! etc/good.yaml: others than root and this user may change what is in etc
? 2
$ chmod 755 etc && ballastd --config etc/good.yaml --check
| etc/good.yaml: in order, 1 app
$ ballastd --config etc --check
! etc: it is no file
? 2

# A key that others can read is none.
$ chmod 644 etc/good.yaml && ballastd --config etc/good.yaml --check
! etc/good.yaml: others may read it, and the key is in it; chmod 640, or use key_file
? 2
$ chmod 640 etc/good.yaml
$ sed 's/^key:.*/key_file: fleet.key/' etc/good.yaml >etc/file.yaml && ballastd --config etc/file.yaml --check
! etc/file.yaml:1:11: key_file: etc/fleet.key: No such file or directory
? 2
$ echo 000102030405060708090a0b0c0d0e0f >etc/fleet.key && chmod 644 etc/fleet.key && ballastd --config etc/file.yaml --check
! etc/file.yaml:1:11: key_file: etc/fleet.key: others may read it; chmod 640 and its owner (root or this user) may help
? 2
$ chmod 600 etc/fleet.key && ballastd --config etc/file.yaml --check
| etc/file.yaml: in order, 1 app
$ echo 00000000000000000000000000000000 >etc/fleet.key && ballastd --config etc/file.yaml --check
! etc/file.yaml:1:11: key_file: etc/fleet.key: it does not begin with 32 hexadecimal digits, not all of them 0
? 2
$ sed '/^key:/d' etc/good.yaml >etc/none.yaml && ballastd --config etc/none.yaml --check
! etc/none.yaml:1:1: key: there should be one of key and key_file: only signed messages are taken
? 2

# All mistakes at once, each with its place.
$ cat >etc/bad.yaml <<END
> fleet: -1
> key: 12
> sokket: /run/x
> listen: localhost:80
> on_exit: maybe
> least: 9
> defaults: {name: x, standby: soon}
> apps:
>   - name: a b
>     id: 0
>     run: /bin/true
>   - name: web
>     id: 7
>     run: /bin/true && true
>     ready: {tcp: 127.0.0.1:1, http: "http://127.0.0.1/"}
>     signal: STOP
>     user: nobody-of-that-name
>   - name: web
>     id: 7
>     standby: {mean: 1s, law: gamma}
>     start: []
>     environment: {BALLAST_APP: x}
>     times: {start: 0s, stop: 1 s, beat: 2, nap: 3s}
>   - {name: hooks, id: 8, standby: 1s, start: [a]}
>   - {name: both, id: 9, standby: 1s, run: [a], start: [a], stop: [a], running: [a]}
>   - {name: far, id: 10, standby: 1s, run: [a], station: {id: 10, address: 10.0.0.1:5}, busy: [a]}
>   - {name: text, id: 11, standby: 1s, run: "true; false", user: nobody-of-that-name}
>   - 12
> END
$ ballastd --config etc/bad.yaml --check
! etc/bad.yaml:3:1: keeper: there is no key 'sokket'; there are fleet, key, key_file, socket, socket_group, listen, status, state, cgroup, on_exit, least, most, defaults, replicas, apps
! etc/bad.yaml:1:8: fleet: '-1' is not a whole number from 0 to 4294967295
! etc/bad.yaml:2:6: key: it is not 32 hexadecimal digits, not all of them 0
! etc/bad.yaml:4:9: listen: 'localhost:80' is no address in numbers, such as unix:/run/x, 127.0.0.1:8001 or [::1]:8001
! etc/bad.yaml:5:10: on_exit: 'maybe' is neither leave nor stop
! etc/bad.yaml:7:11: defaults: each app needs its own 'name'
! etc/bad.yaml:9:11: name: 'a b' is not a name: at most 60 letters, digits and _ - . @
! etc/bad.yaml:10:9: id: '0' is not a whole number from 1 to 18446744073709551615
! etc/bad.yaml:7:30: standby: 'soon' is not a time from 0 ms to 24 h, such as 500ms, 2s or 5min
! etc/bad.yaml:15:12: ready: it should have one of command, tcp and http
! etc/bad.yaml:15:12: http: 'http://127.0.0.1/' is not like http://127.0.0.1:8001/health, with an address in numbers
! etc/bad.yaml:16:13: signal: 'STOP' is not one of TERM, INT, QUIT, HUP, USR1, USR2, KILL, WINCH
! etc/bad.yaml:21:12: start: a command is a list of 1 to 200 words: [/usr/bin/app, --port, "8001"]
! etc/bad.yaml:22:19: environment: 'BALLAST_APP' cannot be the name of a variable here
! etc/bad.yaml:20:30: law: 'gamma' is neither exponential nor fixed
! etc/bad.yaml:23:44: times: there is no key 'nap'; there are start, ready, check, answer, drain, stop, kill, steady, back_off, back_off_most, beat
! etc/bad.yaml:23:20: start: '0s' is not a time from 1 ms to 24 h, such as 500ms, 2s or 5min
! etc/bad.yaml:23:30: stop: '1 s' is not a time from 1 ms to 24 h, such as 500ms, 2s or 5min
! etc/bad.yaml:23:41: beat: '2' is not a time from 1 ms to 24 h, such as 500ms, 2s or 5min
! etc/bad.yaml:24:5: hooks: an app with 'start' needs 'stop'
! etc/bad.yaml:24:5: hooks: an app with 'start' needs 'running' or 'ready', to know whether it runs
! etc/bad.yaml:25:5: both: it should have one of run, start and replica_of
! etc/bad.yaml:25:5: both: 'running' is for apps with 'start'; one with 'run' is supervised
! etc/bad.yaml:26:5: far: 'busy' is for apps without a station: that one knows
! etc/bad.yaml:26:5: far: a peer has the id 10 of the app itself
! etc/bad.yaml:26:5: far: a peer has an address of the network, so 'listen' is needed above
! etc/bad.yaml:27:5: user: there is no user 'nobody-of-that-name' on this machine
! etc/bad.yaml:27:44: run: a text is for a shell, which must be asked for (shell: true); else give a list of words
! etc/bad.yaml:28:5: apps: this is a single value; it should be a map
! etc/bad.yaml:18:5: name: there are two apps 'web'
! etc/bad.yaml:18:5: id: two apps have the id 7
! etc/bad.yaml:6:8: least: 9 is more than there are apps, 8
? 2
$ printf 'apps: [\n' >etc/syntax.yaml && ballastd --config etc/syntax.yaml --check
! etc/syntax.yaml:2:1: not YAML: did not find expected node content while parsing a flow node; look at the indentation, colons and quotes there
? 2
$ : >etc/empty.yaml && ballastd --config etc/empty.yaml --check
! etc/empty.yaml:1:1: the file is empty
? 2
$ cat >etc/replicas.yaml <<END
> key: 000102030405060708090a0b0c0d0e0f
> replicas:
>   - {name: a, scale: [scale, "{n}"], min: 3, max: 2}
>   - {name: b, scale: [scale], max: 5, back_off: 2min, user: nobody-of-that-name}
>   - {name: c, scale: "scale {n}"}
>   - {name: a1, sacle: [x]}
>   - {scale: [x, "{n}"]}
> apps:
>   - {name: a1, id: 1, replica_of: a, ready: {tcp: 127.0.0.1:1}}
>   - {name: a2, id: 2, replica_of: a}
>   - {name: a3, id: 3, replica_of: d, run: [x], stop: [x], ready: {tcp: 127.0.0.1:1}}
>   - {name: b1, id: 4, replica_of: b, ready: {tcp: 127.0.0.1:1}}
> END
$ ballastd --config etc/replicas.yaml --check
! etc/replicas.yaml:4:5: user: there is no user 'nobody-of-that-name' on this machine
! etc/replicas.yaml:4:22: scale: no word has {n}, which stands for the number of replicas
! etc/replicas.yaml:4:5: back_off_most: the longest back-off is shorter than the first
! etc/replicas.yaml:5:22: scale: a text is for a shell, which must be asked for (shell: true); else give a list of words
! etc/replicas.yaml:6:16: replicas: there is no key 'sacle'; there are name, scale, min, max, pause_up, pause_down, timeout, back_off, back_off_most, restate, shell, user, directory, environment, new_privileges, processes, output
! etc/replicas.yaml:7:5: replicas: replicas need a name
! etc/replicas.yaml:10:5: a2: a replica needs 'ready', to know whether it runs
! etc/replicas.yaml:11:5: a3: it should have one of run, start and replica_of
! etc/replicas.yaml:11:5: a3: 'stop' and 'running' are not for a replica: 'scale' does that
! etc/replicas.yaml:11:5: replica_of: there are no replicas 'd'
! etc/replicas.yaml:6:5: name: there is an app 'a1', too
! etc/replicas.yaml:3:5: min: 3 is more than max, 2
! etc/replicas.yaml:4:5: max: 5 is more than there are apps of it, 1
! etc/replicas.yaml:5:5: c: no app is a replica of it (replica_of: c)
! etc/replicas.yaml:6:5: a1: no app is a replica of it (replica_of: a1)
? 2
