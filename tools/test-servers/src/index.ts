export { DynamoDbServer } from './dynamodb-server.ts';
export { freePort } from './free-port.ts';
export { RedisCluster } from './redis-cluster.ts';
export { RedisServer } from './redis-server.ts';
export { until } from './until.ts';
