import {
  approve,
  consoleObserver,
  deny,
  pendingApprovals,
  resume,
  RunAbort,
  sendMessage,
  type AgentState,
  type SessionAction,
} from '@holdfast/core';
import { definition } from './agent.ts';
import { UsageError, type Command } from './command-line.ts';
import { printable } from './invisible.ts';
import { openPlayground, patience, type Playground } from './playground.ts';

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
  const sessionId = command.sessionId ?? (await runtime.create({ definition })).sessionId;
  const { state: before } = await runtime.get(sessionId);
  const actions = actionsOf(command, sessionId, before);
  print(`session ${sessionId}`);
  print(`model   ${model.label}`);
  const colors = process.stdout.isTTY && !process.env['NO_COLOR'];
  const onEvent = consoleObserver({ write: writeLine, colors, showReasoning: true, maxLength: 1_000 });
  let state = before;
  for (const action of actions) {
    ({ state } = await runtime.execute(sessionId, action, { ...patience, signal, onEvent }));
  }
  if (state.status === 'suspended') printQuestions(state, sessionId);
  return exitCode(state, signal.aborted);
}

/** Prints the calls that wait for approval with all their arguments, and how to decide. */
function printQuestions(state: AgentState, sessionId: string): void {
  for (const { name, args } of pendingApprovals(state)) print(`May it ${name} ${JSON.stringify(args)}?`);
  print(`Decide with --session ${sessionId} --approve, or --deny.`);
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
    printError(`The run failed: ${state.errors.at(-1)?.message ?? 'the reason is unknown.'}`);
    return 1;
  }
  if (wasInterrupted) return 130;
  if (state.status === 'completed' || state.status === 'suspended') return 0;
  printError(`The run ended ${state.status}: ${state.stopSignal?.message ?? ''}`);
  return 1;
}

function print(text: string): void {
  writeLine(printable(text));
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints an error without the control characters that a provider could have put into it. */
function printError(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
