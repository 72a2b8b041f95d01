import { createAgentLoop, tool } from '@holdfast/core';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** The folder of the test: the tool writes what it did, and waits for the file `release`. */
const folder = process.env['TOOL_FOLDER'] ?? '.';
const note = (text: string): void => appendFileSync(`${folder}/notes`, `${text}\n`);

const print = tool({
  name: 'print',
  description: 'Prints.',
  inputSchema: { type: 'object' },
  effect: 'idempotent',
  async execute() {
    writeFileSync(`${folder}/pid`, `${process.pid}`);
    note('started');
    while (!existsSync(`${folder}/release`)) await pause(10);
    note('printed');
    return 'printed';
  },
});

/** Responds to "Print." with a call of the tool, and to everything else with the text of the message. */
const answer: ScriptedAnswer = ({ messages }) => {
  const { last } = messages;
  const text = JSON.stringify(last);
  if (last?.role === 'tool') return 'It is printed.';
  return text.includes('Print.') ? { calls: { print: {} } } : 'Hello.';
};

export const agents = {
  clerk: createAgentLoop({
    driver: scriptedDriver(...Array.from({ length: 100 }, () => answer)),
    tools: [print],
  }),
};
export const runtime = { maxAttempts: 3 };
export const engine = JSON.parse(process.env['ENGINE'] ?? '{}') as object;
