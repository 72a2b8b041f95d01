import {
  AgentState,
  createAgentLoop,
  MemorySessionStore,
  SessionRuntime,
  tool,
  type Hook,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const driver = scriptedDriver();
const misuse = { code: 'ARGUMENT_INVALID' };
const nothing = (): undefined => undefined;

function refusalOf(hook: unknown): unknown {
  try {
    createAgentLoop({ driver, hooks: [hook as Hook] });
  } catch (error) {
    return error;
  }
  return 'accepted';
}

describe('a hook is refused', () => {
  test.each([
    ['beforeTooluse', 'did you mean "beforeToolUse"?'],
    ['beforToolUse', 'did you mean "beforeToolUse"?'],
    ['limit', 'use "checkLimit"'],
    ['beforeSave', 'pass it to the runtime, as in new SessionRuntime('],
    [
      'onStepFinish',
      'hook "audit" has no member "onStepFinish": use "afterStep". Known members: beforeExecution',
    ],
  ])('with the member %s', (name, says) => {
    const hook = { name: 'audit', afterStep: nothing, [name]: nothing };
    expect(refusalOf(hook)).toMatchObject({ ...misuse, message: expect.stringContaining(says) });
  });

  test('of a class with a method that sounds like a hook', () => {
    class Audit implements Hook {
      afterStep(): undefined {}
      beforeTooluse(): undefined {}
    }
    expect(refusalOf(new Audit())).toMatchObject(misuse);
    class Timer {
      readonly onTimeout = nothing;
      afterStep(): undefined {}
    }
    expect(refusalOf(new Timer())).toMatchObject(misuse);
  });

  test.each([
    ['a point that is no function', { afterStep: true }],
    ['a point that is null', { afterStep: nothing, beforeStep: null }],
    ['a priority that is a text', { afterStep: nothing, priority: 'high' }],
    ['a priority that is no number', { afterStep: nothing, priority: Number.NaN }],
  ])('with %s', (_, hook) => {
    expect(refusalOf(hook)).toMatchObject(misuse);
  });
});

test('a plain hook may have members for those who use it', () => {
  expect(refusalOf({ afterStep: nothing, read: nothing, limits: 5 })).toBe('accepted');
});

test('an object of a class may have helpers of its own', () => {
  class Audit implements Hook {
    readonly lines: string[] = [];
    readonly priority = 3;
    afterStep(): undefined {
      this.note('step');
    }
    note(line: string): void {
      this.lines.push(line);
    }
    limit(): void {}
    stop(): void {}
    once(): void {}
    nameOf(): void {}
  }
  class Quiet extends Audit {
    override note(): void {}
  }
  expect(refusalOf(new Quiet())).toBe('accepted');
});

describe('what a hook returned with an unknown member ends the run before a tool runs', () => {
  const calls: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    execute: () => calls.push('pay'),
  });

  test.each([
    ['beforeToolUse', { blok: 'no' }],
    ['beforeToolUse', { block: 'no', reason: 'x' }],
    ['beforeInference', { reqest: {} }],
    ['afterInference', { respnse: {} }],
    ['beforeToolUse', { blok: undefined }],
  ])('%s: %j', async (point, result) => {
    const hooks = [{ name: 'audit', [point]: () => result }] as unknown as readonly Hook[];
    const loop = createAgentLoop({ driver: scriptedDriver({ calls: { pay: {} } }), tools: [pay], hooks });
    const state = await loop.run(AgentState.empty().withUserMessage('Pay.'));
    const [name] = Object.keys(result).slice(-1);
    expect(calls).toEqual([]);
    expect(state.errors.at(-1)).toMatchObject({
      code: 'HOOK_FAILED',
      message: expect.stringContaining(`unknown member "${name}"`),
    });
  });

  test('also after the tool', async () => {
    const hooks = [{ afterToolUse: () => ({ exection: 1 }) }] as unknown as readonly Hook[];
    const loop = createAgentLoop({ driver: scriptedDriver({ calls: { pay: {} } }), tools: [pay], hooks });
    const state = await loop.run(AgentState.empty().withUserMessage('Pay.'));
    expect(state.errors.at(-1)?.message).toContain('unknown member "exection" (known: state, toolExecution)');
  });
});

test('a tool choice of a hook that does not fit is told with its reason', async () => {
  const hook: Hook = {
    beforeInference: (request) => ({ request: { ...request, toolChoice: 'any' as never } }),
  };
  const state = await createAgentLoop({ driver, hooks: [hook] }).run(
    AgentState.empty().withUserMessage('Hi.'),
  );
  expect(state.errors.at(-1)?.message).toMatch(/tool choice.*expected.*required/);
});

test.each(['beforSave', 'BeforeSave', 'onSave', 'aftersave', 'beforeDelete'])(
  'a session hook %s is refused',
  (name) => {
    const options = { store: new MemorySessionStore(), agents: {}, hooks: { [name]: nothing } };
    expect(() => new SessionRuntime(options)).toThrow(expect.objectContaining(misuse));
  },
);

test('an object of session hooks may have members of its own', () => {
  const hooks = { beforeSave: nothing, metrics: 5, count: nothing };
  expect(() => new SessionRuntime({ store: new MemorySessionStore(), agents: {}, hooks })).not.toThrow();
});
