import { SessionRuntime, type AgentCatalog, type SessionRuntimeOptions } from '@holdfast/core';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InputError } from './input-error.ts';

/** The options of a runtime that the command sets. */
export type RuntimeDefaults = Pick<
  SessionRuntimeOptions,
  'store' | 'channel' | 'leaseSeconds' | 'workerName' | 'onSessionEvent'
>;

/** The exports of a module with agents. */
export interface AgentModule {
  readonly agents?: AgentCatalog;
  /** Further options of the runtime. They have precedence. */
  readonly runtime?: Partial<SessionRuntimeOptions>;
  /** Options of the engine, such as `lanes`. */
  readonly engine?: object;
  /** Creates the runtime, instead of `agents` and `runtime`. */
  readonly createRuntime?: (defaults: RuntimeDefaults) => SessionRuntime | Promise<SessionRuntime>;
}

/**
 * Imports the module with the agents.
 * @throws InputError when the file is missing, or exports neither `agents` nor `createRuntime`; what the module throws
 */
export async function importAgents(path: string): Promise<AgentModule> {
  const file = resolve(path);
  if (!existsSync(file)) throw new InputError(`--module names a missing file: ${path}`);
  const module = await importFile(file);
  if (!isCatalog(module.agents) && typeof module.createRuntime !== 'function')
    throw new InputError(
      `${path} must export agents, as in: export const agents = { assistant: createAgentLoop({ driver }) };`,
    );
  for (const name of ['runtime', 'engine'] as const)
    if (module[name] !== undefined && (typeof module[name] !== 'object' || module[name] === null))
      throw new InputError(`${path} must export ${name} as an object with options.`);
  return module;
}

async function importFile(file: string): Promise<AgentModule> {
  try {
    return (await import(pathToFileURL(file).href)) as AgentModule;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error;
    throw new InputError(
      `This Node.js (${process.version}) cannot import ${file}. Use Node.js 22.18 or later, or compile the module to JavaScript.`,
    );
  }
}

function isCatalog(agents: unknown): boolean {
  return typeof agents === 'function' || (typeof agents === 'object' && agents !== null);
}

/** Creates the runtime of a module. */
export async function runtimeOf(module: AgentModule, defaults: RuntimeDefaults): Promise<SessionRuntime> {
  if (module.createRuntime) return module.createRuntime(defaults);
  return new SessionRuntime({ ...defaults, agents: module.agents as AgentCatalog, ...module.runtime });
}
