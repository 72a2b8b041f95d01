import { join } from 'node:path';
import { agentDefinition, createAgentLoop, type AgentDefinition, type AgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import type { Settings } from './command-line.ts';
import type { ModelChoice } from './model-choice.ts';
import { calculator } from './tools/calculator.ts';
import { clockTool } from './tools/clock.ts';
import { notebookRead, notebookWrite } from './tools/notebook.ts';
import { sendParcel } from './tools/parcel.ts';
import { pay } from './tools/payment.ts';

/** Steps that one run may take. */
export const maxSteps = 20;

/** The definition of the agent. It names no model: a session continues with the current model. */
export const definition: AgentDefinition = agentDefinition({
  name: 'assistant',
  label: 'Playground assistant',
  description: 'Calculates, takes notes, tells the time, sends parcels and pays.',
  systemPrompt: [
    'You are the assistant of the Holdfast playground. Answer briefly, in plain text.',
    'Work out every sum with the calculator. Write down what you are asked to remember in the notebook,',
    'and look there when you are asked what you know. Send a parcel, and pay, only when told to, and only once.',
  ].join(' '),
});

/** The loop of the agent. Its tools write files in the data folder. */
export function agentLoop(choice: ModelChoice, { data, parcelSeconds }: Settings): AgentLoop {
  const notes = join(data, 'notes');
  return createAgentLoop({
    driver: aiSdkDriver({ model: choice.model }),
    tools: [
      calculator,
      notebookWrite(notes),
      notebookRead(notes),
      clockTool(),
      sendParcel({ outbox: join(data, 'outbox.txt'), seconds: parcelSeconds }),
      pay(join(data, 'payments.txt')),
    ],
    budget: { maxSteps },
    // A person is waiting: a failed call is shown at once.
    inferenceRetry: { maxElapsedSeconds: 0, onExhausted: 'fail' },
  });
}
