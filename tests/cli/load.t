# Load on real servers: what is refused before anything is sent. What is sent is tried by tests/nginx/load.
$ ballast load
! ballast: load: a URL is missing: ballast load http://127.0.0.1:8080/ --rate 100
? 2
$ ballast load 127.0.0.1:80
! ballast: '127.0.0.1:80' is no URL such as http://127.0.0.1:8080/
? 2
$ ballast load https://127.0.0.1/
! ballast: https://127.0.0.1/: TLS is not spoken here; http://HOST[:PORT][/PATH] is
? 2
$ ballast load http://127.0.0.1:99999/
! ballast: '127.0.0.1:99999' is no HOST[:PORT], such as 127.0.0.1:8080 or [::1]:80
? 2
$ ballast load none=http://127.0.0.1/
! ballast: 'none=http://127.0.0.1/': the weight in front of = is not a number from 1e-6 to 1M
? 2
$ ballast load http://127.0.0.1/ --method get
! ballast: --method get: not a method such as GET, HEAD or POST
? 2
$ ballast load http://127.0.0.1/ --body many
! ballast: --body many: not a whole number of bytes from 0 to 1G
? 2
$ ballast load http://127.0.0.1/ --replay access.log --high '^/buy' --class 1=1
! ballast: --high: what matches is of the first of two classes; write two, such as --class 1=1 --class 5=0, or none
? 2
$ ballast load http://127.0.0.1/ --rate 0
! ballast: --rate 0: not a number from 0.001 to 1M
? 2
$ ballast load http://127.0.0.1/ --class 8=1
! ballast: --class 8=1: not an urgency from 0 to 7 and its share, such as 1=0.2
? 2
$ ballast load http://127.0.0.1/ --class 1=0.5 --class 1=0.5
! ballast: --class: urgency 1 is given twice
? 2
$ ballast load http://127.0.0.1/ --class 1=0.5 --class 2=0.4
! ballast: --class: the shares sum to 0.9, not to 1
? 2
$ ballast load http://127.0.0.1/ --header 'no header'
! ballast: --header no header: not a header such as 'Accept: text/html' (at most 400 bytes)
? 2
$ ballast load http://127.0.0.1/ --service exp --replay access.log
! ballast: --replay: the log says when requests come and how long they take; leave out --rate, --arrivals, --curve and --service
? 2
$ ballast load http://127.0.0.1/ --speedup 2
! ballast: --speedup and --high are about a log; add --replay LOG
? 2
$ ballast load http://127.0.0.1/ --replay access.log --rate 5
! ballast: --replay: the log says when requests come and how long they take; leave out --rate, --arrivals, --curve and --service
? 2
$ ballast load http://127.0.0.1/ --replay nowhere.log
! ballast: 'nowhere.log' cannot be read: No such file or directory
? 2
$ ballast load http://127.0.0.1/ --arrivals often
! ballast: --arrivals often: arrivals 'often': there are no such arrivals; write poisson, mmpp(R1,T1;R2,T2;...), renewal(LAW) or batch(LAW)
? 2
$ ballast load http://127.0.0.1/ --timeout 0
! ballast: --timeout 0: not a number of seconds from 0.001 to 100k
? 2
