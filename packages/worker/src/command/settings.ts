import { parseArgs } from 'node:util';
import { LOG_LEVELS, type LogLevel } from '../serve/log.ts';
import { InputError } from './input-error.ts';

/** The engines that the command can serve with. */
const ENGINES = ['in-process', 'bullmq', 'polling'] as const;
type EngineName = (typeof ENGINES)[number];

/** The settings of the command. */
export interface Settings {
  readonly module: string;
  readonly store: string;
  readonly channel: string | undefined;
  readonly engine: EngineName;
  readonly queue: string | undefined;
  readonly concurrency: number;
  readonly port: number;
  readonly host: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly name: string | undefined;
  readonly leaseSeconds: number;
  /** `undefined`: the default of the engine. */
  readonly sweepSeconds: number | undefined;
  readonly stopWithinSeconds: number;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
}

interface Option {
  readonly name: string;
  readonly value: string;
  readonly help: string;
  readonly default?: string;
}

const OPTIONS: readonly Option[] = [
  { name: 'module', value: 'FILE', help: 'the module with your agents; required' },
  { name: 'store', value: 'URL', help: 'the sessions; required. See "Stores" below' },
  { name: 'channel', value: 'URL', help: 'publishes live sessions; the same URLs as --store' },
  { name: 'engine', value: 'NAME', help: ENGINES.join(', '), default: 'in-process' },
  { name: 'queue', value: 'URL', help: 'the Redis server of the engine bullmq; default: that of --store' },
  { name: 'concurrency', value: 'N', help: 'the sessions in work at the same time', default: '8' },
  {
    name: 'port',
    value: 'N',
    help: 'the port of health checks and metrics; 0: any free port',
    default: '8080',
  },
  {
    name: 'host',
    value: 'ADDRESS',
    help: 'the address of that port; 0.0.0.0: for all machines',
    default: '127.0.0.1',
  },
  {
    name: 'allowed-hosts',
    value: 'NAMES',
    help: 'the host names of its clients, as in worker,metrics.internal',
  },
  { name: 'name', value: 'NAME', help: 'the name of this worker; default: the name of the host' },
  { name: 'lease-seconds', value: 'N', help: 'how long the claim of a dead worker lasts', default: '30' },
  {
    name: 'sweep-seconds',
    value: 'N',
    help: 'between two searches for due sessions; default: 1 with in-process, 60 with bullmq',
  },
  {
    name: 'stop-within-seconds',
    value: 'N',
    help: 'the time for running tools after SIGTERM',
    default: '25',
  },
  { name: 'log-level', value: 'LEVEL', help: LOG_LEVELS.join(', '), default: 'info' },
  { name: 'log-format', value: 'FORMAT', help: 'json, text', default: 'json' },
];

/** The environment variable of an option: `--lease-seconds` is `HOLDFAST_LEASE_SECONDS`. */
function variableOf(name: string): string {
  return `HOLDFAST_${name.toUpperCase().replaceAll('-', '_')}`;
}

const WIDTH = 30;

/** The text of `--help`. */
export function helpText(): string {
  const lines = OPTIONS.map(({ name, value, help, default: preset }) => {
    const left = `  --${name} ${value}`.padEnd(WIDTH);
    return `${left}${help}${preset === undefined ? '' : ` (default: ${preset})`}`;
  });
  return `Runs the agents of a module as a worker process.

Usage: holdfast-worker --module ./agents.ts --store redis://localhost:6379

${lines.join('\n')}
${'  --help'.padEnd(WIDTH)}prints this text

Each option is also an environment variable, such as ${variableOf('lease-seconds')}. The option has precedence.

Stores:
  sqlite:./sessions.db
  redis://localhost:6379, rediss://…
  dynamodb://TABLE?region=eu-west-1&endpoint=http://localhost:8000

The module exports \`agents\`, and optionally \`runtime\` (options of SessionRuntime) and \`engine\` (options of the engine);
or \`createRuntime(options)\`, which returns a SessionRuntime.
`;
}

/** Reads the settings of the command. Returns `undefined` for `--help`. @throws InputError for invalid input. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings | undefined {
  const { help, ...given } = parse(args);
  if (help === true) return undefined;
  const textOf = (name: string): string | undefined => {
    const text = (given[name] as string | undefined) ?? env[variableOf(name)];
    return text === undefined || text === '' ? OPTIONS.find((option) => option.name === name)?.default : text;
  };
  const settings = {
    module: required('module', textOf('module')),
    store: required('store', textOf('store')),
    channel: textOf('channel'),
    engine: oneOf('engine', textOf('engine'), ENGINES),
    queue: textOf('queue'),
    concurrency: numberOf('concurrency', textOf('concurrency'), WHOLE),
    port: numberOf('port', textOf('port'), PORT),
    host: textOf('host'),
    allowedHosts:
      textOf('allowed-hosts')
        ?.split(',')
        .map((name) => name.trim()) ?? [],
    name: textOf('name'),
    leaseSeconds: numberOf('lease-seconds', textOf('lease-seconds'), SECONDS),
    sweepSeconds: optionalSeconds('sweep-seconds', textOf('sweep-seconds')),
    stopWithinSeconds: numberOf('stop-within-seconds', textOf('stop-within-seconds'), SECONDS),
    logLevel: oneOf('log-level', textOf('log-level'), LOG_LEVELS),
    logFormat: oneOf('log-format', textOf('log-format'), ['json', 'text'] as const),
  };
  if (settings.queue !== undefined && settings.engine !== 'bullmq')
    throw new InputError('--queue is for the engine bullmq. Add --engine bullmq, or remove --queue.');
  if (settings.sweepSeconds !== undefined && settings.engine === 'polling')
    throw new InputError(
      '--sweep-seconds is not for the engine polling, which looks for due sessions itself.',
    );
  return settings;
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const texts = Object.fromEntries(OPTIONS.map(({ name }) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options: { ...texts, help: { type: 'boolean' } } }).values;
  } catch (error) {
    const lines = (error as Error).message.split('\n');
    throw new InputError(lines.map((line) => line.trim()).join(' '));
  }
}

function required(name: string, text: string | undefined): string {
  if (text !== undefined) return text;
  throw new InputError(`--${name} is missing. Pass --${name}, or set ${variableOf(name)}.`);
}

function oneOf<T extends string>(name: string, text: string | undefined, words: readonly T[]): T {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw new InputError(`--${name} must be one of ${words.join(', ')}; found "${text}".`);
}

interface NumberRule {
  readonly expected: string;
  readonly accepts: (value: number) => boolean;
}

const WHOLE: NumberRule = {
  expected: 'a whole number of at least 1',
  accepts: (value) => Number.isSafeInteger(value) && value >= 1,
};
const PORT: NumberRule = {
  expected: 'a port from 0 to 65535',
  accepts: (value) => Number.isInteger(value) && value >= 0 && value <= 65_535,
};
const SECONDS: NumberRule = {
  expected: 'a number of seconds above 0, at most 86400',
  accepts: (value) => value > 0 && value <= 86_400,
};

function numberOf(name: string, text = '', { expected, accepts }: NumberRule): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (accepts(value)) return value;
  throw new InputError(`--${name} must be ${expected}; found "${text}".`);
}

function optionalSeconds(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : numberOf(name, text, SECONDS);
}
