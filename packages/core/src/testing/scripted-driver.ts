import { checkArgument, mustBe, type ArgumentCheck } from '../arguments.ts';
import { HoldfastError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { AssistantPart } from '../state/messages/messages.ts';
import { InferenceResponse, type InferenceResponseInit } from '../state/inference/inference-response.ts';
import type { Driver, InferenceOptions, InferenceRequest } from '../loop/inference/driver.ts';

/**
 * One response of a script: a text, a complete response, tool calls by name and arguments, an error to throw, or a
 * function that returns one of these for a request.
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

/** A driver that returns scripted responses, for tests. */
export interface ScriptedDriver extends Driver {
  /** The requests that the driver has received, in order. */
  readonly requests: readonly InferenceRequest[];
  /** @throws HoldfastError `SCRIPT_MISMATCH` when the number of calls differs from the number of responses. */
  assertComplete(): void;
}

const ANSWER: ArgumentCheck = {
  expected: 'a string, an object such as { calls: { add: { a: 1 } } }, an error or a function',
  accepts: (value) => ['string', 'function'].includes(typeof value) || mustBe.object.accepts(value),
};

/**
 * Creates a driver that returns the responses in order. A call after the last response fails with `SCRIPT_MISMATCH`;
 * `assertComplete()` fails with it when responses remain. The driver also reports text as deltas, word by word.
 *
 * @example
 * const driver = scriptedDriver({ calls: { add: { a: 2, b: 2 } } }, 'It is 4.');
 */
export function scriptedDriver(...script: ScriptedAnswer[]): ScriptedDriver {
  for (const [index, answer] of script.entries())
    checkArgument(`Answer ${index + 1} of a script`, answer, ANSWER);
  const requests: InferenceRequest[] = [];
  const mismatch = (problem: string): HoldfastError =>
    new HoldfastError('SCRIPT_MISMATCH', `The script has ${script.length} responses, but ${problem}.`);
  return {
    requests,
    async infer(request, options) {
      requests.push(request);
      const answer = script[requests.length - 1];
      if (answer === undefined) throw mismatch(`this is call ${requests.length} of the driver`);
      const response = InferenceResponse.of(await resolveAnswer(answer, requests.length, request, options));
      if (options.onDelta) reportTexts(response, options.onDelta);
      return response;
    },
    assertComplete() {
      if (requests.length === script.length) return;
      throw mismatch(`the driver was called ${requests.length} times`);
    },
  };
}

/** Reports the words of each text as deltas. Each text has an id of its own. */
function reportTexts(
  { content }: InferenceResponse,
  onDelta: NonNullable<InferenceOptions['onDelta']>,
): void {
  const texts = content.filter((part) => part.type === 'text');
  for (const [index, part] of texts.entries()) {
    const id = index === 0 ? 'text' : `text ${index + 1}`;
    for (const text of part.text.match(/^\s*\S+\s*|\S+\s*/g) ?? []) onDelta({ type: 'text', id, text });
  }
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

/** The usage of a response whose script does not set one. */
const USAGE = Object.freeze({ inputTokens: 10, outputTokens: 5 });
