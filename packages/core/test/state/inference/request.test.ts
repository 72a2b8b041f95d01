import { AgentSession, AgentState, type LlmConfig, type AgentStep } from '@holdfast/core';
import { InferenceResponse, List, type EffectiveRequest } from '@holdfast/core/driver';
import { applyOutcome, newStepMessageIds, StepId } from '@holdfast/core/engine';
import { applySavePlan, planSave, restoreSession, type SessionContent } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { expectRoundTrip, START as T } from '../../support/arbitraries.ts';

const A: LlmConfig = { model: 'a', temperature: 0 };
const B: LlmConfig = { model: 'b' };
const begun = AgentState.empty({ at: T }).withLlmConfig(A, T).withExecutionStatus('inProgress', T);

/** The state in a step that was sent so; without a request, as the state says. */
function sent(state: AgentState, request?: EffectiveRequest): AgentState {
  const open = applyOutcome(state, {
    type: 'stepBegun',
    stepId: StepId.create(),
    input: List.empty(),
    at: T,
  });
  const said = request ? applyOutcome(open, { type: 'requestChanged', request, at: T }) : open;
  return applyOutcome(said, { type: 'inferred', response: InferenceResponse.of({ text: 'Hi.' }), at: T });
}

const closed = (state: AgentState): AgentState =>
  applyOutcome(state, { type: 'stepClosed', messageIds: newStepMessageIds(), at: T });
const took = (state: AgentState, request?: EffectiveRequest): AgentState => closed(sent(state, request));
const as = (llmConfig: LlmConfig | undefined): EffectiveRequest => ({
  model: llmConfig?.model,
  llmConfig,
  toolChoice: 'auto',
});
const settings = (state: AgentState): unknown[] => state.steps.map((step) => state.requestOf(step).llmConfig);
const versionOf = (state: AgentState): unknown => (state.toJSON() as { readonly version: number }).version;

describe('a step records the request of its model call', () => {
  test("no request is recorded when it equals the state's", () => {
    const state = took(took(begun, as(A)), { ...as(A), llmConfig: { temperature: 0, model: 'a' } });
    expect(state.steps.map(({ request }) => request)).toEqual([undefined, undefined]);
    expect([versionOf(state), settings(state)]).toEqual([1, [A, A]]);
  });

  const rows: readonly (readonly [string, EffectiveRequest, kept: object])[] = [
    ['another model', as(B), { llmConfig: B }],
    ['no settings', as(undefined), { llmConfig: {} }],
    ['the model as the driver resolved it', { ...as(A), model: 'real:a' }, { model: 'real:a' }],
    ['a tool choice', { ...as(A), toolChoice: { toolName: 'x' } }, { toolChoice: { toolName: 'x' } }],
  ];
  test.for(rows)('%s', ([, request, kept]) => {
    const state = expectRoundTrip(took(begun, request));
    expect(state.lastStep?.request).toEqual(kept);
    expect(state.requestOf(state.lastStep as AgentStep)).toEqual(request);
    expect(versionOf(state)).toBe(2);
    const again = sent(took(state, as(A)), request);
    expect(again.requestOf(again.currentStep as AgentStep)).toEqual(request);
    expectRoundTrip(again);
  });

  test('a changed request replaces the recorded one', () => {
    const state = applyOutcome(sent(begun, as(B)), { type: 'requestChanged', request: as(A), at: T });
    expect([state.currentStep?.request, versionOf(state)]).toEqual([undefined, 1]);
  });

  test('an unknown setting or tool choice is refused', () => {
    for (const request of [
      { ...as(A), llmConfig: { apiKey: 'secret' } as LlmConfig },
      { ...as(A), toolChoice: 'never' as 'none' },
    ]) {
      expect(() => sent(begun, request)).toThrow(expect.objectContaining({ code: 'CONTEXT_INVALID' }));
    }
  });
});

describe("after a change of the state's settings", () => {
  test('earlier steps keep their settings, later steps have the new settings', () => {
    const state = expectRoundTrip(took(took(begun).withLlmConfig(B, T)));
    expect([settings(state), state.llmConfig, versionOf(state)]).toEqual([[A, B], B, 2]);
    const third = expectRoundTrip(took(state.withLlmConfig(undefined, T)));
    expect(settings(third)).toEqual([A, B, undefined]);
  });

  test('after the settings change back, none are recorded', () => {
    const state = took(begun).withLlmConfig(B, T).withLlmConfig(A, T);
    expect([settings(state), versionOf(state)]).toEqual([[A], 1]);
  });

  test('an open step keeps its settings too', () => {
    const state = expectRoundTrip(closed(sent(begun).withLlmConfig(B, T)));
    expect(settings(state)).toEqual([A]);
  });

  test('before the first step, no settings are recorded', () => {
    const state = took(begun.withLlmConfig(B, T));
    expect([settings(state), versionOf(state)]).toEqual([[B], 1]);
  });

  test('after empty settings, empty settings are recorded', () => {
    const state = expectRoundTrip(took(begun.withLlmConfig(undefined, T)).withLlmConfig(B, T));
    expect([settings(state), versionOf(state)]).toEqual([[undefined], 2]);
  });

  test('the next execution starts without recorded settings', () => {
    const state = took(begun).withLlmConfig(B, T).withExecutionCompleted(T).withExecutionStarted(T);
    expect(versionOf(state)).toBe(1);
  });
});

describe('requests in a store', () => {
  /** Saves state after state, and reads each as another process. */
  function saves(
    states: readonly AgentState[],
  ): readonly { readonly head: string; readonly bytes: number }[] {
    let saved: SessionContent | undefined;
    let base: AgentSession | undefined;
    return states.map((state, index) => {
      const fresh = base ?? AgentSession.create({ definition: { name: 'a' }, state, at: T });
      const session = fresh.withState(state).withRevision({ incarnation: 'i', version: index + 1 }, T);
      const plan = planSave(session, base);
      saved = applySavePlan(saved, plan);
      base = session;
      expect(restoreSession(saved, session.info, 'i').state).toEqual(state);
      const texts = plan.lists.flatMap(({ append }) => append);
      return { head: plan.head, bytes: texts.reduce((sum, text) => sum + text.length, plan.head.length) };
    });
  }

  const stateVersion = ({ head }: { readonly head: string }): unknown =>
    JSON.parse(head).document.state.version;

  test('the head declares version 2 exactly while a step needs it', () => {
    const one = took(begun);
    const two = took(one, as(B));
    const three = took(two, as(A));
    const ended = three.withExecutionCompleted(T);
    const next = took(ended.withExecutionStarted(T));
    expect(saves([begun, one, two, three, ended, next]).map(stateVersion)).toEqual([1, 1, 2, 2, 2, 1]);
  });

  test('a change of the model does not rewrite earlier steps', () => {
    let state = begun;
    const states = [state];
    for (let step = 0; step < 100; step++)
      states.push((state = took(state.withLlmConfig(step % 2 ? A : B, T))));
    const sizes = saves(states).map(({ bytes }) => bytes);
    expect(Math.max(...sizes.slice(-10))).toBeLessThan(1.2 * Math.max(...sizes.slice(2, 12)));
  });

  test('an unchanged request is written once', () => {
    let state = begun;
    const states = [state];
    for (let step = 0; step < 4; step++)
      states.push((state = took(state, as({ ...B, stopSequences: ['x'.repeat(900)] }))));
    const sizes = saves(states).map(({ bytes }) => bytes);
    expect(sizes[1]).toBeGreaterThan(900);
    expect(Math.max(...sizes.slice(2))).toBeLessThan((sizes[1] as number) - 800);
  });
});
