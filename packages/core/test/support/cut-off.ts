import type { Tool } from '@holdfast/core';
import type { InferenceResponseInit } from '@holdfast/core/driver';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { deferred, does, never } from './builders.ts';

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
