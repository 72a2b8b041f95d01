import { checkArgument, mustBe } from '../../arguments.ts';
import type { JsonValue } from '../../json.ts';
import type { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { ToolResult } from './tool-result.ts';
import type { Tool } from './tool.ts';

/**
 * What a value is once it was written as JSON and read again: a `Date` is a string, a function is gone. A `toolResult()`
 * chooses its value at run time.
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

/** The execution of a call of a tool, with the types of that tool. */
export type ToolExecutionOf<T extends Tool> =
  T extends Tool<infer Input, infer Output>
    ? [AsJson<Input>, AsJson<Awaited<Output>>] extends [
        infer Args extends JsonValue,
        infer Value extends JsonValue,
      ]
      ? ToolExecution<Args, Value>
      : ToolExecution
    : never;

/**
 * True when a call asked for this tool. The types of its arguments and of its value are then known: in the steps of a state,
 * in an event, in a hook. The arguments are what the model wrote; they fit the schema unless the call failed for them.
 * @throws TypeError `ARGUMENT_INVALID` for what is not an object.
 *
 * @example
 * for (const execution of state.lastStep?.toolExecutions ?? []) {
 *   if (isExecutionOf(execution, weather)) console.log(execution.args.city, execution.value?.celsius);
 * }
 */
export function isExecutionOf<T extends Tool>(
  execution: ToolExecution,
  tool: T,
): execution is ToolExecutionOf<T> {
  checkArgument('execution of isExecutionOf', execution, mustBe.object);
  checkArgument('tool of isExecutionOf', tool, mustBe.object);
  return execution.name === tool.name;
}
