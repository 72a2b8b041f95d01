import { mustBe, optionsCheck } from '../../arguments.ts';
import type { ToolOutput } from '../../state/messages/messages.ts';

/** A result that a tool may return instead of a bare value. */
export interface ToolResultInit {
  readonly value: unknown;
  /** The output that the model reads, when it is not the value itself. */
  readonly modelOutput?: ToolOutput;
  /** Metadata to set in the agent when the step closes. With several tools, in the order of their calls. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const checkInit = optionsCheck<ToolResultInit>(
  'toolResult',
  { value: mustBe.anything, modelOutput: mustBe.anything, metadata: mustBe.anything },
  {
    output: 'use "value", and "modelOutput" for what the model reads',
    toModelOutput: 'use "modelOutput"',
  },
);

/** The value of a tool, with its model output and metadata. */
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
 * Creates the result of a tool that has a model output or sets metadata of the agent.
 * @throws TypeError `ARGUMENT_INVALID` for an unknown member.
 * @example return toolResult({ value: rows, metadata: { lastQuery: sql } });
 */
export function toolResult(init: ToolResultInit): ToolResult {
  return new ToolResult(init);
}
