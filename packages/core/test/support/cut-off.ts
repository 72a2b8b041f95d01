import type { Tool } from '@holdfast/core';
import type { InferenceResponseInit } from '@holdfast/core/driver';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { call, deferred, does, never, type Scenario } from './builders.ts';

// Answers and tools in which `cutOff` ends the run: an abort, or the end of its time.

/** Rejects with the reason of the signal, as `fetch` does. */
export function rejects(cutOff: () => void): ScriptedAnswer {
  return (_, { signal }) => {
    cutOff();
    return Promise.reject(signal.reason as Error);
  };
}

/** Rejects with what had arrived. */
export function rejectsWith(cutOff: () => void, partialResponse: InferenceResponseInit): ScriptedAnswer {
  return () => {
    cutOff();
    return Promise.reject(Object.assign(new Error('aborted'), { partialResponse }));
  };
}

/** A tool that ends when its signal says so. */
export function honours(cutOff: () => void): Tool {
  return does('slow', (_, { signal }) => {
    const { promise, reject } = deferred();
    signal.addEventListener('abort', () => reject(signal.reason));
    cutOff();
    return promise;
  });
}

/** A tool that never ends. */
export function deaf(cutOff: () => void): Tool {
  return does('slow', () => (cutOff(), never));
}

/** Answers in spite of the end. */
export function ignores(cutOff: () => void, answer: ScriptedAnswer): ScriptedAnswer {
  return async () => {
    cutOff();
    await Promise.resolve();
    return answer;
  };
}

/** Returns what had arrived. */
export function returns(cutOff: () => void, answer: InferenceResponseInit): ScriptedAnswer {
  return () => {
    cutOff();
    return { finishReason: 'aborted', ...answer };
  };
}

/** A run that `cutOff` ends, and what its state then holds. */
export interface CutOffRun {
  readonly name: string;
  readonly scenario: (cutOff: () => void) => Scenario;
  /** The first letters of the roles of the messages. */
  readonly roles: string;
  /** The calls of the model. */
  readonly calls: number;
  /** The text of the open response. */
  readonly text?: string;
  readonly outcomes?: readonly string[];
}

const tools = [does('a'), does('b')];
const ofCall = { roles: 'uat', calls: 1 };
const ofSlowTool = { ...ofCall, outcomes: ['slow interrupted'] };
const half = { roles: 'ua', calls: 1, text: 'Half' };

/** The runs that end in the same way, whatever cuts them off. */
export const CUT_OFF_RUNS: readonly CutOffRun[] = [
  {
    name: 'in beforeStep: no step begins',
    scenario: (cutOff) => ({ hooks: [{ beforeStep: cutOff }] }),
    roles: 'u',
    calls: 0,
  },
  {
    name: 'in beforeInference: no model is called',
    scenario: (cutOff) => ({ hooks: [{ beforeInference: cutOff }] }),
    roles: 'u',
    calls: 0,
  },
  {
    name: 'in an inference that rejects',
    scenario: (cutOff) => ({ script: [rejects(cutOff)] }),
    roles: 'u',
    calls: 1,
  },
  {
    name: 'in an inference that rejects with what had arrived',
    scenario: (cutOff) => ({ script: [rejectsWith(cutOff, { text: 'Half' })] }),
    ...half,
  },
  {
    name: 'in an inference that returns what had arrived',
    scenario: (cutOff) => ({ script: [returns(cutOff, { text: 'Half' })] }),
    ...half,
  },
  {
    name: 'in an inference that ignores it: its response is recorded, and its calls do not run',
    scenario: (cutOff) => ({ script: [ignores(cutOff, call('a'))], tools }),
    ...ofCall,
  },
  {
    name: 'in afterInference: the call is not run',
    scenario: (cutOff) => ({ script: [call('a')], tools, hooks: [{ afterInference: cutOff }] }),
    ...ofCall,
  },
  {
    name: 'in beforeToolUse: the call is not run',
    scenario: (cutOff) => ({ script: [call('a')], tools, hooks: [{ beforeToolUse: cutOff }] }),
    ...ofCall,
  },
  {
    name: 'in a tool that honours it',
    scenario: (cutOff) => ({ script: [call('slow')], tools: [honours(cutOff)] }),
    ...ofSlowTool,
  },
  {
    name: 'in a tool that never settles',
    scenario: (cutOff) => ({ script: [call('slow')], tools: [deaf(cutOff)] }),
    ...ofSlowTool,
  },
  {
    name: 'in a tool, with toolErrors "fail": the run still stops',
    scenario: (cutOff) => ({ script: [call('slow')], tools: [honours(cutOff)], toolErrors: 'fail' }),
    ...ofSlowTool,
  },
  {
    name: 'in the second of three tools, one at a time: the first is recorded, and the third does not start',
    scenario: (cutOff) => ({
      script: [call('a', 'slow', 'b')],
      tools: [...tools, deaf(cutOff)],
      maxParallelTools: 1,
    }),
    ...ofCall,
    outcomes: ['a succeeded', 'slow interrupted'],
  },
  {
    name: 'in afterStep: no further step begins',
    scenario: (cutOff) => ({ script: [call('a')], tools, hooks: [{ afterStep: cutOff }] }),
    ...ofCall,
    outcomes: ['a succeeded'],
  },
];
