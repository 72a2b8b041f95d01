import { checkArgument, mustBe } from '../../arguments.ts';
import type { JsonValue } from '../../json.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolResult } from './tool-result.ts';
import type { AnyTool, Tool } from './tool-types.ts';

/**
 * The type of a value after it was written as JSON and read again: a `Date` becomes a string, a function is omitted.
 * The value of a `toolResult()` is known only at run time.
 */
export type AsJson<T> = unknown extends T
  ? JsonValue
  : T extends ToolResult
    ? JsonValue
    : T extends { toJSON(...args: never[]): infer Json }
      ? AsJson<Json>
      : T extends string | number | boolean | null
        ? T
        : T extends undefined | symbol | ((...args: never[]) => unknown)
          ? null
          : T extends readonly unknown[]
            ? { readonly [Index in keyof T]: AsJson<T[Index]> }
            : T extends object
              ? {
                  readonly [
                    Name in keyof T as Name extends string
                      ? T[Name] extends symbol | ((...args: never[]) => unknown)
                        ? never
                        : Name
                      : never
                  ]: AsJson<Exclude<T[Name], undefined>>;
                }
              : never;

/** The type of a tool execution with the argument and value types of its tool. */
export type ToolExecutionOf<T extends AnyTool> =
  T extends Tool<infer Input, infer Output, never>
    ? [AsJson<Input>, AsJson<Awaited<Output>>] extends [
        infer Args extends JsonValue,
        infer Value extends JsonValue,
      ]
      ? ToolExecution<Args, Value>
      : ToolExecution
    : never;

/**
 * True when the execution belongs to this tool. TypeScript then knows the types of its arguments and value, in the
 * steps of a state, in events and in hooks. The arguments are those that the model wrote, or the checked value
 * for a tool with an approval rule; they fit the schema unless the call failed because of them.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not an object.
 *
 * @example
 * for (const execution of state.lastStep?.toolExecutions ?? []) {
 *   if (isExecutionOf(execution, weather)) console.log(execution.args.city, execution.value?.celsius);
 * }
 */
export function isExecutionOf<T extends AnyTool>(
  execution: ToolExecution,
  tool: T,
): execution is ToolExecutionOf<T> {
  checkArgument('execution of isExecutionOf', execution, mustBe.object);
  checkArgument('tool of isExecutionOf', tool, mustBe.object);
  return execution.name === tool.name;
}
