import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentState, AgentStep } from '@holdfast/core';
import {
  AgentContext,
  ExecutionState,
  isTerminal,
  Metadata,
  StepExecution,
  type ToolOutcomeType,
} from '@holdfast/core/engine';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import {
  expectDeeplyFrozen,
  expectRoundTrip,
  histories,
  play,
  stateAfter,
} from '../../support/arbitraries.ts';

const runs = cases(300);

test('every reachable state comes back from JSON text equal, three times over, with the same text', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const state = stateAfter(moves);
      const third = expectRoundTrip(expectRoundTrip(expectRoundTrip(state)));
      assert.deepStrictEqual(third, state);
      expect(third).toEqual(state);
    }),
    runs,
  );
});

test('every state on the way is deeply frozen and the same after all that came later', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const states = play(moves);
      const texts = states.map((state) => JSON.stringify(state));
      for (const state of states) expectDeeplyFrozen(state);
      play(moves);
      assert.deepStrictEqual(
        texts,
        states.map((state) => JSON.stringify(state)),
      );
    }),
    cases(100),
  );
});

test('updatedAt never goes back and createdAt never changes', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const states = play(moves);
      for (const [index, after] of states.entries()) {
        const before = states[index - 1] ?? after;
        expect(after.updatedAt).toBeGreaterThanOrEqual(before.updatedAt);
        expect(after.createdAt).toBe(before.createdAt);
      }
    }),
    cases(100),
  );
});

test('a restored state goes on as the original would have', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const restored = expectRoundTrip(stateAfter(moves));
      const at = restored.updatedAt + 1;
      const original = stateAfter(moves).withCurrentStepCompleted(at).withExecutionStatus('failed', at);
      const resumed = restored.withCurrentStepCompleted(at).withExecutionStatus('failed', at);
      if (original.execution?.executionId !== resumed.execution?.executionId) return; // born here, with a random id
      assert.deepStrictEqual(resumed, original);
      expect(JSON.stringify(resumed)).toBe(JSON.stringify(original));
    }),
    cases(100),
  );
});

test('without its execution a state is what comes next, as of its last change', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const state = stateAfter(moves);
      const text = JSON.stringify(state.toJSON({ execution: 'omit' }));
      const next = state.forNextExecution(state.updatedAt);
      assert.deepStrictEqual(AgentState.fromJSON(JSON.parse(text)), next);
      expect(JSON.stringify(next)).toBe(text);
      expect(next.status).toBeUndefined();
    }),
    cases(100),
  );
});

test('a state inside other JSON is the same document', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const state = stateAfter(moves);
      expect(JSON.stringify({ execution: state })).toBe(`{"execution":${JSON.stringify(state)}}`);
    }),
    cases(50),
  );
});

/** Expects a part to come back equal from JSON text, and with the same text. */
function expectSameAgain<T>(part: T, fromJSON: (json: unknown) => T): void {
  const text = JSON.stringify(part);
  const read = fromJSON(JSON.parse(text));
  assert.deepStrictEqual(read, part);
  assert.equal(JSON.stringify(read), text);
}

test('each part of a state is a document of its own, which comes back equal and with the same text', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const { execution, context, metadata, stepExecutions, currentStep } = stateAfter(moves);
      expect(context.metadata).toBe(metadata);
      expectSameAgain(context, AgentContext.fromJSON);
      expectSameAgain(metadata, Metadata.fromJSON);
      if (execution) expectSameAgain(execution, ExecutionState.fromJSON);
      for (const finished of stepExecutions) expectSameAgain(finished, StepExecution.fromJSON);
      for (const { step } of stepExecutions) expectSameAgain(step, AgentStep.fromJSON);
      if (currentStep) expectSameAgain(currentStep, AgentStep.fromJSON);
    }),
    cases(100),
  );
});

test('the messages of a step stand in the conversation with its tags, and in the step without', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      for (const { step } of stateAfter(moves).stepExecutions) {
        expect(step.output).toBe(step.output);
        for (const message of step.output) expect(message).not.toHaveProperty('metadata');
      }
    }),
    cases(100),
  );
});

// What is derived, worked out once more from the stored document alone

interface StoredStep {
  readonly response?: {
    readonly usage?: Readonly<Record<string, number>>;
    readonly content?: readonly Part[];
  };
  readonly toolExecutions?: readonly {
    readonly outcome?: { readonly type: ToolOutcomeType; readonly error?: object };
    readonly usage?: Readonly<Record<string, number>>;
  }[];
  readonly errors?: readonly object[];
  readonly continuation?: StoredContinuation;
}
interface StoredContinuation {
  readonly continues?: boolean;
  readonly signals?: readonly { readonly reason: string }[];
  readonly isRequested?: boolean;
}
interface Part {
  readonly type: string;
  readonly providerExecuted?: boolean;
}

/** A step's facts, without a look at how the code derives them. */
function factsOf(step: StoredStep, content: readonly Part[]) {
  const toolErrors = (step.toolExecutions ?? []).flatMap(({ outcome }) => outcome?.error ?? []);
  const errors = [...(step.errors ?? []), ...toolErrors];
  const asked = content.filter((part) => part.type === 'tool-call' && part.providerExecuted !== true).length;
  const type = errors.length > 0 ? 'error' : asked > 0 ? 'toolExecution' : 'finalResponse';
  return {
    errors,
    type,
    asked,
    ownErrors: step.errors ?? [],
    usage: [step.response?.usage ?? {}, ...(step.toolExecutions ?? []).map(({ usage }) => usage ?? {})],
  };
}

test('counts, usage, errors, step types, stop decision and terminal status agree with plain tables', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const state = stateAfter(moves);
      const { execution } = state;
      if (execution === undefined) return;
      const stored = JSON.parse(JSON.stringify(state)).execution as {
        steps: StoredStep[];
        currentStep?: StoredStep;
        errors?: object[];
        continuation?: StoredContinuation;
        otherUsage?: Readonly<Record<string, number>>;
      };
      const values = [...state.steps, ...(state.currentStep ? [state.currentStep] : [])];
      const documents = [...stored.steps, ...(stored.currentStep ? [stored.currentStep] : [])];
      const steps = documents.map((step, index) => factsOf(step, values[index]?.response?.content ?? []));

      expect(state.stepCount).toBe(documents.length);
      expect(state.steps).toHaveLength(stored.steps.length);
      expect(values.map(({ type }) => type)).toEqual(steps.map(({ type }) => type));
      assert.deepStrictEqual(JSON.parse(JSON.stringify(state.errors)), [
        ...steps.flatMap(({ errors }) => errors),
        ...(stored.errors ?? []),
      ]);

      for (const name of [
        'inputTokens',
        'outputTokens',
        'cacheReadTokens',
        'cost',
        'unreportedCalls',
        'unpricedCalls',
      ] as const) {
        const used = [...steps.flatMap(({ usage }) => usage), stored.otherUsage ?? {}];
        const known = used.flatMap((usage) => usage[name] ?? []);
        expect(state.usage[name] ?? -1).toBeCloseTo(
          known.reduce((left, right) => left + right, 0) - (isKnown(name, known) ? 0 : 1),
          6,
        );
      }

      const isRequested = stored.continuation?.isRequested ?? false;
      const continuations = [...stored.steps.map(({ continuation }) => continuation), stored.continuation];
      const signals = continuations.reduce<readonly { reason: string }[]>(
        (before, now) => [...(now?.continues ? before : []), ...(now?.signals ?? [])],
        [],
      );
      const latest = steps.at(-1);
      expect(state.shouldStop).toBe(
        naiveShouldStop(signals.length > 0, isRequested, latest === undefined || latest.asked > 0),
      );
      const uncaught = (stored.errors ?? []).length > 0 || (latest?.ownErrors ?? []).length > 0;
      expect(execution.terminalStatus).toBe(
        naiveTerminalStatus(
          uncaught,
          signals.map(({ reason }) => reason),
        ),
      );
      expect(execution.completedAt !== undefined).toBe(isTerminal(state.status));
      expect(state.hasActiveExecution).toBe(!isTerminal(state.status));
    }),
    runs,
  );
});

/** A sum of nothing is unknown, except that no call is then unreported. */
function isKnown(name: string, known: readonly number[]): boolean {
  return known.length > 0 || name.endsWith('Calls');
}

function naiveShouldStop(hasSignals: boolean, isRequested: boolean, hasToolCalls: boolean): boolean {
  if (hasSignals && !isRequested) return true;
  if (isRequested) return false;
  if (hasToolCalls) return false;
  return true;
}

const RANKS = [
  ['errorForbade'],
  ['stopRequested'],
  ['stepsLimitReached'],
  ['tokenLimitReached'],
  ['timeLimitReached', 'costLimitReached'],
  ['retryLimitReached'],
  ['finishReasonReceived'],
  ['userRequested'],
  ['completed'],
  ['unknown'],
];

function naiveTerminalStatus(hasUncaughtError: boolean, reasons: readonly string[]): string {
  if (hasUncaughtError || reasons.includes('errorForbade')) return 'failed';
  const highest = RANKS.find((rank) => reasons.some((reason) => rank.includes(reason)));
  const isOwnEnd =
    highest === undefined || highest.includes('completed') || highest.includes('finishReasonReceived');
  return isOwnEnd ? 'completed' : 'stopped';
}
