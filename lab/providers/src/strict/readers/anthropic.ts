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
  type Turn,
} from '../view.ts';
import { inlineFile } from './files.ts';
import { modeOf, type Reader } from './reader.ts';

/** Reads the Messages protocol of Anthropic. On Vertex AI the address names the model. */
export const readAnthropic: Reader = ({ body: parsed, path }, reasons) => {
  const body = membersOf(parsed);
  const { thinking } = body;
  return {
    body,
    model: textOf(body['model']) || (/models\/(?<model>[^:/]+)/.exec(path)?.groups?.['model'] ?? ''),
    thinking: thinking === undefined ? modeOf(reasons) : thinkingOf(membersOf(thinking)),
    toolChoice: textOf(membersOf(body['tool_choice'])['type']) || undefined,
    system: withMarks(contentParts(body, [], 'system')),
    tools: elementsOf(body['tools'], ['tools']).map(toolPart),
    turns: elementsOf(body['messages'], ['messages']).map(([raw, at]) => messageTurn(raw, at)),
  };
};

function toolPart([raw, path]: readonly [raw: Members, path: Path]): Part {
  return partOf('tool', path, raw, {
    name: 'name',
    description: 'description',
    schema: 'input_schema',
    mark: 'cache_control',
  });
}

function messageTurn(raw: Members, path: Path): Turn {
  return turnOf(path, textOf(raw['role']), raw, withMarks(contentParts(raw, path, 'content')));
}

/** Each mark of the cache is a part of its own too. */
function withMarks(parts: readonly Part[]): readonly Part[] {
  return parts.flatMap((part) =>
    part.raw['cache_control'] ? [part, partOf('mark', part.path, part.raw, { on: 'type' })] : [part],
  );
}

function contentParts(raw: Members, path: Path, member: string): readonly Part[] {
  if (typeof raw[member] === 'string') return [partOf('text', path, raw, { text: member })];
  return elementsOf(raw[member], [...path, member]).flatMap(([block, at]) => blockParts(block, at));
}

function blockParts(raw: Members, path: Path): readonly Part[] {
  const type = textOf(raw['type']);
  switch (type) {
    case 'text':
      return [partOf('text', path, raw, { text: 'text', mark: 'cache_control' })];
    case 'tool_use':
      return [partOf('call', path, raw, { id: 'id', name: 'name', input: 'input' })];
    case 'tool_result':
      return [partOf('result', path, raw, resultNames(raw)), ...insideResult(raw, path)];
    case 'thinking':
      return [
        partOf('reasoning', path, raw, { text: 'thinking', signature: 'signature', mark: 'cache_control' }),
      ];
    case 'redacted_thinking':
      return [partOf('redacted', path, raw, { signature: 'data', mark: 'cache_control' })];
    case 'image':
    case 'document':
      return [filePart(type, raw, path)];
    case 'server_tool_use':
      return [partOf('server-call', path, raw, { id: 'id', name: 'name', input: 'input' })];
    default:
      return [
        partOf(type.endsWith('_tool_result') ? 'server-result' : 'other', path, raw, {
          id: 'tool_use_id',
          type: 'type',
          tool_name: 'tool_name',
        }),
      ];
  }
}

/** `error`: the content of a result that reports an error. */
function resultNames({ is_error: isError }: Members): Readonly<Record<string, string>> {
  return { id: 'tool_use_id', value: 'content', ...(isError === true && { error: 'content' }) };
}

function insideResult(raw: Members, path: Path): readonly Part[] {
  if (typeof raw['content'] === 'string') return [];
  return contentParts(raw, path, 'content').map((part) =>
    part.type === 'text' ? { ...part, type: 'result-text' as const } : part,
  );
}

function filePart(kind: string, raw: Members, path: Path): Part {
  const source = membersOf(raw['source']);
  const at = [...path, 'source'];
  const media = source['media_type'] === undefined ? undefined : placeOf(at, source, 'media_type');
  const name = raw['title'] === undefined ? undefined : placeOf(path, raw, 'title');
  switch (source['type']) {
    case 'base64':
      return inlineFile(path, raw, { kind, media, name }, placeOf(at, source, 'data'));
    case 'url':
      return {
        ...partOf('file', path, raw),
        at: { kind: { path, value: kind }, url: placeOf(at, source, 'url') },
      };
    default:
      return partOf('file', path, raw);
  }
}
