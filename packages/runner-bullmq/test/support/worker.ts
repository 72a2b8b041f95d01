import { runWorkerProcess } from '@holdfast/conformance';
import type { BullmqConnection } from '@holdfast/runner-bullmq';
import { openEngine } from './bullmq-harness.ts';
import { DEFECTS } from './planted-defects.ts';

interface Task {
  readonly connection: BullmqConnection;
  readonly name: string;
  readonly defect: string;
}

const { connection, name, defect } = JSON.parse(process.argv[2] ?? '{}') as Task;
DEFECTS[defect]?.plant();
runWorkerProcess(openEngine(connection, { name }).engine);
