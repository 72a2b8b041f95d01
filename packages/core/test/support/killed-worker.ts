// The program of an isolated process that dies at once.
process.kill(process.pid, 'SIGKILL');
