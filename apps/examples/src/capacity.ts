// #region capacity
// A day of agents. Change these to yours.
const sessionsADay = 10_000_000;
const turnsASession = 5;
const toolStepsATurn = 2; // besides the answer
const peak = 4; // the busiest moment, as a multiple of the average
const keptDays = 30;

const turnsADay = sessionsADay * turnsASession;
const turnsASecond = (turnsADay * peak) / 86_400;

// Redis, measured: microseconds of the server a turn and a tool step, bytes of memory a session of five turns.
const redisCores = (turnsASecond * (505 + 180 * toolStepsATurn)) / 1e6;
const redisGigabytes = (sessionsADay * keptDays * 41_000) / 1e9;

// DynamoDB, counted: write units of the table and of the indexes a turn, and of a tool step of 2 KB.
const writeUnits = 6 + 8 + 3.05 * toolStepsATurn;
const shards = (2 * turnsASecond) / 500; // a claim and a release each move an entry of an index

console.log(Math.round(turnsASecond), 'turns a second at the peak'); // => 2315 turns a second at the peak
console.log('Redis:', redisCores.toFixed(1), 'cores,', Math.round(redisGigabytes), 'GB'); // => Redis: 2.0 cores, 12300 GB
console.log(
  'DynamoDB:',
  Math.round(writeUnits * turnsASecond),
  'write units a second,',
  Math.ceil(shards),
  'shards',
);
// => DynamoDB: 46528 write units a second, 10 shards
// #endregion
