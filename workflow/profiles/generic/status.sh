#!/bin/sh
# What has become of a job of PBS: running, success or failed.
answer=$(qstat -x -f "$1" 2>&1)
case "$answer" in
    *"Unknown Job"*) echo failed ;;                # lost with its node, or removed
    *"job_state = F"*"Exit_status = 0"*) echo success ;;
    *"Exit_status = 0"*"job_state = F"*) echo success ;;
    *"job_state = F"*) echo failed ;;
    *) echo running ;;                             # or the server gives no answer: ask again
esac
