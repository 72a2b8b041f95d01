import type { AgentEvent, AgentState, ToolExecution } from '@holdfast/core';
import type { InferenceDelta } from '@holdfast/core/driver';
import type { Style } from './terminal-style.ts';

/** Prints a run as it happens: every step, every tool call, text as it arrives. */
export class TerminalReport {
  private readonly write: (text: string) => void;
  private readonly style: Style;
  /** The kind of text in the unfinished line. */
  private line: 'text' | 'reasoning' | undefined;
  private hasText = false;

  constructor(write: (text: string) => void, style: Style) {
    this.write = write;
    this.style = style;
  }

  readonly onEvent = (event: AgentEvent): void => {
    switch (event.type) {
      case 'step-started':
        this.hasText = false;
        return this.print(this.style.dim(`step ${event.stepNumber}`));
      case 'inference-delta':
        return this.delta(event.delta);
      case 'inference-completed':
        if (!this.hasText && event.response.text !== '') this.print(event.response.text);
        return this.endLine();
      case 'tool-started':
        return this.print(`  ${this.style.accent(`→ ${callOf(event.toolExecution)}`)}`);
      case 'tool-completed':
      case 'tool-blocked':
        return this.print(`  ${this.outcome(event.toolExecution)}`);
      case 'stop-signal-raised':
        return this.print(this.style.bad(`stop: ${event.signal.reason}: ${event.signal.message}`));
      default:
        return undefined;
    }
  };

  /** The line that ends a run. */
  end(state: AgentState): void {
    const { usage, stepCount, status, executionDuration } = state;
    const tokens = `${usage.inputTokens ?? 0} tokens in, ${usage.outputTokens ?? 0} out${usage.isComplete ? '' : ' at least'}`;
    const steps = `${stepCount} ${stepCount === 1 ? 'step' : 'steps'}`;
    this.endLine();
    this.print(
      this.style.dim(
        `${status ?? 'nothing to do'} · ${steps} · ${tokens} · ${executionDuration.toFixed(2)} s`,
      ),
    );
  }

  /** Prints the calls that wait for approval, and how to decide. */
  askFor(calls: readonly ToolExecution[], sessionId: string): void {
    for (const call of calls) this.print(this.style.bold(`May it ${callOf(call)}?`));
    this.print(`Decide with --session ${sessionId} --approve, or --deny.`);
  }

  /** One whole line. */
  print(text: string): void {
    this.endLine();
    this.write(`${text}\n`);
  }

  private delta({ type, text }: InferenceDelta): void {
    if (type === 'tool-input') return;
    if (this.line !== type) this.endLine();
    if (type === 'text') this.hasText = true;
    const isFirst = this.line === undefined;
    this.line = type;
    if (type === 'text') this.write(text);
    else this.write(this.style.dim(`${isFirst ? '  ' : ''}${text.replaceAll('\n', '\n  ')}`));
  }

  private endLine(): void {
    if (this.line !== undefined) this.write('\n');
    this.line = undefined;
  }

  private outcome({ outcome, duration, value, error }: ToolExecution): string {
    const seconds = this.style.dim(`(${duration.toFixed(2)} s)`);
    if (outcome?.type === 'succeeded') return `${this.style.good('←')} ${JSON.stringify(value)} ${seconds}`;
    return `${this.style.bad(`✕ ${outcome?.type ?? 'unknown'}: ${error?.message ?? ''}`)} ${seconds}`;
  }
}

function callOf({ name, args }: ToolExecution): string {
  return `${name} ${JSON.stringify(args)}`;
}
