import { engineCases } from '@holdfast/conformance';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bullmqHarness } from './support/bullmq-harness.ts';
import { DEFECTS } from './support/planted-defects.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** The cases with worker processes, and those of groups, take long to fail. They run with `EFFORT=2`. */
const isLong = Number(process.env['EFFORT'] ?? 1) > 1;
const defects = Object.entries(DEFECTS).filter(([, { fails }]) => isLong || !/^processes|group/.test(fails));

describe('an engine that', () => {
  test.for(defects)('%s fails a case', async ([defect, { plant, fails, groupConcurrency }]) => {
    onTestFinished(plant());
    const one = engineCases.find((each) => `${each.group}: ${each.name}` === fails);
    const { create, ...abilities } = bullmqHarness(
      { url: `redis://127.0.0.1:${server.port}` },
      { defect, ...(groupConcurrency && { groupConcurrency }) },
    );
    if (one === undefined) throw new Error(`There is no case "${fails}".`);
    await expect(one.run(create, { ...abilities, waitSeconds: 0 })).rejects.toThrow(
      /Expected|advanced|taken|engine/u,
    );
  });
});
