import { systemClock } from '@holdfast/core';

// Prints some ids, for a test that this is done on several threads.
for (let count = 0; count < 200; count++) process.stdout.write(`${systemClock.newId()}\n`);
