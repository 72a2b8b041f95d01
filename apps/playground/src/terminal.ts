import { approve, deny, pendingApprovals, resume, RunAbort, sendMessage } from '@holdfast/core';
import type { AgentState, SessionAction } from '@holdfast/core';
import { definition } from './agent.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';
import { openPlayground, patience } from './playground.ts';
import type { Playground } from './playground.ts';
import { TerminalReport } from './terminal-report.ts';
import { styleFor } from './terminal-style.ts';

type Prompt = Extract<Command, { type: 'prompt' }>;

/** Runs once in the terminal; returns the exit code. Ctrl-C ends the run, and its state is saved. */
export async function runInTerminal(command: Prompt): Promise<number> {
  const playground = await openPlayground(command.settings);
  const controller = new AbortController();
  const stop = () => controller.abort(new RunAbort('cancel', 'Interrupted.'));
  process.once('SIGINT', stop);
  try {
    return await runOnce(playground, command, controller.signal);
  } finally {
    process.off('SIGINT', stop);
    await playground.close();
  }
}

async function runOnce(
  { runtime, model }: Playground,
  command: Prompt,
  signal: AbortSignal,
): Promise<number> {
  const style = styleFor(process.stdout, process.env['NO_COLOR']);
  const report = new TerminalReport((text) => process.stdout.write(text), style);
  const sessionId = command.sessionId ?? (await runtime.create({ definition })).sessionId;
  const { state: before } = await runtime.get(sessionId);
  const actions = actionsOf(command, sessionId, before);
  report.print(`${style.dim('session')} ${style.bold(sessionId)}`);
  report.print(`${style.dim('model  ')} ${model.label}`);
  const options = { ...patience, signal, onEvent: report.onEvent };
  let state = before;
  for (const action of actions) {
    ({ state } = await runtime.execute(sessionId, action, options));
  }
  report.end(state);
  if (state.status === 'suspended') report.askFor(pendingApprovals(state), sessionId);
  return exitCode(state, signal.aborted);
}

/** The actions of the command. @throws UsageError when the session has no such work. */
function actionsOf(
  { prompt, decision }: Prompt,
  sessionId: string,
  state: AgentState,
): readonly SessionAction[] {
  if (prompt !== undefined) return [sendMessage(prompt)];
  const calls = pendingApprovals(state);
  const waits = `Session ${sessionId} waits for your decision: pass --approve or --deny.`;
  if (decision !== undefined && calls.length === 0)
    throw new UsageError(`Session ${sessionId} does not wait for approval.`);
  if (decision !== undefined)
    return calls.map((call) => (decision === 'approve' ? approve(call) : deny(call)));
  if (state.status === 'suspended') throw new UsageError(waits);
  if (state.hasActiveExecution) return [resume()];
  throw new UsageError(`Session ${sessionId} has no unfinished run. Send it a message with --prompt.`);
}

function exitCode(state: AgentState, wasInterrupted: boolean): number {
  if (state.status === 'failed') {
    process.stderr.write(`The run failed: ${state.errors.at(-1)?.message ?? 'the reason is unknown.'}\n`);
    return 1;
  }
  if (wasInterrupted) return 130;
  if (state.status === 'completed' || state.status === 'suspended') return 0;
  process.stderr.write(`The run ended ${state.status}: ${state.stopSignal?.message ?? ''}\n`);
  return 1;
}
