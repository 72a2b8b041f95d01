import type { Mode } from './runs/outcome.ts';

/** A reason for a difference between the driver and the AI SDK. The number stands in the table. */
interface DifferenceReason {
  readonly number: number;
  readonly text: string;
}

/** A difference between the driver and the AI SDK that is meant. It must occur in each row that it names. */
export interface NotedDifference {
  /** The names of the providers; `all` for each provider that runs the scenario. */
  readonly providers: readonly string[] | 'all';
  /** The name of the scenario; `all` for each scenario of the providers. */
  readonly scenario: string;
  /** The mode in which it occurs; both modes when absent. */
  readonly mode?: Mode;
  /** Where it occurs: in a request, as in `requests[1].body.messages[3].content`, or in a step. `*` stands for any index. */
  readonly path: string;
  readonly reason: DifferenceReason;
}

const errorName: DifferenceReason = {
  number: 1,
  text: 'The model reads the message of a failed tool. The AI SDK writes the name of the error before it, as in `Error: …`.',
};

const noUserAgent: DifferenceReason = {
  number: 2,
  text: 'The gateway receives the options of a call as its body. `generateText` adds a `user-agent` to them.',
};

const noDefaults: DifferenceReason = {
  number: 3,
  text: 'The gateway receives the options of a call as its body. The driver does not send a default, such as `includeRawChunks: false`, or `toolChoice` without tools.',
};

const reasoningDemanded: DifferenceReason = {
  number: 4,
  text: 'A call without reasoning is sent with a blank one: models of this family refuse calls without any, also when another model made them.',
};

const noPictures: DifferenceReason = {
  number: 6,
  text: 'DeepSeek refuses pictures, which the package sends. A text takes their place, so that the model can answer.',
};

const noOldSignatures: DifferenceReason = {
  number: 5,
  text: 'Signatures of earlier executions are not sent back, because they are bound to a model and an account. Calls carry the documented value instead.',
};

const WITHOUT_TOOLS = [
  'text',
  'truncated by the length limit',
  'files in',
  'files out',
  'sources',
  'usage details',
  'structured output',
];

const gatewayDifferences: readonly NotedDifference[] = [
  {
    providers: ['gateway'],
    scenario: 'all',
    mode: 'generated',
    path: 'requests[*].body.headers',
    reason: noUserAgent,
  },
  {
    providers: ['gateway'],
    scenario: 'all',
    mode: 'streamed',
    path: 'requests[*].body.includeRawChunks',
    reason: noDefaults,
  },
  ...WITHOUT_TOOLS.map((scenario): NotedDifference => ({
    providers: ['gateway'],
    scenario,
    path: 'requests[*].body.toolChoice',
    reason: noDefaults,
  })),
];

/** Where a request holds the error of a failed tool. */
const ERROR_PATHS: readonly (readonly [path: string, ...providers: string[]])[] = [
  ['input[*].output', 'openai (Responses)', 'openai (stored)', 'xai'],
  [
    'messages[*].content',
    'openai (Chat)',
    'openai-compatible',
    'openrouter',
    'groq',
    'deepseek',
    'mistral',
    'cohere',
    'ollama',
  ],
  ['messages[*].content[*].content', 'anthropic', 'google-vertex (Anthropic)'],
  ['contents[*].parts[*].functionResponse.response.error', 'google', 'google-vertex'],
  ['messages[*].content[*].toolResult.content[*].text', 'amazon-bedrock'],
  ['prompt[*].content[*].output.value', 'gateway'],
];

/** Every difference between the driver and the AI SDK in the matrix. */
export const differences: readonly NotedDifference[] = [
  ...ERROR_PATHS.map(([path, ...providers]) => ({
    providers,
    scenario: 'failing tool',
    path: `requests[1].body.${path}`,
    reason: errorName,
  })),
  ...['parallel calls', 'failing tool', 'two turns'].map((scenario): NotedDifference => ({
    providers: ['deepseek'],
    scenario,
    path: 'requests[*].body.messages[*].reasoning_content',
    reason: reasoningDemanded,
  })),
  {
    providers: ['deepseek'],
    scenario: 'files in',
    path: 'requests[*].body.messages[*].content',
    reason: noPictures,
  },
  ...['call that the provider runs', 'two turns'].map((scenario): NotedDifference => ({
    providers: ['google', 'google-vertex'],
    scenario,
    path: 'requests[*].body.contents[*].parts[*].thoughtSignature',
    reason: noOldSignatures,
  })),
  ...gatewayDifferences,
];

/** The differences of one provider in one scenario and mode. */
export function notedFor(provider: string, scenario: string, mode: Mode): readonly NotedDifference[] {
  return differences.filter(
    (noted) =>
      isOneOf(noted.scenario, scenario) &&
      (noted.mode ?? mode) === mode &&
      (noted.providers === 'all' || noted.providers.includes(provider)),
  );
}

function isOneOf(noted: string, name: string): boolean {
  return noted === 'all' || noted === name;
}

/** True when a path of a difference is the noted one. */
export function isNoted(path: string, { path: pattern }: NotedDifference): boolean {
  return path.replaceAll(/\[\d+\]/g, '[*]') === pattern.replaceAll(/\[\d+\]/g, '[*]') && fits(path, pattern);
}

function fits(path: string, pattern: string): boolean {
  const indexes = indexesOf(path);
  return indexesOf(pattern).every((index, place) => index === '*' || index === indexes[place]);
}

function indexesOf(path: string): readonly string[] {
  return [...path.matchAll(/\[(\d+|\*)\]/g)].map(([, index = '']) => index);
}
