import type { SharedV4Warning } from '@ai-sdk/provider';
import type { CalledModel } from '../values/called-model.ts';

/** Receives the warnings of models. */
export type WarningListener = (warning: SharedV4Warning, model: CalledModel) => void;

/** A driver forgets which warnings it reported when there are more distinct ones than this. */
const MAX_REPORTED = 1_000;

/** Returns a listener that passes each distinct warning of a model on once. An error of the listener is ignored. */
export function onceEach(listener: WarningListener): WarningListener {
  const reported = new Set<string>();
  return (warning, model) => {
    const key = JSON.stringify([model.provider, model.modelId, warning]);
    if (reported.has(key)) return;
    if (reported.size >= MAX_REPORTED) reported.clear();
    reported.add(key);
    try {
      listener(warning, model);
    } catch {
      // A listener does not take part in the call.
    }
  };
}
