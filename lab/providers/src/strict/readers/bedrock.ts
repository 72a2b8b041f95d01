import {
  elementsOf,
  isMembers,
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
import { inlineFile } from './files.ts';
import type { Reader } from './reader.ts';

/** Reads the Converse protocol of Amazon Bedrock. The address names the model. */
export const readBedrock: Reader = ({ body: parsed, path }) => {
  const body = membersOf(parsed);
  const config = membersOf(body['toolConfig']);
  const extra = membersOf(body['additionalModelRequestFields']);
  return {
    body,
    model: decodeURIComponent(/model\/(?<model>[^/]+)/.exec(path)?.groups?.['model'] ?? ''),
    thinking: thinkingOf(membersOf(extra['thinking'])),
    toolChoice: choiceOf(config['toolChoice']),
    system: blocksAt(body['system'], ['system']),
    tools: elementsOf(config['tools'], ['toolConfig', 'tools']).map(toolPart),
    turns: elementsOf(body['messages'], ['messages']).map(([raw, at]) =>
      turnOf(at, textOf(raw['role']), raw, blocksAt(raw['content'], [...at, 'content'])),
    ),
  };
};

function choiceOf(choice: unknown): string | undefined {
  const [name] = Object.keys(membersOf(choice));
  return name === 'any' ? 'required' : name;
}

function toolPart([raw, path]: readonly [raw: Members, path: Path]): Part {
  if (raw['cachePoint'] !== undefined) return partOf('mark', path, raw, { mark: 'cachePoint' });
  const spec = membersOf(raw['toolSpec']);
  const at = [...path, 'toolSpec'];
  const inner = partOf('tool', at, spec, { name: 'name', description: 'description' });
  const schema = placeOf([...at, 'inputSchema'], membersOf(spec['inputSchema']), 'json');
  return { ...inner, path, raw, at: { ...inner.at, schema } };
}

function blocksAt(content: unknown, path: Path): readonly Part[] {
  return elementsOf(content, path).flatMap(([raw, at]) => blockParts(raw, at));
}

function blockParts(raw: Members, path: Path): readonly Part[] {
  const { toolUse, toolResult, reasoningContent, image, document } = raw;
  if (typeof raw['text'] === 'string') return [partOf('text', path, raw, { text: 'text' })];
  if (isMembers(toolUse)) {
    const names = { id: 'toolUseId', name: 'name', input: 'input' };
    return [{ ...partOf('call', [...path, 'toolUse'], toolUse, names), path, raw }];
  }
  if (isMembers(toolResult)) return resultParts(toolResult, raw, path);
  if (isMembers(reasoningContent)) return [reasoningPart(reasoningContent, raw, path)];
  if (isMembers(image)) return [filePart('image', image, raw, [...path, 'image'])];
  if (isMembers(document)) return [filePart('document', document, raw, [...path, 'document'])];
  if (raw['cachePoint'] !== undefined) return [partOf('mark', path, raw, { mark: 'cachePoint' })];
  return [partOf('other', path, raw, { json: 'json' })];
}

function resultParts(result: Members, raw: Members, path: Path): readonly Part[] {
  const at = [...path, 'toolResult'];
  const inside = blocksAt(result['content'], [...at, 'content']).map((part) =>
    part.type === 'text' ? { ...part, type: 'result-text' as const } : part,
  );
  return [{ ...partOf('result', at, result, { id: 'toolUseId', value: 'content' }), path, raw }, ...inside];
}

function reasoningPart(content: Members, raw: Members, path: Path): Part {
  const at = [...path, 'reasoningContent'];
  if (content['redactedContent'] !== undefined) {
    return { ...partOf('redacted', at, content, { signature: 'redactedContent' }), path, raw };
  }
  const text = membersOf(content['reasoningText']);
  const names = { text: 'text', signature: 'signature' };
  return { ...partOf('reasoning', [...at, 'reasoningText'], text, names), path, raw };
}

function filePart(kind: string, file: Members, raw: Members, at: Path): Part {
  const source = membersOf(file['source']);
  const name = file['name'] === undefined ? undefined : placeOf(at, file, 'name');
  const part = inlineFile(at.slice(0, -1), raw, { kind, name }, placeOf([...at, 'source'], source, 'bytes'));
  return { ...part, at: { ...part.at, format: placeOf(at, file, 'format') } };
}
