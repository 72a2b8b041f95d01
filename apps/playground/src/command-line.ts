import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { STORE_NAMES, type StoreEnvironment, type StoreName } from './store-choice.ts';
import { errorText } from './error-text.ts';

/** The settings of every command. */
export interface Settings {
  /** The folder of the sessions, notes and parcels. */
  readonly data: string;
  readonly store: StoreName;
  readonly servers: StoreEnvironment;
  /** How long sending a parcel takes. */
  readonly parcelSeconds: number;
  readonly model: ModelSettings;
}

/** Which model to use. Without a key, the offline model. */
export interface ModelSettings {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  /** The provider's name of the model; absent: a default. */
  readonly modelId: string | undefined;
}

/** The command that the command line requests. */
export type Command =
  | { readonly type: 'help' }
  | { readonly type: 'serve'; readonly settings: Settings; readonly port: number }
  | {
      readonly type: 'prompt';
      readonly settings: Settings;
      /** Absent: resume the session's unfinished run. */
      readonly prompt: string | undefined;
      readonly sessionId: string | undefined;
      /** The user's decision on the waiting calls of the session. */
      readonly decision: 'approve' | 'deny' | undefined;
    };

/** The command line, or a variable of the environment, is invalid. */
export class UsageError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultPort = 4242;
const defaultData = fileURLToPath(new URL('../../../.holdfast', import.meta.url));

export const helpText = `Holdfast playground: an agent whose state can be held.

Usage:
  pnpm playground [options]                    serve the page on localhost
  pnpm playground --prompt TEXT [options]      run once in the terminal
  pnpm playground --session ID [options]       finish the unfinished run of a session

Options:
  -p, --prompt TEXT   send this message, print each step as it happens, exit
  -s, --session ID    continue this session instead of beginning one
      --approve       approve the waiting calls of the session
      --deny          deny them
      --port NUMBER   port of the page (default ${defaultPort}; 0 picks a free one)
      --data DIR      folder of the sessions, notes and parcels
                      (default .holdfast in the repository)
      --store NAME    store of the sessions: sqlite (default), redis, dynamodb,
                      or memory, which loses them at the end
      --model ID      model of the provider
      --offline       use the offline model, even if a key is set
  -h, --help          show this

Environment:
  OPENAI_API_KEY      use OpenAI, or a provider with the same protocol; without it
                      the built-in offline model answers, by rules
  OPENAI_BASE_URL     address of that provider, as in http://127.0.0.1:4010/v1
  OPENAI_MODEL        the same as --model
  PORT                the same as --port
  HOLDFAST_STORE      the same as --store
  REDIS_URL           address of Redis (default redis://127.0.0.1:6379)
  DYNAMODB_ENDPOINT   address of a server with DynamoDB's protocol; without it AWS
  DYNAMODB_TABLE      the table, created if it is missing (default holdfast)
  PARCEL_SECONDS      how long the slow tool takes (default 3)
  NO_COLOR            no colours in the terminal

Exit codes: 0 done or waiting for approval, 1 failed, 2 wrong usage, 130 interrupted.
`;

const options = {
  prompt: { type: 'string', short: 'p' },
  session: { type: 'string', short: 's' },
  approve: { type: 'boolean' },
  deny: { type: 'boolean' },
  port: { type: 'string' },
  data: { type: 'string' },
  store: { type: 'string' },
  model: { type: 'string' },
  offline: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws UsageError for an unknown option or an invalid value. */
export function readCommand(args: readonly string[], environment: Environment): Command {
  const values = parsed(args[0] === '--' ? args.slice(1) : args);
  if (values.help) return { type: 'help' };
  const { prompt, session: sessionId } = values;
  for (const name of ['prompt', 'session', 'data', 'model'] as const) {
    if (values[name]?.trim() === '') throw new UsageError(`--${name} must not be empty.`);
  }
  const settings: Settings = {
    data: values.data === undefined ? defaultData : resolve(values.data),
    store: storeIn(values.store, environment),
    servers: serversIn(environment),
    parcelSeconds: parcelSecondsIn(environment),
    model: modelSettings(environment, values),
  };
  const decision = decisionIn(values);
  if (prompt !== undefined || sessionId !== undefined) {
    if (values.port !== undefined)
      throw new UsageError('--port is for the page. Do not pass it with --prompt or --session.');
    return { type: 'prompt', settings, prompt, sessionId, decision };
  }
  return { type: 'serve', settings, port: portIn(values.port, environment) };
}

type Values = ReturnType<typeof parsed>;

function decisionIn({ approve, deny, session, prompt }: Values): 'approve' | 'deny' | undefined {
  if (!approve && !deny) return undefined;
  if (approve && deny) throw new UsageError('Pass --approve or --deny, not both.');
  if (session === undefined || prompt !== undefined)
    throw new UsageError('Pass --approve and --deny with --session, and without --prompt.');
  return approve ? 'approve' : 'deny';
}

function storeIn(option: string | undefined, environment: Environment): StoreName {
  const [name, text] =
    option === undefined ? ['HOLDFAST_STORE', filled(environment['HOLDFAST_STORE'])] : ['--store', option];
  if (text === undefined) return 'sqlite';
  const found = STORE_NAMES.find((known) => known === text);
  if (found) return found;
  throw new UsageError(`${name} must be one of ${STORE_NAMES.join(', ')}, found ${JSON.stringify(text)}.`);
}

function serversIn(environment: Environment): StoreEnvironment {
  return {
    redisUrl: filled(environment['REDIS_URL']) ?? 'redis://127.0.0.1:6379',
    dynamoDbEndpoint: filled(environment['DYNAMODB_ENDPOINT']),
    dynamoDbTable: filled(environment['DYNAMODB_TABLE']) ?? 'holdfast',
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(`${errorText(error).split('. ')[0]?.replace(/\.$/, '')}.`, { cause: error });
  }
}

function modelSettings(
  environment: Environment,
  { model, offline }: { readonly model?: string | undefined; readonly offline?: boolean | undefined },
): ModelSettings {
  const apiKey = filled(environment['OPENAI_API_KEY']);
  if (offline || apiKey === undefined) {
    if (model !== undefined) {
      throw new UsageError(
        '--model names a model of a provider: set OPENAI_API_KEY, and leave out --offline.',
      );
    }
    return { apiKey: undefined, baseUrl: undefined, modelId: undefined };
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new UsageError('OPENAI_API_KEY holds characters that no key has.');
  const baseUrl = filled(environment['OPENAI_BASE_URL']);
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new UsageError(
      `OPENAI_BASE_URL must be an http or https address, found ${JSON.stringify(baseUrl)}.`,
    );
  }
  return { apiKey, baseUrl, modelId: model ?? filled(environment['OPENAI_MODEL']) };
}

function portIn(option: string | undefined, environment: Environment): number {
  const [name, text] = option === undefined ? ['PORT', filled(environment['PORT'])] : ['--port', option];
  if (text === undefined) return defaultPort;
  const port = /^\d+$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`${name} must be a number from 0 to 65535, found ${JSON.stringify(text)}.`);
}

function parcelSecondsIn(environment: Environment): number {
  const text = filled(environment['PARCEL_SECONDS']) ?? '3';
  const seconds = Number(text);
  if (seconds >= 0 && seconds <= 600) return seconds;
  throw new UsageError(`PARCEL_SECONDS must be a number from 0 to 600, found ${JSON.stringify(text)}.`);
}

function filled(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
