// A process that takes steps of conversations. Each message names the conversation and has its state as JSON.
import type { JsonObject } from '@holdfast/core';
import { providers } from './providers/index.ts';
import { takeStepHere } from './runs/held-run.ts';
import type { Mode } from './runs/outcome.ts';
import { scenarios } from './scenarios/index.ts';

/** One step to take. */
export interface StepTask {
  readonly provider: string;
  readonly scenario: string;
  readonly mode: Mode;
  readonly url: string;
  readonly json: JsonObject;
}

/** The state after the step, or the error. */
export type StepReply = { readonly json: JsonObject } | { readonly error: string };

process.on('message', (task: StepTask) => {
  void replyTo(task).then((reply) => process.send?.(reply));
});

async function replyTo({ provider: name, scenario: title, mode, url, json }: StepTask): Promise<StepReply> {
  try {
    const provider = named(providers, name);
    const scenario = named(scenarios, title);
    return { json: await takeStepHere(provider, scenario, mode, url)(json) };
  } catch (error) {
    return { error: String(error) };
  }
}

function named<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((each) => each.name === name);
  if (!found) throw new Error(`Unknown name "${name}".`);
  return found;
}
