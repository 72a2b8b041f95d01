#!/bin/sh
# Starts a worker for each port, and stops all of them after SIGTERM or Ctrl+C. It ends when all workers have ended.
trap 'kill -TERM $workers' TERM INT
workers=
for port in ${PORTS:-8081 8082 8083}; do
  node_modules/.bin/holdfast-worker --module ./agents.ts --store "${HOLDFAST_STORE:-sqlite:./sessions.db}" \
    --engine polling --port "$port" &
  workers="$workers $!"
done
for worker in $workers; do
  while kill -0 "$worker" 2>/dev/null; do wait "$worker"; done # a signal interrupts `wait`
done
