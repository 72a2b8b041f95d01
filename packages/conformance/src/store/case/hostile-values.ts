import {
  AgentStep,
  ToolExecution,
  userMessage,
  type AgentDefinition,
  type AgentState,
  type JsonValue,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { newStepMessageIds, StepId, ToolExecutionId } from '@holdfast/core/engine';
import { START, testClock } from './store-case.ts';

const clock = testClock();

function nested(depth: number): JsonValue {
  let value: JsonValue = 'bottom';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
}

/** Values that some storage or encoding does not preserve. */
export const HOSTILE_VALUES: Readonly<Record<string, JsonValue>> = {
  'falsy values': [0, false, '', null, [], {}],
  'a member named __proto__': JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}'),
  'lone surrogates': ['\ud800', 'a\udfffb', { '\ud83e': '\udd8a\ud83e' }],
  NUL: ['\0', 'a\0b', { 'k\0': '\0v' }],
  emoji: ['🦊', '👩‍👩‍👧', { '🔑': '🗝' }],
  'control characters and quotes': ['\u0001\b\f\n\r\t"\\\u2028\u2029\u007f', "'; DROP TABLE sessions; --"],
  'a byte order mark': ['\ufeff', '\ufeffa'],
  'integers of 64 bits': ['9223372036854775807', '-9223372036854775808', Number.MAX_SAFE_INTEGER],
  numbers: [1e308, 5e-324, -1.5, 0.1],
  'nesting 1,000 deep': nested(1_000),
};

/** The first characters of the value as JSON. */
function textOf(value: JsonValue): string {
  return JSON.stringify(value).slice(0, 200);
}

/** A definition with the value in every field that can hold it. */
export function hostileDefinition(value: JsonValue): AgentDefinition {
  const text = textOf(value);
  return {
    name: 'tester',
    version: text,
    description: text,
    label: text,
    systemPrompt: text,
    llmConfig: { model: text, providerOptions: { tester: { value } } },
    capabilities: { tester: { value } },
    metadata: { value },
  };
}

/**
 * A state with the value in every field that can hold it: context, messages, a closed step, and an open step with a
 * tool.
 */
export function hostileState(state: AgentState, value: JsonValue): AgentState {
  const text = textOf(value);
  const message = userMessage(text, {
    id: '10000000-0000-4000-8000-000000000001',
    createdAt: START,
    metadata: { value },
    providerOptions: { tester: { value } },
  });
  const running = state
    .withMetadata('value', value, START)
    .withSystemPrompt(text, START)
    .withLlmConfig({ model: text, providerOptions: { tester: { value } } }, START)
    .withResponseFormat({ type: 'json', schema: { value }, name: text }, START)
    .withMessages([message], START)
    .withExecutionStatus('inProgress', START);
  const finished = running.withCurrentStep(hostileStep(running, value, true), START);
  const next = finished.withCurrentStepCompleted(START);
  const signal = { reason: 'stopRequested', message: text, source: text, context: { value } } as const;
  return next.withStopSignal(signal, START).withCurrentStep(hostileStep(next, value, false), START);
}

function hostileStep(state: AgentState, value: JsonValue, isOver: boolean): AgentStep {
  const call = { type: 'tool-call', toolCallId: textOf(value), toolName: 'tool', input: value } as const;
  const response = InferenceResponse.of({
    content: [{ type: 'text', text: textOf(value), providerOptions: { tester: { value } } }, call],
    providerMetadata: { tester: { value } },
  });
  const error = { name: textOf(value), message: textOf(value), data: value };
  const started = ToolExecution.start(call, START, ToolExecutionId.create(clock)).withProgress(value);
  const step = AgentStep.create(state.messages, StepId.create(clock)).withResponse(response).withError(error);
  if (!isOver) return step.withToolExecution(started);
  const ended = started.withOutcome({ type: 'succeeded', value, metadata: { value } }, START);
  return step.withToolExecution(ended).withOutput(newStepMessageIds(clock), START);
}
