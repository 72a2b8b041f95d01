import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Scenario } from '../scenarios/scenario.ts';
import type { StepReply, StepTask } from '../step-worker.ts';
import type { Provider } from '../wire.ts';
import type { TakeStep } from './held-run.ts';
import type { Mode } from './outcome.ts';

const WORKER = new URL('../step-worker.ts', import.meta.url);

/** Processes that take the steps of conversations: no two steps of a conversation run in the same process. */
export class StepProcesses {
  private readonly processes: (ChildProcess | undefined)[] = [];
  private readonly isShared: boolean;

  /** `isShared`: the conversations share the process of each step number. Otherwise each step has a new process. */
  constructor({ isShared }: { readonly isShared: boolean }) {
    this.isShared = isShared;
  }

  /** Returns the function that takes the steps of one conversation. */
  takeStep(provider: Provider, scenario: Scenario, mode: Mode, url: string): TakeStep {
    let number = 0;
    return async (json) => {
      const task = { provider: provider.name, scenario: scenario.name, mode, url, json };
      const reply = await this.reply(number++, task);
      if ('error' in reply) throw new Error(reply.error);
      return reply.json;
    };
  }

  async stop(): Promise<void> {
    const running = this.processes.splice(0).filter((child) => child !== undefined);
    await Promise.all(running.map(stopped));
  }

  private async reply(number: number, task: StepTask): Promise<StepReply> {
    const child = (this.processes[number] ??= fork(WORKER, {
      execArgv: ['--conditions=@holdfast/source', '--no-warnings'],
    }));
    const exited = once(child, 'exit').then(([code]): never => {
      throw new Error(`The process of step ${number + 1} ended with the code ${code}.`);
    });
    child.send(task);
    const [reply] = (await Promise.race([once(child, 'message'), exited])) as [StepReply];
    exited.catch(() => undefined);
    if (!this.isShared) {
      this.processes[number] = undefined;
      await stopped(child);
    }
    return reply;
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}
