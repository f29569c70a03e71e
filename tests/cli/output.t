# Where results go, and what happens when they cannot.

$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --output results.txt
$ head -n 1 results.txt
| 3 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1
$ ls
| results.txt

# A place that cannot be written is known before any work is done: this would take hours.
$ timeout 10 ballast compare --jobs 1G --replications 1000 --output missing/results.txt
! ballast: --output: 'missing/results.txt' cannot be written: No such file or directory; choose another place
? 2
$ timeout 10 ballast compare --jobs 1G --replications 1000 --output .
! ballast: --output: '.' cannot be written: Is a directory; choose another place
? 2

# An error leaves nothing behind, and what was there stays.
$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --load 2x --output results.txt
! ballast: --load 2x: not a load above 0 (to 100), such as 0.9
? 2
$ head -n 1 results.txt
| 3 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1
$ ls
| results.txt

# An existing file is replaced.
$ ballast compare --policy jsq --servers 4 --jobs 1000 --replications 2 --output results.txt
$ head -n 1 results.txt
| 4 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1

# It keeps who may read it, and links to it stay links.
$ chmod 600 results.txt; ln -s results.txt link; ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --output link
$ head -n 1 results.txt; stat -c '%a %F' results.txt link
| 3 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1
| 600 regular file
| 777 symbolic link
$ rm link; ls
| results.txt

# Results never replace what they are made from.
$ printf 'fleet: {servers: 2}\nworkload: {load: 0.5}\npolicies: [jsq]\nrun: {jobs: 100, replications: 2}\ntitle: t\n' >t.yaml
$ ballast run t.yaml --db t.db --output t.yaml
! ballast: --output t.yaml: that is the experiment; choose another place
? 2
$ ballast run t.yaml --db t.db --output t.db
! ballast: --output t.db: that is the file of results; choose another place
? 2
$ ls; ballast run t.yaml --db t.db --output out.txt; ballast results t.db --output t.db
| results.txt
| t.yaml
! ballast: --output t.db: that is the file of results; choose another place
? 2
$ ballast report t.db -o t.db
! ballast: --output t.db: that is the file of results; choose another place
? 2
$ rm t.yaml t.db out.txt

# What is open already is written on, whether or not it is a file.
$ { echo before; ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --output /dev/stdout; } >both; head -n 2 both; rm both
| before
| 3 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1
$ test -L /dev/stdout

# What is no file is written as it is and not replaced by one.
$ mkfifo pipe; cat pipe | head -n 1 & ballast compare --policy jsq --servers 5 --jobs 1000 --replications 2 --output pipe; wait; test -p pipe
| 5 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1

# A full disk.
$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 >/dev/full
! ballast: cannot write the results to standard output: No space left on device
? 2
$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --output /dev/full
! ballast: --output: '/dev/full' cannot be written: No space left on device; choose another place
? 2
$ ballast policies >/dev/full
! ballast: cannot write the results to standard output: No space left on device
? 2
$ ballast help >/dev/full
! ballast: cannot write to standard output: No space left on device
? 2
$ ballast help compare >/dev/full
! ballast: cannot write to standard output: No space left on device
? 2
$ ballast compare --help >/dev/full
! ballast: cannot write to standard output: No space left on device
? 2
$ ballast --version >/dev/full
! ballast: cannot write to standard output: No space left on device
? 2
$ test -c /dev/full

# A closed output is an error, and nothing else is written in its place.
$ ballast compare --servers 2 --jobs 1k --replications 2 --policy random --quiet >&-
! ballast: cannot write the results to standard output: Bad file descriptor
? 2
