import { toErrorRecord } from '../../state/values/error-record.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { ToolExecutionId } from '../../state/values/ids.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { ToolExecution } from '../../state/execution/tool-execution.ts';
import { withinGrace } from '../stopping/grace.ts';
import type { RunState } from '../run-state.ts';
import { canRunTools, stepAtWork } from '../stepper.ts';
import { ToolExecutionBlockedError } from './tool.ts';
import type { Tool } from './tool.ts';

/**
 * What is to become of a call that the model asked for: it is begun, a person is asked, or it has ended as it is.
 * `undefined`: nothing, as the run was told to stop meanwhile.
 */
export type Admission =
  | { readonly type: 'begin' | 'ask' | 'end'; readonly execution: ToolExecution }
  | undefined;

/** Asks the hooks and, where the tool wants it, whether a person must approve. @throws what a hook throws; AgentStop. */
export function admit(run: RunState, call: ToolCallPart): Admission | Promise<Admission> {
  return run.loop.hooks.has('beforeToolUse') ? askHooks(run, call) : askTool(run, intended(run, call));
}

/** May something be begun in the present step? */
export function mayStart(run: RunState): boolean {
  return run.mayBegin() && canRunTools(run.state);
}

async function askHooks(run: RunState, requested: ToolCallPart): Promise<Admission> {
  // What a person has approved is what runs: a hook may forbid it, and no more.
  const { isApproved } = intended(run, requested);
  let call = requested;
  for (const hook of run.loop.hooks.at('beforeToolUse')) {
    const { context } = run;
    const change = await run.callHook(hook, 'beforeToolUse', call, context);
    if (change?.state) run.changeFrom(context.state, change.state);
    if (!isApproved) call = change?.call ?? call;
    if (change?.block !== undefined) {
      const error = toErrorRecord(new ToolExecutionBlockedError(call.toolName, change.block));
      return ended(run, intended(run, call), 'blocked', error);
    }
    if (!mayStart(run)) return undefined;
  }
  return askTool(run, intended(run, call));
}

function askTool(run: RunState, execution: ToolExecution): Admission | Promise<Admission> {
  const tool = run.loop.tools.get(execution.name);
  const isAsked = !execution.isApproved && tool?.needsApproval !== undefined;
  return isAsked ? askIfNeeded(run, tool, execution) : { type: 'begin', execution };
}

async function askIfNeeded(run: RunState, tool: Tool, execution: ToolExecution): Promise<Admission> {
  try {
    const isNeeded = await needsApproval(tool, execution, run);
    return mayStart(run) ? { type: isNeeded ? 'ask' : 'begin', execution } : undefined;
  } catch (error) {
    if (isAgentStop(error)) throw error;
    return ended(run, execution, 'failed', toErrorRecord(error));
  }
}

/** Must a person approve the call? One whose arguments are wrong fails anyway. */
async function needsApproval(tool: Tool, { call }: ToolExecution, run: RunState): Promise<boolean> {
  const { signal, state, loop } = run;
  if (call.invalid !== undefined) return false;
  const context = { toolCallId: call.toolCallId, state, signal, clock: loop.clock };
  const asked = async (): Promise<boolean> => {
    const validation = await tool.validate(call.input);
    if ('problem' in validation) return false;
    return (await tool.needsApproval?.(validation.value, context)) ?? false;
  };
  return withinGrace(asked(), { signal, clock: loop.clock, otherwise: () => true });
}

/** The execution of a call that was approved, or a new one. */
function intended({ state, loop }: RunState, call: ToolCallPart): ToolExecution {
  const known = stepAtWork(state)?.executionOf(call.toolCallId);
  return known?.forCall(call) ?? ToolExecution.ofChecked(call, undefined, ToolExecutionId.create(loop.clock));
}

function ended(
  run: RunState,
  execution: ToolExecution,
  type: 'blocked' | 'failed',
  error: ReturnType<typeof toErrorRecord>,
): Admission {
  return { type: 'end', execution: execution.withOutcome({ type, error }, run.now()) };
}
