import type { ArgumentCheck } from '../arguments.ts';
import { checkArgument, mustBe } from '../arguments.ts';
import { HoldfastError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { AssistantPart } from '../state/messages/messages.ts';
import { InferenceResponse } from '../state/inference/inference-response.ts';
import type { InferenceResponseInit } from '../state/inference/inference-response.ts';
import type { Driver, InferenceOptions, InferenceRequest } from '../loop/inference/driver.ts';

/**
 * One answer of a script: a text, an answer in full, calls of tools by name and arguments, an error to throw, or a
 * function that makes one of these from the request.
 */
export type ScriptedAnswer =
  | string
  | InferenceResponseInit
  | {
      readonly calls:
        | Readonly<Record<string, JsonValue>>
        | readonly (readonly [name: string, input: JsonValue])[];
    }
  | Error
  | ((request: InferenceRequest, options: InferenceOptions) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A driver that plays a script, for tests. */
export interface ScriptedDriver extends Driver {
  /** The requests so far, in order. */
  readonly requests: readonly InferenceRequest[];
  /** @throws HoldfastError `SCRIPT_MISMATCH` when answers are left over. */
  assertComplete(): void;
}

const ANSWER: ArgumentCheck = {
  expected: 'a text, an object such as { calls: { add: { a: 1 } } }, an error or a function',
  accepts: (value) => ['string', 'function'].includes(typeof value) || mustBe.object.accepts(value),
};

/**
 * A driver that gives the answers in order. One call more than there are answers fails with `SCRIPT_MISMATCH`, and
 * so does `assertComplete()` when there were fewer. Text is also given as deltas, word by word.
 *
 * @example
 * const driver = scriptedDriver({ calls: { add: { a: 2, b: 2 } } }, 'It is 4.');
 */
export function scriptedDriver(...script: ScriptedAnswer[]): ScriptedDriver {
  for (const [index, answer] of script.entries())
    checkArgument(`Answer ${index + 1} of a script`, answer, ANSWER);
  const requests: InferenceRequest[] = [];
  return {
    requests,
    async infer(request, options) {
      requests.push(request);
      const answer = script[requests.length - 1];
      if (answer === undefined) {
        throw new HoldfastError(
          'SCRIPT_MISMATCH',
          `The script has ${script.length} answers; this is call ${requests.length}.`,
        );
      }
      const response = InferenceResponse.of(await resolveAnswer(answer, requests.length, request, options));
      for (const delta of response.text.match(/\s*\S+\s*/g) ?? [])
        options.onDelta?.({ type: 'text', id: 'text', text: delta });
      return response;
    },
    assertComplete() {
      if (requests.length === script.length) return;
      const message = `The script has ${script.length} answers; ${requests.length} were asked for.`;
      throw new HoldfastError('SCRIPT_MISMATCH', message);
    },
  };
}

async function resolveAnswer(
  answer: ScriptedAnswer,
  turn: number,
  request: InferenceRequest,
  options: InferenceOptions,
): Promise<InferenceResponseInit> {
  if (typeof answer === 'function')
    return resolveAnswer(await answer(request, options), turn, request, options);
  if (answer instanceof Error) throw answer;
  if (typeof answer === 'string') return { text: answer, usage: USAGE };
  if (!('calls' in answer)) return { usage: USAGE, ...answer };
  const calls = Array.isArray(answer.calls) ? answer.calls : Object.entries(answer.calls);
  const content = calls.map(([toolName, input], index): AssistantPart => {
    return { type: 'tool-call', toolCallId: `call_${turn}_${index + 1}`, toolName, input };
  });
  return { content, usage: USAGE };
}

/** What an answer of a script uses when it does not say. */
const USAGE = Object.freeze({ inputTokens: 10, outputTokens: 5 });
