# Where results go, and what happens when they cannot.

$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --output results.txt
$ head -n 1 results.txt
| 3 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1
$ ls
| results.txt

# A place that cannot be written is known before any work is done: this would take hours.
$ timeout 10 ballast compare --jobs 1G --replications 1000 --output missing/results.txt
! ballast: --output missing/results.txt: cannot write there: No such file or directory; choose another place
? 2
$ timeout 10 ballast compare --jobs 1G --replications 1000 --output .
! ballast: --output .: cannot write there: Is a directory; choose another place
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

# What is no file is written as it is and not replaced by one.
$ mkfifo pipe; cat pipe | head -n 1 & ballast compare --policy jsq --servers 5 --jobs 1000 --replications 2 --output pipe; wait; test -p pipe
| 5 servers at load 0.9, service exp; 2 replications of 1000 jobs each, seed 1

# A full disk.
$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 >/dev/full
! ballast: cannot write the results to standard output: No space left on device
? 2
$ ballast compare --policy jsq --servers 3 --jobs 1000 --replications 2 --output /dev/full
! ballast: --output /dev/full: cannot write there: No space left on device; choose another place
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
