import { assistantMessage } from '@holdfast/core';
import { List, STRICTEST_FORM, type ToolDescription } from '@holdfast/core/driver';
import { expect, test } from 'vitest';
import { withCalledTools } from '../../../src/loop/sending/called-tools.ts';
import { LegalNames } from '../../../src/loop/sending/legal-names.ts';

const names = LegalNames.for(STRICTEST_FORM.toolName);
const look: ToolDescription = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };

function calling(...toolNames: readonly string[]) {
  const parts = toolNames.map((toolName, index) => {
    return { type: 'tool-call', toolCallId: `${index}`, toolName, input: {} } as const;
  });
  return List.from([assistantMessage(parts)]);
}

test('tools that only the history names are declared, under the names that are sent', () => {
  const tools = withCalledTools([look], calling('look', 'spell', 'a.b', 'spell'), names);
  expect(tools.map(({ name }) => name)).toEqual(['look', 'spell', names.of('a.b')]);
});

test('the same names give the same list', () => {
  const tools = [look];
  const first = withCalledTools(tools, calling('spell'), names);
  expect(withCalledTools(tools, calling('spell', 'look'), names)).toBe(first);
  expect(withCalledTools(tools, calling('look'), names)).toBe(tools);
});

test('lists with names that models made up are cached for a while only', () => {
  const tools = [look];
  const first = withCalledTools(tools, calling('spell'), names);
  for (let count = 0; count < 100; count++) withCalledTools(tools, calling(`name${count}`), names);
  const again = withCalledTools(tools, calling('spell'), names);
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});
