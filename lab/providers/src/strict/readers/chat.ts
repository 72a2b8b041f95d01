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
  type View,
} from '../view.ts';
import { inlineFile, kindOf, linkedFile } from './files.ts';
import { modeOf, type Reader } from './reader.ts';

/** Reads Chat Completions, in all dialects. */
export const readChat: Reader = ({ body }, reasons) => viewOf(membersOf(body), reasons);

function viewOf(body: Members, reasons: boolean): View {
  const thinking = membersOf(body['thinking'])['type'];
  return {
    body,
    model: textOf(body['model']),
    thinking: modeOf(thinking === undefined ? reasons : thinking !== 'disabled'),
    toolChoice: toolChoiceOf(body['tool_choice']),
    system: [],
    tools: elementsOf(body['tools'], ['tools']).map(functionTool),
    turns: elementsOf(body['messages'], ['messages']).map(([raw, path]) => messageTurn(raw, path)),
  };
}

/** `tool` for a choice that names a tool. */
export function toolChoiceOf(choice: unknown): string | undefined {
  if (choice === undefined || choice === null) return undefined;
  return typeof choice === 'string' ? choice : 'tool';
}

/** A tool of Chat Completions, of Cohere and of Ollama. */
export function functionTool([raw, path]: readonly [raw: Members, path: Path]): Part {
  const inner = membersOf(raw['function']);
  const at = partOf('tool', [...path, 'function'], inner, {
    name: 'name',
    description: 'description',
    schema: 'parameters',
    strict: 'strict',
  });
  return { ...at, path, raw };
}

function messageTurn(raw: Members, path: Path): Turn {
  const role = textOf(raw['role']);
  const parts =
    role === 'tool'
      ? resultParts(raw, path)
      : [...reasoningParts(raw, path), ...contentParts(raw, path), ...callParts(raw, path)];
  return turnOf(path, role === 'developer' ? 'system' : role, raw, parts);
}

/** The message of a tool: the result, and what is inside it. */
export function resultParts(raw: Members, path: Path): readonly Part[] {
  const inner = contentParts(raw, path).map((part) =>
    part.type === 'text' ? { ...part, type: 'result-text' as const } : part,
  );
  return [
    partOf('result', path, raw, {
      id: 'tool_call_id',
      name: 'name',
      value: 'content',
      mark: 'cache_control',
    }),
    ...inner,
  ];
}

/** The content of a message: a text, or a list of parts. `part` is the text of a part of a list. */
export function contentParts(raw: Members, path: Path): readonly Part[] {
  const { content } = raw;
  if (typeof content === 'string')
    return [partOf('text', path, raw, { text: 'content', mark: 'cache_control' })];
  return elementsOf(content, [...path, 'content']).map(([part, at]) => contentPart(part, at));
}

function contentPart(raw: Members, path: Path): Part {
  switch (raw['type']) {
    case 'text':
      return partOf('text', path, raw, { text: 'text', part: 'text', mark: 'cache_control' });
    case 'thinking':
      return partOf('reasoning', path, raw, { text: 'thinking' });
    case 'image_url':
      return picture(raw, path);
    case 'file':
      return attachment(raw, path);
    default:
      return partOf('other', path, raw, { type: 'type' });
  }
}

/** The address of a picture is an object, or, at Mistral, a text. */
function picture(raw: Members, path: Path): Part {
  const inner = raw['image_url'];
  const url =
    typeof inner === 'string'
      ? placeOf(path, raw, 'image_url')
      : placeOf([...path, 'image_url'], membersOf(inner), 'url');
  return linkedFile(path, raw, { kind: 'image' }, url);
}

function attachment(raw: Members, path: Path): Part {
  const inner = membersOf(raw['file']);
  const at = [...path, 'file'];
  const name = inner['filename'] === undefined ? undefined : placeOf(at, inner, 'filename');
  if (inner['file_data'] === undefined)
    return inlineFile(path, raw, { kind: 'document', name }, placeOf(at, inner, 'file_id'));
  return linkedFile(path, raw, { kind: kindOf('document'), name }, placeOf(at, inner, 'file_data'));
}

/** The calls of a message. Cohere and Ollama have them too. */
export function callParts(raw: Members, path: Path): readonly Part[] {
  return elementsOf(raw['tool_calls'], [...path, 'tool_calls']).map(([call, at]) => {
    const inner = partOf('call', [...at, 'function'], membersOf(call['function']), {
      name: 'name',
      input: 'arguments',
    });
    return {
      ...inner,
      path: at,
      raw: call,
      at: { ...partOf('call', at, call, { id: 'id' }).at, ...inner.at },
    };
  });
}

/** Reasoning as DeepSeek and Kimi, Groq, Ollama and OpenRouter have it in a message. */
export function reasoningParts(raw: Members, path: Path): readonly Part[] {
  const texts = ['reasoning_content', 'reasoning']
    .filter((name) => raw[name] !== undefined && raw[name] !== null)
    .map((name) => partOf('reasoning', path, raw, { text: name }));
  const details = elementsOf(raw['reasoning_details'], [...path, 'reasoning_details']).map(([detail, at]) =>
    partOf('reasoning', at, detail, { text: 'text', signature: 'signature', data: 'data' }),
  );
  return [...texts, ...details];
}
