import { runWorkerProcess } from '@holdfast/conformance';
import type { BullmqConnection } from '@holdfast/runner-bullmq';
import { openEngine } from './bullmq-harness.ts';

const { connection, name } = JSON.parse(process.argv[2] ?? '{}') as { connection: BullmqConnection; name: string };
runWorkerProcess(openEngine(connection, { name }).engine);
