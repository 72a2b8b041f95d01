import { mustBe, optionsCheck } from '../arguments.ts';
import type { Clock } from '../clock.ts';
import { HoldfastError, invalidArgument } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { compact, isSameJson } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import { isForceStop } from '../state/execution/continuation.ts';
import type { ResponseFormat } from '../state/llm-config.ts';
import type { AgentStep } from '../state/execution/step.ts';
import type { Hook } from '../loop/hooks/hook.ts';
import type {
  AiSdkSchema,
  CheckResult,
  ModelSchema,
  OutputOf,
  StandardSchema,
} from '../loop/tools/tool-schema.ts';
import { modelSchema } from '../loop/tools/tool-schema.ts';

/** How an answer in a form of its own is asked for. */
export interface StructuredOutputOptions {
  /** For the model: a name of the answer. */
  readonly name?: string;
  /** For the model: what the answer is. */
  readonly description?: string;
  /** How often the model is asked again when its answer does not fit; default 1. */
  readonly maxRepairs?: number;
  /** The same as JSON Schema, for a Standard Schema that cannot describe itself. */
  readonly jsonSchema?: object;
}

/** A hook that holds answers to a schema, and the reader of what they say. */
export interface StructuredOutput<T> extends Hook {
  /** What a model is told of the form. */
  readonly responseFormat: ResponseFormat;
  /**
   * What the answer of a state says. Worked out of the answer's text each time, so it can be read of a stored state
   * too, and a value that the schema transforms is made anew.
   * @throws HoldfastError `OUTPUT_INVALID` when there is no answer, or it does not fit; TypeError `ARGUMENT_INVALID` for
   * a schema that checks asynchronously.
   */
  read(state: AgentState): T;
  /** The same for a schema that checks asynchronously. */
  readAsync(state: AgentState): Promise<T>;
}

/** After other hooks: what they have to say of a step comes first. */
const LATE = -1_000;

const checkOptions = optionsCheck<StructuredOutputOptions>(
  'structuredOutput',
  {
    name: mustBe.string,
    description: mustBe.string,
    maxRepairs: mustBe.wholeNumber(0),
    jsonSchema: mustBe.object,
  },
  {
    schema: 'the schema is the first argument, as in structuredOutput(schema)',
    maxRetries: 'write "maxRepairs"',
  },
);

/** In the metadata of a message that asks for a better answer: the step that gave the one before. */
const REPAIR_OF = 'repair_of';

/**
 * Has the model answer in JSON that fits a schema: a Standard Schema or a schema of the AI SDK, from which the type
 * follows, or a JSON Schema.
 *
 * While an execution lasts, its response format is the state's, in place of any other; then there is none. An answer
 * that does not fit is followed by a message that says what is wrong, and one more step, which counts as any other.
 * When all repairs are used up the execution ends `failed`, with `OUTPUT_INVALID` in its errors. A run that is forced
 * to stop is not asked for repairs.
 *
 * A Markdown code fence around the JSON is taken off; nothing else is mended. The model is told what goes into the
 * schema; `read` gives what comes out of it, so a schema may transform, and may check asynchronously.
 *
 * @example
 * const weather = structuredOutput(z.object({ city: z.string(), celsius: z.number() }));
 * const loop = createAgentLoop({ driver, hooks: [weather] });
 * const { celsius } = weather.read(await loop.run(state));
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit; HoldfastError
 * `OUTPUT_SCHEMA_INVALID` for a schema that cannot be shown to a model.
 */
export function structuredOutput<Schema extends StandardSchema>(
  schema: Schema,
  options?: StructuredOutputOptions,
): StructuredOutput<OutputOf<Schema>>;
export function structuredOutput<Schema extends AiSdkSchema>(
  schema: Schema,
  options?: StructuredOutputOptions,
): StructuredOutput<Schema['_type']>;
export function structuredOutput<T = JsonValue>(
  schema: JsonObject,
  options?: StructuredOutputOptions,
): StructuredOutput<T>;
export function structuredOutput(
  schema: unknown,
  options: StructuredOutputOptions = {},
): StructuredOutput<unknown> {
  const { name, description, maxRepairs = 1 } = checkOptions(options);
  const purpose = {
    subjectName: 'the output',
    subject: 'the answer',
    code: 'OUTPUT_SCHEMA_INVALID',
  } as const;
  const model = modelSchema(purpose, schema, options.jsonSchema);
  const { jsonSchema } = model;
  const responseFormat = compact({ type: 'json', schema: jsonSchema, name, description }) as ResponseFormat;
  return Object.freeze<StructuredOutput<unknown>>({
    responseFormat,
    ...outputHook(model, responseFormat, maxRepairs),
    read(state) {
      const found = checkAnswer(model, answerOf(state));
      if (!(found instanceof Promise)) return valueOf(found);
      found.catch(() => undefined);
      throw invalidArgument('The schema checks asynchronously: use readAsync().', TypeError);
    },
    readAsync: async (state) => valueOf(await checkAnswer(model, answerOf(state))),
  });
}

function outputHook(model: ModelSchema, responseFormat: ResponseFormat, maxRepairs: number): Hook {
  return {
    name: 'structuredOutput',
    priority: LATE,
    beforeExecution: (state, { clock }) => state.withResponseFormat(responseFormat, clock.now()),
    beforeStep(state, { clock }) {
      const step = state.lastStep;
      if (!step?.isFinalResponse || !state.execution?.continuation.isRequested) return undefined;
      return hasRepairMessage(state, step) ? undefined : withRepairMessage(model, state, step, clock);
    },
    afterStep(state, { clock }) {
      const isAnswered = state.currentStep?.isFinalResponse && !isForcedToStop(state);
      return isAnswered ? judgeAnswer(model, state, maxRepairs, clock) : undefined;
    },
    afterExecution(state, { clock }) {
      const isOurs = isSameJson(state.responseFormat, responseFormat);
      return isOurs ? state.withResponseFormat(undefined, clock.now()) : undefined;
    },
  };
}

/** Has the step in progress come to a signal that its answer does not outweigh? */
function isForcedToStop({ execution }: AgentState): boolean {
  const { signals = [], overruledSignals = 0 } = execution?.continuation ?? {};
  return signals.slice(overruledSignals).some(isForceStop);
}

/** The state after an answer: as it was, with another step asked for, or failed. */
async function judgeAnswer(
  model: ModelSchema,
  state: AgentState,
  maxRepairs: number,
  clock: Clock,
): Promise<AgentState | undefined> {
  const issues = await issuesOf(model, state.currentStep);
  if (issues === undefined) return undefined;
  // Counted in the steps and nowhere else: the count holds in any process.
  let repairs = 0;
  for (const { step } of state.stepExecutions) if (await issuesOf(model, step)) repairs++;
  if (repairs < maxRepairs) return state.withContinuationRequested(clock.now());
  return state.withError(outputInvalid(issues), clock.now());
}

async function withRepairMessage(
  model: ModelSchema,
  state: AgentState,
  step: AgentStep,
  clock: Clock,
): Promise<AgentState | undefined> {
  const issues = await issuesOf(model, step);
  if (issues === undefined) return undefined;
  const content = `Your answer does not fit the form that is asked for:
${issues.map((issue) => `- ${issue}`).join('\n')}
Answer again with the whole JSON value, corrected, and nothing else.`;
  return state.withUserMessage(content, { clock, metadata: { [REPAIR_OF]: step.id } }, clock.now());
}

/** A run that is taken up may have been left after the message was added. */
function hasRepairMessage({ messages }: AgentState, { id }: AgentStep): boolean {
  for (let index = messages.length - 1; index >= 0; index--) {
    const metadata = messages.at(index)?.metadata;
    if (metadata?.[REPAIR_OF] === id) return true;
    if (metadata?.['step_id'] === id) return false;
  }
  return false;
}

// Answers

/** What is wrong with a step's answer; `undefined` when it fits, or is none. */
async function issuesOf(
  model: ModelSchema,
  step: AgentStep | undefined,
): Promise<readonly string[] | undefined> {
  if (!step?.isFinalResponse) return undefined;
  const found = await checkAnswer(model, step);
  return 'issues' in found ? found.issues : undefined;
}

function checkAnswer(
  model: ModelSchema,
  step: AgentStep,
): CheckResult<unknown> | Promise<CheckResult<unknown>> {
  const json = withoutFence(step.text);
  let value: JsonValue;
  try {
    value = JSON.parse(json) as JsonValue;
  } catch (error) {
    const reason = json === '' ? 'it is empty' : (error as Error).message;
    return { issues: [`the answer: not JSON: ${reason}`, ...truncationIssues(step)] };
  }
  return model.check(value);
}

function truncationIssues({ response }: AgentStep): readonly string[] {
  return response?.finishReason === 'length' ? ['the answer: cut off at the limit of output tokens'] : [];
}

/** A text without the Markdown code fence around it. */
function withoutFence(text: string): string {
  return /^```[^\n`]*\n(.*)```$/s.exec(text.trim())?.[1]?.trim() ?? text.trim();
}

function answerOf(state: AgentState): AgentStep {
  const step = state.lastStep;
  if (step?.isFinalResponse) return step;
  const known = state.errors.findLast(({ code }) => code === 'OUTPUT_INVALID');
  if (known) throw new HoldfastError('OUTPUT_INVALID', known.message, { data: known.data });
  throw outputInvalid([`there is no answer: the execution is ${state.status ?? 'not begun'}`]);
}

function valueOf(found: CheckResult<unknown>): unknown {
  if ('issues' in found) throw outputInvalid(found.issues);
  return found.value;
}

function outputInvalid(issues: readonly string[]): HoldfastError {
  const message = `The answer does not fit the schema of the output: ${issues.join('; ')}.`;
  return new HoldfastError('OUTPUT_INVALID', message, { data: { issues } });
}
