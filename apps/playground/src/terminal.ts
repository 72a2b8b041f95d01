import { RunAbort, resume, sendMessage } from '@holdfast/core';
import type { AgentState } from '@holdfast/core';
import { definition } from './agent.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';
import { openPlayground } from './playground.ts';
import type { Playground } from './playground.ts';
import { TerminalReport } from './terminal-report.ts';
import { styleFor } from './terminal-style.ts';

type Prompt = Extract<Command, { type: 'prompt' }>;

/** Runs once in the terminal; returns the exit code. Ctrl-C ends the run, whose state is kept. */
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
  const { prompt } = command;
  const style = styleFor(process.stdout, process.env['NO_COLOR']);
  const report = new TerminalReport((text) => process.stdout.write(text), style);
  const sessionId = command.sessionId ?? (await runtime.create({ definition })).sessionId;
  const { state: before } = await runtime.get(sessionId);
  if (prompt === undefined && !before.hasActiveExecution) {
    throw new UsageError(`Session ${sessionId} has nothing unfinished. Say something to it with --prompt.`);
  }
  report.print(`${style.dim('session')} ${style.bold(sessionId)}`);
  report.print(`${style.dim('model  ')} ${model.label}`);
  const action = prompt === undefined ? resume() : sendMessage(prompt);
  const { state } = await runtime.execute(sessionId, action, { signal, onEvent: report.onEvent });
  report.end(state);
  return exitCode(state, signal.aborted);
}

function exitCode(state: AgentState, wasInterrupted: boolean): number {
  if (state.status === 'failed') {
    process.stderr.write(`The run failed: ${state.errors.at(-1)?.message ?? 'no reason is known.'}\n`);
    return 1;
  }
  if (wasInterrupted) return 130;
  if (state.status === 'completed') return 0;
  process.stderr.write(`The run ended ${state.status}: ${state.stopSignal?.message ?? ''}\n`);
  return 1;
}
