/** How important a line of the log is. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The further members of a line. A session has its id here, never its messages. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line of a log. */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;

/** The options of `lineLog`. */
export interface LineLogOptions {
  /** The least level that is written. */
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  readonly write: (line: string) => void;
}

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Returns a log that writes one line for each entry: an object of JSON, or text. */
export function lineLog({ level: least, format, write }: LineLogOptions): Log {
  const lineOf = format === 'json' ? jsonLine : textLine;
  return (level, message, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
    write(`${lineOf(new Date().toISOString(), level, message, fields)}\n`);
  };
}

function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return JSON.stringify({ time, level, message, ...fields });
}

function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`);
  return `${time} ${level.toUpperCase()} ${message}${texts.join('')}`;
}

function oneLine(text: string): string {
  return /^\S+$/.test(text) ? text : JSON.stringify(text);
}

/** Returns the members of a line that describe an error: its message and its code, without its other members. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: `a value of type ${typeof error} was thrown` };
  const code = (error as { readonly code?: unknown }).code;
  return { error: error.message, ...(typeof code === 'string' && { code }) };
}
