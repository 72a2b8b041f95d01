import { mustBe, optionsCheck } from '../../arguments.ts';
import type { ToolOutput } from '../../state/messages/messages.ts';

/** What a tool may return instead of a bare value. */
export interface ToolResultInit {
  readonly value: unknown;
  /** What the model reads, when not the value itself. */
  readonly modelOutput?: ToolOutput;
  /** Facts to set in the agent's metadata when the step closes; of several tools in the order of their calls. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const checkInit = optionsCheck<ToolResultInit>(
  'toolResult',
  { value: mustBe.anything, modelOutput: mustBe.anything, metadata: mustBe.anything },
  {
    output: 'write "value", and "modelOutput" for what the model reads',
    toModelOutput: 'write "modelOutput"',
  },
);

/** A value with what goes along with it. */
export class ToolResult implements ToolResultInit {
  readonly value: unknown;
  readonly modelOutput?: ToolOutput;
  readonly metadata?: Readonly<Record<string, unknown>>;

  /** @throws TypeError `ARGUMENT_INVALID` for an unknown member. */
  constructor(init: ToolResultInit) {
    checkInit(init);
    this.value = init.value;
    if (init.modelOutput !== undefined) this.modelOutput = init.modelOutput;
    if (init.metadata !== undefined) this.metadata = init.metadata;
  }
}

/**
 * A tool's value, with what the model is to read instead of it, or facts to set in the agent's metadata.
 * @throws TypeError `ARGUMENT_INVALID` for an unknown member.
 * @example return toolResult({ value: rows, metadata: { lastQuery: sql } });
 */
export function toolResult(init: ToolResultInit): ToolResult {
  return new ToolResult(init);
}
