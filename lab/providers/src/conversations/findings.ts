import type { AgentState } from '@holdfast/core';
import type { JudgedRequest } from '../strict/server.ts';

/** A refusal of a request by its form, or a run that failed in another way by its form. */
export interface Finding {
  readonly seed: number;
  /** The name of the strict server. */
  readonly server: string;
  /** The id of the rule, or the code of the error. */
  readonly rule: string;
  readonly path: string;
  readonly message: string;
  /** True when the same server accepted the next request of the run. */
  readonly isHealed: boolean;
}

/** The refusals among the requests of one run. Each refusal counts once, by the first rule. */
export function refusalsIn(
  requests: ReadonlyMap<string, readonly JudgedRequest[]>,
  seed: number,
): readonly Finding[] {
  return [...requests].flatMap(([server, judged]) =>
    judged.flatMap(({ refusals }, index): readonly Finding[] => {
      const [first] = refusals;
      if (first === undefined) return [];
      const isHealed = judged[index + 1]?.refusals.length === 0;
      return [{ seed, server, rule: first.rule, path: first.path, message: first.message, isHealed }];
    }),
  );
}

/** The warning of a package that repairs a history itself. Its earlier versions send such a history as it is. */
const REPAIRED = /^Replayed .* without a `thoughtSignature`/;

/** The repairs that packages had to make. */
export function repairsIn(warnings: readonly string[], seed: number, server: string): readonly Finding[] {
  return warnings
    .filter((message) => REPAIRED.test(message))
    .map((message) => ({ seed, server, rule: 'package/repaired', path: '', message, isHealed: true }));
}

/** The codes of errors that the script of a conversation causes. */
const SCRIPTED = new Set([
  'DRIVER_OVERLOADED',
  'DRIVER_NETWORK',
  'DRIVER_BROKEN_ANSWER',
  'DRIVER_EMPTY_ANSWER',
  'DRIVER_CONTENT_FILTERED',
  'RUN_ABORTED',
]);

/** The failure of a run, when the script did not cause it. */
export function failureOf(state: AgentState, seed: number): readonly Finding[] {
  if (state.status !== 'failed') return [];
  const error = state.errors.at(-1);
  if (error === undefined || SCRIPTED.has(error.code ?? '')) return [];
  const server = state.llmConfig?.model ?? '';
  return [
    { seed, server, rule: error.code ?? error.name, path: '', message: error.message, isHealed: false },
  ];
}

/** The finding in one line, with all that is needed to play it again. */
export function described({ seed, server, rule, path, message, isHealed }: Finding): string {
  const end = isHealed ? 'accepted in the strictest form' : 'ended the run';
  return `conversation ${seed}: ${server} refused ${path || 'the request'} by ${rule}, ${end}: ${message.slice(0, 200)}`;
}
