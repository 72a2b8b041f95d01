import { HoldfastError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { Tool, ToolInit } from './tool-types.ts';
import { tool } from './tool.ts';
import type { InputOf, OutputOf, TypedSchema } from './tool-schema.ts';

/** `Needed` for a type of run contexts that excludes `undefined`: a run must then pass one. Otherwise `Optional`. */
export type IfContextNeeded<Context, Needed, Optional> = [Context] extends [
  object | string | number | boolean | bigint | symbol | null,
]
  ? Needed
  : Optional;

/** Creates tools as `tool()` does, for runs with a run context of the type `Context`. */
export interface ToolFactory<Context> {
  <Schema extends TypedSchema, Result>(
    init: ToolInit<OutputOf<Schema>, Result, Context> & {
      readonly inputSchema: Schema;
      /** The JSON Schema of the arguments, for a schema that cannot describe itself. */
      readonly jsonSchema?: object;
    },
  ): Tool<InputOf<Schema>, Result, Context>;
  <Args = JsonObject, Result = unknown>(
    init: ToolInit<Args, Result, Context> & { readonly inputSchema: JsonObject },
  ): Tool<Args, Result, Context>;
}

/**
 * Returns a function that creates tools as `tool()` does. These tools need a run context of the type `Context`, such as
 * the user and the clients of a request, and receive it as `runContext`. The loop refuses a run without it.
 *
 * @example
 * const shopTool = toolFor<{ readonly user: string }>();
 * const whoAmI = shopTool({
 *   name: 'whoAmI',
 *   description: 'Returns the name of the user.',
 *   inputSchema: z.object({}),
 *   execute: (_, { runContext }) => runContext.user,
 * });
 * await createAgentLoop({ driver, tools: [whoAmI] }).run(state, { runContext: { user: 'ada' } });
 */
export function toolFor<Context>(): ToolFactory<Context>;
export function toolFor(): (init: ToolInit<JsonObject, unknown> & { inputSchema: JsonObject }) => Tool {
  return (init) => Object.freeze({ ...tool(init), needsRunContext: true });
}

/** True when one of the tools needs a run context. */
export function needsRunContext(tools: readonly Tool[]): boolean {
  return tools.some((each) => each.needsRunContext);
}

/** @throws HoldfastError `RUN_CONTEXT_MISSING` when a tool needs a run context, and the run has none. */
export function requireRunContext(tools: readonly Tool[], runContext: unknown): void {
  if (runContext !== undefined || !needsRunContext(tools)) return;
  const names = tools.filter((each) => each.needsRunContext).map(({ name }) => name);
  const needing = names.length === 1 ? `Tool ${names[0]} needs` : `Tools ${names.join(', ')} need`;
  throw runContextMissing(`${needing} a run context: pass it, as in loop.run(state, { runContext }).`, {
    tools: names,
  });
}

/** Creates the error for a run without the run context that its tools need. */
export function runContextMissing(message: string, data: JsonObject): HoldfastError {
  return new HoldfastError('RUN_CONTEXT_MISSING', message, { data });
}
