import { AgentState, createAgentLoop } from '@holdfast/core';
import { DriverError, InferenceResponse } from '@holdfast/core/driver';
import { expect, test } from 'vitest';

const facts = { requestId: 'req_1', responseHeaders: { 'x-ratelimit-remaining-requests': '9' } };

test('a response stores the id of its HTTP request and the chosen headers', () => {
  const response = InferenceResponse.of({ text: 'hi', ...facts });
  expect(response).toMatchObject(facts);
  expect(InferenceResponse.fromJSON(JSON.parse(JSON.stringify(response)))).toEqual(response);
  expect(response.toJSON()).toMatchObject(facts);
});

test('a response without them has no such members', () => {
  const response = InferenceResponse.of({ text: 'hi', requestId: undefined });
  expect(Object.keys(response)).not.toContain('requestId');
  expect(JSON.stringify(response)).not.toContain('request');
});

test('headers that are not strings are refused', () => {
  const responseHeaders = { a: 1 } as never;
  expect(() => InferenceResponse.of({ text: 'hi', responseHeaders })).toThrow(
    'responseHeaders.a: expected a string',
  );
});

test('documents with them have version 2, and version 1 refuses them', async () => {
  const start = AgentState.empty().withUserMessage('hello');
  const [plain, known] = await Promise.all(
    [{ text: 'hi' }, { text: 'hi', ...facts }].map((init) => {
      const driver = { infer: async () => InferenceResponse.of(init) };
      return createAgentLoop({ driver }).run(start);
    }),
  );
  expect(plain?.toJSON()).toMatchObject({ version: 1 });
  const document = JSON.parse(JSON.stringify(known)) as { version: number };
  expect(document.version).toBe(2);
  expect(AgentState.fromJSON(document).steps.at(-1)?.response).toMatchObject(facts);
  expect(() => AgentState.fromJSON({ ...document, version: 1 })).toThrow('no such member before version 2');
});

test('a failed call names its model', async () => {
  let calls = 0;
  const driver = {
    modelId: () => 'small',
    infer: async () => {
      if (calls++ === 0) throw new DriverError('overloaded', 'later');
      return InferenceResponse.of({ text: 'hi' });
    },
  };
  const loop = createAgentLoop({ driver, inferenceRetry: { initialDelaySeconds: 0.001 } });
  const state = await loop.run(AgentState.empty().withUserMessage('hello'));
  const [failure] = state.steps.at(-1)?.inferenceFailures ?? [];
  expect(failure).toMatchObject({ modelId: 'small' });
  const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
  expect(restored.steps.at(-1)?.inferenceFailures[0]).toMatchObject({ modelId: 'small' });
});
