import { AgentState, createAgentLoop, type AgentLoopOptions } from '@holdfast/core';
import { DriverError, type InferenceRequest } from '@holdfast/core/driver';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { expectSound } from '../../support/builders.ts';

const overloaded = new DriverError('overloaded', 'Overloaded.');
const question = AgentState.empty({ at: 0 })
  .withLlmConfig({ model: 'large', temperature: 0 }, 0)
  .withUserMessage('How are you?', undefined, 0);

const modelsOf = (requests: readonly InferenceRequest[]) => requests.map(({ llmConfig }) => llmConfig?.model);

function loopOf(script: readonly ScriptedAnswer[], options: Partial<AgentLoopOptions> = {}) {
  const clock = manualClock(1_000);
  const driver = scriptedDriver(...script);
  const loop = createAgentLoop({
    driver,
    clock,
    fallback: ['medium', { model: 'small', temperature: 1 }],
    ...options,
  });
  return { clock, driver, run: async (state: AgentState) => expectSound(await loop.run(state)) };
}

describe('a fallback model', () => {
  test('is called at once when the model of the agent fails, with its other settings', async () => {
    const { run, driver } = loopOf([overloaded, 'Fine.']);
    const state = await run(question);
    expect(state.finalResponse).toBe('Fine.');
    expect(driver.requests.map(({ llmConfig }) => llmConfig)).toEqual([
      { model: 'large', temperature: 0 },
      { model: 'medium', temperature: 0 },
    ]);
    expect(state.lastStep && state.requestOf(state.lastStep).model).toBe('medium');
  });

  test('follows another fallback with its own settings, and the first model follows the last', async () => {
    const { run, driver, clock } = loopOf([overloaded, overloaded, overloaded, 'Fine.']);
    const waiting = run(question);
    for (let turn = 0; turn < 60; turn++) {
      await Promise.resolve();
      clock.advance(100);
    }
    expect((await waiting).finalResponse).toBe('Fine.');
    expect(modelsOf(driver.requests)).toEqual(['large', 'medium', 'small', 'large']);
    expect(driver.requests[2]?.llmConfig).toEqual({ model: 'small', temperature: 1 });
  });

  test('serves the next steps until its time is over; then the agent’s own model is called again', async () => {
    const script: ScriptedAnswer[] = [overloaded, 'One.', 'Two.', 'Three.'];
    const { run, driver, clock } = loopOf(script, {
      fallback: { models: ['medium'], forSeconds: 60 },
      hooks: [],
    });
    const first = await run(question);
    const second = await run(first.withContinuationRequested(clock.now()));
    expect(second.execution?.executionId).not.toBe(first.execution?.executionId);
    expect(modelsOf(driver.requests)).toEqual(['large', 'medium', 'large']);
  });

  test('is in use within one execution until its time is over', async () => {
    const goOn = {
      name: 'goOn',
      afterStep: (state: AgentState) => (state.stepCount < 3 ? state.withContinuationRequested() : undefined),
    };
    const later = {
      name: 'later',
      beforeStep: (state: AgentState) => void (state.stepCount === 2 && clock.advance(60_000)),
    };
    const { run, driver, clock } = loopOf([overloaded, 'One.', 'Two.', 'Three.'], {
      fallback: { models: ['medium'], forSeconds: 60 },
      hooks: [goOn, later],
    });
    await run(question);
    expect(modelsOf(driver.requests)).toEqual(['large', 'medium', 'medium', 'large']);
  });

  test('is called once, although each failure takes longer than its time', async () => {
    const clock = manualClock(1_000);
    const slowly: ScriptedAnswer = () => {
      clock.advance(300_000);
      return overloaded;
    };
    const { run, driver } = loopOf([slowly, slowly, slowly, 'Never.'], {
      clock,
      inferenceRetry: { maxPauseSeconds: 0 },
    });
    const state = await run(question);
    expect(modelsOf(driver.requests)).toEqual(['large', 'medium', 'small']);
    expect(state.execution?.waiting[0]).toMatchObject({ type: 'retry' });
  });

  test('gives way to the next one, although its time ends during its first call of a step', async () => {
    const clock = manualClock(1_000);
    const slowly: ScriptedAnswer = () => {
      clock.advance(400_000);
      return overloaded;
    };
    const script: ScriptedAnswer[] = [overloaded, { calls: { nothing: {} } }, slowly, 'Fine.'];
    const { run, driver } = loopOf(script, { clock });
    expect((await run(question)).finalResponse).toBe('Fine.');
    expect(modelsOf(driver.requests)).toEqual(['large', 'medium', 'medium', 'small']);
  });

  test('is not called later than maxElapsedSeconds after the first failed call', async () => {
    const clock = manualClock(1_000);
    const slowly: ScriptedAnswer = () => {
      clock.advance(60_000);
      return overloaded;
    };
    const script = [slowly, slowly, slowly];
    const { run, driver } = loopOf(script, { clock, inferenceRetry: { maxElapsedSeconds: 59 } });
    expect((await run(question)).status).toBe('failed');
    expect(modelsOf(driver.requests)).toEqual(['large', 'medium']);
  });

  test('is skipped when it has the settings of the agent', async () => {
    const { run, driver } = loopOf([overloaded, 'Fine.'], { fallback: ['large', 'small'] });
    expect((await run(question)).finalResponse).toBe('Fine.');
    expect(modelsOf(driver.requests)).toEqual(['large', 'small']);
  });

  test('is priced by its own price', async () => {
    const prices = { large: { input: 100, output: 100 }, medium: { input: 1, output: 1 } };
    const { run } = loopOf([overloaded, 'Fine.'], { prices, budget: { maxCost: 1 } });
    expect((await run(question)).usage.cost).toBeCloseTo(15 / 1_000_000, 12);
  });

  test('is not called after a failure of the request itself, unless the options name that kind', async () => {
    const tooLong = new DriverError('contextTooLong', 'Too long.');
    expect(await loopOf([tooLong]).run(question)).toMatchObject({ status: 'failed' });
    const { run } = loopOf([tooLong, 'Fine.'], { fallback: { models: ['long'], on: ['contextTooLong'] } });
    expect((await run(question)).finalResponse).toBe('Fine.');
  });

  test('ends at a whole millisecond, so that the stored state is readable', async () => {
    const { run } = loopOf([overloaded, 'Fine.'], { fallback: { models: ['medium'], forSeconds: 0.0005 } });
    expect((await run(question)).execution?.fallback?.until).toBe(1_001);
  });

  test('is stored with the execution, in format version 2', async () => {
    const { run } = loopOf([overloaded, { calls: { nothing: {} } }, 'Fine.']);
    const state = await run(question);
    expect(state.execution?.fallback).toEqual({ model: 'medium', until: 301_000 });
    expect(state.toJSON().version).toBe(2);
  });

  test.each([
    [[], 'models of fallback must be models'],
    [['a', 'b', 'a'], 'The fallback "a" is in the list twice.'],
    [{ models: [{ model: 'a', temperature: 0 }, 'a'] }, 'The fallback "a" is in the list twice.'],
    [{ models: [{ temperature: 1 }] }, 'A fallback must name a model'],
    [
      { models: ['a'], on: ['odd'] },
      'on of fallback must be an array of kinds of failures (one of rateLimited, ',
    ],
    [{ models: ['a'], forSeconds: 0 }, 'forSeconds of fallback must be a number of seconds above 0'],
    [{ model: 'a' }, 'fallback has no option "model"'],
    ['a', 'fallback of createAgentLoop must be a list of models'],
  ])('the option %j is refused', (fallback, message) => {
    expect(() => createAgentLoop({ driver: scriptedDriver(), fallback: fallback as never })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) }),
    );
  });
});
