import {
  elementsOf,
  membersOf,
  partOf,
  placeOf,
  textOf,
  thinkingOf,
  turnOf,
  type Members,
  type Part,
  type Path,
} from '../view.ts';
import { kindOf, linkedFile, inlineFile } from './files.ts';
import type { Reader } from './reader.ts';

/** Reads the protocol of the AI Gateway: a prompt of `LanguageModelV4` as JSON. A header names the model. */
export const readGateway: Reader = ({ body: parsed, headers }) => {
  const body = membersOf(parsed);
  const anthropic = membersOf(membersOf(body['providerOptions'])['anthropic']);
  return {
    body,
    model: textOf(headers['ai-language-model-id']),
    thinking: thinkingOf(membersOf(anthropic['thinking'])),
    toolChoice: textOf(membersOf(body['toolChoice'])['type']) || undefined,
    system: [],
    tools: elementsOf(body['tools'], ['tools'])
      .filter(([raw]) => raw['type'] === 'function')
      .map(([raw, path]) =>
        partOf('tool', path, raw, { name: 'name', description: 'description', schema: 'inputSchema' }),
      ),
    turns: elementsOf(body['prompt'], ['prompt']).map(([raw, path]) =>
      turnOf(path, textOf(raw['role']), raw, partsAt(raw, path)),
    ),
  };
};

function partsAt(raw: Members, path: Path): readonly Part[] {
  if (typeof raw['content'] === 'string') return [partOf('text', path, raw, { text: 'content' })];
  return elementsOf(raw['content'], [...path, 'content']).map(([part, at]) =>
    contentPart(part, at, raw['role'] === 'assistant'),
  );
}

/** `isInAnswer`: a result there is one of a call that a provider ran. */
function contentPart(raw: Members, path: Path, isInAnswer: boolean): Part {
  switch (raw['type']) {
    case 'text':
      return partOf('text', path, raw, { text: 'text' });
    case 'reasoning':
      return reasoningPart(raw, path);
    case 'tool-call':
      return raw['providerExecuted'] === true
        ? partOf('server-call', path, raw, { id: 'toolCallId', name: 'toolName' })
        : partOf('call', path, raw, { id: 'toolCallId', name: 'toolName', input: 'input' });
    case 'tool-result':
      return partOf(isInAnswer ? 'server-result' : 'result', path, raw, {
        id: 'toolCallId',
        name: 'toolName',
        value: 'output',
      });
    case 'file':
      return filePart(raw, path);
    default:
      return partOf('other', path, raw, { type: 'type' });
  }
}

function reasoningPart(raw: Members, path: Path): Part {
  const at = [...path, 'providerOptions', 'anthropic'];
  const options = membersOf(membersOf(raw['providerOptions'])['anthropic']);
  const part = partOf('reasoning', path, raw, { text: 'text' });
  return options['signature'] === undefined
    ? part
    : { ...part, at: { ...part.at, signature: placeOf(at, options, 'signature') } };
}

function filePart(raw: Members, path: Path): Part {
  const data = membersOf(raw['data']);
  const at = [...path, 'data'];
  const media = placeOf(path, raw, 'mediaType');
  const facts = { kind: kindOf(media.value), media };
  return data['type'] === 'url'
    ? linkedFile(path, raw, facts, placeOf(at, data, 'url'))
    : inlineFile(path, raw, facts, placeOf(at, data, 'data'));
}
