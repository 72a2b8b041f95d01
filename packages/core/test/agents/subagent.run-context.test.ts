import { createAgentLoop, subagent, toolFor, type AgentState } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { told } from '../support/builders.ts';

interface Shop {
  readonly user: string;
}

const ada: Shop = { user: 'ada' };
const whoAmI = toolFor<Shop>()({
  name: 'whoAmI',
  description: 'Returns the user.',
  inputSchema: { type: 'object' },
  execute: (_, { runContext }) => runContext.user,
});
const named = { name: 'clerk', description: 'Works.' };
const askClerk = { calls: { clerk: { prompt: 'Who am I?' } } };

/** A loop whose final response is the user of its run context. */
function clerkLoop() {
  const driver = scriptedDriver({ calls: { whoAmI: {} } }, (request) => {
    const [part] = request.messages.at(-1)?.content ?? [];
    return typeof part === 'object' && part.type === 'tool-result' ? JSON.stringify(part.output) : 'none';
  });
  return createAgentLoop({ driver, tools: [whoAmI] });
}

function valueOf(state: AgentState): unknown {
  return state.steps[0]?.toolExecutions[0]?.value;
}

describe('a subagent', () => {
  test('receives the run context of the caller', async () => {
    const clerk = subagent({ ...named, loop: clerkLoop() });
    const loop = createAgentLoop({ driver: scriptedDriver(askClerk, 'Done.'), tools: [clerk] });
    expect(valueOf(await loop.run(told(), { runContext: ada }))).toContain('"ada"');
  });

  test('receives the run context that its function returns for the one of the caller', async () => {
    const runContext = async ({ user }: Shop): Promise<Shop> => ({ user: `assistant of ${user}` });
    const clerk = subagent({ ...named, loop: clerkLoop(), runContext });
    const loop = createAgentLoop({ driver: scriptedDriver(askClerk, 'Done.'), tools: [clerk] });
    expect(valueOf(await loop.run(told(), { runContext: ada }))).toContain('"assistant of ada"');
  });

  test('needs no run context of the caller with a function that takes none', async () => {
    const clerk = subagent({ ...named, loop: clerkLoop(), runContext: () => ({ user: 'guest' }) });
    const loop = createAgentLoop({ driver: scriptedDriver(askClerk, 'Done.'), tools: [clerk] });
    expect(loop.needsRunContext).toBe(false);
    expect(valueOf(await loop.run(told()))).toContain('"guest"');
  });

  test('makes the outer run refuse to start without the run context', async () => {
    const driver = scriptedDriver(askClerk);
    const clerk = subagent({ ...named, loop: clerkLoop() });
    const outer = subagent({ ...named, name: 'outer', loop: createAgentLoop({ driver, tools: [clerk] }) });
    const loop = createAgentLoop({ driver, tools: [outer] });
    await expect(loop.run(told(), {} as never)).rejects.toMatchObject({ code: 'RUN_CONTEXT_MISSING' });
    expect(driver.requests).toEqual([]);
  });

  test('fails the call when its function throws', async () => {
    const runContext = (): Shop => {
      throw new Error('The directory is down.');
    };
    const clerk = subagent({ ...named, loop: clerkLoop(), runContext });
    const loop = createAgentLoop({ driver: scriptedDriver(askClerk, 'Sorry.'), tools: [clerk] });
    const state = await loop.run(told());
    expect(state.errors.map(({ message }) => message)).toEqual(['The directory is down.']);
    expect(state.status).toBe('completed');
  });
});
