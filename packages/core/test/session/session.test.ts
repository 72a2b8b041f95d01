import { AgentSession } from '@holdfast/core';
import { steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { expectSound } from '../support/builders.ts';

test('a new session begins with the prompt, the model and the metadata of its definition', () => {
  const llmConfig = { model: 'openai:gpt-5' };
  const metadata = { team: 'docs', deep: [{ a: null }] };
  const definition = { name: 'writer', systemPrompt: 'Be brief.', llmConfig, metadata };
  const state = expectSound(AgentSession.create({ definition, clock: steppedClock() }).state);
  expect([state.systemPrompt, state.llmConfig, state.metadata.values]).toEqual([
    'Be brief.',
    llmConfig,
    metadata,
  ]);
  const named = AgentSession.create({ definition: { name: 'writer' } }).state;
  expect([named.systemPrompt, named.llmConfig, named.metadata.values]).toEqual([undefined, undefined, {}]);
});
