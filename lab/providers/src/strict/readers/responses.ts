import {
  elementsOf,
  membersOf,
  partOf,
  placeOf,
  textOf,
  turnOf,
  type Members,
  type Part,
  type Path,
  type Turn,
} from '../view.ts';
import { toolChoiceOf } from './chat.ts';
import { kindOf, linkedFile } from './files.ts';
import { modeOf, type Reader } from './reader.ts';

/** Reads the Responses protocol. Each item of the input is a turn. */
export const readResponses: Reader = ({ body: parsed }, reasons) => {
  const body = membersOf(parsed);
  return {
    body,
    model: textOf(body['model']),
    thinking: modeOf(reasons),
    toolChoice: toolChoiceOf(body['tool_choice']),
    system:
      typeof body['instructions'] === 'string' ? [partOf('text', [], body, { text: 'instructions' })] : [],
    tools: elementsOf(body['tools'], ['tools'])
      .filter(([raw]) => raw['type'] === 'function')
      .map(toolPart),
    turns: itemsOf(body['input']).map(([raw, path]) => itemTurn(raw, path)),
  };
};

function itemsOf(input: unknown) {
  return elementsOf(typeof input === 'string' ? [{ role: 'user', content: input }] : input, ['input']);
}

function toolPart([raw, path]: readonly [raw: Members, path: Path]): Part {
  return partOf('tool', path, raw, {
    name: 'name',
    description: 'description',
    schema: 'parameters',
    strict: 'strict',
  });
}

function itemTurn(raw: Members, path: Path): Turn {
  switch (raw['type'] ?? 'message') {
    case 'message':
      return turnOf(path, roleOf(raw), raw, contentParts(raw, path));
    case 'function_call':
      return turnOf(path, 'assistant', raw, [
        partOf('call', path, raw, { id: 'call_id', item: 'id', name: 'name', input: 'arguments' }),
      ]);
    case 'function_call_output':
      return turnOf(path, 'tool', raw, [
        partOf('result', path, raw, { id: 'call_id', item: 'id', value: 'output' }),
        ...partsAt(raw['output'], [...path, 'output']),
      ]);
    case 'reasoning':
      return turnOf(path, 'assistant', raw, [
        partOf('reasoning', path, raw, { item: 'id', text: 'summary', signature: 'encrypted_content' }),
      ]);
    case 'item_reference':
      return turnOf(path, 'assistant', raw, [partOf('reference', path, raw, { item: 'id' })]);
    default:
      return turnOf(path, 'assistant', raw, [partOf('other', path, raw, { item: 'id', type: 'type' })]);
  }
}

function roleOf({ role }: Members): string {
  return role === 'developer' ? 'system' : textOf(role);
}

function contentParts(raw: Members, path: Path): readonly Part[] {
  if (typeof raw['content'] === 'string') return [partOf('text', path, raw, { text: 'content', item: 'id' })];
  return partsAt(raw['content'], [...path, 'content']);
}

function partsAt(content: unknown, path: Path): readonly Part[] {
  return elementsOf(content, path).map(([raw, at]) => contentPart(raw, at));
}

function contentPart(raw: Members, path: Path): Part {
  switch (raw['type']) {
    case 'input_image':
      return linkedFile(path, raw, { kind: 'image' }, placeOf(path, raw, 'image_url'));
    case 'input_file': {
      const name = raw['filename'] === undefined ? undefined : placeOf(path, raw, 'filename');
      const member = raw['file_data'] === undefined ? 'file_url' : 'file_data';
      return linkedFile(path, raw, { kind: kindOf('document'), name }, placeOf(path, raw, member));
    }
    default:
      return partOf(typeof raw['text'] === 'string' ? 'text' : 'other', path, raw, {
        text: 'text',
        type: 'type',
      });
  }
}
